// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/wiretap_backend.hpp"

#include <wiretap/pcap-encap.h>
#include <wiretap/wtap.h>
#include <ws_version.h>
#include <wsutil/buffer.h>
#include <wsutil/wslog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reader/link_names.hpp"
#include "reader/loaded_library.hpp"

namespace rpcrdma::reader {
namespace {

#define RPCRDMA_WIRETAP_FUNCTIONS(X) \
  X(ws_log_set_writer_with_data)     \
  X(ws_log_set_level)                \
  X(wtap_init)                       \
  X(wtap_cleanup)                    \
  X(wtap_pcap_encap_to_wtap_encap)   \
  X(wtap_close)                      \
  X(wtap_strerror)                   \
  X(wtap_file_type_subtype_name)     \
  X(wtap_file_type_subtype)          \
  X(wtap_file_encap)                 \
  X(wtap_get_compression_type)       \
  X(wtap_rec_init)                   \
  X(wtap_rec_cleanup)                \
  X(wtap_rec_reset)                  \
  X(wtap_read)                       \
  X(wtap_snapshot_length)            \
  X(wtap_read_so_far)                \
  X(wtap_open_offline)
#if WIRESHARK_VERSION_MAJOR == 4 && WIRESHARK_VERSION_MINOR < 6
#define RPCRDMA_WSUTIL_FUNCTIONS(X) X(ws_buffer_init) X(ws_buffer_free)
#else
#define RPCRDMA_WSUTIL_FUNCTIONS(X)
#endif

/// The functions that are called here, as the headers declare them.
struct Functions {
  Functions() {
    LoadedLibrary library(RPCRDMA_WIRETAP_SONAME);
#define RPCRDMA_FIND(name) library.find(name, #name);
    RPCRDMA_WIRETAP_FUNCTIONS(RPCRDMA_FIND)
    RPCRDMA_WSUTIL_FUNCTIONS(RPCRDMA_FIND)
#undef RPCRDMA_FIND
    missing = library.missing();
  }

// NOLINTNEXTLINE(bugprone-macro-parentheses): what is declared has none
#define RPCRDMA_DECLARE(name) decltype(&::name) name = nullptr;
  RPCRDMA_WIRETAP_FUNCTIONS(RPCRDMA_DECLARE)
  RPCRDMA_WSUTIL_FUNCTIONS(RPCRDMA_DECLARE)
#undef RPCRDMA_DECLARE
  std::string missing;  ///< why none of them may be called; empty: all may
};

/// Loaded at the first call.
[[nodiscard]] const Functions& library() {
  static const Functions only;
  return only;
}

/// The library has one state for the whole process.
class Wiretap {
 public:
  static const Wiretap& instance() {
    static const Wiretap only;
    return only;
  }
  Wiretap(const Wiretap&) = delete;
  Wiretap& operator=(const Wiretap&) = delete;

  /// LINKTYPE_ number of one of its encapsulations.
  [[nodiscard]] trace::LinkType link_type(int encapsulation) const noexcept {
    const auto found = link_types_.find(encapsulation);
    return found != link_types_.end() ? found->second : kNoLinkType;
  }

 private:
  Wiretap() {
    // Without a level set it formats every debugging message, which costs a hundred times the reading.
    // (The writer's parameters are not the same in all versions of Wireshark.)
    library().ws_log_set_writer_with_data([](auto... /*what it says*/) {}, nullptr, nullptr);
    library().ws_log_set_level(LOG_LEVEL_ERROR);
    library().wtap_init(FALSE);
    // It tells the encapsulation of a LINKTYPE_ number, not the other way round. Numbers that share an encapsulation
    // are told apart by what the trace opens.
    for (std::uint32_t number = 0; number < 512; ++number) {
      if (can_be_opened(static_cast<trace::LinkType>(number))) {
        add(number);
      }
    }
    for (std::uint32_t number = 0; number < 512; ++number) {
      add(number);
    }
  }
  ~Wiretap() { library().wtap_cleanup(); }

  void add(std::uint32_t number) {
    const int encapsulation = library().wtap_pcap_encap_to_wtap_encap(static_cast<int>(number));
    if (encapsulation != WTAP_ENCAP_UNKNOWN) {
      link_types_.emplace(encapsulation, static_cast<trace::LinkType>(number));
    }
  }

