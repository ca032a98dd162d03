// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ib/roles.hpp"

#include <cstdlib>

#include "trace/role_signs.hpp"

namespace rpcrdma::trace::ib {
namespace {

constexpr int write_seen = role_sure;
constexpr int long_call = 5;
constexpr int reply_seen = 3;
constexpr int call_seen = 3;  // that does not tell who calls whom
constexpr int read_seen = 2;

[[nodiscard]] Evidence spoken(int score, bool foreign = false) noexcept { return {score, score, foreign}; }

Evidence send_evidence(const wire::IbHeader& h) {
  switch (role_sign(h.payload, h.payload_length)) {
    case RoleSign::service_call:
      return {role_proven};
    case RoleSign::callback_call:
      return {-role_proven};
    case RoleSign::foreign_call:
      return spoken(call_seen, true);
    case RoleSign::unread_call:
      return spoken(call_seen);
    case RoleSign::long_call:
    case RoleSign::long_form:
      return spoken(long_call);
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
      return {wire::begins(h.op.part) ? -write_seen : 0};
    case wire::IbKind::read_request:
      return {-read_seen};
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
  foreign = foreign || more.foreign;
}

Verdict weigh(const Evidence* sender, const Evidence* peer) noexcept {
  const Evidence none;
  const Evidence& one = sender != nullptr ? *sender : none;
  const Evidence& two = peer != nullptr ? *peer : none;
  const int score = one.score - two.score;
  // The whole conversation may be one in reverse direction, however long it is.
  const int counted = one.foreign || two.foreign ? score - (one.spoken - two.spoken) : score;
  return {score >= 0, std::abs(counted) >= role_sure};
}

}  // namespace rpcrdma::trace::ib
