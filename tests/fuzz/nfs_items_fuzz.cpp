// SPDX-License-Identifier: GPL-2.0-or-later
// Input: which procedure (one octet), how many chunks (one octet), six octets each (position or length: four; segments
// or the upper half of a length: two), then a cut message.
#include <algorithm>
#include <array>
#include <vector>

#include "fuzz_input.hpp"
#include "wire/nfs_items.hpp"

using rpcrdma::fuzz::require;
namespace wire = rpcrdma::wire;

namespace {

struct Procedure {
  std::uint32_t program, version, number;
};
constexpr std::array<Procedure, 8> procedures = {{{100003, 2, 5},
                                                  {100003, 2, 6},
                                                  {100003, 3, 5},
                                                  {100003, 3, 6},
                                                  {100003, 4, 1},
                                                  {100003, 4, 1},
                                                  {100003, 3, 16},
                                                  {100227, 3, 1}}};
constexpr std::size_t chunks_limit = 16;

void check(const wire::NfsItems& found, const rpcrdma::fuzz::CutMessage& input, std::size_t chunks) {
  require(found.items.size() <= 256 && found.chunks_used <= chunks && found.left <= input.wire_length);
  require(found.end != wire::WalkEnd::truncated || input.wire_length > input.octets.size());
  require((found.end == wire::WalkEnd::whole) == found.field.empty());
  std::uint64_t before = 0;
  std::size_t next = 0;
  for (const auto& item : found.items) {
    require(item.data_at() <= input.octets.size() && item.position >= item.data_at() && item.position >= before);
    before = item.position + (item.moved() ? item.length : 0);
    if (!item.moved()) continue;
    require(item.chunk >= next && item.chunk < chunks);
    next = item.chunk + 1;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Procedure& procedure = procedures[data[0] % procedures.size()];
  const std::size_t count = std::min<std::size_t>(data[1] % (chunks_limit + 1), (size - 2) / 6);
  std::vector<wire::ReadSegment> reads;
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* const p = data + 2 + i * 6;
    const std::uint32_t low = wire::load_be32(p);
    reads.push_back({low, {1, wire::load_be16(p + 4), 0}});
    lengths.push_back((static_cast<std::uint64_t>(wire::load_be16(p + 4)) << 32U) | low);
  }
  const auto input = rpcrdma::fuzz::cut_message(data + 2 + count * 6, size - 2 - count * 6);

  std::vector<wire::ReadChunk> chunks;
  wire::collect_read_chunks(reads, chunks);
  wire::NfsItems found;
  wire::list_call_items(input.octets, input.wire_length, chunks, found);
  check(found, input, chunks.size());

  wire::list_reply_items(input.octets, input.wire_length, procedure.program, procedure.version, procedure.number,
                         lengths, found);
  check(found, input, lengths.size());

  std::vector<wire::PlacedItem> places;
  const auto placement = wire::place_items(input.octets, input.wire_length, procedure.program, procedure.version,
                                           procedure.number, lengths, places);
  const auto used = static_cast<std::size_t>(
      std::count_if(lengths.begin(), lengths.end(), [](std::uint64_t length) { return length != 0; }));
  require(places.size() == (placement == wire::Placement::placed ? used : 0));
  std::size_t at = 0;
  for (const auto& place : places) {
    require(place.position >= at && place.position <= input.octets.size() && place.pad < 4);
    // The item may be shorter than its chunk, not longer.
    require(place.chunk < lengths.size() && place.length != 0 && place.length <= lengths[place.chunk]);
    at = place.position;
  }
  return 0;
}
