// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/pcap_backend.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/link_names.hpp"
#include "reader/pcap_formats.hpp"
#include "reader/pcap_library.hpp"
#include "reader/pcapng_watch.hpp"

namespace rpcrdma::reader {
namespace {

[[nodiscard]] const PcapLibrary& library() { return PcapLibrary::instance(); }

struct ClosePcap {
  void operator()(pcap_t* handle) const noexcept { library().close(handle); }
};
using PcapHandle = std::unique_ptr<pcap_t, ClosePcap>;

constexpr std::uint64_t kRecordHeader = 16;  // of the two usual kinds of pcap

/// The source as a stdio stream, so that libpcap can read what was peeked at and we can see the octets pass.
class Stream {
 public:
  Stream(Source& source, Content content) noexcept : source_(source), content_(content) {}

  [[nodiscard]] std::FILE* open() {
    const cookie_io_functions_t functions{read, nullptr, tell, nullptr};
    std::FILE* file = ::fopencookie(this, "rb", functions);
    if (file != nullptr) {
      buffer_.resize(source_.part());
      (void)std::setvbuf(file, buffer_.data(), _IOFBF, buffer_.size());
    }
    return file;
  }

  [[nodiscard]] const PcapngWatch& watch() const noexcept { return watch_; }

  /// In the header of a pcap file, which libpcap does not get to see.
  [[nodiscard]] std::uint32_t snap_length() const noexcept {
    const wire::Bytes head = source_.head();
    if (content_ == Content::pcapng || head.size() < kSnapLengthTo) {
      return 0;
    }
    return load32(head.data() + kPcapSnapLength, pcap_is_big_endian(head[0]));
  }

 private:
  static ssize_t read(void* cookie, char* to, std::size_t length) {
    auto& self = *static_cast<Stream*>(cookie);
    const std::uint64_t at = self.source_.delivered();
    const ssize_t got = self.source_.read(to, length);
    if (got > 0) {
      self.passed(at, reinterpret_cast<std::uint8_t*>(to), static_cast<std::size_t>(got));
    }
    return got;
  }

  static int tell(void* cookie, off64_t* offset, int whence) {
    if (whence != SEEK_CUR || *offset != 0) {
      return -1;
    }
    *offset = static_cast<off64_t>(static_cast<const Stream*>(cookie)->source_.delivered());
    return 0;
  }

  void passed(std::uint64_t at, std::uint8_t* octets, std::size_t length) noexcept {
    if (content_ == Content::pcapng) {
      watch_.see({octets, length});
      return;
    }
    // libpcap cuts records that are longer than the snap length in the file header, Wireshark keeps them whole: with
    // no snap length given, libpcap keeps them too.
    for (std::uint64_t i = std::max<std::uint64_t>(at, kPcapSnapLength); i < kSnapLengthTo && i < at + length; ++i) {
      octets[i - at] = 0;
    }
  }

  static constexpr std::uint64_t kSnapLengthTo = kPcapSnapLength + 4;

  Source& source_;
  Content content_;
  PcapngWatch watch_;
  std::vector<char> buffer_;
};

/// What the field of the link type in a pcap file's header says besides: a bit for "is there", and units of two octets.
[[nodiscard]] constexpr std::uint8_t fcs_length(int extension) noexcept {
  const auto bits = static_cast<std::uint32_t>(extension);
  return (bits & 0x04000000U) != 0 ? static_cast<std::uint8_t>((bits >> 28U) * 2) : std::uint8_t{0};
}

class PcapBackend final : public Backend {
 public:
  PcapBackend(Source& source, Content content) : source_(source), content_(content), stream_(source, content) {}

  [[nodiscard]] tl::expected<void, std::string> open() {
    if (!library().missing.empty()) {
      return tl::unexpected(library().missing);
    }
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(stream_.open(), std::fclose);
    if (!file) {
      return tl::unexpected(std::string("out of memory"));
    }
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    handle_.reset(library().fopen_offline_with_tstamp_precision(file.get(), PCAP_TSTAMP_PRECISION_NANO, error.data()));
    if (!handle_) {
      return tl::unexpected(std::string(error.data()));
    }
    file_ = file.release();  // libpcap's now: closed with the handle
    link_ = link_type_of_dlt(library().datalink(handle_.get()));
    fcs_length_ =
        link_ == trace::LinkType::ethernet ? fcs_length(library().datalink_ext(handle_.get())) : std::uint8_t{0};
    record_start_ = where();
    return {};
  }

