// SPDX-License-Identifier: GPL-2.0-or-later
// The inputs that hold many packets, taken apart and put together again: one octet of settings, then records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rpcrdma::fuzz {

using Octets = std::vector<std::uint8_t>;

enum class Content : std::uint8_t {
  frames,    ///< frames of the link type that the settings name
  segments,  ///< payloads of TCP segments; the record's header says from whom and where in the stream
  nothing,   ///< the record is all header
};

/// How one target reads its input: the head comments of the sources say the same in words.
struct Form {
  std::size_t header = 0;     ///< octets of a record before its content; 0: the one record is the rest of the input
  std::size_t length_at = 0;  ///< where in them the captured length stands, and behind it what was not captured
  Content content = Content::frames;
  std::uint8_t link_mask = 0x7F;  ///< of the settings, the link type
};

namespace forms {
inline constexpr Form frames{.header = 5, .length_at = 1};
inline constexpr Form journal = frames;
inline constexpr Form link{.link_mask = 0x0F};
inline constexpr Form iwarp{.header = 6, .length_at = 2, .content = Content::segments};
inline constexpr Form ib_flows{.header = 6, .content = Content::nothing};
}  // namespace forms

struct Record {
  std::array<std::uint8_t, 8> header{};  ///< as the form says; the captured length is set when it is written
  Octets octets;
  std::size_t missing = 0;  ///< octets that the capture did not keep
};

struct Input {
  std::uint8_t settings = 0;
  std::vector<Record> records;
};

/// What is left behind the last whole record is left out.
[[nodiscard]] Input read_input(const Form& form, std::span<const std::uint8_t> octets);
/// At most `most` octets: records that do not fit are left out.
[[nodiscard]] Octets write_input(const Form& form, const Input& input, std::size_t most);

}  // namespace rpcrdma::fuzz
