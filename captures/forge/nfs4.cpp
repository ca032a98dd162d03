// SPDX-License-Identifier: GPL-2.0-or-later
// NFSv4.1 and 4.2 (RFC 8881, 7862) COMPOUND and CB_COMPOUND with the operations that the stories use.
#include <algorithm>
#include <map>

#include "rpc.hpp"

namespace forge::nfs4 {
namespace {

enum Operation : std::uint32_t {
  cb_recall = 4,
  getattr = 9,
  cb_sequence = 11,
  putfh = 22,
  readdir = 26,
  exchange_id = 42,
  setattr = 34,
  read = 25,
  readlink = 27,
  write = 38,
  bind_conn_to_session = 41,
  create_session = 43,
  sequence = 53,
  read_plus = 68
};

std::uint32_t number(const std::string& name) {
  static const std::map<std::string, std::uint32_t> numbers{{"getattr", getattr},
                                                            {"putfh", putfh},
                                                            {"read", read},
                                                            {"write", write},
                                                            {"readlink", readlink},
                                                            {"readdir", readdir},
                                                            {"exchange_id", exchange_id},
                                                            {"read_plus", read_plus},
                                                            {"setattr", setattr},
                                                            {"sequence", sequence},
                                                            {"create_session", create_session},
                                                            {"create_session_fore", create_session},
                                                            {"bind_conn_fore", bind_conn_to_session},
                                                            {"bind_conn_both", bind_conn_to_session},
                                                            {"cb_recall", cb_recall},
                                                            {"cb_sequence", cb_sequence}};
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw Mistake("no NFSv4.1 operation '" + name + "' here");
  return found->second;
}

void session_id(Pen& pen) { pen.u64(0x53455353494F4E00ULL).u64(1); }
void state_id(Pen& pen) { pen.u32(1).u64(0x1122334455667788ULL).u32(9); }
void file_handle(Pen& pen) { put_opaque(pen, Pen().u64(0x0100060000000000ULL).u64(129).take()); }

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

/// `name`: tells forms of one operation apart.
void arguments(Pen& pen, std::vector<Item>& items, const std::string& name, std::size_t octets) {
  switch (number(name)) {
    case sequence:
      session_id(pen);
      pen.u32(1).u32(0).u32(0).u32(0);
      break;
    case create_session:
      // client, sequence; is this connection the back channel, too?
      pen.u64(0x0102030405060708ULL).u32(1).u32(name == "create_session_fore" ? 0 : 2);
      channel(pen, 1 << 20U, 64);
      channel(pen, 4096, 2);
      pen.u32(0x40000000).u32(1).u32(0);  // callback program, one flavor: AUTH_NONE
      break;
    case bind_conn_to_session:
      session_id(pen);
      pen.u32(name == "bind_conn_fore" ? 1 : 7)
          .u32(0);  // FORE, or BACK_OR_BOTH; not in RDMA mode (RFC 8881 section 18.34)
      break;
    case putfh:
      file_handle(pen);
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
    case exchange_id:
      pen.u64(0x56455249464945ULL);
      put_string(pen, "Linux NFSv4.1 client");
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

void results(Pen& pen, std::vector<Item>& items, const std::string& name, std::size_t octets, std::uint32_t status) {
  const std::uint32_t operation = number(name);
  pen.u32(status);
  if (operation == setattr) pen.u32(1).u32(0x10);
  if (status != 0) return;
  switch (operation) {
    case sequence:
      session_id(pen);
      pen.u32(1).u32(0).u32(63).u32(63).u32(0);
      break;
    case create_session:
      session_id(pen);
      pen.u32(1).u32(name == "create_session_fore" ? 0 : 2);
      channel(pen, 1 << 20U, 64);
      channel(pen, 4096, 2);
      break;
    case bind_conn_to_session:
      session_id(pen);
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
    case exchange_id:
      pen.u64(0x0102030405060708ULL).u32(1).u32(0x20101).u32(0).u64(1);  // pNFS: not in use here
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

}  // namespace

void call(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == 0) return;
  put_string(pen, "");
  const auto newer = [](const std::string& name) { return number(name) >= read_plus; };
  const std::uint32_t minor = std::any_of(p.operations.begin(), p.operations.end(), newer) ? 2 : 1;
  pen.u32(minor).u32(p.operations.size());
  for (const std::string& name : p.operations) {
    pen.u32(number(name));
    arguments(pen, items, name, p.octets);
  }
}

void reply(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == 0) return;
  pen.u32(p.nfs_status);
  put_string(pen, "");
  pen.u32(p.operations.size());
  for (std::size_t i = 0; i < p.operations.size(); ++i) {
    pen.u32(number(p.operations[i]));
    results(pen, items, p.operations[i], p.octets, i + 1 == p.operations.size() ? p.nfs_status : 0);
  }
}

void callback_call(Pen& pen, const Procedure& p) {
  put_string(pen, "");
  pen.u32(1).u32(0).u32(p.operations.size());
  for (const std::string& name : p.operations) {
    pen.u32(number(name));
    if (number(name) == cb_sequence) {
      session_id(pen);
      pen.u32(1).u32(0).u32(0).u32(0).u32(0);  // no referring calls
    } else {
      state_id(pen);
      pen.u32(0);
      file_handle(pen);
    }
  }
}

void callback_reply(Pen& pen, const Procedure& p) {
  pen.u32(0);
  put_string(pen, "");
  pen.u32(p.operations.size());
  for (const std::string& name : p.operations) {
    pen.u32(number(name)).u32(0);
    if (number(name) != cb_sequence) continue;
    session_id(pen);
    pen.u32(1).u32(0).u32(1).u32(1);
  }
}

}  // namespace forge::nfs4
