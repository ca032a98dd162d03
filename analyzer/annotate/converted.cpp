// SPDX-License-Identifier: GPL-2.0-or-later
// Formats that are not pcapng: each link type becomes an interface, each frame an enhanced packet.
#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "annotate/input_copy.hpp"

namespace rpcrdma::annotate {
namespace {

constexpr std::uint64_t kSnapLengthAt = 12;  ///< in an interface's block
constexpr std::array<std::uint8_t, 4> kNoLimit{};

class Converted final : public InputCopy {
 public:
  Converted(const Original& original, OutputFile& out, SharedSection* shared, std::string_view application)
      : snap_length_(original.snap_length),
        dropped_(original.dropped),
        microseconds_(original.microseconds),
        out_(out),
        shared_(shared) {
    if (shared_ == nullptr) out_.write(section_block(application));
  }

  [[nodiscard]] Result frame(const trace::Frame& frame, bool packet, const Comments* comments) override {
    const auto link = static_cast<std::uint32_t>(frame.link);
    if (packet && link > std::numeric_limits<std::uint16_t>::max()) {
      return tl::unexpected(std::string("it holds a packet of a link type that has no number in pcapng"));
    }
    // A time before 1970 does not fit: it is counted from earlier.
    constexpr std::int64_t long_before = -(std::int64_t{1} << 34U);
    const bool early = frame.ref.time < 0;
    const std::int64_t scale = microseconds_ ? 1'000 : 1;
    std::uint64_t time = 0;
    if (early) {
      const auto since =
          static_cast<std::uint64_t>(-long_before) * 1'000'000'000 - (0 - static_cast<std::uint64_t>(frame.ref.time));
      time = since / static_cast<std::uint64_t>(scale);
    } else {
      time = static_cast<std::uint64_t>(frame.ref.time / scale);
    }
    block_.clear();
    // A record of another kind keeps its place, so that frames keep their numbers.
    const Interface& from =
        interface({packet ? link : 1, early ? long_before : 0, frame.fcs_length}, frame.octets.size());
    append_packet(block_, from.number, time, frame.octets, frame.wire_length);
    if (comments != nullptr) add_comments(block_, *comments, false);
    if (frame.behind_a_loss) add_loss(block_, false);
    out_.write(block_);
    newest_ = {from.number, time};
    return {};
  }

  [[nodiscard]] Result finish(std::optional<std::uint64_t> /*damage*/) override {
    if (dropped_ != 0 && newest_) out_.write(statistics_block(newest_->interface, newest_->time, dropped_));
    return {};
  }

 private:
  struct Interface {
    std::uint32_t number = 0;
    std::uint64_t position = 0;  ///< of its block in the output
    std::uint32_t snap_length = 0;
  };

  /// Link type, seconds that are added to times, length of the frame check sequence.
  using Kind = std::tuple<std::uint32_t, std::int64_t, std::uint8_t>;

  [[nodiscard]] const Interface& interface(const Kind& kind, std::size_t captured) {
    const auto [at, fresh] = interfaces_.try_emplace(kind);
    Interface& found = at->second;
    if (fresh) {
      found.number = shared_ != nullptr ? shared_->interfaces++ : static_cast<std::uint32_t>(interfaces_.size() - 1);
      found.position = out_.position();
      found.snap_length = snap_length_;
      const auto& [link, seconds_later, fcs_length] = kind;
      out_.write(interface_block(static_cast<std::uint16_t>(link), found.snap_length, microseconds_ ? 6 : 9,
                                 seconds_later, fcs_length));
    }
    // A file header may say less than its records hold; in pcapng readers refuse packets beyond the snap length.
    if (found.snap_length != 0 && captured > found.snap_length) {
      found.snap_length = 0;
      out_.patch(found.position + kSnapLengthAt, kNoLimit);
    }
    return found;
  }

  struct Newest {
    std::uint32_t interface = 0;
    std::uint64_t time = 0;  ///< in its units
  };

  std::uint32_t snap_length_;
  std::uint64_t dropped_;
  bool microseconds_;
  OutputFile& out_;
  SharedSection* shared_;
  std::map<Kind, Interface> interfaces_;
  std::optional<Newest> newest_;
  std::vector<std::uint8_t> block_;
};

}  // namespace

std::unique_ptr<InputCopy> converted(const Original& original, OutputFile& out, SharedSection* shared,
                                     std::string_view application) {
  return std::make_unique<Converted>(original, out, shared, application);
}

}  // namespace rpcrdma::annotate
