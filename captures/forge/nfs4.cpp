// SPDX-License-Identifier: GPL-2.0-or-later
// NFSv4.1 and 4.2 (RFC 8881, 7862) COMPOUND and CB_COMPOUND with the operations that the stories use.
#include <algorithm>
#include <map>

#include "rpc.hpp"

namespace forge::nfs4 {
namespace {

enum Operation : std::uint32_t {
  access = 3,
  cb_recall = 4,
  cb_layoutrecall = 5,
  delegreturn = 8,
  getattr = 9,
  cb_sequence = 11,
  cb_offload = 15,
  lookup = 15,
  putfh = 22,
  putrootfh = 24,
  readdir = 26,
  restorefh = 31,
  savefh = 32,
  renew = 30,
  setclientid = 35,
  setclientid_confirm = 36,
  exchange_id = 42,
  setattr = 34,
  read = 25,
  readlink = 27,
  write = 38,
  bind_conn_to_session = 41,
  create_session = 43,
  destroy_session = 44,
  layoutreturn = 51,
  sequence = 53,
  destroy_clientid = 57,
  copy = 60,
  offload_cancel = 66,
  offload_status = 67,
  read_plus = 68
};

std::uint32_t number(const std::string& name) {
  static const std::map<std::string, std::uint32_t> numbers{{"access", access},
                                                            {"delegreturn", delegreturn},
                                                            {"lookup", lookup},
                                                            {"putrootfh", putrootfh},
                                                            {"restorefh", restorefh},
                                                            {"savefh", savefh},
                                                            {"layoutreturn", layoutreturn},
                                                            {"copy", copy},
                                                            {"offload_cancel", offload_cancel},
                                                            {"offload_status", offload_status},
                                                            {"cb_layoutrecall", cb_layoutrecall},
                                                            {"cb_offload", cb_offload},
                                                            {"getattr", getattr},
                                                            {"putfh", putfh},
                                                            {"read", read},
                                                            {"write", write},
                                                            {"readlink", readlink},
                                                            {"readdir", readdir},
                                                            {"exchange_id", exchange_id},
                                                            {"renew", renew},
                                                            {"setclientid", setclientid},
                                                            {"setclientid_confirm", setclientid_confirm},
                                                            {"read_plus", read_plus},
                                                            {"setattr", setattr},
                                                            {"sequence", sequence},
                                                            {"create_session", create_session},
                                                            {"destroy_session", destroy_session},
                                                            {"destroy_clientid", destroy_clientid},
                                                            {"create_session_fore", create_session},
                                                            {"bind_conn_fore", bind_conn_to_session},
                                                            {"bind_conn_both", bind_conn_to_session},
                                                            {"cb_recall", cb_recall},
                                                            {"cb_sequence", cb_sequence}};
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw Mistake("no NFSv4.1 operation '" + name + "' here");
  return found->second;
}

void session_id(Pen& pen, const Procedure& p) { pen.u64(0x53455353494F4E00ULL + p.session).u64(1 + p.story); }
void client_id(Pen& pen, const Procedure& p) { pen.u64(0x0102030405060708ULL + p.client); }
/// Which client, and which boot of it.
void client_owner(Pen& pen, const std::string& name, std::uint32_t boot, std::uint32_t owner) {
  pen.u32(0x424F4F54).u32(boot);
  put_string(pen, owner == 0 ? name : name + ' ' + std::to_string(owner));
}
void state_id(Pen& pen, std::uint32_t state = 9) { pen.u32(1).u64(0x1122334455667788ULL).u32(state); }
void file_handle(Pen& pen, const Procedure& p) {
  put_opaque(pen, Pen().u64(0x0100060000000000ULL).u64(129 + p.file).take());
}

/// Channel attributes: header pad, request, response and cached sizes, operations, requests, no RDMA IRD.
void channel(Pen& pen, std::uint32_t size, std::uint32_t slots) {
  pen.u32(0).u32(size).u32(size).u32(4096).u32(8).u32(slots).u32(0);
}

/// Entries of a directory, as many as `octets` have room for.
void entries(Pen& pen, std::size_t octets) {
  constexpr std::size_t entry = 216;
  for (std::uint32_t i = 1; i <= octets / entry; ++i) {
    pen.u32(1).u64(i + 2);
    put_string(pen, std::string(170, static_cast<char>('a' + i % 26)));
    pen.u32(1).u32(0x18).u32(16).u64(i).u64(4096);  // change, size
  }
  pen.u32(0).u32(1);  // no further entry; the end
}

/// write_response4 (RFC 7862 section 15.2): what a COPY has done, or will do.
void copied(Pen& pen, std::optional<std::uint32_t> state, std::uint64_t octets) {
  pen.u32(state ? 1 : 0);
  if (state) state_id(pen, *state);
  pen.u64(octets).u32(2).u64(0x5A5A000000000001ULL);  // FILE_SYNC4
}

/// `name`: tells forms of one operation apart.
void arguments(Pen& pen, std::vector<Item>& items, const std::string& name, const Procedure& p) {
  const std::size_t octets = p.octets;
  switch (number(name)) {
    case access:
      pen.u32(0x1F);
      break;
    case lookup:
      put_string(pen, "file");
      break;
    case putrootfh:
    case savefh:
    case restorefh:
      break;
    case delegreturn:
    case offload_status:
    case offload_cancel:
      state_id(pen, p.state);
      break;
    case copy:
      state_id(pen);
      state_id(pen);
      // from and to the start; consecutive; synchronous; within this server
      pen.u64(0).u64(0).u64(octets).u32(1).u32(p.asynchronous ? 0 : 1).u32(0);
      break;
    case layoutreturn:
      pen.u32(0).u32(1).u32(3).u32(1);  // no reclaim, LAYOUT4_NFSV4_1_FILES, LAYOUTIOMODE4_ANY, LAYOUTRETURN4_FILE
      pen.u64(0).u64(~0ULL);
      state_id(pen, p.state);
      pen.u32(0);
      break;
    case sequence:
      session_id(pen, p);
      pen.u32(p.request.value_or(1)).u32(0).u32(0).u32(0);
      break;
    case create_session:
      // client, sequence; is this connection the back channel, too?
      client_id(pen, p);
      pen.u32(1).u32(name == "create_session_fore" ? 0 : 2);
      channel(pen, 1 << 20U, 64);
      channel(pen, 4096, 2);
      pen.u32(0x40000000).u32(1).u32(0);  // callback program, one flavor: AUTH_NONE
      break;
    case destroy_session:
      session_id(pen, p);
      break;
    case destroy_clientid:
      client_id(pen, p);
      break;
    case bind_conn_to_session:
      session_id(pen, p);
      pen.u32(name == "bind_conn_fore" ? 1 : 7)
          .u32(0);  // FORE, or BACK_OR_BOTH; not in RDMA mode (RFC 8881 section 18.34)
      break;
    case putfh:
      file_handle(pen, p);
      break;
    case getattr:
      pen.u32(1).u32(0x18);  // change, size
      break;
    case read:
    case read_plus:
      state_id(pen);
      pen.u64(0).u32(octets);
      break;
    case readlink:
      break;
    case readdir:
      pen.u64(0).u64(0).u32(octets).u32(octets).u32(1).u32(0x18);  // from the start; change, size
      break;
    case renew:
      client_id(pen, p);
      break;
    case setclientid:
      client_owner(pen, "Linux NFSv4.0 client", p.state, p.owner);
      pen.u32(0x40000000);
      put_string(pen, "rdma");
      put_string(pen, "192.0.2.1.78.81");
      pen.u32(1);
      break;
    case setclientid_confirm:
      client_id(pen, p);
      pen.u64(0x434F4E4649524DULL);
      break;
    case exchange_id:
      client_owner(pen, "Linux NFSv4.1 client", p.state, p.owner);
      pen.u32(0x101).u32(0).u32(0);  // SUPP_MOVED_REFER, BIND_PRINC_STATEID; no protection; no implementation
      break;
    case setattr:
      state_id(pen);
      pen.u32(1).u32(0x10).u32(8).u64(1 << 20U);  // size
      break;
    case write:
      state_id(pen);
      pen.u64(0).u32(2);  // FILE_SYNC4
      put_data(pen, items, octets);
      break;
    default:
      throw Mistake("not an operation of the fore channel");
  }
}

void results(Pen& pen, std::vector<Item>& items, const std::string& name, const Procedure& p, std::uint32_t status) {
  const std::uint32_t operation = number(name);
  const std::size_t octets = p.octets;
  pen.u32(status);
  if (operation == setattr) pen.u32(1).u32(0x10);
  if (status != 0) return;
  switch (operation) {
    case sequence:
      session_id(pen, p);
      pen.u32(p.request.value_or(1)).u32(0).u32(63).u32(63).u32(p.sequence_flags);
      break;
    case access:
      pen.u32(0x1F).u32(0x1F);
      break;
    case delegreturn:
      break;
    case copy:
      if (p.asynchronous) {
        copied(pen, p.state, 0);
      } else {
        copied(pen, std::nullopt, octets);
      }
      pen.u32(1).u32(p.asynchronous ? 0 : 1);  // consecutive, synchronous
      break;
    case offload_status:
      pen.u64(octets).u32(p.complete ? 1 : 0);
      if (p.complete) pen.u32(*p.complete);
      break;
    case layoutreturn:
      pen.u32(0);  // no layout is left
      break;
    case create_session:
      session_id(pen, p);
      pen.u32(1).u32(name == "create_session_fore" ? 0 : 2);
      channel(pen, 1 << 20U, 64);
      channel(pen, 4096, 2);
      break;
    case bind_conn_to_session:
      session_id(pen, p);
      pen.u32(name == "bind_conn_fore" ? 1 : 3).u32(0);
      break;
    case getattr:
      pen.u32(1).u32(0x18).u32(16).u64(7).u64(1 << 20U);
      break;
    case read:
      pen.u32(0);
      put_data(pen, items, octets);
      break;
    case readlink:
      put_data(pen, items, octets);
      break;
    case readdir:
      pen.u64(1);
      entries(pen, octets);
      break;
    case setclientid:
      client_id(pen, p);
      pen.u64(0x434F4E4649524DULL);
      break;
    case exchange_id:
      client_id(pen, p);
      pen.u32(1).u32(0x20101U | (p.confirmed ? 0x80000000U : 0)).u32(0).u64(1);  // pNFS: not in use here
      put_string(pen, "server");
      put_string(pen, "server");
      pen.u32(0);
      break;
    case read_plus:
      pen.u32(0).u32(1).u32(0).u64(0);  // one segment: data
      put_data(pen, items, octets);
      break;
    case write:
      pen.u32(octets).u32(2).u64(0x5A5A000000000001ULL);
      break;
    default:
      break;
  }
}

/// How many operations a reply speaks of: the one that failed is the last.
std::size_t answered(const Procedure& p) {
  if (p.fails.empty()) return p.operations.size();
  const auto found = std::find(p.operations.begin(), p.operations.end(), p.fails);
  if (found == p.operations.end()) throw Mistake("there is no '" + p.fails + "' that could fail");
  return static_cast<std::size_t>(found - p.operations.begin()) + 1;
}

}  // namespace

void call(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == 0) return;
  put_string(pen, "");
  const auto newer = [](const std::string& name) { return number(name) >= copy; };
  const auto older = [](const std::string& name) {
    const std::uint32_t operation = number(name);
    return operation == renew || operation == setclientid || operation == setclientid_confirm;
  };
  const auto any = [&p](auto&& kind) { return std::any_of(p.operations.begin(), p.operations.end(), kind); };
  const std::uint32_t minor = any(newer) ? 2 : any(older) ? 0 : 1;
  pen.u32(minor).u32(p.operations.size());
  for (const std::string& name : p.operations) {
    pen.u32(number(name));
    arguments(pen, items, name, p);
  }
}

