// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpc.hpp"

#include <map>

namespace forge {
namespace {

constexpr std::uint32_t message_call = 0;
constexpr std::uint32_t message_reply = 1;
constexpr std::uint32_t auth_none = 0;
constexpr std::uint32_t auth_sys = 1;
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
  static const std::map<std::string, std::uint32_t> numbers{
      {"null", 0}, {"getattr", 1}, {"read", 6}, {"write", 7}, {"readdirplus", 17}};
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

RpcMessage rpc_call(const Procedure& p, std::uint32_t xid) {
  RpcMessage m;
  Pen pen;
  pen.u32(xid).u32(message_call).u32(2).u32(p.program).u32(p.version).u32(p.number);
  if (p.kind == Procedure::Kind::generic || p.number == 0) {
    pen.u32(auth_none).u32(0);
  } else {
    auth_sys_credential(pen);
  }
  pen.u32(auth_none).u32(0);
  switch (p.kind) {
    case Procedure::Kind::generic:
      pen.add(pattern(xid, p.octets));
      break;
    case Procedure::Kind::nfs3:
      nfs3::call(pen, m.items, p);
      break;
    case Procedure::Kind::compound:
      nfs4::call(pen, m.items, p);
      break;
    case Procedure::Kind::callback:
      nfs4::callback_call(pen, p);
      break;
  }
  m.octets = pen.take();
  return m;
}

RpcMessage rpc_reply(const Procedure& p, std::uint32_t xid, std::uint32_t status) {
  RpcMessage m;
  Pen pen;
  pen.u32(xid).u32(message_reply).u32(0).u32(auth_none).u32(0).u32(status);
  if (status == 0) {
    switch (p.kind) {
      case Procedure::Kind::generic:
        pen.add(pattern(xid, p.octets));
        break;
      case Procedure::Kind::nfs3:
        nfs3::reply(pen, m.items, p);
        break;
      case Procedure::Kind::compound:
        nfs4::reply(pen, m.items, p);
        break;
      case Procedure::Kind::callback:
        nfs4::callback_reply(pen, p);
        break;
    }
  }
  m.octets = pen.take();
  return m;
}

}  // namespace forge
