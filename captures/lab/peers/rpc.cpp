// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpc.hpp"

#include <stdexcept>
#include <string>

namespace lab {

namespace {

constexpr std::uint32_t kNfs = 100003;
constexpr std::uint32_t kCall = 0, kReply = 1;
constexpr std::string_view kHandle = "lab-file";

Writer call_header(std::uint32_t xid, std::uint32_t version, std::uint32_t procedure) {
  Writer out;
  out.u32(xid).u32(kCall).u32(2).u32(kNfs).u32(version).u32(procedure);
  const Octets credential = Writer().u32(0).opaque("lab").u32(0).u32(0).u32(0).octets();  // root, no groups
  if (procedure == 0) {
    out.u32(0).u32(0);
  } else {
    out.u32(1).opaque(credential);  // AUTH_SYS
  }
  out.u32(0).u32(0);  // verifier: none
  return out;
}

void attributes(Writer& out) {
  out.u32(1).u32(0644).u32(1).u32(0).u32(0);  // a plain file of root's
  out.u64(65536).u64(65536).u32(0).u32(0).u64(77).u64(42);
  for (int i = 0; i < 3; ++i) out.u32(1700000000).u32(0);
}

void entries(Writer& out, std::uint32_t room) {
  std::uint64_t number = 1;
  const std::string stem = "a-file-of-the-lab-number-";
  for (std::size_t used = 0; used + 64 < room; ++number) {
    const Octets entry = Writer().u32(1).u64(number).opaque(stem + std::to_string(100 + number)).u64(number).octets();
    out.raw(entry);
    used += entry.size();
  }
  out.u32(0).u32(1);  // no more; the end
}

}  // namespace

Octets encoded(const Call& call) {
  Writer out = call_header(call.xid, 3, static_cast<std::uint32_t>(call.procedure));
  if (call.procedure == Nfs3::null) return out.octets();
  out.opaque(kHandle);
  switch (call.procedure) {
    case Nfs3::read:
      out.u64(0).u32(call.count);
      break;
    case Nfs3::write:
      out.u64(0).u32(call.count).u32(2).u32(call.count);
      if (!call.reduced) {
        const Octets data = pattern(call.count);
        out.raw(data).raw(Octets(padded(data.size()) - data.size()));
      }
      break;
    case Nfs3::readdir:
      out.u64(0).u64(0).u32(call.count);
      break;
    default:
      break;
  }
  return out.octets();
}

std::size_t data_position(const Call& call) {
  Call without = call;
  without.reduced = true;
  return encoded(without).size();
}

Call decoded_call(const Octets& message, bool reduced) {
  Reader in(message);
  Call call;
  call.xid = in.u32();
  if (in.u32() != kCall || in.u32() != 2 || in.u32() != kNfs || in.u32() != 3)
    throw std::runtime_error("not a call of NFSv3");
  call.procedure = static_cast<Nfs3>(in.u32());
  for (int i = 0; i < 2; ++i) {
    in.u32();
    in.opaque();
  }
  call.reduced = reduced;
  if (call.procedure == Nfs3::null) return call;
  in.opaque();
  switch (call.procedure) {
    case Nfs3::read:
      in.u64();
      call.count = in.u32();
      break;
    case Nfs3::write:
      in.u64();
      call.count = in.u32();
      in.u32();
      if (in.u32() != call.count) throw std::runtime_error("a WRITE of two lengths");
      if (!reduced) in.raw(padded(call.count));
      break;
    case Nfs3::readdir:
      in.u64();
      in.u64();
      call.count = in.u32();
      break;
    case Nfs3::readlink:
      call.count = 3000;  // how long our links are
      break;
    default:
      break;
  }
  return call;
}

Octets reply_to(const Call& call, bool reduced) {
  Writer out;
  out.u32(call.xid).u32(kReply).u32(0).u32(0).u32(0).u32(0);  // accepted, no verifier, success
  if (call.procedure == Nfs3::null) return out.octets();
  out.u32(0);  // NFS3_OK
  switch (call.procedure) {
    case Nfs3::getattr:
      attributes(out);
      break;
    case Nfs3::readlink:
      out.u32(0).opaque(Octets(call.count, 'x'));
      break;
    case Nfs3::read:
      out.u32(0).u32(call.count).u32(0);
      if (reduced) {
        out.u32(call.count);
      } else {
        out.opaque(pattern(call.count));
      }
      break;
    case Nfs3::write:
      out.u32(0).u32(0).u32(call.count).u32(2).u64(7);
      break;
    case Nfs3::readdir:
      out.u32(0).u64(0);
      entries(out, call.count);
      break;
    default:
      throw std::runtime_error("a procedure that this server does not know");
  }
  return out.octets();
}

Octets nfs4_null(std::uint32_t xid) { return call_header(xid, 4, 0).octets(); }

Octets nfs4_root_attributes(std::uint32_t xid) {
  Writer out = call_header(xid, 4, 1);
  out.opaque("lab").u32(0).u32(2);    // tag, minor version 0, two operations
  out.u32(24);                        // PUTROOTFH
  out.u32(9).u32(1).u32(0x0010011a);  // GETATTR: type, change, size, fsid, fileid
  return out.octets();
}

}  // namespace lab
