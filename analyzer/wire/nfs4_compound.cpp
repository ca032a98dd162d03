// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of an NFSv4 COMPOUND, found by stepping over their arguments (RFC 7531, 5662, 7863, 8276).
//
// Arguments are stepped over, never interpreted. Most operations have a plain shape, a sequence of items; the rest
// have a function of their own. Every step consumes captured octets or ends the walk.
#include <algorithm>
#include <optional>
#include <utility>

#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

constexpr std::uint32_t operations_limit = 64;
constexpr std::uint32_t tag_limit = 1024;
constexpr std::size_t id_octets = 16;  // stateid, session id, device id

/// How DDP-eligible arguments (data of WRITE, text of a symbolic link) are stepped over.
enum class Data : std::uint8_t {
  unknown,  ///< they may have been moved into a Read chunk: stop there
  in_place,
  moved,  ///< only the length word is left
};

class Walker {
 public:
  Walker(Cursor cursor, Data data) noexcept : cursor_(cursor), data_(data) {}

  [[nodiscard]] bool met_data() const noexcept { return met_data_; }
  [[nodiscard]] bool at_end() const noexcept { return cursor_.wire_left() == 0; }

  bool word(std::uint32_t& value) noexcept {
    const auto w = cursor_.be32("argument");
    if (w) value = *w;
    return w.has_value();
  }
  bool skip(std::size_t octets) noexcept { return cursor_.take(octets, "argument").has_value(); }

  bool opaque() noexcept {
    std::uint32_t length = 0;
    return word(length) && length <= cursor_.captured_left() && skip((std::size_t{length} + 3U) & ~std::size_t{3});
  }
  /// A counted array of items of one size.
  bool array(std::size_t item_octets) noexcept {
    std::uint32_t count = 0;
    return word(count) && count <= cursor_.captured_left() / item_octets && skip(count * item_octets);
  }
  /// A counted array of anything else; each item takes four octets or more.
  template <class Item>
  bool each(Item&& item) {
    std::uint32_t count = 0;
    if (!word(count) || count > cursor_.captured_left() / 4) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!item()) return false;
    }
    return true;
  }
  bool eligible() noexcept {
    if (data_ == Data::in_place) return opaque();
    std::uint32_t length = 0;
    if (!word(length)) return false;
    if (data_ == Data::moved || length == 0) return true;
    met_data_ = true;
    return false;
  }

  /// w word, d two words, i 16-octet identifier, o opaque, b bitmap, I array of identifiers, O array of opaques,
  /// D DDP-eligible opaque
  bool shape(std::string_view items) {
    return std::all_of(items.begin(), items.end(), [this](char item) {
      switch (item) {
        case 'w':
          return skip(4);
        case 'd':
          return skip(8);
        case 'i':
          return skip(id_octets);
        case 'o':
          return opaque();
        case 'b':
          return array(4);
        case 'I':
          return array(id_octets);
        case 'O':
          return each([this] { return opaque(); });
        case 'D':
          return eligible();
        default:
          return false;
      }
    });
  }

 private:
  Cursor cursor_;
  Data data_;
  bool met_data_ = false;
};

bool create(Walker& w) {
  std::uint32_t type = 0;
  if (!w.word(type)) return false;
  switch (type) {
    case 3:  // NF4BLK, NF4CHR: device numbers
    case 4:
      if (!w.shape("d")) return false;
      break;
    case 5:  // NF4LNK
      if (!w.shape("D")) return false;
      break;
    default:
      break;
  }
  return w.shape("obo");
}

bool lock(Walker& w) {
  std::uint32_t new_owner = 0;
  if (!w.shape("wwdd") || !w.word(new_owner) || new_owner > 1) return false;
  return new_owner == 1 ? w.shape("wiwdo") : w.shape("iw");
}

