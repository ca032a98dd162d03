// SPDX-License-Identifier: GPL-2.0-or-later
// The stories of version 1: who does what wrong, as settings of both peers. stories.txt says of each in words what is
// true in it.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lab {

enum class Script1 { usual, getattr, readlink, long_write, long_read, read_chunk, write_chunk, two_reads, burst };
enum class Fault1 { none, reply_too_long, invalidate_unasked, invalidate_other, write_beyond, read_beyond };
// What the requester does with a reply that is offered in a Read chunk.
enum class Pull { rightly, without_done, in_part, not_at_all };

struct Story1 {
  std::string_view name;
  Script1 script = Script1::usual;
  Fault1 fault = Fault1::none;
  Pull pull = Pull::rightly;
  std::uint32_t client_size = 4096;  // what it advertises and posts
  std::uint32_t server_size = 4096;
  bool client_invalidation = false;  // the R bits
  bool server_invalidation = false;
  std::uint32_t grant = 16;
  unsigned held = 1;                // calls after the first that the server answers only together
  std::size_t private_data_at = 0;  // octets of others before the client's RFC 8797 message
  bool near_miss = false;           // and one that only looks like it before that
};

inline constexpr std::array kStories1 = {
    Story1{.name = "lpeer-usual"},
    Story1{.name = "lpeer-usual-inv", .client_invalidation = true, .server_invalidation = true},
    Story1{.name = "lpeer-pull", .script = Script1::readlink, .client_size = 1024},
    Story1{.name = "lpeer-pull-no-done", .script = Script1::readlink, .pull = Pull::without_done, .client_size = 1024},
    Story1{.name = "lpeer-pull-in-part", .script = Script1::readlink, .pull = Pull::in_part, .client_size = 1024},
    Story1{.name = "lpeer-pull-unread", .script = Script1::readlink, .pull = Pull::not_at_all, .client_size = 1024},
    Story1{.name = "lpeer-call-too-long", .script = Script1::long_write},
    Story1{.name = "lpeer-reply-too-long",
           .script = Script1::long_read,
           .fault = Fault1::reply_too_long,
           .client_size = 1024},
    Story1{.name = "lpeer-inv-unasked", .script = Script1::read_chunk, .fault = Fault1::invalidate_unasked},
    Story1{.name = "lpeer-inv-other",
           .script = Script1::two_reads,
           .fault = Fault1::invalidate_other,
           .client_invalidation = true,
           .server_invalidation = true,
           .held = 2},
    Story1{.name = "lpeer-write-beyond-accepted", .script = Script1::read_chunk, .fault = Fault1::write_beyond},
    Story1{.name = "lpeer-read-beyond-accepted", .script = Script1::write_chunk, .fault = Fault1::read_beyond},
    Story1{.name = "lpeer-credits-overrun-survives", .script = Script1::burst, .grant = 2, .held = 6},
    Story1{.name = "lpeer-priv-at-the-end", .script = Script1::getattr, .client_size = 1024, .private_data_at = 48},
    Story1{.name = "lpeer-priv-near-miss",
           .script = Script1::getattr,
           .client_size = 1024,
           .private_data_at = 4,
           .near_miss = true},
};

inline const Story1& story1(std::string_view name) {
  for (const Story1& story : kStories1) {
    if (story.name == name) return story;
  }
  throw std::runtime_error("no such story of version 1: " + std::string(name));
}

}  // namespace lab
