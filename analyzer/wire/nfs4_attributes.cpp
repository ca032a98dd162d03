// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs4_attributes.hpp"

#include <optional>
#include <string_view>

#include "wire/nfs4_places.hpp"
#include "wire/nfs4_walker.hpp"

namespace rpcrdma::wire {
namespace {

using nfs4::Walker;

/// As Walker::shape().
std::optional<std::string_view> shape_of(std::uint32_t attribute) noexcept {
  switch (attribute) {
    case 0:   // supported_attrs
    case 62:  // fs_layout_types
    case 64:  // layout_types
    case 75:  // suppattr_exclcreat
      return "b";
    case 3:   // change
    case 4:   // size
    case 20:  // fileid
    case 21:  // files_avail, files_free, files_total
    case 22:
    case 23:
    case 27:  // maxfilesize
    case 30:  // maxread, maxwrite
    case 31:
    case 38:  // quotas
    case 39:
    case 40:
    case 42:  // space
    case 43:
    case 44:
    case 45:
    case 55:  // mounted_on_fileid
    case 73:  // retention_hold
    case 78:  // space_freed
      return "d";
    case 8:   // fsid
    case 60:  // change_policy
      return "dd";
    case 19:  // filehandle
    case 32:  // mimetype
    case 36:  // owner, owner_group
    case 37:
      return "o";
    case 41:  // rawdev
    case 74:  // mode_set_masked
    case 81:  // mode_umask
      return "ww";
    case 47:  // times
    case 49:
    case 50:
    case 51:
    case 52:
    case 53:
    case 56:  // delays of notifications
    case 57:
    case 84:  // times that a delegation's holder sets
    case 85:
      return "T";
    case 61:  // fs_status
      return "wwoowT";
    case 63:  // layout_hint
      return "wo";
    case 80:  // sec_label
      return "wwo";
    case 12:  // those that have a function of their own
    case 24:
    case 48:
    case 54:
    case 58:
    case 59:
    case 67:  // and those that are passed by nobody
    case 68:
    case 69:
    case 70:
    case 71:
    case 72:
      return std::nullopt;
    default:
      return attribute <= 82 ? std::optional<std::string_view>("w") : std::nullopt;
  }
}

bool access_list(Walker& w) {
  return w.each([&w] { return w.shape("wwwo"); });
}

/// settime4
bool set_time(Walker& w) {
  std::uint32_t how = 0;
  return w.word(how) && how <= 1 && (how == 0 || w.shape("T"));
}

bool pass(Walker& w, std::uint32_t attribute) {
  if (const auto shape = shape_of(attribute)) return w.shape(*shape);
  switch (attribute) {
    case 12:
      return access_list(w);
    case 24:  // fs_locations
      return w.shape("O") && w.each([&w] { return w.shape("OO"); });
    case 48:
    case 54:
      return set_time(w);
    case 58:  // dacl, sacl
    case 59:
      return w.shape("w") && access_list(w);
    default:
      return false;
  }
}

}  // namespace

void walk_attributes(Bytes message, std::size_t values_at, std::size_t length, Bytes bitmap, ItemWatch& watch) {
  if (values_at > message.size() || length > message.size() - values_at) return;
  Cursor cursor(message.first(values_at + length));
  static_cast<void>(cursor.take(values_at, "header"));
  nfs4::AllAlike places(nfs4::Whereabouts::in_place);
  places.watch = &watch;
  Walker walker(cursor, places);
  for (std::uint32_t attribute = 0; attribute / 32 * 4 + 4 <= bitmap.size(); ++attribute) {
    const std::uint32_t word = load_be32(bitmap.data() + std::size_t{attribute / 32} * 4);
    if ((word >> (attribute % 32) & 1U) != 0 && !pass(walker, attribute)) return;
  }
}

}  // namespace rpcrdma::wire
