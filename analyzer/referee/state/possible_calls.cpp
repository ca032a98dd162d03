// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/possible_calls.hpp"

#include <algorithm>

#include "referee/state/connection.hpp"

namespace rpcrdma::referee {

bool possible_long_call(const Connection& connection, Side caller, std::uint32_t xid) {
  return std::any_of(connection.offers.begin(), connection.offers.end(),
                     [&](const Offer& offer) { return offer.answers(other(caller), xid) && offer.may_be_call(); });
}

bool possible_answered_call(const Connection& connection, Side caller, std::uint32_t xid) {
  const Transaction* theirs = connection.find(other(caller), xid);
  return (theirs != nullptr && theirs->answer_uncertain()) || possible_long_call(connection, caller, xid);
}

bool possible_cut_call(const Connection& connection, Side caller, std::uint32_t xid) {
  return connection.of(caller).sends.newest([&](const RecentSend& send) { return send.guessed && send.xid == xid; }) !=
         nullptr;
}

bool possible_empty_call(const Connection& connection, Side caller, std::uint32_t xid) {
  return connection.diary.undirected.newest(
             [&](const ErrorDiary::Sent& sent) { return sent.side == caller && sent.xid == xid; }) != nullptr;
}

}  // namespace rpcrdma::referee
