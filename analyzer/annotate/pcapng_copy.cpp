// SPDX-License-Identifier: GPL-2.0-or-later
// Block by block: only blocks of packets with comments change, and what counts their octets.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "annotate/input_copy.hpp"

namespace rpcrdma::annotate {
namespace {

constexpr std::size_t kHeader = 8;
constexpr std::size_t kSmallest = 12;
constexpr std::size_t kCopied = std::size_t{1} << 20U;
constexpr std::size_t kStatistics = 24;  // the smallest block of them
using reader::kByteOrderMagic;
using reader::load32;
constexpr const char* kChanged = "it changed while it was read";

class PcapngCopy final : public InputCopy {
 public:
  PcapngCopy(std::unique_ptr<Octets> octets, OutputFile& out, SharedSection* shared)
      : octets_(std::move(octets)), out_(out), shared_(shared) {}

  [[nodiscard]] Result frame(const trace::Frame& frame, bool packet, const Comments* comments) override {
    if (!packet) return {};  // copied with what stands before the next packet
    for (;;) {
      const auto got = next_block();
      if (!got) return tl::unexpected(got.error());
      if (!*got) return tl::unexpected(std::string(kChanged));
      switch (type()) {
        case Block::enhanced_packet:
        case Block::packet:
          return write_packet(frame, comments);
        case Block::simple_packet:
          return write_simple_packet(frame, comments);
        default:
          if (auto written = write_other(); !written) return written;
      }
    }
  }

  [[nodiscard]] Result finish(std::optional<std::uint64_t> damage) override {
    while (!damage || position_ < *damage) {
      const auto got = next_block();
      if (!got && !damage) return tl::unexpected(got.error());
      if (!got || !*got || (damage && position_ > *damage)) break;
      // A file that grew since it was read has no more frames than were judged.
      if (type() == Block::enhanced_packet || type() == Block::packet || type() == Block::simple_packet) break;
      if (auto written = write_other(); !written) return written;
    }
    end_section();
    return {};
  }

 private:
  [[nodiscard]] Block type() const noexcept { return static_cast<Block>(load32(block_.data(), big_)); }

  /// False: the end.
  [[nodiscard]] tl::expected<bool, std::string> next_block() {
    std::array<std::uint8_t, kSmallest> head{};
    const std::size_t got = octets_->read(head.data(), head.size());
    if (got < head.size()) return false;
    if (load32(head.data(), false) == static_cast<std::uint32_t>(Block::section)) {
      big_ = load32(head.data() + kHeader, true) == kByteOrderMagic;
    }
    const std::uint32_t length = load32(head.data() + 4, big_);
    if (length < kSmallest || length % 4 != 0) {
      return tl::unexpected(fmt::format("a block of {} octets cannot be copied", length));
    }
    block_.assign(head.begin(), head.end());
    // How long a block may be is the reader's to say; room is made only for what is there.
    while (block_.size() < length) {
      const std::size_t have = block_.size();
      const std::size_t part = std::min(kCopied, length - have);
      block_.resize(have + part);
      if (octets_->read(block_.data() + have, part) < part) return false;
    }
    position_ += length;
    return true;
  }

  [[nodiscard]] Result write_packet(const trace::Frame& frame, const Comments* comments) {
    constexpr std::size_t octets_at = 28;
    const std::size_t before = block_.size();
    const auto options = options_of_packet(block_, big_);
    if (!options) return tl::unexpected(std::string(kChanged));
    const std::size_t captured = load32(block_.data() + 20, big_);
    // The reader may have put something before the octets (ERF), or taken something off; Ethernet and the like are
    // whole.
    const bool plain = frame.link == trace::LinkType::ethernet || frame.link == trace::LinkType::infiniband;
    if (plain && !std::equal(frame.octets.begin(), frame.octets.end(), block_.begin() + octets_at,
                             block_.begin() + static_cast<std::ptrdiff_t>(octets_at + captured))) {
      return tl::unexpected(std::string(kChanged));
    }
    if (shared_ != nullptr) {
      if (type() == Block::packet) return tl::unexpected(std::string("obsolete packet blocks cannot be interleaved"));
      if (!move_interface()) return tl::unexpected(std::string(kChanged));
    }
    if (comments != nullptr) add_comments(block_, *comments, big_);
    if (frame.behind_a_loss && type() == Block::enhanced_packet) add_loss(block_, big_);
    grown_ += block_.size() - before;
    out_.write(block_);
    return {};
  }