  [[nodiscard]] Step next(Record& record) override {
    pcap_pkthdr* header = nullptr;
    const u_char* octets = nullptr;
    const int got = library().next_ex(handle_.get(), &header, &octets);
    if (stream_.watch().unfit_for_libpcap()) {
      damage_ = Damage{record_start_, {}};
      return Step::refused;
    }
    // What nobody wrote, behind what was written or in between: a packet of no octets in 1970.
    if (got == 1 && content_ != Content::pcapng && header->caplen == 0 && header->ts.tv_sec == 0 &&
        header->ts.tv_usec == 0) {
      damage_ = Damage{record_start_, std::string(kZeros)};
      return Step::damaged;
    }
    if (got == 1) {
      // The 32 bits of seconds in a pcap file have no sign; libpcap gives them one.
      const std::int64_t seconds =
          content_ == Content::pcapng ? std::int64_t{header->ts.tv_sec} : static_cast<std::uint32_t>(header->ts.tv_sec);
      record.frame.ref.time = trace::time_of(seconds, header->ts.tv_usec);
      record.frame.link = link_;
      record.frame.octets = wire::Bytes(octets, header->caplen);
      record.frame.wire_length = std::max(header->len, header->caplen);
      record.frame.fcs_length = fcs_length_;
      record_start_ =
          content_ == Content::pcap || content_ == Content::pcap_ns
              ? record_start_ + kRecordHeader + header->caplen  // asking for each costs more than reading it
              : where();
      return Step::record;
    }
    if (got == PCAP_ERROR_BREAK) {
      return Step::end;
    }
    const std::string_view said = library().geterr(handle_.get());
    const bool pcapng = content_ == Content::pcapng;
    damage_ = Damage{pcapng ? where() : record_start_,
                     said.starts_with("truncated ") ? std::string(kCut) : std::string(said)};
    return pcapng ? Step::refused : Step::damaged;
  }

  [[nodiscard]] const Damage& damage() const noexcept override { return damage_; }

  [[nodiscard]] std::optional<Damage> passed_over() const override {
    const auto& defect = stream_.watch().defect();
    return defect ? std::optional(Damage{defect->block, std::string(defect->reason), true}) : std::nullopt;
  }

  [[nodiscard]] std::uint64_t dropped() const noexcept override { return stream_.watch().dropped(); }

  [[nodiscard]] const std::vector<std::uint64_t>* places_of_dropped() const noexcept override {
    return &stream_.watch().places();
  }

  [[nodiscard]] std::string format() const override {
    switch (content_) {
      case Content::pcap_ns:
        return "pcap (ns)";
      case Content::pcap_modified:
        return "pcap (modified)";
      case Content::pcapng:
        return "pcapng";
      default:
        return "pcap";
    }
  }

  [[nodiscard]] std::uint32_t snap_length() const override { return stream_.snap_length(); }

  [[nodiscard]] std::optional<double> position() const override { return source_.position(); }

 private:
  [[nodiscard]] std::uint64_t where() const noexcept {
    const off_t at = ::ftello(file_);
    return at < 0 ? source_.delivered() : static_cast<std::uint64_t>(at);
  }

  Source& source_;
  Content content_;
  Stream stream_;
  PcapHandle handle_;
  std::FILE* file_ = nullptr;
  trace::LinkType link_ = kNoLinkType;
  std::uint8_t fcs_length_ = 0;
  std::uint64_t record_start_ = 0;
  Damage damage_;
};

}  // namespace

tl::expected<std::unique_ptr<Backend>, std::string> open_with_libpcap(Source& source, Content content) {
  auto backend = std::make_unique<PcapBackend>(source, content);
  if (auto opened = backend->open(); !opened) {
    return tl::unexpected(std::move(opened).error());
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace rpcrdma::reader
