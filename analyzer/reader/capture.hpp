// SPDX-License-Identifier: GPL-2.0-or-later
// Capture files to frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "trace/frame.hpp"

namespace rpcrdma::reader {

class Source;

/// Octets that frames stand in, which stay as they are for as long as somebody has this.
using Octets = std::shared_ptr<const std::vector<std::uint8_t>>;

/// For threads that take frames in turn, and read beside each other what they will take them from. Outlives the
/// capture, and then has nothing to do.
class ReadAhead {
 public:
  ReadAhead() = default;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  virtual ~ReadAhead() = default;
  /// Reads the next part that nobody else reads or has read. Its number, from 1; 0: there is none.
  /// How many are kept unread is up to whoever asks.
  [[nodiscard]] virtual std::uint64_t read() = 0;
  /// Several threads may do so at once; else they wait for each other.
  [[nodiscard]] virtual bool at_once() const noexcept = 0;
};

struct Damage {
  std::uint64_t offset = 0;  ///< octet offset in the (decompressed, where it is compressed) file
  std::string reason;
  bool read_on = false;  ///< what is behind it was read, too

  bool operator==(const Damage&) const = default;
};

/// What became of one input, for the report.
struct InputFacts {
  std::string path;
  std::string format;  ///< "pcap", "pcap (ns)", "pcapng", "erf", ...; compression appended: "pcap, gzip"
  std::vector<std::string> link_types;  ///< in order of first appearance, names as libpcap gives them ("EN10MB")
  std::uint32_t snap_length = 0;        ///< of a pcap file's header; 0: none, or not known
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  ///< captured octets of all frames
  std::optional<trace::TimeNs> first_time;
  std::optional<trace::TimeNs> last_time;
  std::uint64_t truncated_frames = 0;
  std::uint64_t dropped = 0;  ///< packets that had no room when it was captured, so the file says; 0: it does not
  std::optional<Damage> damaged;

  bool operator==(const InputFacts&) const = default;
};

/// What may read a capture. Either way gives the same.
enum class Ways : std::uint8_t {
  all,             ///< an ordinary file without a library
  libraries_only,  ///< for tests, which hold the two against each other
};

/// One open capture. Chosen by content: ordinary files without a library, then libpcap, then libwiretap.
class Capture {
 public:
  /// "-" is standard input. The error says why to a person, and not of which file. `at_once`: of how many that are read
  /// at the same time this is one.
  [[nodiscard]] static tl::expected<std::unique_ptr<Capture>, std::string> open(const std::string& path,
                                                                                std::size_t at_once = 1,
                                                                                Ways ways = Ways::all);
  virtual ~Capture() = default;

  /// The next frame, or nullptr at the end (also at damage: see facts().damaged). `number` is left 0 for the caller.
  /// Valid until the next call.
  [[nodiscard]] virtual const trace::Frame* next() = 0;
  /// The frame that next() gave is a packet, and not a record of another kind that has a number.
  [[nodiscard]] bool packet() const noexcept { return packet_; }
  [[nodiscard]] virtual const InputFacts& facts() const = 0;
  /// The octets of the frame that next() gave stay valid for as long as somebody has this; null: until the next call.
  /// Whoever has it gives it back where next() is called, not beside it.
  [[nodiscard]] virtual Octets hold() const = 0;
  /// Null: this capture cannot be read ahead, or not any more.
  [[nodiscard]] virtual std::shared_ptr<ReadAhead> ahead() const = 0;
  /// That part and those before it hold no further frame as a whole: next() has to wait for more.
  [[nodiscard]] virtual bool used_up(std::uint64_t part) const = 0;
  /// 0..1 how far into the file, for progress; nullopt where that is not known.
  [[nodiscard]] virtual std::optional<double> position() const = 0;

 protected:
  Capture() = default;

  bool packet_ = false;  ///< asked for each frame
};

/// Keeps a pipe for several readings, if what comes out of it is a capture. The error is as that of
/// Capture::open().
[[nodiscard]] tl::expected<void, std::string> keep_capture(Source& source);

}  // namespace rpcrdma::reader
