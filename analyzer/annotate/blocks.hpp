// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks of a pcapng file: putting them together, and adding comments to those that hold a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/pcap_formats.hpp"
#include "trace/frame.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::annotate {

using reader::Block;
using Comments = std::vector<std::string>;

/// A word of 32 bits in a section's byte order.
void store32(std::uint8_t* to, std::uint32_t value, bool big_endian) noexcept;

/// Where the options of a block with a packet begin (an enhanced packet, or a packet of the obsolete kind), counted
/// from the block's first octet; empty: what the block says of its lengths cannot be.
[[nodiscard]] std::optional<std::size_t> options_of_packet(wire::Bytes block, bool big_endian) noexcept;

/// Puts comments before the options that are there, except those that the packet has already.
/// The block is complete and options_of_packet() knows it.
void add_comments(std::vector<std::uint8_t>& block, const Comments& comments, bool big_endian);

/// Says of such a block, where it does not say so yet, that something is missing in front of its packet: one packet
/// was dropped there, or more. Readers count it, and take it for what it is.
void add_loss(std::vector<std::uint8_t>& block, bool big_endian);

// Blocks of our own, little-endian
[[nodiscard]] std::vector<std::uint8_t> section_block(std::string_view application);
/// `digits`: of fractions of a second, 6 or 9. `seconds_later`: added to every time stamp. `fcs_length`: octets, 0: not
/// said.
[[nodiscard]] std::vector<std::uint8_t> interface_block(std::uint16_t link, std::uint32_t snap_length,
                                                        std::uint8_t digits, std::int64_t seconds_later,
                                                        std::uint8_t fcs_length);
/// Packets that had no room when the capture was made. `time` in the interface's units.
[[nodiscard]] std::vector<std::uint8_t> statistics_block(std::uint32_t interface, std::uint64_t time,
                                                         std::uint64_t dropped);
/// `time` in the interface's units. Appended to `to`.
void append_packet(std::vector<std::uint8_t>& to, std::uint32_t interface, std::uint64_t time, wire::Bytes octets,
                   std::uint32_t wire_length);

}  // namespace rpcrdma::annotate
