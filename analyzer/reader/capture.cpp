// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/capture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reader/backend.hpp"
#include "reader/content.hpp"
#include "reader/direct_backend.hpp"
#include "reader/link_names.hpp"
#include "reader/pcap_backend.hpp"
#include "reader/pcapng_watch.hpp"
#include "reader/source.hpp"
#include "reader/wiretap_backend.hpp"

namespace rpcrdma::reader {
namespace {

class FileCapture final : public Capture {
 public:
  FileCapture(const std::string& path, std::unique_ptr<Source> source)
      : source_(std::move(source)), content_(content_of(source_->head())) {
    facts_.path = path;
  }

  [[nodiscard]] tl::expected<void, std::string> choose(Ways ways) {
    // libpcap may have to hand a pcapng over half way: only a plain pcap streams.
    if (content_ == Content::pcapng || !is_packet_capture(content_)) {
      if (auto kept = keep_capture(*source_); !kept) {
        return kept;
      }
    }
    std::string reason;
    if (ways == Ways::all && source_->reopenable()) {
      if (auto opened = open_directly(*source_, content_)) {
        take(std::move(opened));
        way_ = Way::direct;
        return {};
      }
      if (auto rewound = source_->rewind(); !rewound) {
        return rewound;
      }
    }
    if (is_packet_capture(content_)) {
      if (auto opened = open_with_libpcap(*source_, content_)) {
        take(std::move(*opened));
        return {};
      } else {
        reason = std::move(opened).error();
      }
    }
    if (source_->reopenable()) {
      if (auto opened = with_wiretap({})) {
        take(std::move(*opened));
        return {};
      } else if (reason.empty()) {
        reason = std::move(opened).error();
      }
    }
    if (survey_.defect) {  // before the first packet, and no library goes on behind it
      facts_.format = "pcapng";
      facts_.damaged = Damage{survey_.defect->block, std::string(survey_.defect->reason)};
      name_compression();
      return {};
    }
    return refusal(source_->shortage() ? source_->shortage()->reason : reason);
  }

