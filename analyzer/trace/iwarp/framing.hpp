// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of an iWARP stream: from octets in order to FPDUs, markers removed.
#pragma once

#include <optional>
#include <vector>

#include "trace/budget.hpp"
#include "trace/iwarp/alignment.hpp"
#include "trace/iwarp/piece.hpp"
#include "trace/iwarp/window.hpp"
#include "wire/mpa.hpp"

namespace rpcrdma::trace::iwarp {

struct Fpdu {
  Position start = 0;  ///< its length word
  Position end = 0;    ///< behind its CRC
  FrameRef first;      ///< frame of the length word's first octet
  FrameRef last;       ///< frame of the last octet
  Bytes ulpdu;         ///< as captured: a prefix without holes
  std::uint32_t ulpdu_length = 0;
  Bytes pad;  ///< between the ULPDU and the CRC, as captured
  /// Markers may stand in it, and no CRC says otherwise: no octet is surely what it seems to be.
  bool undecided = false;
};

class FpduHandler {
 public:
  virtual ~FpduHandler() = default;
  virtual void fpdu(const Fpdu& fpdu) = 0;
  virtual void crc_bad(FrameRef frame) = 0;
  /// An FPDU that cannot be, or the place of one; never when the capture is to blame.
  virtual void mpa_bad(FrameRef frame) = 0;
  /// The snap length took a length word: from here on nothing is understood until alignment is found again.
  virtual void mpa_cut(FrameRef frame) = 0;
  /// Alignment was found again; `octets` in between, holes not counted, were not understood.
  virtual void skipped(std::uint64_t octets, FrameRef frame) = 0;

 protected:
  FpduHandler() = default;
  FpduHandler(const FpduHandler&) = default;
  FpduHandler& operator=(const FpduHandler&) = default;
};

class Framing {
 public:
  enum class State : std::uint8_t {
    start,   ///< an MPA Request or Reply is due
    search,  ///< FPDUs, alignment unknown
    framed,  ///< FPDUs
    silent,  ///< nothing here is to be understood
  };
  enum class Crc : std::uint8_t { unused, used, unknown };

  Framing(Budget& budget, bool check_all) noexcept : window_(budget), check_all_(check_all) {}

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const Window& window() const noexcept { return window_; }
  [[nodiscard]] const wire::Markers& markers() const noexcept { return markers_; }
  /// Nothing waits, and what comes next can be delivered at once.
  [[nodiscard]] bool direct() const noexcept { return state_ == State::framed && settled_ && window_.empty(); }
  /// Waiting octets can be turned into FPDUs.
  [[nodiscard]] bool ready() const noexcept {
    return state_ == State::framed && !window_.empty() && (settled_ || window_.end() >= opened_at_ + 2);
  }

  /// The MPA frame ended at `position`: FPDUs from there on. Markers are expected or not, but the stream itself has
  /// the last word: only a marker can begin with two zero octets.
  void open_at(Position position, bool markers_expected, Crc crc);
  /// The same without the MPA frame, unless what stands there cannot begin an FPDU.
  bool open_if_possible(Position position);
  /// Where its FPDUs begin at all, in TCP's numbers, as is known only now.
  void fpdus_begin_at(std::uint32_t sequence) noexcept;
  void begin_search(Position from);
  void silence();
  void set_crc(Crc crc) noexcept { crc_ = crc; }
  /// What the other side's MPA frame asks for; may come at any time before the first FPDU is delivered.
  void expect_markers(bool expected) noexcept;

  enum class Kept : std::uint8_t {
    all,
    room_made,  ///< older octets were given up
    none,       ///< there was no room, and nothing happened
  };
  /// Octets in order. `live`: FPDUs may be delivered at once; else everything waits in the window.
  Kept push(const Piece& piece, bool live, FpduHandler& handler);
  /// `count` octets at hole.start, which the capture lacks.
  Kept hole(const Piece& hole, std::uint64_t count, bool live, FpduHandler& handler);
  /// Looks for alignment; true when it was found.
  bool align(Expectation expected, const Thresholds& thresholds, bool last, FpduHandler& handler);
  /// Delivers the FPDUs of the oldest waiting piece. Only when ready().
  void drain_one(FpduHandler& handler);

 private:
  /// Why it is not known where the next FPDU begins.
  enum class Lost : std::uint8_t {
    broken,         ///< what should be an FPDU cannot be one
    cut,            ///< the snap length took a length word
    behind_a_hole,  ///< which was told
    undecided       ///< there are markers, and it is not known where
  };
  struct Partial {
    bool active = false;
    bool checked = false;  // control octets were looked at
    bool cut = false;      // an octet was not captured: what follows is only counted
    bool verify = false;   // so far every octet for the CRC is there
    Position start = 0;    // of the length word
    FrameRef first;
    std::uint32_t need = 0;  // octets without markers, CRC included; 0: length word incomplete
    std::uint32_t have = 0;
    std::uint32_t crc = 0;
    std::uint32_t crc_plain = 0;  // as crc, but without a marker in front of the length word
    std::uint32_t crc_tail = 0;   // as crc, but with a marker in front of the CRC field
    bool tail = false;
  };

  /// Consumes until the piece's end or until alignment is lost; answers the position reached.
  Position consume(Piece piece, FpduHandler& handler);
  [[nodiscard]] bool look_for_markers(const Piece& piece) noexcept;
  bool in_place(Piece& piece, FpduHandler& handler);
  void feed(Piece& piece, FpduHandler& handler);
  void feed_marker(Piece& piece);
  void feed_octets(Piece& piece, FpduHandler& handler);
  void find_markers_inside(Piece& rest);
  void missing(Position start, std::uint64_t count, FrameRef frame, FpduHandler& handler);
  void complete(FrameRef last, Position end, FpduHandler& handler);
  void lose(Position from, Lost why, FrameRef frame, FpduHandler& handler);
  void judge_crc(bool good, FrameRef frame, FpduHandler& handler);
  [[nodiscard]] bool verifying() const noexcept;
  /// Of an FPDU that is here whole: a marker may stand in it.
  [[nodiscard]] bool in_doubt(bool crc_good, Bytes fpdu) const noexcept;
  void count_plain(std::uint32_t octets, bool undecided) noexcept;
  Kept keep(const Piece& piece);
  Kept keep_hole(const Piece& hole, std::uint64_t count);
  void make_room();

  State state_ = State::start;
  Window window_;
  Alignment alignment_;
  wire::Markers markers_;
  bool markers_known_ = false;     // whether and where: by the handshake, by one that was seen, or by their absence
  bool markers_expected_ = false;  // asked when the first octets do not tell
  bool expectation_told_ = false;  // by the other side's MPA frame
  bool settled_ = true;            // false: the first octets will tell whether there are markers
  Position opened_at_ = 0;
  std::optional<std::uint32_t> begin_;  // of the FPDUs, in TCP's numbers, where it is known without their MPA frame
  Position behind_first_marker_ = 0;    // an FPDU, and what stood in front of it was not known to be a marker; 0: none
  Position aligned_at_ = 0;
  Crc crc_ = Crc::unknown;
  bool check_all_ = false;
  std::uint32_t verified_ = 0;
  std::uint64_t plain_run_ = 0;  // octets without markers, while these are not known
  std::uint64_t skipped_ = 0;
  Partial partial_;
  std::vector<std::uint8_t> buffer_;  // of partial_, from the length word on
};

}  // namespace rpcrdma::trace::iwarp
