// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_walk.hpp"

#include <algorithm>
#include <string_view>

#include "wire/nfs4_places.hpp"
#include "wire/nfs4_walker.hpp"

namespace rpcrdma::wire {
namespace {

using nfs4::Walker;

constexpr std::size_t handle_v2 = 32;
// As Walker::shape(). Type, mode, links, user, group, size, blocks, device, file system, number, three times
constexpr std::string_view attributes_v2 = "wwwppwwwwwwttt";
constexpr std::string_view settable_v2 = "wppwtt";
constexpr std::string_view attributes_v3 = "wwwppddwwddttt";
constexpr std::string_view before_attributes_v3 = "dtt";  // wcc_attr: size and two times

/// One word that says whether something follows.
bool optional(Walker& w, std::string_view items) {
  bool present = false;
  return w.boolean(present) && (!present || w.shape(items));
}

bool optional_handle(Walker& w) {
  bool present = false;
  return w.boolean(present) && (!present || w.shape("o"));
}

// wcc_data
bool change(Walker& w) { return optional(w, before_attributes_v3) && optional(w, attributes_v3); }

// sattr3: mode, uid, gid, size, two times
bool settable(Walker& w) {
  for (const std::string_view item : {"w", "p", "p", "d"}) {
    if (!optional(w, item)) return false;
  }
  for (int time = 0; time < 2; ++time) {
    std::uint32_t how = 0;
    if (!w.word(how) || how > 2 || (how == 2 && !w.shape("t"))) return false;
  }
  return true;
}

bool create_arguments(Walker& w) {
  std::uint32_t how = 0;
  if (!w.shape("oo") || !w.word(how) || how > 2) return false;
  return how == 2 ? w.shape("d") : settable(w);
}

bool make_node_arguments(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("oo") || !w.word(type)) return false;
  const bool device = type == 3 || type == 4;
  const bool attributes = device || type == 6 || type == 7;
  return (!attributes || settable(w)) && (!device || w.shape("d"));
}

bool arguments_v3(Walker& w, std::uint32_t procedure) {
  switch (procedure) {
    case 1:   // GETATTR
    case 5:   // READLINK
    case 18:  // FSSTAT, FSINFO, PATHCONF
    case 19:
    case 20:
      return w.shape("o");
    case 2: {  // SETATTR, with a guard
      bool guarded = false;
      return w.shape("o") && settable(w) && w.boolean(guarded) && (!guarded || w.shape("t"));
    }
    case 3:  // LOOKUP, REMOVE, RMDIR, LINK: two handles and a name are alike
    case 12:
    case 13:
      return w.shape("oo");
    case 4:  // ACCESS
      return w.shape("ow");
    case 6:   // READ
    case 21:  // COMMIT
      return w.shape("odw");
    case 7:  // WRITE
      return w.shape("odwwD");
    case 8:
      return create_arguments(w);
    case 9:  // MKDIR
      return w.shape("oo") && settable(w);
    case 10:  // SYMLINK
      return w.shape("oo") && settable(w) && w.shape("D");
    case 11:
      return make_node_arguments(w);
    case 14:  // RENAME
      return w.shape("oooo");
    case 15:
      return w.shape("ooo");
    case 16:  // READDIR
      return w.shape("oddw");
    case 17:  // READDIRPLUS
      return w.shape("oddww");
    default:
      return procedure == 0;
  }
}

bool directory(Walker& w, bool plus) {
  if (!w.shape("d")) return false;  // verifier
  for (;;) {                        // each entry takes 20 octets or more
    bool another = false;
    if (!w.boolean(another)) return false;
    if (!another) return w.shape("w");
    if (!w.shape("dod")) return false;
    if (plus && !(optional(w, attributes_v3) && optional_handle(w))) return false;
  }
}

bool results_v3(Walker& w, std::uint32_t procedure) {
  if (procedure == 0) return true;
  std::uint32_t status = 0;
  if (!w.word(status)) return false;
  const bool ok = status == 0;
  switch (procedure) {
    case 1:
      return !ok || w.shape(attributes_v3);
    case 2:
      return change(w);
    case 3:
      return (!ok || w.shape("o")) && (!ok || optional(w, attributes_v3)) && optional(w, attributes_v3);
    case 4:
      return optional(w, attributes_v3) && (!ok || w.shape("w"));
    case 5:
      return optional(w, attributes_v3) && (!ok || w.shape("D"));
    case 6:
      return optional(w, attributes_v3) && (!ok || w.shape("wwD"));
    case 7:
      return change(w) && (!ok || w.shape("wwd"));
    case 8:  // CREATE, MKDIR, SYMLINK, MKNOD
    case 9:
    case 10:
    case 11:
      return (!ok || (optional_handle(w) && optional(w, attributes_v3))) && change(w);
    case 12:  // REMOVE, RMDIR
    case 13:
      return change(w);
    case 14:
      return change(w) && change(w);
    case 15:
      return optional(w, attributes_v3) && change(w);
    case 16:
    case 17:
      return optional(w, attributes_v3) && (!ok || directory(w, procedure == 17));
    case 18:
      return optional(w, attributes_v3) && (!ok || w.shape("ddddddw"));
    case 19:
      return optional(w, attributes_v3) && (!ok || w.shape("wwwwwwwddw"));
    case 20:
      return optional(w, attributes_v3) && (!ok || w.shape("wwwwww"));
    case 21:
      return change(w) && (!ok || w.shape("d"));
    default:
      return false;
  }
}

/// The handle, of no counted length, is passed over like what is not understood.
bool arguments_v2(Walker& w, std::uint32_t procedure) {
  switch (procedure) {
    case 1:  // GETATTR, READLINK, STATFS
    case 5:
    case 17:
      return w.skip(handle_v2);
    case 2:  // SETATTR
      return w.skip(handle_v2) && w.shape(settable_v2);
    case 4:  // LOOKUP, REMOVE, RMDIR
    case 10:
    case 15:
      return w.skip(handle_v2) && w.shape("o");
    case 6:  // READ
      return w.skip(handle_v2) && w.shape("www");
    case 8:  // WRITE
      return w.skip(handle_v2) && w.shape("wwwD");
    case 9:  // CREATE, MKDIR
    case 14:
      return w.skip(handle_v2) && w.shape("o") && w.shape(settable_v2);
    case 11:  // RENAME
      return w.skip(handle_v2) && w.shape("o") && w.skip(handle_v2) && w.shape("o");
    case 12:  // LINK
      return w.skip(handle_v2) && w.skip(handle_v2) && w.shape("o");
    case 13:  // SYMLINK
      return w.skip(handle_v2) && w.shape("oD") && w.shape(settable_v2);
    case 16:  // READDIR
      return w.skip(handle_v2) && w.shape("ww");
    default:
      return procedure == 0;
  }
}

bool results_v2(Walker& w, std::uint32_t procedure) {
  if (procedure == 0) return true;
  std::uint32_t status = 0;
  if (!w.word(status)) return false;
  if (status != 0) return true;
  switch (procedure) {
    case 1:  // GETATTR, SETATTR, WRITE
    case 2:
    case 8:
      return w.shape(attributes_v2);
    case 4:  // LOOKUP, CREATE, MKDIR
    case 9:
    case 14:
      return w.skip(handle_v2) && w.shape(attributes_v2);
    case 5:
      return w.shape("D");
    case 6:
      return w.shape(attributes_v2) && w.shape("D");
    case 17:
      return w.shape("wwwww");
    default:
      return true;
  }
}

bool old_version(const Asked& asked) noexcept {
  return asked.program == nfs_program && (asked.version == 2 || asked.version == 3);
}

/// What stands behind the RPC header; nothing where it is protected.
template <class Read>
void walk_old(Bytes message, std::size_t wire_length, std::size_t body, const DataPlaces& known, ItemWatch& watch,
              Read&& read) {
  Cursor cursor(message, wire_length);
  if (!cursor.take(body, "header")) return;
  nfs4::read_with_places(known, cursor.captured_left() != cursor.wire_left(), &watch, [&](nfs4::Places& places) {
    Walker walker(cursor, places);
    return read(walker) && walker.at_end();
  });
}

}  // namespace

