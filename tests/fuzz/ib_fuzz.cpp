// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/ib.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;
using rpcrdma::wire::Fault;
using rpcrdma::wire::IbKind;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto header = rpcrdma::wire::decode_ib(input.octets, input.wire_length);
  if (!header) {
    require(header.error().fault != Fault::truncated || input.octets.size() < input.wire_length);
    return 0;
  }
  require(header->psn <= rpcrdma::wire::psn_mask && header->destination_qp <= 0xFFFFFF && header->pad <= 3);
  if (header->op.kind == IbKind::other) {
    require(header->payload.empty() && header->payload_length == 0);
    return 0;
  }
  const std::size_t headers = rpcrdma::wire::bth_octets + header->op.extended;
  require(header->payload_length + headers + header->pad + rpcrdma::wire::icrc_octets == input.wire_length);
  require(header->payload.size() <= header->payload_length);
  if (!header->payload.empty()) {
    require(header->payload.data() == input.octets.data() + headers);
    require(headers + header->payload.size() <= input.octets.size());
  }
  return 0;
}