  std::map<int, trace::LinkType> link_types_;
};

struct CloseWiretap {
  void operator()(wtap* handle) const noexcept { library().wtap_close(handle); }
};
using WiretapHandle = std::unique_ptr<wtap, CloseWiretap>;

/// An error number and the text that comes with some of them, which is ours to free.
struct Failure {
  int number = 0;
  gchar* text = nullptr;

  Failure() = default;
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  ~Failure() { g_free(text); }

  [[nodiscard]] std::string detail(std::string_view otherwise) const {
    return text != nullptr && *text != '\0' ? std::string(text) : std::string(otherwise);
  }
};

[[nodiscard]] std::string why_not_opened(const Failure& failure, Content content) {
  switch (failure.number) {
    case WTAP_ERR_FILE_UNKNOWN_FORMAT:
      return not_a_capture(content);
    case WTAP_ERR_SHORT_READ:
      return std::string(kCutInHeader);
    case WTAP_ERR_DECOMPRESS:
      return fmt::format("damaged {} data: {}", compression_name(content), failure.detail("cannot be decompressed"));
    case WTAP_ERR_DECOMPRESSION_NOT_SUPPORTED:
      return fmt::format("compressed with {}, which the installed libwiretap does not read", compression_name(content));
    default:
      return failure.number > 0 ? std::generic_category().message(failure.number)
                                : failure.detail(library().wtap_strerror(failure.number));
  }
}

[[nodiscard]] std::string why_damaged(const Failure& failure, Content content) {
  switch (failure.number) {
    case WTAP_ERR_SHORT_READ:
      return std::string(kCut);
    case WTAP_ERR_DECOMPRESS:
      return fmt::format("damaged {} data: {}", compression_name(content), failure.detail("cannot be decompressed"));
    default:
      return failure.number > 0 ? std::generic_category().message(failure.number)
                                : failure.detail(library().wtap_strerror(failure.number));
  }
}

enum class Trust : std::uint8_t { full, with_a_record, none };

/// libwiretap takes pictures, logs and plain text for captures too, and formats without a magic number for each other.
/// pcap and pcapng are taken whatever they hold; of others only those whose frames the trace can open, if there are
/// any.
[[nodiscard]] Trust trust(wtap* handle) {
  const char* type = library().wtap_file_type_subtype_name(library().wtap_file_type_subtype(handle));
  const std::string_view name = type != nullptr ? type : "";
  if (name.ends_with("pcap") || name == "pcapng") {
    return Trust::full;
  }
  const int encapsulation = library().wtap_file_encap(handle);
  const bool opened =
      encapsulation == WTAP_ENCAP_PER_PACKET || can_be_opened(Wiretap::instance().link_type(encapsulation));
  return opened ? Trust::with_a_record : Trust::none;
}

[[nodiscard]] std::string format_name(wtap* handle) {
  const char* type = library().wtap_file_type_subtype_name(library().wtap_file_type_subtype(handle));
  std::string_view name = type != nullptr ? type : "unknown";
  if (name == "nsecpcap") {
    name = "pcap (ns)";
  } else if (name == "modpcap") {
    name = "pcap (modified)";
  }
  switch (library().wtap_get_compression_type(handle)) {
    case WTAP_GZIP_COMPRESSED:
      return fmt::format("{}, gzip", name);
    case WTAP_ZSTD_COMPRESSED:
      return fmt::format("{}, zstd", name);
    case WTAP_LZ4_COMPRESSED:
      return fmt::format("{}, lz4", name);
    default:
      return std::string(name);
  }
}

void append_be(std::vector<std::uint8_t>& to, std::uint64_t value, unsigned octets) {
  for (unsigned i = octets; i > 0; --i) {
    to.push_back(static_cast<std::uint8_t>(value >> (8U * (i - 1))));
  }
}

constexpr std::uint8_t kErfMore = 0x80;

/// Octets between the ERF headers and the payload; by record type, without the extension bit.
[[nodiscard]] constexpr unsigned erf_subheader(std::uint8_t type) noexcept {
  switch (type & 0x7fU) {
    case 2:   // Ethernet
    case 11:  // coloured Ethernet
    case 16:  // DSM-coloured Ethernet
    case 20:  // coloured Ethernet with hash
      return 2;
    case 5:   // multichannel HDLC
    case 6:   // multichannel raw
    case 7:   // multichannel ATM
    case 8:   // multichannel raw channel
    case 9:   // multichannel AAL5
    case 12:  // multichannel AAL2
    case 17:  // coloured multichannel HDLC
    case 18:  // AAL2
      return 4;
    default:
      return 0;
  }
}

/// The ERF record header as it was in the file: libwiretap takes it apart and keeps it beside the payload.
void append_erf_header(std::vector<std::uint8_t>& to, const erf_mc_phdr& erf) {
  for (unsigned i = 0; i < 8; ++i) {
    to.push_back(static_cast<std::uint8_t>(erf.phdr.ts >> (8U * i)));  // the time stamp alone is little-endian
  }
  to.push_back(erf.phdr.type);
  to.push_back(erf.phdr.flags);
  append_be(to, erf.phdr.rlen, 2);
  append_be(to, erf.phdr.lctr, 2);
  append_be(to, erf.phdr.wlen, 2);
  bool more = (erf.phdr.type & kErfMore) != 0;
  for (std::size_t i = 0; more && i < std::size(erf.ehdr_list); ++i) {
    std::uint64_t extension = erf.ehdr_list[i].ehdr;
    more = (extension >> 63U) != 0;
    if (i + 1 == std::size(erf.ehdr_list)) {
      extension &= ~(std::uint64_t{1} << 63U);  // further ones are not kept: this is the last there is
    }
    append_be(to, extension, 8);
  }
  switch (erf_subheader(erf.phdr.type)) {
    case 2:
      to.push_back(erf.subhdr.eth_hdr.offset);
      to.push_back(erf.subhdr.eth_hdr.pad);
      break;
    case 4:
      append_be(to, erf.subhdr.mc_hdr, 4);
      break;
    default:
      break;
  }
}

/// A record and its octets: Wireshark 4.6 keeps them together, versions before it apart.
class RecordSpace {
 public:
  static constexpr std::size_t first_size = 65536;
#if WIRESHARK_VERSION_MAJOR > 4 || WIRESHARK_VERSION_MINOR >= 6
  RecordSpace() { library().wtap_rec_init(&rec, first_size); }
  ~RecordSpace() { library().wtap_rec_cleanup(&rec); }
  [[nodiscard]] bool read(wtap* handle, Failure& failure, gint64& offset) {
    return library().wtap_read(handle, &rec, &failure.number, &failure.text, &offset);
  }
  [[nodiscard]] const std::uint8_t* octets() const { return ws_buffer_start_ptr(&rec.data); }
#else
  RecordSpace() {
    library().wtap_rec_init(&rec);
    library().ws_buffer_init(&buffer_, first_size);
  }
  ~RecordSpace() {
    library().ws_buffer_free(&buffer_);
    library().wtap_rec_cleanup(&rec);
  }
  [[nodiscard]] bool read(wtap* handle, Failure& failure, gint64& offset) {
    return library().wtap_read(handle, &rec, &buffer_, &failure.number, &failure.text, &offset) != 0;
  }
  [[nodiscard]] const std::uint8_t* octets() const { return ws_buffer_start_ptr(&buffer_); }
#endif
  RecordSpace(const RecordSpace&) = delete;
  RecordSpace& operator=(const RecordSpace&) = delete;