void walk_call(Bytes message, std::size_t wire_length, const DataPlaces& places, ItemWatch& watch) {
  wire_length = std::max(wire_length, message.size());
  const auto call = decode_rpc_call(message, wire_length);
  if (!call) return;
  if (!old_version({call->program, call->version, call->procedure, {}})) {
    CallSteps steps;
    read_call_steps(message, wire_length, places, steps, &watch);
    return;
  }
  if (protection_of(*call) != Protection::none) return;
  walk_old(message, wire_length, call->body, places, watch, [&](Walker& w) {
    return call->version == 3 ? arguments_v3(w, call->procedure) : arguments_v2(w, call->procedure);
  });
}

void walk_reply(Bytes message, std::size_t wire_length, const Asked& asked, const DataPlaces& places,
                ItemWatch& watch) {
  wire_length = std::max(wire_length, message.size());
  if (!old_version(asked)) {
    ReplySteps steps;
    read_reply_steps(message, wire_length, asked, places, steps, &watch);
    return;
  }
  const auto reply = decode_rpc_reply(message, wire_length);
  if (!reply || !reply->succeeded()) return;
  if (reply->flavor == flavor_gss && asked.protection != Protection::none) return;
  walk_old(message, wire_length, reply->body, places, watch, [&](Walker& w) {
    return asked.version == 3 ? results_v3(w, asked.procedure) : results_v2(w, asked.procedure);
  });
}

}  // namespace rpcrdma::wire