  /// It has no room for a comment, and no time: it becomes an enhanced packet of its interface, the first, at time 0.
  [[nodiscard]] Result write_simple_packet(const trace::Frame& frame, const Comments* comments) {
    if (shared_ == nullptr && comments == nullptr && !frame.behind_a_loss) {
      out_.write(block_);
      return {};
    }
    if (shared_ != nullptr && interfaces_.empty()) return tl::unexpected(std::string(kChanged));
    std::vector<std::uint8_t> enhanced;
    append_packet(enhanced, shared_ != nullptr ? interfaces_.front() : 0, 0, frame.octets, frame.wire_length);
    if (big_) turn_header(enhanced);
    if (comments != nullptr) add_comments(enhanced, *comments, big_);
    if (frame.behind_a_loss) add_loss(enhanced, big_);
    grown_ += enhanced.size() - block_.size();
    out_.write(enhanced);
    return {};
  }

  /// A packet block of ours in the other byte order.
  static void turn_header(std::vector<std::uint8_t>& block) {
    for (std::size_t at = 0; at < 28; at += 4) store32(block.data() + at, load32(block.data() + at, false), true);
    const std::size_t end = block.size() - 4;
    store32(block.data() + end, load32(block.data() + end, false), true);
  }

  /// The interface that the block names, by its number in the shared section. False: it is not there.
  [[nodiscard]] bool move_interface() {
    const std::uint32_t number = load32(block_.data() + kHeader, big_);
    if (number >= interfaces_.size()) return false;
    store32(block_.data() + kHeader, interfaces_[number], big_);
    return true;
  }

  [[nodiscard]] Result write_other() {
    if (type() == Block::section) return write_section();
    if (shared_ != nullptr && type() == Block::interface) interfaces_.push_back(shared_->interfaces++);
    // Statistics of an interface that is not there would be another input's in the shared section.
    if (shared_ != nullptr && type() == Block::statistics && (block_.size() < kStatistics || !move_interface())) {
      return {};
    }
    out_.write(block_);
    return {};
  }

  [[nodiscard]] Result write_section() {
    constexpr std::size_t length_at = 16;
    interfaces_.clear();
    if (shared_ != nullptr) {
      // The shared section has a header of its own.
      if (big_) return tl::unexpected(std::string("big-endian pcapng cannot be interleaved: editcap turns it"));
      return {};
    }
    end_section();
    if (block_.size() < length_at + 12) return tl::unexpected(std::string(kChanged));
    const std::uint32_t first = load32(block_.data() + length_at, big_);
    const std::uint32_t second = load32(block_.data() + length_at + 4, big_);
    const std::uint64_t length = big_ ? std::uint64_t{first} << 32U | second : std::uint64_t{second} << 32U | first;
    if (length != UINT64_MAX) section_ = Section{out_.position() + length_at, length, big_};
    out_.write(block_);
    return {};
  }

  /// A section that says how long it is has become longer.
  void end_section() {
    const std::uint64_t grown = std::exchange(grown_, 0);
    const auto section = std::exchange(section_, std::nullopt);
    if (!section || grown == 0) return;
    std::array<std::uint8_t, 8> octets{};
    const std::uint64_t length = section->length + grown;
    const auto high = static_cast<std::uint32_t>(length >> 32U);
    const auto low = static_cast<std::uint32_t>(length);
    store32(octets.data(), section->big ? high : low, section->big);
    store32(octets.data() + 4, section->big ? low : high, section->big);
    out_.patch(section->at, octets);
  }

  struct Section {
    std::uint64_t at = 0;
    std::uint64_t length = 0;
    bool big = false;
  };

  std::unique_ptr<Octets> octets_;
  OutputFile& out_;
  SharedSection* shared_;
  bool big_ = false;
  std::vector<std::uint8_t> block_;
  std::uint64_t position_ = 0;             ///< of the octet behind block_
  std::vector<std::uint32_t> interfaces_;  ///< of this section, by their numbers in the shared one
  std::optional<Section> section_;
  std::uint64_t grown_ = 0;
};

}  // namespace

std::unique_ptr<InputCopy> copy_of_pcapng(std::unique_ptr<Octets> octets, OutputFile& out, SharedSection* shared) {
  return std::make_unique<PcapngCopy>(std::move(octets), out, shared);
}

}  // namespace rpcrdma::annotate