bool open(Walker& w) {
  std::uint32_t how = 0;
  if (!w.shape("wwwdo") || !w.word(how) || how > 1) return false;
  if (how == 1) {
    std::uint32_t mode = 0;
    if (!w.word(mode)) return false;
    switch (mode) {
      case 0:  // UNCHECKED4, GUARDED4
      case 1:
        if (!w.shape("bo")) return false;
        break;
      case 2:  // EXCLUSIVE4
        if (!w.shape("d")) return false;
        break;
      case 3:  // EXCLUSIVE4_1
        if (!w.shape("dbo")) return false;
        break;
      default:
        return false;
    }
  }
  std::uint32_t claim = 0;
  if (!w.word(claim)) return false;
  switch (claim) {
    case 0:  // CLAIM_NULL, CLAIM_DELEGATE_PREV: a name
    case 3:
      return w.shape("o");
    case 1:  // CLAIM_PREVIOUS
      return w.shape("w");
    case 2:  // CLAIM_DELEGATE_CUR
      return w.shape("io");
    case 4:  // CLAIM_FH, CLAIM_DELEG_PREV_FH
    case 6:
      return true;
    case 5:  // CLAIM_DELEG_CUR_FH
      return w.shape("i");
    default:
      return false;
  }
}

// callback_sec_parms4<>
bool callback_security(Walker& w) {
  return w.each([&w] {
    std::uint32_t flavor = 0;
    if (!w.word(flavor)) return false;
    switch (flavor) {
      case 0:  // AUTH_NONE
        return true;
      case 1:  // AUTH_SYS: the gids have the shape of a bitmap, an array of words
        return w.shape("wowwb");
      case flavor_gss:
        return w.shape("woo");
      default:
        return false;
    }
  });
}

bool exchange_id(Walker& w) {
  std::uint32_t protect = 0;
  if (!w.shape("dow") || !w.word(protect)) return false;
  switch (protect) {
    case 0:  // SP4_NONE
      break;
    case 1:  // SP4_MACH_CRED
      if (!w.shape("bb")) return false;
      break;
    case 2:  // SP4_SSV
      if (!w.shape("bbOOww")) return false;
      break;
    default:
      return false;
  }
  return w.each([&w] { return w.shape("oodw"); });  // nfs_impl_id4
}

bool create_session(Walker& w) {
  // Client id, sequence, flags; two sets of channel attributes, each ending in an array of words; callback program.
  return w.shape("dww") && w.shape("wwwwwwb") && w.shape("wwwwwwb") && w.shape("w") && callback_security(w);
}

bool layoutcommit(Walker& w) {
  std::uint32_t present = 0;
  if (!w.shape("ddwi") || !w.word(present) || present > 1) return false;
  if (present == 1 && !w.shape("d")) return false;                                        // new last offset
  if (!w.word(present) || present > 1 || (present == 1 && !w.shape("dw"))) return false;  // new time
  return w.shape("wo");
}

bool layoutreturn(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("www") || !w.word(type)) return false;
  switch (type) {
    case 1:  // LAYOUTRETURN4_FILE
      return w.shape("ddio");
    case 2:  // FSID, ALL
    case 3:
      return true;
    default:
      return false;
  }
}

bool want_delegation(Walker& w) {
  std::uint32_t claim = 0;
  if (!w.shape("w") || !w.word(claim)) return false;
  switch (claim) {
    case 1:  // CLAIM_PREVIOUS
      return w.shape("w");
    case 4:  // CLAIM_FH, CLAIM_DELEG_PREV_FH
    case 6:
      return true;
    default:
      return false;
  }
}

// netloc4
bool network_location(Walker& w) {
  std::uint32_t type = 0;
  if (!w.word(type)) return false;
  switch (type) {
    case 1:  // NL4_NAME, NL4_URL
    case 2:
      return w.shape("o");
    case 3:  // NL4_NETADDR
      return w.shape("oo");
    default:
      return false;
  }
}

