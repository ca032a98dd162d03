// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/capture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "reader/backend.hpp"
#include "reader/content.hpp"
#include "reader/link_names.hpp"
#include "reader/pcap_backend.hpp"
#include "reader/pcapng_watch.hpp"
#include "reader/source.hpp"
#include "reader/wiretap_backend.hpp"

namespace rpcrdma::reader {
namespace {

[[nodiscard]] bool is_libpcaps(Content content) noexcept {
  return content == Content::pcap || content == Content::pcap_ns || content == Content::pcap_modified ||
         content == Content::pcapng;
}

class FileCapture final : public Capture {
 public:
  FileCapture(const std::string& path, std::unique_ptr<Source> source)
      : source_(std::move(source)), content_(content_of(source_->head())) {
    facts_.path = path;
  }

  [[nodiscard]] tl::expected<void, std::string> choose() {
    if (is_hopeless(content_)) {
      return tl::unexpected(fmt::format("{}: {}", source_->name(), not_a_capture(content_)));
    }
    const bool plain_pcap = is_libpcaps(content_) && content_ != Content::pcapng;
    // libpcap may have to hand a pcapng over half way, and libwiretap wants a file: only a plain pcap streams.
    if (!plain_pcap) {
      if (auto spooled = source_->spool(); !spooled) {
        return spooled;
      }
    }
    std::string reason;
    if (is_libpcaps(content_)) {
      if (auto opened = open_with_libpcap(*source_, content_)) {
        take(std::move(*opened));
        return {};
      } else {
        reason = std::move(opened).error();
      }
    }
    if (source_->reopenable()) {
      if (auto opened = open_with_wiretap(*source_, content_)) {
        take(std::move(*opened));
        return {};
      } else if (reason.empty()) {
        reason = std::move(opened).error();
      }
    }
    return tl::unexpected(fmt::format("{}: {}", source_->name(), reason));
  }

  [[nodiscard]] const trace::Frame* next() override {
    while (backend_) {
      switch (backend_->next(record_)) {
        case Step::record:
          note();
          return &record_.frame;
        case Step::end:
          done_ = std::move(backend_);
          return nullptr;
        case Step::damaged:
          facts_.damaged = backend_->damage();
          done_ = std::move(backend_);
          return nullptr;
        case Step::refused:
          hand_over();
          break;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool packet() const override { return record_.is_packet; }
  [[nodiscard]] const InputFacts& facts() const override { return facts_; }

  [[nodiscard]] std::optional<double> position() const override {
    return backend_ ? backend_->position() : std::optional<double>(1.0);
  }

 private:
  void take(std::unique_ptr<Backend> backend) {
    constexpr std::uint32_t no_limit = 0x7fffffff;
    backend_ = std::move(backend);
    facts_.format = backend_->format();
    facts_.snap_length = backend_->snap_length() < no_limit ? backend_->snap_length() : 0;
  }

  /// libpcap gave up on a pcapng: libwiretap goes on where it stopped, or says where and why that is not possible.
  void hand_over() {
    const Damage stopped = backend_->damage();
    auto opened = open_with_wiretap(*source_, content_);
    backend_ = opened ? std::move(*opened) : nullptr;
    std::string why = opened ? std::string() : std::move(opened).error();
    Record skipped;
    for (std::uint64_t i = 0; backend_ && i < facts_.frames; ++i) {
      if (backend_->next(skipped) != Step::record) {
        why = backend_->damage().reason;
        backend_.reset();
      }
    }
    if (!backend_) {
      facts_.damaged = located(stopped, std::move(why));
    }
  }

  /// Where a pcapng is damaged that libwiretap cannot go on with, from the block headers alone. `why`: what it said.
  [[nodiscard]] Damage located(const Damage& stopped, std::string why) const {
    std::ifstream file(source_->reopen_path(), std::ios::binary);
    std::vector<char> part(std::size_t{1} << 18U);
    PcapngWatch blocks;
    std::optional<std::uint64_t> at_stop;
    std::uint64_t seen = 0;
    while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
      wire::Bytes octets(reinterpret_cast<const std::uint8_t*>(part.data()), static_cast<std::size_t>(file.gcount()));
      if (!at_stop && seen + octets.size() >= stopped.offset) {
        const auto before = static_cast<std::size_t>(stopped.offset - seen);
        blocks.see(octets.first(before));
        at_stop = blocks.block();
        octets = octets.subspan(before);
        seen += before;
      }
      blocks.see(octets);
      seen += octets.size();
    }
    // What stopped libpcap may be damage, or just a file that is not for it.
    const auto broken = blocks.broken_block();
    if (broken && (why == kCut || why == kCutInHeader)) {
      return {*broken, std::string(kCut)};
    }
    if (why.empty()) {
      why = stopped.reason.empty() ? "it changed while it was read" : stopped.reason;
    }
    return {stopped.reason.empty() ? stopped.offset : at_stop.value_or(stopped.offset), std::move(why)};
  }

  void note() {
    ++facts_.frames;
    const trace::Frame& frame = record_.frame;
    facts_.bytes += frame.octets.size();
    if (frame.wire_length > frame.octets.size() + frame.fcs_length) {
      ++facts_.truncated_frames;
    }
    if (record_.has_time) {
      facts_.first_time = std::min(facts_.first_time.value_or(frame.ref.time), frame.ref.time);
      facts_.last_time = std::max(facts_.last_time.value_or(frame.ref.time), frame.ref.time);
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
  InputFacts facts_;
  trace::LinkType last_link_ = kNoLinkType;
};

}  // namespace

tl::expected<std::unique_ptr<Capture>, std::string> Capture::open(const std::string& path, const std::string& shown) {
  auto source = Source::open(path, shown);
  if (!source) {
    return tl::unexpected(std::move(source).error());
  }
  auto capture = std::make_unique<FileCapture>(path, std::move(*source));
  if (auto chosen = capture->choose(); !chosen) {
    return tl::unexpected(std::move(chosen).error());
  }
  return std::unique_ptr<Capture>(std::move(capture));
}

}  // namespace rpcrdma::reader
