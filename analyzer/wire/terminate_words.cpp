// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 5040 section 4.8, RFC 5041 section 8, RFC 5044 section 8, RFC 6581 section 9.
#include <algorithm>
#include <array>

#include "wire/ddp.hpp"

namespace rpcrdma::wire {

namespace {

struct Word {
  std::uint8_t layer;
  std::uint8_t etype;
  std::uint8_t ecode;
  std::string_view text;
};

constexpr std::array words{
    Word{0, 0, 0, "RDMAP, local catastrophic error"},
    Word{0, 1, 0x00, "RDMAP, remote protection, invalid STag"},
    Word{0, 1, 0x01, "RDMAP, remote protection, base or bounds violation"},
    Word{0, 1, 0x02, "RDMAP, remote protection, access rights violation"},
    Word{0, 1, 0x03, "RDMAP, remote protection, STag of another stream"},
    Word{0, 1, 0x04, "RDMAP, remote protection, tagged offset wraps"},
    Word{0, 1, 0x09, "RDMAP, remote protection, STag cannot be invalidated"},
    Word{0, 1, 0xFF, "RDMAP, remote protection, unspecified"},
    Word{0, 2, 0x05, "RDMAP, remote operation, invalid RDMAP version"},
    Word{0, 2, 0x06, "RDMAP, remote operation, unexpected opcode"},
    Word{0, 2, 0x07, "RDMAP, remote operation, catastrophic error of this stream"},
    Word{0, 2, 0x08, "RDMAP, remote operation, catastrophic error of the whole adapter"},
    Word{0, 2, 0x09, "RDMAP, remote operation, STag cannot be invalidated"},
    Word{0, 2, 0xFF, "RDMAP, remote operation, unspecified"},
    Word{1, 0, 0, "DDP, local catastrophic error"},
    Word{1, 1, 0, "DDP, tagged buffer, invalid STag"},
    Word{1, 1, 1, "DDP, tagged buffer, base or bounds violation"},
    Word{1, 1, 2, "DDP, tagged buffer, STag of another stream"},
    Word{1, 1, 3, "DDP, tagged buffer, tagged offset wraps"},
    Word{1, 1, 4, "DDP, tagged buffer, invalid DDP version"},
    Word{1, 2, 1, "DDP, untagged buffer, invalid queue number"},
    Word{1, 2, 2, "DDP, untagged buffer, no buffer available"},
    Word{1, 2, 3, "DDP, untagged buffer, message number out of range"},
    Word{1, 2, 4, "DDP, untagged buffer, invalid message offset"},
    Word{1, 2, 5, "DDP, untagged buffer, message too long for the buffer"},
    Word{1, 2, 6, "DDP, untagged buffer, invalid DDP version"},
    Word{2, 0, 1, "MPA, TCP connection closed or lost"},
    Word{2, 0, 2, "MPA, CRC error"},
    Word{2, 0, 3, "MPA, marker and length do not match"},
    Word{2, 0, 4, "MPA, invalid MPA Request or Reply"},
    Word{2, 0, 5, "MPA, local catastrophic error"},
    Word{2, 0, 6, "MPA, insufficient IRD"},
    Word{2, 0, 7, "MPA, no matching RTR"},
};

}  // namespace

std::string_view terminate_words(std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode) noexcept {
  const auto* const at = std::find_if(words.begin(), words.end(), [&](const Word& word) {
    return word.layer == layer && word.etype == etype && word.ecode == ecode;
  });
  return at == words.end() ? std::string_view() : at->text;
}

}  // namespace rpcrdma::wire
