// SPDX-License-Identifier: GPL-2.0-or-later
// What stands between a mount and its work.
#pragma once

#include <cstdint>

namespace rpcrdma::referee {

/// Of a mount that is not served, or perhaps not: the one thing that the sentence, `owes` and the advice speak of.
enum class Obstacle : std::uint8_t {
  none,       ///< it works, or was closed
  not_known,  ///< nor is who has to move
  silence,    ///< one side, and its machine, is not heard from any more
  // The attempts to connect fail to the end (Assessment::failing).
  declined,         ///< the client does not take what it asked for
  unconfirmed,      ///< nor say that it took it
  refused,          ///< the server says no
  unreachable,      ///< the server itself says so (ICMP)
  on_the_way,       ///< both are there, and do not come through to one another
  undecided,        ///< the server has the request, and says neither yes nor no (MRA)
  unanswered,       ///< or it may have it
  awaited_briefly,  ///< the client went away before an answer was due
  // No Call waits.
  sent_away,   ///< the server ends one connection after the other before it is used
  lost_calls,  ///< those that were open when the connection ended, and are not missed any more
  copy,        ///< whose completion does not come
  recall,      ///< what was recalled is not given back
  // The oldest Call that waits (the first of Assessment::hanging).
  never_whole,            ///< its requester has not sent all of it
  rest_without_credit,    ///< nor may it
  answer_without_credit,  ///< its responder may not send
  answer_without_window,  ///< nor can it: TCP of the requester takes nothing
  lost_on_the_way,        ///< it, or its answer, is repeated and does not arrive
  no_receive,             ///< it does, and nobody has posted a Receive
  not_sent_again,         ///< it was not taken, and its requester does not repeat it
  refused_answer,         ///< it was answered, and the answer refused
  broken_call,            ///< and neither refused nor answered
  broken_answer,          ///< it got something that its requester cannot take
  closed_instead,         ///< the server ended the connection of its newest copy
  unserved                ///< nothing is wrong with it, as far as the capture shows
};

}  // namespace rpcrdma::referee
