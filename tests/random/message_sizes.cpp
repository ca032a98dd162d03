// SPDX-License-Identifier: GPL-2.0-or-later
#include "message_sizes.hpp"

#include <algorithm>

namespace talk::sizes {
namespace {

constexpr std::size_t segment = 16;
constexpr std::size_t word = 4;

std::size_t write_list(const Trade& trade) {
  std::size_t octets = 0;
  for (const Region& region : trade.writes) octets += 2 * word + segment * region.segments().size();
  return octets;
}

std::size_t reply_chunk(const Trade& trade) {
  return trade.reply_chunk ? word + segment * trade.reply_chunk->segments().size() : 0;
}

}  // namespace

std::size_t call_header(const Trade& trade, bool external) {
  const std::size_t fixed = trade.version == 1 ? 28 : external ? 36 : 32;
  std::size_t reads = 0;
  for (const ReadRegion& read : trade.reads) reads += (2 * word + segment) * read.region.segments().size();
  return fixed + reads + write_list(trade) + reply_chunk(trade);
}

std::size_t reply_header(const Trade& trade) {
  if (trade.version == 2) return 20 + write_list(trade);
  return 28 + write_list(trade) + reply_chunk(trade);
}

std::vector<std::uint32_t> pieces(std::size_t header, std::size_t payload, std::uint32_t threshold, Chance& chance,
                                  bool as_few_as_possible) {
  constexpr std::size_t shortest = 8;
  std::vector<std::uint32_t> all;
  const bool needless = !as_few_as_possible && payload > 4 * shortest && chance.one_in(15);
  while (header + payload > threshold || (needless && all.empty())) {
    const std::size_t most = std::min(threshold - middle, payload - shortest);
    std::size_t size = chance.one_in(2) ? most : most - chance.below(most / 2);
    if (chance.one_in(2)) size = std::max(size / 4 * 4, shortest);
    all.push_back(static_cast<std::uint32_t>(size));
    payload -= size;
  }
  return all;
}

}  // namespace talk::sizes