std::optional<std::string_view> plain_shape(std::uint32_t operation) noexcept {
  switch (operation) {
    case 10:     // GETFH
    case 16:     // LOOKUPP
    case 23:     // PUTPUBFH
    case 24:     // PUTROOTFH
    case 27:     // READLINK
    case 31:     // RESTOREFH
    case 32:     // SAVEFH
    case 10044:  // ILLEGAL
      return "";
    case 3:   // ACCESS
    case 19:  // OPENATTR
    case 52:  // SECINFO_NO_NAME
    case 58:  // RECLAIM_COMPLETE
      return "w";
    case 7:   // DELEGPURGE
    case 30:  // RENEW
    case 57:  // DESTROY_CLIENTID
      return "d";
    case 8:   // DELEGRETURN
    case 44:  // DESTROY_SESSION
    case 45:  // FREE_STATEID
    case 66:  // OFFLOAD_CANCEL
    case 67:  // OFFLOAD_STATUS
      return "i";
    case 11:  // LINK
    case 15:  // LOOKUP
    case 22:  // PUTFH
    case 28:  // REMOVE
    case 33:  // SECINFO
    case 72:  // GETXATTR
    case 75:  // REMOVEXATTR
      return "o";
    case 29:  // RENAME
    case 54:  // SET_SSV
      return "oo";
    case 17:  // NVERIFY
    case 37:  // VERIFY
      return "bo";
    case 25:  // READ
    case 68:  // READ_PLUS
    case 69:  // SEEK
      return "idw";
    case 59:  // ALLOCATE
    case 62:  // DEALLOCATE
      return "idd";
    case 4:  // CLOSE
      return "wi";
    case 5:  // COMMIT
      return "dw";
    case 9:  // GETATTR
      return "b";
    case 13:  // LOCKT
      return "wdddo";
    case 14:  // LOCKU
      return "wwidd";
    case 20:  // OPEN_CONFIRM
      return "iw";
    case 21:  // OPEN_DOWNGRADE
      return "iwww";
    case 26:  // READDIR
      return "ddwwb";
    case 34:  // SETATTR
      return "ibo";
    case 35:  // SETCLIENTID
      return "dowoow";
    case 36:  // SETCLIENTID_CONFIRM
      return "dd";
    case 38:  // WRITE
      return "idwD";
    case 39:  // RELEASE_LOCKOWNER
      return "do";
    case 41:  // BIND_CONN_TO_SESSION
      return "iww";
    case 46:  // GET_DIR_DELEGATION
      return "wbdwdwbb";
    case 47:  // GETDEVICEINFO
      return "iwwb";
    case 48:  // GETDEVICELIST
      return "wwdd";
    case 50:  // LAYOUTGET
      return "wwwdddiw";
    case 53:  // SEQUENCE
      return "iwwww";
    case 55:  // TEST_STATEID
      return "I";
    case 63:  // IO_ADVISE
      return "iddb";
    case 65:  // LAYOUTSTATS
      return "ddiddddiwo";
    case 70:  // WRITE_SAME
      return "iwddddwdo";
    case 71:  // CLONE
      return "iiddd";
    case 73:  // SETXATTR
      return "woo";
    case 74:  // LISTXATTRS
      return "dw";
    default:
      return std::nullopt;
  }
}

bool step_over(Walker& w, std::uint32_t operation) {
  if (const auto shape = plain_shape(operation)) return w.shape(*shape);
  switch (operation) {
    case 6:
      return create(w);
    case 12:
      return lock(w);
    case 18:
      return open(w);
    case 40:  // BACKCHANNEL_CTL
      return w.shape("w") && callback_security(w);
    case 42:
      return exchange_id(w);
    case 43:
      return create_session(w);
    case 49:
      return layoutcommit(w);
    case 51:
      return layoutreturn(w);
    case 56:
      return want_delegation(w);
    case 60:  // COPY
      return w.shape("iidddww") && w.each([&w] { return network_location(w); });
    case 61:  // COPY_NOTIFY
      return w.shape("i") && network_location(w);
    case 64:  // LAYOUTERROR
      return w.shape("ddi") && w.array(id_octets + 8);
    default:
      return false;
  }
}

bool callback_layout_recall(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("www") || !w.word(type)) return false;
  switch (type) {
    case 1:  // LAYOUTRECALL4_FILE
      return w.shape("oddi");
    case 2:  // FSID
      return w.shape("dd");
    case 3:  // ALL
      return true;
    default:
      return false;
  }
}

bool callback_offload(Walker& w) {
  std::uint32_t status = 0;
  if (!w.shape("oi") || !w.word(status)) return false;
  return status == 0 ? w.shape("Idwd") : w.shape("d");
}