  [[nodiscard]] const trace::Frame* next() override {
    while (backend_) {
      switch (backend_->next(record_)) {
        case Step::record:
          packet_ = record_.is_packet;
          record_.frame.behind_a_loss = packet_ && dropped_in_front();
          note();
          return &record_.frame;
        case Step::end:
          facts_.damaged = at_the_end();
          end();
          return nullptr;
        case Step::damaged:
          facts_.damaged = backend_->damage();
          // A record that is cut because nothing more could be had
          if (const auto missing = missing_end(); missing && facts_.damaged->reason == kCut) {
            facts_.damaged->reason = missing->reason;
          }
          end();
          return nullptr;
        case Step::refused:
          hand_over();
          break;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const InputFacts& facts() const override { return facts_; }
  [[nodiscard]] Octets hold() const override { return backend_ ? backend_->hold() : nullptr; }
  [[nodiscard]] std::shared_ptr<ReadAhead> ahead() const override { return backend_ ? backend_->ahead() : nullptr; }
  [[nodiscard]] bool used_up(std::uint64_t part) const override { return backend_ && backend_->used_up(part); }

  [[nodiscard]] std::optional<double> position() const override {
    return backend_ ? backend_->position() : std::optional<double>(1.0);
  }

 private:
  void name_compression() {
    const std::string_view compression = compression_name(source_->compression());
    if (!compression.empty() && !facts_.format.ends_with(compression)) {
      facts_.format += fmt::format(", {}", compression);
    }
  }

  void take(std::unique_ptr<Backend> backend) {
    constexpr std::uint32_t no_limit = 0x7fffffff;
    backend_ = std::move(backend);
    facts_.format = backend_->format();
    name_compression();
    facts_.snap_length = backend_->snap_length() < no_limit ? backend_->snap_length() : 0;
  }

  [[nodiscard]] tl::unexpected<std::string> refusal(const std::string& why) const { return tl::unexpected(why); }

  enum class Way : std::uint8_t { direct, library };  ///< of the backend

  /// What the octets say without a library.
  struct Survey {
    std::optional<std::uint64_t> at_stop;  ///< the block of a pcapng in which reading stopped
    std::optional<std::uint64_t> broken;
    std::optional<PcapngWatch::Defect> defect;
    std::optional<Shortage> shortage;
    std::uint64_t parts = 0;
    std::uint64_t dropped = 0;
    std::vector<std::uint64_t> places;  ///< of these, as the watch tells them
  };

  [[nodiscard]] static Survey survey(Source& source, bool pcapng, std::optional<std::uint64_t> stop) {
    std::vector<std::uint8_t> part(std::size_t{1} << 18U);
    PcapngWatch blocks;
    Survey out;
    std::uint64_t seen = 0;
    ssize_t got = 0;
    while ((got = source.read(part.data(), part.size())) > 0) {
      wire::Bytes octets = wire::Bytes(part).first(static_cast<std::size_t>(got));
      if (!pcapng) {
        continue;
      }
      if (stop && !out.at_stop && seen + octets.size() >= *stop) {
        const auto before = static_cast<std::size_t>(*stop - seen);
        blocks.see(octets.first(before));
        out.at_stop = blocks.block();
        octets = octets.subspan(before);
        seen += before;
      }
      blocks.see(octets);
      seen += octets.size();
    }
    if (pcapng) {
      out.broken = blocks.broken_block();
      out.defect = blocks.defect();
      out.dropped = blocks.dropped();
      out.places = blocks.places();
    }
    out.shortage = source.shortage();
    out.parts = source.parts();
    return out;
  }

  /// libwiretap says nothing of compressed data that end at the end of a block, or of what stands behind their end, and
  /// reads over much in a pcapng. `stop`: how far another library had read.
  [[nodiscard]] tl::expected<std::unique_ptr<Backend>, std::string> with_wiretap(std::optional<std::uint64_t> stop) {
    const bool pcapng = content_ == Content::pcapng;
    const bool packed = source_->compression() != Content::other;
    if (pcapng || packed) {
      auto again = Source::open(source_->reopen_path());
      if (!again) {
        return tl::unexpected(std::move(again).error());
      }
      survey_ = survey(**again, pcapng, stop);
    }
    if (packed && (survey_.parts > 1 || survey_.shortage)) {
      auto again = Source::open(source_->reopen_path());
      if (!again) {
        return tl::unexpected(std::move(again).error());
      }
      if (auto kept = (*again)->keep_unpacked(); !kept) {
        return tl::unexpected(std::move(kept).error());
      }
      source_ = std::move(*again);
    }
    return open_with_wiretap(*source_, content_);
  }

  /// Why there is less of the file than there should be, and how much of it there is.
  [[nodiscard]] std::optional<Damage> missing_end() const {
    if (const auto& shortage = source_->shortage()) {
      return Damage{shortage->offset, shortage->reason};
    }
    if (!source_->not_kept().empty()) {
      return Damage{source_->size().value_or(0), source_->not_kept()};
    }
    return std::nullopt;
  }

  void end() {
    facts_.dropped = std::max(backend_->dropped(), survey_.dropped);
    done_ = std::move(backend_);
  }

  /// The file says that packets are missing right in front of the one at hand. What reads without a library leaves such
  /// files to others.
  [[nodiscard]] bool dropped_in_front() {
    ++packets_;
    if (content_ != Content::pcapng || way_ == Way::direct) return false;
    const std::vector<std::uint64_t>* own = backend_->places_of_dropped();
    const std::vector<std::uint64_t>& places = own != nullptr ? *own : survey_.places;
    while (next_place_ < places.size() && places[next_place_] < packets_) ++next_place_;
    return next_place_ < places.size() && places[next_place_] == packets_;
  }

  /// Damage that did not end the reading.
  [[nodiscard]] std::optional<Damage> at_the_end() const {
    if (auto missing = missing_end()) {
      return missing;
    }
    if (survey_.defect) {
      return Damage{survey_.defect->block, std::string(survey_.defect->reason), true};
    }
    return backend_->passed_over();
  }

  /// The backend gave up. What comes without a library knows only ordinary files: libpcap says what this is. Where
  /// libpcap gives up on a pcapng, libwiretap goes on where it stopped, or says where and why that is not possible.
  void hand_over() {
    Damage stopped = backend_->damage();
    if (std::exchange(way_, Way::library) == Way::direct) {
      auto given_up = with_libpcap();
      if (!given_up) {
        return;
      }
      stopped = std::move(*given_up);
    }
    backend_.reset();
    auto opened = with_wiretap(stopped.offset);
    backend_ = opened ? std::move(*opened) : nullptr;
    std::string why = opened ? std::string() : std::move(opened).error();
    if (backend_ && skip() != Step::record) {
      why = backend_->damage().reason;
      backend_.reset();
    }
    if (!backend_) {
      facts_.damaged = located(stopped, std::move(why));
    }
  }

  /// Reads from the start what was delivered. Damage: libpcap gives up as well, there; empty: it goes on, or the
  /// reading is over and the facts say why.
  [[nodiscard]] std::optional<Damage> with_libpcap() {
    if (auto rewound = source_->rewind(); !rewound) {
      backend_.reset();
      facts_.damaged = Damage{0, std::move(rewound).error()};
      return std::nullopt;
    }
    auto opened = open_with_libpcap(*source_, content_);
    if (!opened) {
      return Damage{0, std::move(opened).error()};
    }
    backend_ = std::move(*opened);
    switch (skip()) {
      case Step::record:
        return std::nullopt;
      case Step::refused:
        return backend_->damage();
      case Step::end:
      case Step::damaged:
        break;
    }
    facts_.damaged = backend_->damage();
    if (facts_.damaged->reason.empty()) {
      facts_.damaged->reason = "it changed while it was read";
    }
    backend_.reset();
    return std::nullopt;
  }

  /// Over the records that were delivered. Step::record: they are all there again.
  [[nodiscard]] Step skip() {
    Record skipped;
    Step step = Step::record;
    for (std::uint64_t i = 0; i < facts_.frames && step == Step::record; ++i) {
      step = backend_->next(skipped);
    }
    return step;
  }

  /// Where a pcapng is damaged that libwiretap cannot go on with, from the block headers alone. `why`: what it said.
  [[nodiscard]] Damage located(const Damage& stopped, std::string why) const {
    // What stopped libpcap may be damage, or just a file that is not for it.
    if (survey_.broken && (why == kCut || why == kCutInHeader)) {
      const auto missing = missing_end();
      return {*survey_.broken, missing ? missing->reason : std::string(kCut)};
    }
    if (stopped.reason.empty() && survey_.defect) {
      return {survey_.defect->block, std::string(survey_.defect->reason)};
    }
    if (why.empty()) {
      why = stopped.reason.empty() ? "it changed while it was read" : stopped.reason;
    }
    return {stopped.reason.empty() ? stopped.offset : survey_.at_stop.value_or(stopped.offset), std::move(why)};
  }

  void note() {
    ++facts_.frames;
    const trace::Frame& frame = record_.frame;
    facts_.bytes += frame.octets.size();
    if (frame.wire_length > frame.octets.size() + frame.fcs_length) {
      ++facts_.truncated_frames;
    }
    // Simple packets of a pcapng have no time; libpcap says 0, and so do writers that know none.
    if (record_.has_time && (content_ != Content::pcapng || frame.ref.time != 0)) {
      if (!facts_.last_time || *facts_.last_time < frame.ref.time) facts_.last_time = frame.ref.time;
      if (!facts_.first_time || frame.ref.time < *facts_.first_time) facts_.first_time = frame.ref.time;
    }
    if (record_.is_packet && (last_link_ != frame.link || facts_.link_types.empty())) {
      last_link_ = frame.link;
      std::string name = frame.link == kNoLinkType ? std::string("unknown") : link_type_name(frame.link);
      if (std::find(facts_.link_types.begin(), facts_.link_types.end(), name) == facts_.link_types.end()) {
        facts_.link_types.push_back(std::move(name));
      }
    }
  }

  std::unique_ptr<Source> source_;
  Content content_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> done_;  ///< keeps the last frame's octets valid
  Record record_;
  std::uint64_t packets_ = 0;
  std::size_t next_place_ = 0;  ///< of those where packets were dropped
  Way way_ = Way::library;
  Survey survey_;
  InputFacts facts_;
  trace::LinkType last_link_ = kNoLinkType;
};

/// Why what the first octets say cannot be a capture.
[[nodiscard]] std::string why_no_capture(const Source& source) {
  if (source.compression() == Content::other) {
    return not_a_capture(content_of(source.head()));
  }
  return source.shortage() ? source.shortage()->reason : not_a_capture(source.compression());
}

}  // namespace

tl::expected<void, std::string> keep_capture(Source& source) {
  const Content content = content_of(source.head());
  if (is_hopeless(content) || !compression_name(content).empty()) {
    return tl::unexpected(why_no_capture(source));
  }
  // Of what only libwiretap may know, no more is kept than it takes to find out: there may be no end to it.
  constexpr std::uint64_t enough = std::uint64_t{1} << 20U;
  if (!is_packet_capture(content) && !source.reopenable()) {
    if (auto begun = source.keep(enough); !begun) {
      return begun;
    }
    if (auto opened = open_with_wiretap(source, content); !opened) {
      return tl::unexpected(std::move(opened).error());
    }
  }
  return source.keep();
}

tl::expected<std::unique_ptr<Capture>, std::string> Capture::open(const std::string& path, std::size_t at_once,
                                                                  Ways ways) {
  auto source = Source::open(path, at_once);
  if (!source) {
    return tl::unexpected(std::move(source).error());
  }
  auto capture = std::make_unique<FileCapture>(path, std::move(*source));
  if (auto chosen = capture->choose(ways); !chosen) {
    return tl::unexpected(std::move(chosen).error());
  }
  return std::unique_ptr<Capture>(std::move(capture));
}

}  // namespace rpcrdma::reader
