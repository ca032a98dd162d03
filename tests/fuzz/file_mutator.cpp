// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer's mutations for target `reader`: inside of records and blocks, and of whole ones, in a file whose lengths
// lead from one to the next. One input in sixteen is damaged anywhere, and so are compressed files.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "file_repair.hpp"
#include "packing.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace rpcrdma::fuzz {
namespace {

using Octets = std::vector<std::uint8_t>;
using Part = CaptureFile::Part;

struct Random {
  std::mt19937 engine;
  [[nodiscard]] std::size_t below(std::size_t n) { return n == 0 ? 0 : engine() % n; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
};

void damage(Random& random, Octets& octets, std::size_t keep) {
  if (octets.size() < keep) return;
  const std::size_t before = octets.size() - keep;
  const std::size_t most = before + 32;
  octets.resize(keep + most);
  octets.resize(keep + LLVMFuzzerMutate(octets.data() + keep, before, random.one_in(2) || before == 0 ? most : before));
}

void change_word(Random& random, Part& part) {
  constexpr std::array words{0U,  1U,  2U,      3U,       4U,       5U,          6U,          9U,
                             10U, 14U, 0xFFFFU, 0x10000U, 0x40000U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU};
  if (part.octets.size() < 4) return;
  std::uint8_t* p = part.octets.data() + 4 * random.below(std::min<std::size_t>(part.octets.size() / 4, 16));
  const std::uint32_t value = words.at(random.below(words.size()));
  for (unsigned i = 0; i < 4; ++i) {
    p[i] = static_cast<std::uint8_t>(value >> (part.big_endian ? 24U - 8U * i : 8U * i));
  }
}

/// A block of a type that has a meaning, before the lengths of it have one.
Part some_block(Random& random, const Part& like) {
  constexpr std::array<std::uint32_t, 12> types{1, 2, 3, 4, 5, 6, 7, 9, 10, 0xBAD, 0x40000BAD, 0x201};
  Part out{like.big_endian, Octets(4 + 4 * random.below(12))};
  const std::uint32_t type = types.at(random.below(types.size()));
  for (unsigned i = 0; i < 4; ++i) {
    out.octets[i] = static_cast<std::uint8_t>(type >> (out.big_endian ? 24U - 8U * i : 8U * i));
  }
  for (std::size_t i = 4; i < out.octets.size(); ++i) {
    out.octets[i] = static_cast<std::uint8_t>(random.one_in(3) ? random.below(256) : 0);
  }
  return out;
}

void step(Random& random, CaptureFile& file) {
  if (file.kind == CaptureFile::Kind::other) return damage(random, file.head, 0);
  if (file.parts.empty() || random.one_in(24)) return damage(random, file.rest, 0);
  if (!file.head.empty() && random.one_in(16)) return damage(random, file.head, 4);
  const auto place = [&](std::size_t n) { return file.parts.begin() + static_cast<std::ptrdiff_t>(n); };
  const std::size_t one = random.below(file.parts.size());
  const std::size_t two = random.below(file.parts.size());
  switch (random.below(8)) {
    case 0: {
      const Part copy = file.parts[one];
      file.parts.insert(place(two), copy);
      break;
    }
    case 1:
      file.parts.erase(place(one));
      break;
    case 2:
      std::swap(file.parts[one], file.parts[two]);
      break;
    case 3:
      file.parts.insert(place(one), some_block(random, file.parts[two]));
      break;
    case 4:
    case 5:
      change_word(random, file.parts[one]);
      break;
    default:
      damage(random, file.parts[one].octets, random.one_in(8) ? 0 : 4);
  }
}

}  // namespace
}  // namespace rpcrdma::fuzz

// libwiretap forgets a buffer of 2 KiB where it gives a pcapng file up: not ours to mend. To know what is its own,
// whole call stacks are needed. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __asan_default_options() { return "fast_unwind_on_malloc=0:malloc_context_size=12"; }
extern "C" const char* __lsan_default_suppressions() { return "leak:libwiretap"; }
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace rpcrdma::fuzz;
  Random random{std::mt19937(seed)};
  if (size < 2 || random.one_in(16)) return LLVMFuzzerMutate(data, size, max_size);
  std::uint8_t packing = data[0];
  Octets octets;
  if (packing_of(packing) != Packing::none && random.one_in(16)) {
    octets = packed(packing_of(packing), {data + 1, size - 1});  // from now on damage is to the compressed octets
    packing = 0;
  } else {
    CaptureFile file = read_file({data + 1, size - 1});
    for (std::size_t steps = 1 + random.below(3); steps != 0; --steps) step(random, file);
    octets = write_file(file);
    if (random.one_in(8)) packing = static_cast<std::uint8_t>(random.below(4));
  }
  if (octets.size() + 1 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  data[0] = packing;
  std::copy(octets.begin(), octets.end(), data + 1);
  return octets.size() + 1;
}
