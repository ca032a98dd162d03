// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/direct_backend.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reader/link_names.hpp"
#include "reader/parts.hpp"
#include "reader/pcap_formats.hpp"
#include "reader/pcapng_watch.hpp"

namespace rpcrdma::reader {
namespace {

constexpr std::uint32_t kMostCaptured = 262144;    // libpcap's bound for one packet of the links that can be opened
constexpr std::int64_t kMicroseconds = 1'000'000;  // of a second
constexpr std::int64_t kNanoseconds = 1'000'000'000;

/// The octets of a source in a row. They stay where they are until more are asked for than are there, and longer where
/// somebody holds them.
class Row {
 public:
  explicit Row(Source& source) : parts_(std::make_shared<Parts>(source)), part_(parts_->fresh()) {}
  ~Row() { parts_->stop(); }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  /// `count` octets from the next one on are there: false where the source ends before, or cannot be read.
  [[nodiscard]] bool has(std::size_t count) { return to_ - at_ >= count || fetch(count); }
  /// Nothing is left, and nothing more comes.
  [[nodiscard]] bool at_end() { return !has(1) && ended_; }
  [[nodiscard]] const std::uint8_t* here() const noexcept { return octets_ + at_; }
  void pass(std::size_t count) noexcept {
    at_ += count;
    passed_ += count;
  }
  /// Where in the file the next octet stands.
  [[nodiscard]] std::uint64_t offset() const noexcept { return passed_; }
  /// What was here last stays where it is for as long as somebody has this.
  [[nodiscard]] Octets hold() const noexcept { return part_; }
  [[nodiscard]] std::shared_ptr<Parts> parts() const noexcept { return parts_; }
  [[nodiscard]] std::uint64_t parts_taken() const noexcept { return parts_->count(); }
  /// Octets that are there without asking for more.
  [[nodiscard]] std::size_t left() const noexcept { return to_ - at_; }

 private:
  [[nodiscard]] bool fetch(std::size_t count) {
    while (to_ - at_ < count && !ended_) {
      const std::size_t left = to_ - at_;
      const bool again = left <= parts_->room() && part_.use_count() <= owners_;
      bool moved = false;
      const Parts::Filled filled = parts_->next(again ? part_ : nullptr, [&] {
        std::memmove(part_->data() + parts_->room() - left, octets_ + at_, left);
        octets_ = part_->data();
        at_ = parts_->room() - left;
        to_ = parts_->room();
        moved = true;
      });
      if (filled.got < 0) {
        return false;
      }
      ended_ = filled.got == 0;
      if (!ended_) go_on(filled.part, static_cast<std::size_t>(filled.got), moved);
    }
    return to_ - at_ >= count;
  }

  /// What is left stands right before what was read, there or in a part of its own.
  void go_on(const std::shared_ptr<Part>& part, std::size_t got, bool moved) {
    const std::size_t left = to_ - at_;
    if (moved) {
      to_ += got;
      return;
    }
    constexpr long in_parts = 2;  // part_, and all the parts
    if (left <= parts_->room()) {
      std::memcpy(part->data() + parts_->room() - left, octets_ + at_, left);
      at_ = parts_->room() - left;
      part_ = part;
      owners_ = in_parts;
    } else {
      auto larger = std::make_shared<Part>(parts_->room() + left + got);
      std::memcpy(larger->data() + parts_->room(), octets_ + at_, left);
      std::memcpy(larger->data() + parts_->room() + left, part->data() + parts_->room(), got);
      at_ = parts_->room();
      part_ = std::move(larger);
      owners_ = in_parts - 1;
    }
    octets_ = part_->data();
    to_ = at_ + left + got;
  }

  std::shared_ptr<Parts> parts_;
  std::shared_ptr<Part> part_;
  long owners_ = 2;  ///< of part_, where nobody else holds it
  const std::uint8_t* octets_ = part_->data();
  std::size_t at_ = parts_->room();
  std::size_t to_ = at_;
  std::uint64_t passed_ = 0;
  bool ended_ = false;
};

class DirectBackend : public Backend {
 public:
  DirectBackend(Source& source, Content content) : row_(source), content_(content) {}

  [[nodiscard]] virtual bool open() = 0;
  [[nodiscard]] const Damage& damage() const noexcept override { return damage_; }
  [[nodiscard]] std::optional<Damage> passed_over() const override { return std::nullopt; }
  [[nodiscard]] std::optional<double> position() const override { return row_.parts()->position(); }
  [[nodiscard]] Octets hold() const override { return row_.hold(); }
  [[nodiscard]] std::shared_ptr<ReadAhead> ahead() const override { return row_.parts(); }
  [[nodiscard]] bool used_up(std::uint64_t part) const override {
    return row_.parts_taken() >= part && !whole_record();
  }

 protected:
  /// The next record is there without asking for more.
  [[nodiscard]] virtual bool whole_record() const noexcept = 0;

