// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of the InfiniBand transport: BTH, extended headers, payload and pad (no ICRC).
#pragma once

#include <cstdint>
#include <optional>

#include "octets.hpp"

namespace forge::ib {

enum Opcode : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_immediate = 0x03,
  send_only = 0x04,
  send_only_immediate = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_only = 0x0A,
  read_request = 0x0C,
  response_first = 0x0D,
  response_middle = 0x0E,
  response_last = 0x0F,
  response_only = 0x10,
  acknowledge = 0x11,
  atomic_acknowledge = 0x12,
  compare_swap = 0x13,
  send_last_invalidate = 0x16,
  send_only_invalidate = 0x17,
  ud_send_only = 0x64,
};

/// AETH syndromes.
inline constexpr std::uint8_t ack_no_credits = 0x1F;
inline constexpr std::uint8_t rnr_nak = 0x20;  ///< low five bits: timer code
inline constexpr std::uint8_t nak_sequence = 0x60;
inline constexpr std::uint8_t nak_invalid_request = 0x61;
inline constexpr std::uint8_t nak_remote_access = 0x62;
inline constexpr std::uint8_t nak_remote_operational = 0x63;

struct Reth {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t length = 0;
};

struct Packet {
  Opcode opcode = send_only;
  std::uint32_t destination_qp = 0;
  std::uint32_t psn = 0;
  bool ack_request = false;
  bool solicited = false;
  std::optional<Reth> reth;
  std::optional<std::uint32_t> aeth;  ///< syndrome in the top octet, MSN below
  std::optional<std::uint32_t> immediate;
  std::optional<std::uint32_t> invalidate;  ///< IETH
  std::optional<std::uint32_t> source_qp;   ///< DETH of a UD packet, with the well-known Q_Key
  Octets payload;
};

[[nodiscard]] Octets encode(const Packet& packet);

}  // namespace forge::ib
