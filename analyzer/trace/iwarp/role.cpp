// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/role.hpp"

#include <algorithm>
#include <array>

#include "trace/role_signs.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

constexpr int fpdus_limit = 128;
constexpr std::size_t message_limit = 1024;  // octets: headers and the Call's first words

RoleHint hint_of(RoleSign sign) noexcept {
  switch (sign) {
    case RoleSign::service_call:
      return RoleHint::client;
    case RoleSign::callback_call:
      return RoleHint::server;
    case RoleSign::foreign_call:
    case RoleSign::unread_call:
      return RoleHint::perhaps_client;
    case RoleSign::reply:
      return RoleHint::likely_server;
    case RoleSign::long_form:
      return RoleHint::offers;
    case RoleSign::done:
    case RoleSign::none:
      return RoleHint::none;
  }
  return RoleHint::none;
}

/// Only Responders move data (RFC 8166 section 3.1), and the server is the Responder of nearly everything.
RoleHint role_of_operation(wire::RdmapOpcode opcode) noexcept {
  switch (opcode) {
    case wire::RdmapOpcode::write:
      return RoleHint::likely_server;
    case wire::RdmapOpcode::read_request:
      return RoleHint::reads;
    case wire::RdmapOpcode::read_response:
      return RoleHint::is_read;
    default:
      return RoleHint::none;
  }
}

}  // namespace

RoleHint likely_role(RoleHint hint, RoleHint peer) noexcept {
  switch (hint) {
    case RoleHint::reads:
      return peer == RoleHint::offers ? RoleHint::none : RoleHint::likely_server;
    case RoleHint::is_read:
    case RoleHint::likely_client:
      return RoleHint::likely_client;
    case RoleHint::likely_server:
      return RoleHint::likely_server;
    default:
      return RoleHint::none;
  }
}

RoleHint role_in_window(const Window& window, Position from, const wire::Markers& markers) {
  RoleHint best = RoleHint::none;
  std::vector<std::uint8_t> message;
  for (int i = 0; i < fpdus_limit; ++i) {
    std::array<std::uint8_t, 2 + wire::ddp_untagged_length> head{};
    if (window.read(from, 4, markers, head.data()) != Window::Have::yes) break;
    const std::uint16_t length = wire::load_be16(head.data());
    const wire::DdpControl control = wire::ddp_control(head.data() + 2);
    if (!control.plausible() || length < control.header_length()) break;
    if (control.send() && window.read(from, head.size(), markers, head.data()) == Window::Have::yes &&
        wire::load_be32(head.data() + 16) == 0) {
      const std::size_t data = length - wire::ddp_untagged_length;
      const Position begin = markers.after(from, head.size());
      message.resize(std::min(data, message_limit));
      while (!message.empty() && window.read(begin, message.size(), markers, message.data()) != Window::Have::yes) {
        message.resize(message.size() * 7 / 8);  // the snap length cut it somewhere
      }
      const RoleHint hint = hint_of(role_sign(message, control.last ? data : std::max(data, message_limit)));
      if (hint == RoleHint::client || hint == RoleHint::server) return hint;
      best = std::max(best, hint);
    } else if (!control.send()) {
      best = std::max(best, role_of_operation(control.rdmap()));
    }
    from = markers.after(from, wire::fpdu_size(length));
  }
  return best;
}

}  // namespace rpcrdma::trace::iwarp
