// SPDX-License-Identifier: GPL-2.0-or-later
// iWARP: MPA start frames and FPDUs with markers, DDP and RDMAP headers, Terminate.
#pragma once

#include <cstdint>
#include <optional>

#include "octets.hpp"

namespace forge::mpa {

inline constexpr std::uint8_t flag_markers = 0x80;
inline constexpr std::uint8_t flag_crc = 0x40;
inline constexpr std::uint8_t flag_reject = 0x20;
inline constexpr std::uint8_t flag_enhanced = 0x10;

struct Start {
  bool reply = false;
  std::uint8_t flags = 0;
  std::uint8_t revision = 2;
  std::uint16_t ird = 0;  ///< written when flag_enhanced is set
  std::uint16_t ord = 0;
  Octets private_data;  ///< the consumer's
};
[[nodiscard]] Octets encode(const Start& start);

/// Puts ULPDUs into FPDUs of one direction; knows where the next marker belongs.
class Framer {
 public:
  Framer(bool markers, bool crc) : markers_(markers), crc_(crc) {}
  [[nodiscard]] Octets frame(const Octets& ulpdu, bool spoil);

 private:
  bool markers_;
  bool crc_;
  std::uint64_t stream_ = 0;  ///< octets since the first FPDU, markers included
};

enum Opcode : std::uint8_t {
  write = 0,
  read_request = 1,
  read_response = 2,
  send = 3,
  send_invalidate = 4,
  send_solicited = 5,
  terminate = 7
};

struct Tagged {
  Opcode opcode = write;
  bool last = true;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
};
struct Untagged {
  Opcode opcode = send;
  bool last = true;
  std::uint32_t invalidate = 0;
  std::uint32_t queue = 0;
  std::uint32_t message = 0;
  std::uint32_t offset = 0;
};
[[nodiscard]] Octets encode(const Tagged& header);
[[nodiscard]] Octets encode(const Untagged& header);

struct ReadRequest {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t source_stag = 0;
  std::uint64_t source_offset = 0;
};
[[nodiscard]] Octets encode(const ReadRequest& request);

struct Terminate {
  std::uint8_t layer = 0;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  Octets ddp_header;  ///< of what was refused; may be empty
  std::uint16_t segment_length = 0;
  Octets read_request;  ///< the refused Read Request's body; may be empty
};
[[nodiscard]] Octets encode(const Terminate& terminate);

}  // namespace forge::mpa
