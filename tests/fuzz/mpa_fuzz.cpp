// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/mpa.hpp"

#include <algorithm>

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = rpcrdma::wire;
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto key = wire::mpa_key(input.octets);
  const auto header = wire::decode_mpa_header(input.octets, input.wire_length);
  if (header) require(key == (header->request ? wire::MpaKey::request : wire::MpaKey::reply));
  const auto frame = wire::decode_mpa_frame(input.octets, input.wire_length);
  if (frame) {
    require(header.has_value());
    require(frame->header.frame_length() <= input.wire_length);
    require(frame->private_data.size() <= frame->private_data_wire_length);
    require(frame->private_data_wire_length + (header->enhanced() ? 4U : 0U) == header->private_data_length);
    require(!frame->enhanced || header->enhanced());
  }

  // The marker arithmetic on numbers from the input.
  if (input.octets.size() < 12) return 0;
  const wire::Markers markers{(input.octets[0] & 1U) != 0, wire::load_be16(input.octets.data() + 1)};
  const std::uint64_t from = markers.base + wire::load_be32(input.octets.data() + 3);
  const std::uint64_t count = wire::load_be32(input.octets.data() + 7);
  const std::uint64_t end = markers.after(from, count);
  require(end >= from + count);
  require(markers.plain(from, end) == count);
  require(count == 0 || markers.inside(end - 1) == 0);
  return 0;
}
