// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/attempt_words.hpp"

#include <fmt/format.h>

#include "referee/docket/counted.hpp"

namespace rpcrdma::referee {

std::string attempts_text(const AttemptSeries& series, std::optional<std::uint16_t> port) {
  std::string what = counted(series.attempts, "attempt");
  what += port ? fmt::format(" to connect to port {} ", *port) : " to connect ";
  if (series.attempts == series.only_tcp) return what + "came no further than TCP";
  if (series.attempts == series.acknowledged) {
    return what + fmt::format("{} acknowledged by the server (MRA, frame {}) and never decided",
                              series.attempts == 1 ? "was" : "were", series.receipt.number);
  }
  if (series.attempts == series.unanswered) {
    what += series.attempts == 1 ? "was not answered" : "were not answered";
    if (series.acknowledged == 0) return what;
    return what + fmt::format(", {} of them acknowledged by the server (MRA) and never decided", series.acknowledged);
  }
  if (series.attempts == series.unconfirmed) {
    return what + (series.attempts == 1 ? "was accepted and not confirmed by the client"
                                        : "were accepted and not confirmed by the client");
  }
  if (series.attempts == series.unheard) {
    return what + (series.attempts == 1 ? "was" : "were") +
           " not established, as the server's acceptance or the client's confirmation did not come through";
  }
  if (series.attempts == series.unreachable) {
    return what + (series.attempts == 1 ? "was" : "were") + " answered with ICMP unreachable";
  }
  if (series.unanswered == 0 && series.unreachable == 0) {
    return what + (series.attempts == 1 ? "was refused" : "were refused");
  }
  return what + "failed";
}

}  // namespace rpcrdma::referee
