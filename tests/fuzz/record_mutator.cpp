// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer's mutations for the targets whose inputs hold many packets. libFuzzer alone damages octets, and nearly all
// that it makes ends at a length or a checksum. Here a packet is damaged where messages stand, or packets are repeated,
// left out and exchanged; then lengths and checksums are made right, but for one input in sixteen.
//
// RPCRDMA_FUZZ_FORM names the form of the target's input (records.hpp).
#include <algorithm>
#include <cstring>
#include <random>

#include "link_types.hpp"
#include "records.hpp"
#include "relink.hpp"
#include "renumber.hpp"
#include "repair.hpp"
#include "trace/link/open_frame.hpp"
#include "wire/ib.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace rpcrdma::fuzz {
namespace {

constexpr Form form = forms::RPCRDMA_FUZZ_FORM;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed + 1) {}
  /// 0 to n - 1
  [[nodiscard]] std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

trace::LinkType link_of(const Input& input) noexcept {
  return link_type(static_cast<std::uint8_t>(input.settings & form.link_mask));
}

/// The number of link_types.hpp.
std::uint8_t number_of(trace::LinkType link) noexcept {
  std::uint8_t number = 0;
  while (number < 10 && link_type(number) != link) ++number;
  return number;
}

trace::Opened opened(const Input& input, const Record& record) {
  trace::Frame frame;
  frame.ref.number = 1;
  frame.link = link_of(input);
  frame.octets = record.octets;
  frame.wire_length = static_cast<std::uint32_t>(record.octets.size() + record.missing);
  trace::Opened out;
  trace::open_frame(frame, out);
  return out;
}

/// Where in the record what the transport carries begins: the BTH's payload, an FPDU's ULP.
std::size_t deep(const Input& input, const Record& record) {
  constexpr std::size_t around_ddp = 2;
  wire::Bytes stream = record.octets;
  if (form.content == Content::frames) {
    const trace::Opened open = opened(input, record);
    if (open.content == trace::Content::infiniband) {
      const wire::Bytes octets = open.ib.octets;
      if (octets.empty()) return 0;
      const std::size_t headers = wire::bth_octets + wire::ib_opcode(octets[0]).extended;
      return static_cast<std::size_t>(octets.data() - record.octets.data()) + std::min(headers, octets.size());
    }
    if (open.content != trace::Content::tcp || open.tcp.payload.empty()) return 0;
    stream = open.tcp.payload;
  }
  if (stream.size() < 20) return 0;
  const std::size_t ddp = (stream[around_ddp] & 0x80U) != 0 ? 14 : 18;  // tagged, untagged
  return static_cast<std::size_t>(stream.data() - record.octets.data()) + around_ddp + ddp;
}

/// Any octets of one record, libFuzzer's way. What follows keeps its place within words of four octets.
void damage(Random& random, const Input& input, Record& record) {
  const std::size_t begin = random.one_in(8) ? 0 : deep(input, record);
  if (begin > record.octets.size()) return;
  Octets part(record.octets.begin() + static_cast<std::ptrdiff_t>(begin), record.octets.end());
  const std::size_t before = part.size();
  const std::size_t most = before + (random.one_in(4) ? 64 : 0);
  if (most == 0) return;
  part.resize(most);
  std::size_t after = LLVMFuzzerMutate(part.data(), before, most);
  after += (before - after) % 4;
  part.resize(after);
  record.octets.resize(begin);
  record.octets.insert(record.octets.end(), part.begin(), part.end());
}

std::uint32_t telling_word(Random& random, const Octets& octets) {
  constexpr std::array words{0U,      1U,          2U,          3U,          4U,          5U,          6U,
                             8U,      16U,         17U,         24U,         32U,         64U,         255U,
                             256U,    1024U,       4096U,       0xFFFFU,     0x10000U,    0xFFFFFU,    100003U,
                             100000U, 0x40000000U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFF0U, 0xFFFFFFFCU, 0xFFFFFFFFU};
  if (random.one_in(4)) return static_cast<std::uint32_t>(octets.size());
  return words.at(random.below(words.size()));
}

