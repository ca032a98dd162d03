// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma.hpp"

#include "fuzz_input.hpp"
#include "wire/fields.hpp"

using rpcrdma::fuzz::require;
namespace wire = rpcrdma::wire;

namespace {

std::size_t octets_of(const wire::WriteChunk& chunk) { return chunk.size() * 16; }

// The octets that the decoded items took. A complete header has nothing else in it.
std::size_t octets_of(const wire::HeaderV1& header) {
  std::size_t octets = 16;
  switch (static_cast<wire::Proc>(header.fixed.proc)) {
    case wire::Proc::msgp:
      octets += 8;
      [[fallthrough]];
    case wire::Proc::msg:
    case wire::Proc::nomsg:
      octets += 12 + header.reads.size() * 24;
      for (const auto& chunk : header.writes) octets += 8 + octets_of(chunk);
      if (header.reply) octets += 4 + octets_of(*header.reply);
      break;
    case wire::Proc::error:
      octets += header.error == wire::err_vers ? 12 : 4;
      break;
    case wire::Proc::done:
      break;
  }
  return octets;
}

void require_equal(const wire::HeaderV1& a, const wire::HeaderV1& b) {
  require(a.fixed.xid == b.fixed.xid && a.fixed.proc == b.fixed.proc && a.length == b.length);
  require(a.reads.size() == b.reads.size() && a.writes == b.writes && a.reply == b.reply);
}

/// Fields lie one behind the other, inside of the octets.
class InOrder final : public wire::FieldVisitor {
 public:
  explicit InOrder(std::size_t octets) : octets_(octets) {}
  void on(const wire::FieldAt& field) override {
    require(field.offset == end && field.length > 0 && field.length <= octets_ - field.offset);
    require(!wire::field_text(field.field).name.empty());
    end += field.length;
  }
  void payload(std::size_t offset) override { require(offset == end); }
  std::size_t end = 0;

 private:
  std::size_t octets_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  wire::HeaderV1 header;
  const auto decoded = wire::decode_header_v1(input.octets, input.wire_length, header);
  if (decoded) {
    require(header.length <= input.octets.size());
    require(header.length == octets_of(header));
  } else {
    require(decoded.error().fault != wire::Fault::truncated || input.wire_length > input.octets.size());
    require(decoded.error().offset <= input.octets.size() && !decoded.error().field.empty());
    require(octets_of(header) <= input.octets.size() + 32);
  }
  const auto fixed = wire::decode_fixed_words(input.octets, input.wire_length);
  if (fixed) require(fixed->xid == header.fixed.xid && fixed->proc == header.fixed.proc);

  // An instance that served before must give what a new one gives.
  wire::HeaderV1 again;
  const auto earlier = wire::decode_header_v1(input.octets.subspan(input.octets.size() / 2), input.wire_length, again);
  static_cast<void>(earlier);
  require(wire::decode_header_v1(input.octets, input.wire_length, again).has_value() == decoded.has_value());
  require_equal(header, again);

  InOrder fields(input.octets.size());
  const auto walked = wire::walk_fields_v1(input.octets, input.wire_length, fields);
  require(walked.has_value() == decoded.has_value());
  if (walked) require(*walked == header.length);
  InOrder by_version(input.octets.size());
  wire::walk_fields(input.octets, input.wire_length, by_version);

  const auto plausible = wire::plausible_rpcrdma(input.octets, input.wire_length);
  if (plausible == wire::Plausible::strong) {
    require(fixed && (fixed->version == 1 || fixed->version == 2));
    if (fixed && fixed->version == 1) require(decoded.has_value());
  }
  static_cast<void>(wire::proc_name(header.fixed.proc));
  static_cast<void>(wire::htype_name_v2(header.fixed.proc));
  return 0;
}
