// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ddp.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = rpcrdma::wire;
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto header = wire::decode_ddp_header(input.octets, input.wire_length);
  if (header) {
    require(header->length() == (header->control.tagged ? wire::ddp_tagged_length : wire::ddp_untagged_length));
    require(header->length() <= input.octets.size());
    if (header->control.plausible()) require(header->control.opcode <= 7);
  } else {
    require(header.error().offset <= input.octets.size());
  }
  const auto read = wire::decode_read_request(input.octets, input.wire_length);
  require(read.has_value() == (input.octets.size() >= wire::read_request_length));
  const auto terminate = wire::decode_terminate(input.octets, input.wire_length);
  require(terminate.has_value() == (input.octets.size() >= 4));
  if (terminate) {
    require(terminate->layer <= 15 && terminate->etype <= 15);
    require(!terminate->refused_read || terminate->refused);
  }
  return 0;
}
