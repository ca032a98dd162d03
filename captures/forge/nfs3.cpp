// SPDX-License-Identifier: GPL-2.0-or-later
// NFSv3 (RFC 1813): NULL, GETATTR, LOOKUP, READLINK, READ, WRITE, SYMLINK, READDIRPLUS.
#include <string>

#include "rpc.hpp"

namespace forge::nfs3 {
namespace {

enum Number : std::uint32_t {
  null = 0,
  getattr = 1,
  lookup = 3,
  readlink = 5,
  read = 6,
  write = 7,
  symlink = 10,
  readdirplus = 17
};
constexpr std::size_t octets_of_an_entry = 176;  ///< of READDIRPLUS with the names used here, roughly

void file_handle(Pen& pen, std::uint64_t file) {
  put_opaque(pen, Pen().u64(0x0100070000000000ULL).zeros(16).u64(file).take());
}

void attributes(Pen& pen, std::uint32_t type, std::uint64_t file) {
  pen.u32(type).u32(type == 2 ? 0755 : 0644).u32(1).u32(0).u32(0).u64(1 << 20U).u64(1 << 20U).u64(0);
  pen.u64(0x77).u64(file);
  for (int i = 0; i < 3; ++i) pen.u32(1735689600).u32(0);  // atime, mtime, ctime
}

void optional_attributes(Pen& pen, std::uint32_t type, std::uint64_t file) {
  pen.u32(1);
  attributes(pen, type, file);
}

void directory(Pen& pen, std::size_t octets) {
  optional_attributes(pen, 2, 128);
  pen.u64(0);  // cookie verifier
  const std::size_t entries = octets / octets_of_an_entry + 1;
  for (std::size_t i = 1; i <= entries; ++i) {
    pen.u32(1).u64(128 + i);
    put_string(pen, "file" + std::to_string(1000 + i));
    pen.u64(i);
    optional_attributes(pen, 1, 128 + i);
    pen.u32(1);
    file_handle(pen, 128 + i);
  }
  pen.u32(0).u32(1);  // no further entry, end of the directory
}

}  // namespace

void call(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == null) return;
  file_handle(pen, p.number == readdirplus || p.number == lookup ? 128 : 129);
  if (p.number == lookup) put_string(pen, "file");
  if (p.number == read) pen.u64(0).u32(p.octets);
  if (p.number == write) {
    pen.u64(0).u32(p.octets).u32(2);  // FILE_SYNC
    put_data(pen, items, p.octets);
  }
  if (p.number == symlink) {
    put_string(pen, "link");
    pen.zeros(24);  // no attribute is set
    put_data(pen, items, p.octets);
  }
  if (p.number == readdirplus) pen.u64(0).u64(0).u32(p.octets).u32(p.octets + 4096);
}

void reply(Pen& pen, std::vector<Item>& items, const Procedure& p) {
  if (p.number == null) return;
  pen.u32(p.nfs_status);
  if (p.nfs_status != 0) {
    if (p.number != getattr) pen.u32(0);                       // no attributes
    if (p.number == write || p.number == symlink) pen.u32(0);  // neither from before nor from after
    return;
  }
  switch (p.number) {
    case getattr:
      attributes(pen, 1, 129);
      break;
    case lookup:
      file_handle(pen, 129);
      optional_attributes(pen, 1, 129);
      optional_attributes(pen, 2, 128);
      break;
    case readlink:
      optional_attributes(pen, 5, 129);
      put_data(pen, items, p.octets);
      break;
    case symlink:
      pen.u32(0).u32(0).u32(0).u32(0);  // no handle, no attributes
      break;
    case read:
      optional_attributes(pen, 1, 129);
      pen.u32(p.octets).u32(0);
      put_data(pen, items, p.octets);
      break;
    case write:
      pen.u32(0);
      optional_attributes(pen, 1, 129);
      pen.u32(p.octets).u32(2).u64(0x5A5A000000000001ULL);
      break;
    case readdirplus:
      directory(pen, p.octets);
      break;
    default:
      break;
  }
}

}  // namespace forge::nfs3