  [[nodiscard]] std::uint32_t word(const std::uint8_t* at) const noexcept { return load32(at, big_endian_); }
  [[nodiscard]] std::uint16_t half(const std::uint8_t* at) const noexcept { return load16(at, big_endian_); }
  [[nodiscard]] Step refuse() noexcept {
    row_.parts()->stop();  // somebody else reads the source now
    damage_.offset = row_.offset();
    return Step::refused;
  }

  Row row_;
  bool big_endian_ = false;
  Content content_;

 private:
  Damage damage_;
};

class Pcap final : public DirectBackend {
 public:
  using DirectBackend::DirectBackend;

  [[nodiscard]] bool open() override {
    if (!row_.has(kPcapHeader)) {
      return false;
    }
    const std::uint8_t* at = row_.here();
    big_endian_ = pcap_is_big_endian(at[0]);
    snap_length_ = word(at + kPcapSnapLength);
    link_ = static_cast<trace::LinkType>(word(at + kPcapLink));  // with whatever stands above it
    unit_ = content_ == Content::pcap_ns ? 1 : 1000;
    const bool usual = half(at + kPcapVersion) == 2 && half(at + kPcapVersion + 2) == 4 && can_be_opened(link_);
    row_.pass(kPcapHeader);
    return usual;
  }

  [[nodiscard]] Step next(Record& record) override {
    constexpr std::size_t header = kRecordHeader;
    if (!row_.has(header)) {
      return row_.at_end() ? Step::end : refuse();
    }
    const std::uint8_t* at = row_.here();
    const std::uint32_t seconds = word(at);
    const std::int64_t nanoseconds = word(at + 4) * unit_;
    const std::uint32_t captured = word(at + 8);
    const bool nobody_wrote_it = seconds == 0 && nanoseconds == 0 && captured == 0;
    if (captured > kMostCaptured || nanoseconds >= kNanoseconds || nobody_wrote_it || !row_.has(header + captured)) {
      return refuse();
    }
    at = row_.here();
    record.frame.ref.time = trace::time_of(seconds, nanoseconds);
    record.frame.link = link_;
    record.frame.octets = wire::Bytes(at + header, captured);
    record.frame.wire_length = std::max(word(at + 12), captured);
    row_.pass(header + captured);
    return Step::record;
  }

  [[nodiscard]] std::string format() const override { return content_ == Content::pcap_ns ? "pcap (ns)" : "pcap"; }
  [[nodiscard]] std::uint32_t snap_length() const override { return snap_length_; }

 private:
  [[nodiscard]] bool whole_record() const noexcept override {
    return row_.left() >= kRecordHeader && row_.left() - kRecordHeader >= word(row_.here() + 8);
  }

  static constexpr std::size_t kRecordHeader = 16;

  trace::LinkType link_ = kNoLinkType;
  std::uint32_t snap_length_ = 0;
  std::int64_t unit_ = 1;
};

/// One section, whose interfaces are of one link type and one snap length, as libpcap wants it. What is no packet is
/// given to the watch, which is to find nothing in it.
class Pcapng final : public DirectBackend {
 public:
  using DirectBackend::DirectBackend;

  [[nodiscard]] bool open() override {
    constexpr std::size_t magic_at = 8;
    if (!row_.has(kLeast)) {
      return false;
    }
    big_endian_ = load32(row_.here() + magic_at, true) == kByteOrderMagic;
    // libpcap does not begin before it knows an interface.
    return other() && row_.has(kLeast) && type() == Block::interface && other();
  }

  [[nodiscard]] Step next(Record& record) override {
    for (;;) {
      if (!row_.has(kLeast)) {
        return row_.at_end() ? Step::end : refuse();
      }
      if (type() == Block::enhanced_packet) {
        return packet(record) ? Step::record : refuse();
      }
      if (!other()) {
        return refuse();
      }
    }
  }

  [[nodiscard]] std::uint64_t dropped() const noexcept override { return watch_.dropped(); }
  [[nodiscard]] std::string format() const override { return "pcapng"; }
  [[nodiscard]] std::uint32_t snap_length() const override { return 0; }

 private:
  [[nodiscard]] bool whole_record() const noexcept override {
    return row_.left() >= kLeast && row_.left() >= word(row_.here() + 4);
  }

  static constexpr std::size_t kLeast = 12;  ///< octets of a block
  static constexpr std::uint32_t kMostOfBlock = std::uint32_t{1} << 20U;

  [[nodiscard]] Block type() const noexcept { return static_cast<Block>(word(row_.here())); }

  /// The block is here as a whole, and ends as it began. 0: it is not.
  [[nodiscard]] std::uint32_t whole_block() {
    const std::uint32_t length = word(row_.here() + 4);
    if (length < kLeast || length % 4 != 0 || length > kMostOfBlock || !row_.has(length) ||
        word(row_.here() + length - 4) != length) {
      return 0;
    }
    return length;
  }

