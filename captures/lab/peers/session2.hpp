// SPDX-License-Identifier: GPL-2.0-or-later
// What both peers of version 2 (draft-ietf-nfsv4-rpcrdma-version-two) have in common: the prefix, the credits that
// count messages, the connection properties, and messages in pieces. Section numbers are the draft's.
#pragma once

#include <deque>

#include "chunks.hpp"

namespace lab {

enum class Type2 : std::uint32_t {
  error = 4,
  grant = 5,
  connprop_middle = 6,
  connprop_final = 7,
  call_external = 8,
  call_middle = 9,
  call_inline = 10,
  reply_external = 11,
  reply_middle = 12,
  reply_inline = 13
};

enum class Error2 : std::uint32_t { vers = 1, bad_xdr = 2, inval_htype = 4, inval_cont = 5, write_resource = 9 };

struct Message2 {
  std::uint32_t xid = 0;
  std::uint32_t version = 0;
  std::uint32_t credit = 0;
  std::uint32_t type = 0;
  Octets body;  // what follows the prefix of 16 octets
};

// 5.2; what is not told is the default.
struct Properties {
  std::uint32_t send_size = 4096;
  std::uint32_t receive_size = 4096;
};

class Session2 {
 public:
  // advertised: how many messages beyond those received the peer may send.
  Session2(Endpoint& end, std::uint32_t advertised, const Properties& own)
      : end_(end), advertised_(advertised), own_(own) {}

  // Waits for credits (4.2.1), except with a GRANT, for which the peer keeps a Receive. False when the connection is
  // over.
  bool send(Type2 type, std::uint32_t xid, const Octets& body, std::optional<std::uint32_t> invalidate = {});
  std::optional<Message2> receive();
  // Properties are told once, and hold from when both sides have (4.2.2).
  void tell_properties();
  // Throws std::out_of_range when they are damaged.
  void learn_properties(const Message2& message);
  // The largest message that may be sent, prefix included.
  [[nodiscard]] std::size_t threshold() const;
  // The payload as MIDDLE messages as long as it does not fit behind `last_header` into one message; what is left comes
  // back.
  Octets send_middles(Type2 middle, std::uint32_t xid, Octets payload, std::size_t last_header);

 private:
  std::optional<Message2> take();

  Endpoint& end_;
  std::uint32_t advertised_;
  Properties own_;
  std::optional<Properties> peer_;
  bool told_properties_ = false;
  std::deque<Message2> early_;  // came while a Send waited for credits
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t limit_ = 1;  // how many Sends the peer has admitted, the initial one included
  std::uint32_t told_ = 1;   // and how many this side has
};

const char* name_of(std::uint32_t type);

}  // namespace lab