/// One word of four octets, where XDR has its words.
void change_word(Random& random, const Input& input, Record& record, const Record& other) {
  const std::size_t begin = deep(input, record);
  if (begin + 4 > record.octets.size()) return;
  const std::size_t words = (record.octets.size() - begin) / 4;
  // Most of what is decided by is decided early.
  const std::size_t place = random.one_in(2) ? random.below(std::min<std::size_t>(words, 40)) : random.below(words);
  std::uint8_t* p = record.octets.data() + begin + 4 * place;
  std::uint32_t value = wire::load_be32(p);
  switch (random.below(5)) {
    case 0:
      value += 1;
      break;
    case 1:
      value -= 1;
      break;
    case 2:
      value ^= 1U << random.below(32);
      break;
    case 3:
      if (other.octets.size() >= 4) {
        const std::size_t from = std::min(deep(input, other), other.octets.size() - 4);
        value = wire::load_be32(other.octets.data() + from + 4 * random.below((other.octets.size() - from) / 4));
        break;
      }
      [[fallthrough]];
    default:
      value = telling_word(random, record.octets);
  }
  for (unsigned i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(value >> (24U - 8U * i));
}

/// Words added or taken out.
void change_size(Random& random, const Input& input, Record& record) {
  const std::size_t begin = deep(input, record);
  if (begin > record.octets.size()) return;
  const std::size_t words = (record.octets.size() - begin) / 4;
  const auto at = record.octets.begin() + static_cast<std::ptrdiff_t>(begin + 4 * random.below(words + 1));
  const std::size_t count = 4 * (1 + random.below(random.one_in(4) ? 64 : 6));
  if (random.one_in(2)) {
    const auto left = static_cast<std::size_t>(record.octets.end() - at);
    record.octets.erase(at, at + static_cast<std::ptrdiff_t>(std::min(count, left)));
  } else {
    record.octets.insert(at, count, random.one_in(2) ? 0 : static_cast<std::uint8_t>(random.below(256)));
  }
}

/// The capture kept less of it, or lacks nothing.
void change_cut(Random& random, Record& record) {
  if (record.missing != 0 && random.one_in(2)) {
    record.missing = 0;
    return;
  }
  if (record.octets.empty()) return;
  const std::size_t fewer = 1 + random.below(record.octets.size());
  record.octets.resize(record.octets.size() - fewer);
  record.missing += fewer;
}

/// The numbers behind record `at`, which has become longer or shorter.
void number_behind(Input& input, std::size_t at, std::size_t length_before) {
  if (form.content != Content::frames) return;
  const Record& changed = input.records[at];
  const auto more = static_cast<std::int32_t>(changed.octets.size()) - static_cast<std::int32_t>(length_before);
  if (more != 0) renumber(link_of(input), changed, std::span(input.records).subspan(at + 1), {.octets = more});
}

/// One more packet like another, or one less, and no number tells.
void add_or_take(Random& random, Input& input) {
  const std::size_t at = random.below(input.records.size());
  const auto place = input.records.begin() + static_cast<std::ptrdiff_t>(at);
  const Record like = *place;
  const auto octets = static_cast<std::int32_t>(opened(input, like).tcp.wire_length);
  if (random.one_in(2)) {
    input.records.erase(place);
    renumber(link_of(input), like, std::span(input.records).subspan(at), {.octets = -octets, .packets = -1});
  } else {
    input.records.insert(place, like);
    renumber(link_of(input), like, std::span(input.records).subspan(at + 1),
             {.octets = octets, .packets = 1, .also_equal = true});
  }
}

/// Repeats, leaves out, exchanges.
void rearrange(Random& random, std::vector<Record>& records) {
  const auto place = [&](std::size_t n) { return records.begin() + static_cast<std::ptrdiff_t>(n); };
  const std::size_t one = random.below(records.size());
  const std::size_t two = random.below(records.size());
  switch (random.below(5)) {
    case 0: {
      const Record copy = records[one];
      records.insert(place(two), copy);
      break;
    }
    case 1:
      records.erase(place(one));
      break;
    case 2:
      std::swap(records[one], records[two]);
      break;
    case 3: {  // a neighbour overtakes
      const std::size_t next = std::min(one + 1, records.size() - 1);
      std::swap(records[one], records[next]);
      break;
    }
    default: {
      const std::size_t count = std::min<std::size_t>(1 + random.below(8), records.size() - one);
      const std::vector<Record> copies(place(one), place(one + count));
      if (random.one_in(2)) {
        records.insert(place(two), copies.begin(), copies.end());
      } else {
        records.erase(place(one), place(one + count));
      }
    }
  }
}

/// All frames on another link; those that cannot be are left out.
void relink(Random& random, Input& input) {
  const Carrier carrier = carriers.at(random.below(carriers.size()));
  std::vector<Record> records;
  for (const Record& record : input.records) {
    trace::Frame frame;
    frame.link = link_of(input);
    frame.octets = record.octets;
    frame.wire_length = static_cast<std::uint32_t>(record.octets.size() + record.missing);
    if (auto octets = relinked(frame, carrier)) {
      Record& added = records.emplace_back(record);
      added.octets = std::move(*octets);
    }
  }
  if (records.empty()) return;
  input.records = std::move(records);
  input.settings = static_cast<std::uint8_t>((input.settings & ~form.link_mask) | number_of(link_of(carrier)));
}

void change_header(Random& random, Record& record) {
  if (form.header == 0) return;
  // The lengths are not settled here.
  std::size_t place = random.below(form.header);
  if (form.content != Content::nothing && place >= form.length_at && place < form.length_at + 4) place = 0;
  record.header.at(place) = random.one_in(2)
                                ? static_cast<std::uint8_t>(random.below(256))
                                : static_cast<std::uint8_t>(record.header.at(place) ^ (1U << random.below(8)));
}

void step(Random& random, Input& input) {
  if (input.records.empty() || random.one_in(40)) {
    input.settings ^= static_cast<std::uint8_t>(1U << random.below(8));
    return;
  }
  if (form.content == Content::frames && random.one_in(40)) return relink(random, input);
  const std::size_t at = random.below(input.records.size());
  Record& record = input.records[at];
  const std::size_t length = record.octets.size();
  const std::size_t kind = random.below(16);
  if (form.content == Content::nothing) {
    kind < 10 ? change_header(random, record) : rearrange(random, input.records);
  } else if (kind < 5) {
    damage(random, input, record);
    number_behind(input, at, length);
  } else if (kind < 10) {
    change_word(random, input, record, input.records[random.below(input.records.size())]);
  } else if (kind < 11) {
    change_size(random, input, record);
    number_behind(input, at, length);
  } else if (kind < 12) {
    change_cut(random, record);
  } else if (kind < 13) {
    change_header(random, record);
  } else if (form.header != 0 && form.content == Content::frames && random.one_in(2)) {
    add_or_take(random, input);
  } else if (form.header != 0) {
    rearrange(random, input.records);
  }
}

/// Segments of the two sides as iwarp_fuzz.cpp places them: what leaves a hole, repeats or begins anew ends a stretch.
void repair_segments(Input& input) {
  constexpr std::uint8_t server = 0x01;
  constexpr std::uint8_t displaced = 0x08 | 0x10 | 0x20;
  std::array<std::vector<Captured>, 2> runs;
  const auto close = [](std::vector<Captured>& run) {
    repair_fpdus(run);
    run.clear();
  };
  for (Record& record : input.records) {
    std::vector<Captured>& run = runs.at(record.header[0] & server);
    if ((record.header[0] & displaced) != 0) close(run);
    if (!record.octets.empty()) run.push_back({record.octets, record.missing & 0x0FFFU});
    if (record.missing != 0) close(run);
  }
  for (auto& run : runs) close(run);
}

void repair(Input& input) {
  if (form.content == Content::segments) return repair_segments(input);
  if (form.content != Content::frames) return;
  std::vector<Captured> frames;
  for (Record& record : input.records) frames.push_back({record.octets, record.missing});
  repair_frames(link_of(input), frames);
}

std::size_t give(Random& random, Input& input, std::uint8_t* to, std::size_t most) {
  if (!random.one_in(16)) repair(input);
  const Octets out = write_input(form, input, most);
  std::copy(out.begin(), out.end(), to);
  return out.size();
}

}  // namespace
}  // namespace rpcrdma::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace rpcrdma::fuzz;
  Random random(seed);
  if (size == 0 || random.one_in(32)) return LLVMFuzzerMutate(data, size, max_size);
  Input input = read_input(form, {data, size});
  for (std::size_t steps = 1 + random.below(4); steps != 0; --steps) step(random, input);
  return give(random, input, data, max_size);
}

/// The beginning of one and the end of the other, or the packets of both in turn.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t max_out_size, unsigned seed) {
  using namespace rpcrdma::fuzz;
  Random random(seed);
  Input input = read_input(form, {data1, size1});
  const Input other = read_input(form, {data2, size2});
  const auto cut = [&](const std::vector<Record>& records) {
    return static_cast<std::ptrdiff_t>(random.below(records.size() + 1));
  };
  if (random.one_in(2)) {
    input.records.resize(static_cast<std::size_t>(cut(input.records)));
    input.records.insert(input.records.end(), other.records.begin() + cut(other.records), other.records.end());
  } else {
    std::vector<Record> both;
    std::size_t one = 0;
    std::size_t two = 0;
    while (one < input.records.size() || two < other.records.size()) {
      const bool first = two == other.records.size() || (one < input.records.size() && random.one_in(2));
      both.push_back(first ? input.records[one++] : other.records[two++]);
    }
    input.records = std::move(both);
  }
  return give(random, input, out, max_out_size);
}