  [[nodiscard]] bool packet(Record& record) {
    constexpr std::uint32_t fixed = 28;
    const std::uint32_t length = whole_block();
    if (length < fixed + 4) {
      return false;
    }
    const std::uint8_t* at = row_.here();
    const std::uint32_t interface = word(at + 8);
    const std::uint64_t time = std::uint64_t{word(at + 12)} << 32U | word(at + 16);
    const std::uint32_t captured = word(at + 20);
    const std::uint64_t data = padded(captured);
    if (interface >= units_.size() || captured > most_ || data > length - fixed - 4 ||
        !usual_options(fixed + static_cast<std::uint32_t>(data), length - 4)) {
      return false;
    }
    const std::int64_t units = units_[interface];
    if (time > std::uint64_t{INT64_MAX}) {
      return false;
    }
    const auto count = static_cast<std::int64_t>(time);
    record.frame.ref.time = trace::time_of(count / units, count % units * (kNanoseconds / units));
    record.frame.link = link_;
    record.frame.octets = wire::Bytes(at + fixed, captured);
    record.frame.wire_length = std::max(word(at + 24), captured);
    row_.pass(length);
    return true;
  }

  /// A packet's options from `from` on stay before `to`, both of the block at hand, and say nothing of dropped ones.
  [[nodiscard]] bool usual_options(std::uint32_t from, std::uint32_t to) const noexcept {
    wire::Bytes options(row_.here() + from, to - from);
    while (const auto option = next_option(options, big_endian_)) {
      if (option->code == kDropsBefore) {
        return false;
      }
    }
    return options.size() < kOptionHead;
  }

  /// A block that is no packet.
  [[nodiscard]] bool other() {
    const Block block = type();
    const std::uint32_t length = whole_block();
    const bool first = row_.offset() == 0;
    const bool known = first ? block == Block::section
                             : block == Block::interface || block == Block::names || block == Block::statistics ||
                                   block == Block::secrets;
    if (length == 0 || !known) {
      return false;
    }
    watch_.see(wire::Bytes(row_.here(), length));
    if (watch_.unfit_for_libpcap() || watch_.lost() || watch_.defect()) {
      return false;
    }
    constexpr std::size_t version_at = 12;
    if (first && (half(row_.here() + version_at) != 1 || half(row_.here() + version_at + 2) != 0)) {
      return false;
    }
    if (block == Block::interface && !interface(length)) {
      return false;
    }
    row_.pass(length);
    return true;
  }

  /// The watch has seen that its options stay inside.
  [[nodiscard]] bool interface(std::uint32_t length) {
    constexpr std::uint16_t end_of_options = 0;
    constexpr std::uint16_t resolution = 9;
    constexpr std::uint16_t time_offset = 14;
    constexpr std::size_t most_interfaces = 1000;
    const std::uint8_t* at = row_.here();
    const auto link = static_cast<trace::LinkType>(half(at + 8));
    const std::uint32_t snap = word(at + 12);
    if (!can_be_opened(link) || units_.size() == most_interfaces ||
        (!units_.empty() && (link != link_ || snap != snap_))) {
      return false;
    }
    std::optional<std::int64_t> units;
    for (std::uint32_t i = 16; length - 4 - i >= 4;) {
      const std::uint16_t code = half(at + i);
      const std::uint16_t octets = half(at + i + 2);
      if (code == end_of_options && octets == 0) {
        break;
      }
      if (code == end_of_options || code == time_offset) {
        return false;
      }
      if (code == resolution) {
        constexpr std::uint8_t micro = 6;
        constexpr std::uint8_t nano = 9;
        if (units || octets != 1 || (at[i + 4] != micro && at[i + 4] != nano)) {
          return false;
        }
        units = at[i + 4] == nano ? kNanoseconds : kMicroseconds;
      }
      i += 4 + static_cast<std::uint32_t>(padded(octets));
    }
    link_ = link;
    snap_ = snap;
    most_ = snap == 0 || snap > kMostCaptured ? kMostCaptured : snap;
    units_.push_back(units.value_or(kMicroseconds));
    return true;
  }

  PcapngWatch watch_;
  std::vector<std::int64_t> units_;  ///< of an interface: parts of a second in which it counts time
  trace::LinkType link_ = kNoLinkType;
  std::uint32_t snap_ = 0;
  std::uint32_t most_ = 0;
};

}  // namespace

std::unique_ptr<Backend> open_directly(Source& source, Content content) {
  std::unique_ptr<DirectBackend> backend;
  if (content == Content::pcap || content == Content::pcap_ns) {
    backend = std::make_unique<Pcap>(source, content);
  } else if (content == Content::pcapng) {
    backend = std::make_unique<Pcapng>(source, content);
  }
  return backend && backend->open() ? std::move(backend) : nullptr;
}

}  // namespace rpcrdma::reader
