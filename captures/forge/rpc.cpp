// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpc.hpp"

#include <map>

namespace forge {
namespace {

constexpr std::uint32_t message_call = 0;
constexpr std::uint32_t message_reply = 1;
constexpr std::uint32_t auth_none = 0;
constexpr std::uint32_t auth_sys = 1;
constexpr std::uint32_t rpcsec_gss = 6;
constexpr std::size_t gss_checksum = 28;
constexpr std::uint32_t nfs_program = 100003;
constexpr std::uint32_t callback_program = 0x40000000;

void auth_sys_credential(Pen& pen) {
  Pen body;
  body.u32(0x00C0FFEE);
  put_string(body, "client");
  body.u32(0).u32(0).u32(0);  // root, no further groups
  pen.u32(auth_sys);
  put_opaque(pen, body.take());
}

void gss_credential(Pen& pen, Procedure::Gss service) {
  constexpr std::uint32_t data = 0;
  constexpr std::uint32_t destroy = 3;
  const bool leaves = service == Procedure::Gss::destroy;
  const auto number = static_cast<std::uint32_t>(leaves ? Procedure::Gss::none : service);
  Pen body;
  body.u32(1).u32(leaves ? destroy : data).u32(1).u32(number);  // version 1, procedure, sequence
  put_string(body, "context handle");
  pen.u32(rpcsec_gss);
  put_opaque(pen, body.take());
}

/// A context is asked for: RPCSEC_GSS_INIT, no handle yet.
void gss_init_credential(Pen& pen) {
  Pen body;
  body.u32(1).u32(1).u32(0).u32(1);
  put_string(body, "");
  pen.u32(rpcsec_gss);
  put_opaque(pen, body.take());
}

/// rpc_gss_init_res (RFC 2203 section 5.2.3.1). Who is refused gets no handle.
void gss_init_result(Pen& pen, std::uint32_t major) {
  constexpr std::uint32_t continue_needed = 1;
  const bool refused = major > continue_needed;
  put_string(pen, refused ? "" : "context handle");
  pen.u32(major).u32(refused ? 0x25EA101 : 0).u32(refused ? 0 : 128);  // minor status, sequence window
  put_opaque(pen, refused ? Octets{} : pattern(4, 80));
}

/// Arguments or results behind their header, as the service has them; the places of their items move along.
RpcMessage together(Pen head, Pen inner, std::vector<Item> items, Procedure::Gss service) {
  const Octets body = inner.take();
  if (service == Procedure::Gss::integrity) head.u32(body.size() + 4).u32(1);
  if (service == Procedure::Gss::privacy) head.u32(body.size());  // which nobody here encrypts
  for (Item& item : items) item.offset += head.size();
  head.add(body);
  if (service == Procedure::Gss::integrity) put_opaque(head, pattern(1, gss_checksum));
  return {head.take(), std::move(items)};
}

}  // namespace

void put_opaque(Pen& pen, const Octets& octets) {
  pen.u32(octets.size()).add(octets).zeros((4 - octets.size() % 4) % 4);
}

void put_string(Pen& pen, std::string_view text) { put_opaque(pen, Octets(text.begin(), text.end())); }

void put_data(Pen& pen, std::vector<Item>& items, std::size_t length) {
  items.push_back({pen.size() + 4, length});
  put_opaque(pen, pattern(length, length));
}

Procedure Procedure::nfs3(const std::string& name) {
  static const std::map<std::string, std::uint32_t> numbers{{"null", 0},     {"getattr", 1},     {"lookup", 3},
                                                            {"readlink", 5}, {"read", 6},        {"write", 7},
                                                            {"symlink", 10}, {"readdirplus", 17}};
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw Mistake("no NFSv3 procedure '" + name + "' here");
  Procedure p;
  p.kind = Kind::nfs3;
  p.program = nfs_program;
  p.version = 3;
  p.number = found->second;
  return p;
}

Procedure Procedure::compound(std::vector<std::string> operations) {
  Procedure p;
  p.kind = Kind::compound;
  p.program = nfs_program;
  p.version = 4;
  p.number = 1;
  p.operations = std::move(operations);
  return p;
}

Procedure Procedure::callback(std::vector<std::string> operations) {
  Procedure p = compound(std::move(operations));
  p.kind = Kind::callback;
  p.program = callback_program;
  p.version = 1;
  return p;
}

namespace {

/// Each request has another number in its slot, and keeps it when it is sent again with its XID.
Procedure numbered(Procedure p, std::uint32_t xid) {
  if (!p.request) p.request = xid;
  return p;
}

}  // namespace

RpcMessage rpc_call(const Procedure& p, std::uint32_t xid) {
  std::vector<Item> items;
  Pen pen;
  pen.u32(xid).u32(message_call).u32(2).u32(p.program).u32(p.version).u32(p.number);
  if (p.gss == Procedure::Gss::context) {
    gss_init_credential(pen);
    pen.u32(auth_none).u32(0);
    put_opaque(pen, pattern(5, 256));
    return {pen.take(), {}};
  }
  if (p.gss != Procedure::Gss::no) {
    gss_credential(pen, p.gss);
    pen.u32(rpcsec_gss);
    put_opaque(pen, pattern(2, gss_checksum));
  } else {
    if (p.kind == Procedure::Kind::generic || p.number == 0) {
      pen.u32(auth_none).u32(0);
    } else {
      auth_sys_credential(pen);
    }
    pen.u32(auth_none).u32(0);
  }
  Pen body;
  switch (p.kind) {
    case Procedure::Kind::generic:
      body.add(p.body ? *p.body : pattern(xid, p.octets));
      break;
    case Procedure::Kind::nfs3:
      nfs3::call(body, items, p);
      break;
    case Procedure::Kind::compound:
      nfs4::call(body, items, numbered(p, xid));
      break;
    case Procedure::Kind::callback:
      nfs4::callback_call(body, p);
      break;
  }
  return together(std::move(pen), std::move(body), std::move(items), p.gss);
}

RpcMessage rpc_reply(const Procedure& p, std::uint32_t xid, std::uint32_t status) {
  std::vector<Item> items;
  Pen pen;
  pen.u32(xid).u32(message_reply).u32(0);
  const bool refused_context = p.gss == Procedure::Gss::context && p.gss_major > 1;
  if (p.gss != Procedure::Gss::no && !refused_context) {
    pen.u32(rpcsec_gss);
    put_opaque(pen, pattern(3, gss_checksum));
  } else {
    pen.u32(auth_none).u32(0);
  }
  pen.u32(status);
  constexpr std::uint32_t program_mismatch = 2;
  if (status == program_mismatch) pen.u32(3).u32(4);  // the versions that it has
  if (status != 0) return {pen.take(), {}};
  if (p.gss == Procedure::Gss::context) {
    gss_init_result(pen, p.gss_major);
    return {pen.take(), {}};
  }
  Pen body;
  switch (p.kind) {
    case Procedure::Kind::generic:
      body.add(p.body ? *p.body : pattern(xid, p.octets));
      break;
    case Procedure::Kind::nfs3:
      nfs3::reply(body, items, p);
      break;
    case Procedure::Kind::compound:
      nfs4::reply(body, items, numbered(p, xid));
      break;
    case Procedure::Kind::callback:
      nfs4::callback_reply(body, p);
      break;
  }
  return together(std::move(pen), std::move(body), std::move(items), p.gss);
}

RpcMessage rpc_denied(std::uint32_t xid, std::uint32_t auth_status) {
  constexpr std::uint32_t denied = 1;
  constexpr std::uint32_t auth_error = 1;
  Pen pen;
  pen.u32(xid).u32(message_reply).u32(denied).u32(auth_error).u32(auth_status);
  return {pen.take(), {}};
}

}  // namespace forge