  wtap_rec rec{};

 private:
#if WIRESHARK_VERSION_MAJOR == 4 && WIRESHARK_VERSION_MINOR < 6
  Buffer buffer_{};
#endif
};

class WiretapBackend final : public Backend {
 public:
  WiretapBackend(WiretapHandle handle, Content content, std::optional<std::uint64_t> size)
      : handle_(std::move(handle)), content_(content), size_(size) {}

  /// Whether there is anything to read; what is read here is the first that next() gives.
  [[nodiscard]] bool holds_a_record() {
    ahead_ = read() == Step::record;
    return ahead_;
  }

  [[nodiscard]] Step next(Record& record) override {
    const Step step = std::exchange(ahead_, false) ? Step::record : read();
    if (step != Step::record) {
      return step;
    }
    const wtap_rec& rec = space_.rec;
    record.is_packet = rec.rec_type == REC_TYPE_PACKET;
    // A journal entry or a system call has the time of another clock.
    record.has_time = record.is_packet && (rec.presence_flags & WTAP_HAS_TS) != 0;
    record.frame.ref.time = record.has_time ? trace::time_of(rec.ts.secs, rec.ts.nsecs) : 0;
    if (record.is_packet) {
      packet(record.frame);
    } else {
      record.frame.link = kNoLinkType;
      record.frame.octets = {};
      record.frame.wire_length = 0;
      record.frame.fcs_length = 0;
    }
    return step;
  }

