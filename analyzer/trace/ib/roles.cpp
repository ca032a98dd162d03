// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/roles.hpp"

#include <cstdlib>

#include "trace/role_signs.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr int write_seen = role_sure;
constexpr int form_seen = 5;
constexpr int done_seen = 6;  // more than the reads of what it ends
constexpr int reply_seen = 3;
constexpr int call_seen = 3;  // that does not tell who calls whom
constexpr int read_seen = 2;

[[nodiscard]] Evidence spoken(int score) noexcept { return {.score = score, .spoken = score}; }
[[nodiscard]] Evidence pulled(int score) noexcept { return {.score = score, .pulled = score}; }

Evidence send_evidence(const wire::IbHeader& h) {
  switch (role_sign(h.payload, h.payload_length)) {
    case RoleSign::service_call:
      return {.score = role_proven};
    case RoleSign::callback_call:
      return {.score = -role_proven};
    case RoleSign::foreign_call:
      return {.score = call_seen, .spoken = call_seen, .foreign = true};
    case RoleSign::unread_call:  // maybe a callback, whose chunks the client reads and writes
      return {.score = call_seen, .spoken = call_seen, .unread = true, .foreign = true, .offer = true};
    case RoleSign::long_form:
      return {.score = form_seen, .pulled = form_seen, .offer = true};
    case RoleSign::done:
      return {.score = done_seen, .pulled = done_seen, .offer = true};
    case RoleSign::reply:
      return spoken(-reply_seen);
    case RoleSign::none:
      return {};
  }
  return {};
}

Evidence evidence_of(const wire::IbHeader& h) {
  switch (h.op.kind) {
    case wire::IbKind::send:
      return wire::begins(h.op.part) ? send_evidence(h) : Evidence{};
    case wire::IbKind::write:
      return wire::begins(h.op.part) ? Evidence{.score = -write_seen, .written = -write_seen} : Evidence{};
    case wire::IbKind::read_request:
      return pulled(-read_seen);
    default:
      return {};
  }
}

}  // namespace

void Evidence::add(const wire::IbHeader& header) {
  if (std::abs(score) >= role_proven) return;
  const Evidence more = evidence_of(header);
  score += more.score;
  spoken += more.spoken;
  pulled += more.pulled;
  written += more.written;
  unread = unread || more.unread;
  foreign = foreign || more.foreign;
  offer = offer || more.offer;
}

Verdict weigh(const Evidence* sender, const Evidence* peer) noexcept {
  const Evidence none;
  const Evidence& one = sender != nullptr ? *sender : none;
  const Evidence& two = peer != nullptr ? *peer : none;
  const int score = one.score - two.score;
  // The whole conversation may be one in reverse direction, however long it is; and what is offered to be read may be
  // Replies.
  int counted = score;
  if (one.foreign || two.foreign) counted -= one.spoken - two.spoken;
  if (one.offer || two.offer) counted -= one.pulled - two.pulled;
  if (one.unread || two.unread) counted -= one.written - two.written;
  return {score >= 0, std::abs(counted) >= role_sure};
}

}  // namespace rpcrdma::trace::ib