void reply(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == 0) return;
  pen.u32(p.nfs_status);
  put_string(pen, "");
  const std::size_t count = answered(p);
  pen.u32(count);
  for (std::size_t i = 0; i < count; ++i) {
    pen.u32(number(p.operations[i]));
    results(pen, items, p.operations[i], p, i + 1 == count ? p.nfs_status : 0);
  }
}

void callback_call(Pen& pen, const Procedure& p) {
  const bool newer = std::find(p.operations.begin(), p.operations.end(), "cb_offload") != p.operations.end();
  put_string(pen, "");
  pen.u32(newer ? 2 : 1).u32(0).u32(p.operations.size());
  for (const std::string& name : p.operations) {
    pen.u32(number(name));
    if (number(name) == cb_sequence) {
      session_id(pen, p);
      pen.u32(1).u32(0).u32(0).u32(0).u32(0);  // no referring calls
    } else if (number(name) == cb_layoutrecall) {
      pen.u32(1).u32(3).u32(0).u32(1);  // LAYOUT4_NFSV4_1_FILES, LAYOUTIOMODE4_ANY, not changed, LAYOUTRECALL4_FILE
      file_handle(pen, p);
      pen.u64(0).u64(~0ULL);
      state_id(pen, p.state);
    } else if (number(name) == cb_offload) {
      file_handle(pen, p);
      state_id(pen, p.state);
      pen.u32(p.complete.value_or(0));
      if (p.complete.value_or(0) == 0) {
        copied(pen, std::nullopt, p.octets);
      } else {
        pen.u64(p.octets);
      }
    } else {
      state_id(pen, p.state);
      pen.u32(0);
      file_handle(pen, p);
    }
  }
}

void callback_reply(Pen& pen, const Procedure& p) {
  pen.u32(p.nfs_status);
  put_string(pen, "");
  const std::size_t count = answered(p);
  pen.u32(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t status = i + 1 == count ? p.nfs_status : 0;
    pen.u32(number(p.operations[i])).u32(status);
    if (number(p.operations[i]) != cb_sequence || status != 0) continue;
    session_id(pen, p);
    pen.u32(1).u32(0).u32(1).u32(1);
  }
}

}  // namespace forge::nfs4