  [[nodiscard]] const Damage& damage() const noexcept override { return damage_; }
  [[nodiscard]] std::optional<Damage> passed_over() const override { return std::nullopt; }
  [[nodiscard]] std::string format() const override { return format_name(handle_.get()); }
  [[nodiscard]] std::uint32_t snap_length() const override {
    return static_cast<std::uint32_t>(library().wtap_snapshot_length(handle_.get()));
  }
  [[nodiscard]] std::optional<double> position() const override {
    if (!size_ || *size_ == 0) {
      return std::nullopt;
    }
    return std::min(1.0, static_cast<double>(library().wtap_read_so_far(handle_.get())) / static_cast<double>(*size_));
  }

 private:
  [[nodiscard]] Step read() {
    Failure failure;
    gint64 offset = 0;
    library().wtap_rec_reset(&space_.rec);
    if (space_.read(handle_.get(), failure, offset)) {
      return Step::record;
    }
    if (failure.number == 0) {
      return Step::end;
    }
    damage_ = Damage{static_cast<std::uint64_t>(std::max<gint64>(offset, 0)), why_damaged(failure, content_)};
    return Step::damaged;
  }

  void packet(trace::Frame& frame) {
    const wtap_packet_header& header = space_.rec.rec_header.packet_header;
    const wire::Bytes payload(space_.octets(), header.caplen);
    frame.link = Wiretap::instance().link_type(header.pkt_encap);
    frame.octets = payload;
    frame.fcs_length =
        header.pkt_encap == WTAP_ENCAP_ETHERNET ? trace::fcs_octets(header.pseudo_header.eth.fcs_len) : std::uint8_t{0};
    std::uint64_t wire_length = std::max(header.len, header.caplen);
    if (header.pkt_encap == WTAP_ENCAP_ERF) {
      erf_.clear();
      append_erf_header(erf_, header.pseudo_header.erf);
      wire_length += erf_.size();
      erf_.insert(erf_.end(), payload.begin(), payload.end());
      frame.octets = erf_;
    }
    frame.wire_length = static_cast<std::uint32_t>(std::min<std::uint64_t>(wire_length, 0xffffffffU));
  }

  WiretapHandle handle_;
  Content content_;
  std::optional<std::uint64_t> size_;
  RecordSpace space_;
  bool ahead_ = false;             ///< space_ holds a record that was not given yet
  std::vector<std::uint8_t> erf_;  ///< the record put together again
  Damage damage_;
};

}  // namespace

tl::expected<std::unique_ptr<Backend>, std::string> open_with_wiretap(const Source& source, Content content) {
  if (!library().missing.empty()) {
    return tl::unexpected(library().missing);
  }
  (void)Wiretap::instance();
  Failure failure;
  WiretapHandle handle(
      library().wtap_open_offline(source.reopen_path().c_str(), WTAP_TYPE_AUTO, &failure.number, &failure.text, FALSE));
  if (!handle) {
    return tl::unexpected(why_not_opened(failure, content));
  }
  const Trust trusted = trust(handle.get());
  auto backend = std::make_unique<WiretapBackend>(std::move(handle), content, source.size());
  if (trusted == Trust::none || (trusted == Trust::with_a_record && !backend->holds_a_record())) {
    return tl::unexpected(not_a_capture(content));
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace rpcrdma::reader
