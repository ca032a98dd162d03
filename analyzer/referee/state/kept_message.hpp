// SPDX-License-Identifier: GPL-2.0-or-later
// A message that cannot be told yet, with the octets that its event only shows.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/events.hpp"

namespace rpcrdma::referee {

struct KeptMessage {
  trace::Send event;
  std::vector<std::uint8_t> octets;

  KeptMessage(const KeptMessage&) = delete;
  KeptMessage& operator=(const KeptMessage&) = delete;
  ~KeptMessage() = default;
  explicit KeptMessage(const trace::Send& sent) : event(sent), octets(sent.octets.begin(), sent.octets.end()) {
    event.octets = octets;
  }
};

}  // namespace rpcrdma::referee
