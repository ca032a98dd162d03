// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/private_data.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto search = rpcrdma::wire::find_private_data(input.octets, input.wire_length);
  require(search.cut_by_capture == (input.wire_length > input.octets.size()));
  if (search.found) {
    require(search.found->offset + 8U <= input.octets.size());
    require(search.found->version == 1);
    require(search.found->send_size >= 1024 && search.found->send_size <= 262144);
    require(search.found->receive_size >= 1024 && search.found->receive_size <= 262144);
  }
  if (search.duplicate_offset) require(search.found && *search.duplicate_offset >= search.found->offset + 8U);
  if (search.unknown_version_offset) require(search.unknown_version != 1);
  if (search.truncated_offset) {
    require(*search.truncated_offset + 4U <= input.octets.size());
    require(*search.truncated_offset + 8U > input.wire_length);
  }
  return 0;
}