bool step_over_callback(Walker& w, std::uint32_t operation) {
  switch (operation) {
    case 3:  // CB_GETATTR
      return w.shape("ob");
    case 4:  // CB_RECALL
      return w.shape("iwo");
    case 5:
      return callback_layout_recall(w);
    case 6:  // CB_NOTIFY
      return w.shape("io") && w.each([&w] { return w.shape("bo"); });
    case 8:  // CB_RECALL_ANY, CB_RECALLABLE_OBJ_AVAIL
    case 9:
      return w.shape("wb");
    case 10:  // CB_RECALL_SLOT
      return w.shape("w");
    case 11:  // CB_SEQUENCE, with the lists of calls it refers to
      return w.shape("iwwww") && w.each([&w] { return w.shape("i") && w.array(8); });
    case 12:  // CB_WANTS_CANCELLED
      return w.shape("ww");
    case 13:  // CB_NOTIFY_LOCK
      return w.shape("odo");
    case 14:  // CB_NOTIFY_DEVICEID
      return w.each([&w] { return w.shape("bo"); });
    case 15:
      return callback_offload(w);
    case 10044:  // CB_ILLEGAL
      return true;
    default:
      return false;  // CB_PUSH_DELEG carries a whole delegation
  }
}

/// An operation that the minor version does not have has no known arguments either.
bool in_minor_version(std::uint32_t operation, std::uint32_t minor, bool callback) noexcept {
  if (operation == 10044) return true;
  if (callback) return operation >= 3 && operation <= (minor == 0 ? 4U : minor == 1 ? 14U : 15U);
  return operation >= 3 && operation <= (minor == 0 ? 39U : minor == 1 ? 58U : 75U);
}

struct Walk {
  bool whole = false;     ///< every announced operation, ending exactly where the message ends
  bool met_data = false;  ///< stopped at an argument that may have been moved
};

Walk walk(Cursor cursor, Data data, bool callback, Compound& compound) {
  Walker walker(cursor, data);
  compound.operations.clear();
  const std::uint32_t limit = std::min(compound.count, operations_limit);
  std::uint32_t done = 0;
  for (; done < limit; ++done) {
    std::uint32_t operation = 0;
    if (!walker.word(operation)) break;
    compound.operations.push_back(operation);
    if (!in_minor_version(operation, compound.minor_version, callback)) break;
    if (!(callback ? step_over_callback(walker, operation) : step_over(walker, operation))) break;
  }
  return {done == compound.count && walker.at_end(), walker.met_data()};
}

}  // namespace

Decoded<Compound> decode_compound(Bytes arguments, std::size_t wire_length, bool callback) {
  Cursor cursor(arguments, wire_length);
  Compound compound;
  const auto tag_length = cursor.be32("tag");
  if (!tag_length) return tl::make_unexpected(tag_length.error());
  const std::size_t padded = (std::size_t{*tag_length} + 3U) & ~std::size_t{3};
  if (padded > cursor.wire_left()) return tl::make_unexpected(DecodeError{Fault::invalid, "tag", 0});
  if (*tag_length > tag_limit) return tl::make_unexpected(DecodeError{Fault::unsupported, "tag", 0});
  const auto tag = cursor.take(padded, "tag");
  if (!tag) return tl::make_unexpected(tag.error());
  compound.tag.assign(tag->begin(), tag->begin() + static_cast<std::ptrdiff_t>(*tag_length));

  const auto minor = cursor.be32("minor version");
  if (!minor) return tl::make_unexpected(minor.error());
  compound.minor_version = *minor;
  if (callback) {
    const auto identifier = cursor.be32("callback identifier");
    if (!identifier) return tl::make_unexpected(identifier.error());
  }
  const std::size_t count_at = cursor.offset();
  const auto count = cursor.be32("operation count");
  if (!count) return tl::make_unexpected(count.error());
  compound.count = *count;
  if (compound.count > cursor.wire_left() / 4) {
    return tl::make_unexpected(DecodeError{Fault::invalid, "operation count", count_at});
  }
  if (compound.minor_version > 2) return compound;

  compound.operations.reserve(std::min(compound.count, operations_limit));
  const Walk first = walk(cursor, Data::unknown, callback, compound);
  if (!first.met_data || cursor.captured_left() != cursor.wire_left()) return compound;

  // The walk stopped at data that may be here or in a Read chunk. Where only one of the two makes the operations end
  // exactly at the end of the message, that is the answer; otherwise what the first walk found stands.
  Compound in_place{{}, compound.minor_version, compound.count, {}};
  Compound moved = in_place;
  const bool fits_in_place = walk(cursor, Data::in_place, callback, in_place).whole;
  const bool fits_moved = walk(cursor, Data::moved, callback, moved).whole;
  if (fits_in_place != fits_moved) compound.operations = std::move((fits_in_place ? in_place : moved).operations);
  return compound;
}

}  // namespace rpcrdma::wire
