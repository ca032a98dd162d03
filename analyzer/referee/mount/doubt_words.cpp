// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/doubt_words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/mount/attempt_words.hpp"

namespace rpcrdma::referee {

std::string cannot_be_told(const Mount& mount, const Assessment& a) {
  using Doubt = Assessment::Doubt;
  const std::string_view begin = "What happened to the mount cannot be told: ";
  switch (a.doubt) {
    case Doubt::one_direction: {
      const bool client = std::any_of(mount.lives.begin(), mount.lives.end(),
                                      [](const Life& life) { return life.heard[0].number != 0; });
      return fmt::format("{}only the {}'s frames are in the capture.", begin, client ? "client" : "server");
    }
    case Doubt::nothing_readable:
      return fmt::format("{}no RPC message could be read, the capture cut them all.", begin);
    case Doubt::only_tcp:
      return fmt::format("{}TCP is up, and no MPA Request could be read.", begin);
    case Doubt::frames_missing:
      if (a.hidden == a.hidden_recalls) {
        if (a.hidden_recall->revoked == Recall::Revoked::perhaps) {
          return fmt::format("{}whether the server waits for what it recalled (frame {}), or has revoked it since.",
                             begin, a.hidden_recall->callback.number);
        }
        return fmt::format(
            "{}whether what the server recalled (frame {}) was returned may stand in frames that the capture lacks.",
            begin, a.hidden_recall->callback.number);
      }
      return fmt::format("{}{} may have been answered in the frames that the capture lacks.", begin,
                         counted(a.hidden, "call"));
    case Doubt::messages_cut:
      return fmt::format("{}whether {} got an answer is not known, as the snap length cut what would tell.", begin,
                         counted(a.cut, "call"));
    case Doubt::more_ended:
      return fmt::format(
          "{}more was returned, or completed, over other addresses of its session than the analyzer keeps, and what is "
          "awaited here may be among it.",
          begin);
    case Doubt::not_kept:
      return fmt::format(
          "{}more copies, or recalls, were under way at a time than the analyzer keeps, and what became of the others "
          "is not known.",
          begin);
    case Doubt::not_compared:
      return fmt::format("{}{} may have been sent again, and answered, on one of more connections than are compared.",
                         begin, counted(a.not_compared, "call"));
    case Doubt::call_or_offer:
      return fmt::format(
          "{}the message in frame {} may be a call that waits, or a reply that is offered to be read, and nobody has "
          "read it.",
          begin, a.doubted.number);
    case Doubt::message_unread:
      return fmt::format("{}whether {} may stand in a message that could not be read to its end (frame {}).", begin,
                         a.unread_copy != nullptr ? fmt::format("the COPY {:#010x} (frame {}) was completed",
                                                                a.unread_copy->xid, a.unread_copy->call.number)
                                                  : fmt::format("what the server recalled (frame {}) was returned",
                                                                a.unread_recall->callback.number),
                         (a.unread_copy != nullptr ? mount.nfs.unread.of_copies : mount.nfs.unread.any).number);
    case Doubt::last_words_cut:
      return fmt::format(
          "{}what the client sent last (frame {}) was cut, and may be a call: the server has sent nothing since.",
          begin, a.last_words.number);
    case Doubt::clock_set:
      return fmt::format(
          "{}since frame {} somebody waits or repeats itself, and for how long is not known: the clock of the capture "
          "was set back (frame {}).",
          begin, a.waits_unknown_since.number, mount.clock_set.number);
    case Doubt::no_times:
      return fmt::format(
          "{}since frame {} somebody waits or repeats itself, and for how long is not known: the capture has no times.",
          begin, a.waits_unknown_since.number);
    case Doubt::answer_missing:
      return fmt::format("{}whether the server took the connection stands in frames that the capture lacks.", begin);
    case Doubt::direction_lost: {
      const LostDirection& lost = *a.lost_direction;
      const std::string since = lost.heard.number != 0 ? fmt::format(" since frame {}", lost.heard.number) : "";
      return fmt::format("{}the capture has nothing of the {}{}, which did send (frame {} shows it).", begin,
                         name(lost.side), since, lost.shown.number);
    }
    case Doubt::input_lost:
      return fmt::format("{}whether it {} stands in input that could not be read ({} frame {}).", begin,
                         a.newest != nullptr ? "works again" : "came up",
                         later(mount.input_lost, a.end) ? "behind" : "in front of",
                         std::min(mount.input_lost.number, a.end.number));
    case Doubt::purpose_cut:
      return fmt::format("{}the capture cut what would tell what the newer connection (frame {}) is for.", begin,
                         mount.unrecognised.number);
    case Doubt::port_missing:
      return fmt::format(
          "{}{} (frame {}), and whether the connection before it is to the same port is not in the capture.", begin,
          attempts_text(*a.failing, a.failing->port), a.failing->last.number);
    case Doubt::end_unseen:
      return fmt::format("{}whether the connection ended in frame {}, or goes on as another one, is not known.", begin,
                         a.newest->closed->frame.number);
    case Doubt::unconfirmed:
      return fmt::format(
          "{}the client confirmed the connection (RTU), and the server went on repeating its acceptance (REP) as if "
          "that had not come to it.",
          begin);
    case Doubt::none:
      break;
  }
  return fmt::format("{}too little of it is in the capture.", begin);
}

}  // namespace rpcrdma::referee
