// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/mount/attempt_words.hpp"
#include "referee/mount/doubt_words.hpp"
#include "referee/mount/lives.hpp"
#include "referee/rules/checks.hpp"
#include "trace/spans.hpp"
#include "wire/cm.hpp"

namespace rpcrdma::referee {

namespace {

using State = MountFacts::State;

[[nodiscard]] std::uint64_t all_open(const Mount& mount) noexcept {
  return static_cast<std::uint64_t>(std::count_if(
             mount.open_calls.begin(), mount.open_calls.end(),
             [](const OpenCall& call) { return call.requester == Side::active && call.surely_waits(); })) +
         mount.open_left_out;
}

/// Calls whose answer may be what the capture lacks.
[[nodiscard]] std::uint64_t hidden(const Mount& mount) noexcept {
  const auto of = [](const auto& calls) {
    return std::count_if(calls.begin(), calls.end(),
                         [](const OpenCall& call) { return call.requester == Side::active && !call.surely_waits(); });
  };
  return static_cast<std::uint64_t>(of(mount.open_calls) + of(mount.lost_calls));
}

/// Calls that were lost with their connection, and not sent again.
[[nodiscard]] std::uint64_t lost(const Mount& mount) noexcept {
  return static_cast<std::uint64_t>(std::count_if(
             mount.lost_calls.begin(), mount.lost_calls.end(),
             [](const OpenCall& call) { return call.requester == Side::active && call.surely_waits(); })) +
         mount.lost_left_out;
}

/// Calls whose only answer is that they were refused.
[[nodiscard]] std::uint64_t refused(const Mount& mount) noexcept {
  return std::min(mount.waits.refused, mount.waits.answered);
}

/// "28 calls, all answered"
[[nodiscard]] std::string calls_text(const Mount& mount) {
  const std::uint64_t turned_down = refused(mount);
  const std::uint64_t answered = mount.waits.answered - turned_down;
  const std::uint64_t open = all_open(mount);
  const std::uint64_t lacking = hidden(mount);
  const std::uint64_t gone = lost(mount);
  const std::uint64_t calls = answered + turned_down + open + lacking + gone;
  std::string text = counted(calls, "call") + ", ";
  if (answered == calls) return text + (calls == 1 ? "answered" : "all answered");
  if (turned_down == calls) return text + (calls == 1 ? "refused (RDMA error)" : "all refused (RDMA error)");
  text += fmt::format("{} answered", grouped(answered));
  if (turned_down != 0) text += fmt::format(", {} refused (RDMA error)", grouped(turned_down));
  if (open != 0) text += fmt::format(", {} still under way", grouped(open));
  if (gone != 0) text += fmt::format(", {} lost with a connection", grouped(gone));
  if (lacking != 0) text += fmt::format(", {} whose answer the capture lacks", grouped(lacking));
  return text;
}

[[nodiscard]] std::string slowest(const Mount& mount) {
  const LongWaits& waits = mount.waits;
  if (waits.worst.frame.number == 0 || mount.times == Mount::Times::none) return "";
  return fmt::format(
      ", the slowest after {} ({}, frame {})", duration(waits.worst.seconds * 1e6),
      waits.worst.operation == MountFacts::operation_not_read ? "which could not be read" : waits.worst.operation,
      waits.worst.frame.number);
}

[[nodiscard]] std::string nothing_called(const Mount& mount) {
  const auto any = [&](auto of) { return std::any_of(mount.lives.begin(), mount.lives.end(), of); };
  if (any([](const Life& life) { return life.cut > 0; })) return "of what was called, the capture has too little";
  if (any([](const Life& life) { return life.errors > 0; })) return "what was sent was refused (RDMA error)";
  const bool in_part = any([](const Life& life) { return life.seen == Life::Seen::in_part; });
  const bool called_back = any([](const Life& life) { return life.callbacks > 0; });
  return fmt::format("no call {}{}", in_part ? "is in the capture" : "was made", called_back ? " but callbacks" : "");
}

/// "no call was served: 3 calls, all refused with PROG_UNAVAIL, from frame 6 to 20"
[[nodiscard]] std::string nothing_done_text(const Mount& mount, const Assessment& a) {
  const NothingDone& run = *a.nothing_done;
  const std::string what = fmt::format("{} with {}{}", run.refused == run.times ? "refused" : "answered",
                                       denial_name(run.newest), run.alike < run.times ? " and the like" : "");
  const std::string where = run.first.number == run.last.number
                                ? fmt::format("frame {}", run.first.number)
                                : fmt::format("from frame {} to {}", run.first.number, run.last.number);
  if (a.nothing_of == Assessment::Whose::one_session) {
    return fmt::format("the last {} calls of one session were all {}, {}", grouped(run.times), what, where);
  }
  if (a.nothing_since == Assessment::Since::the_start) {
    return fmt::format("no call{} was served: {}, {}{}, {}", mount.nfs.outcomes.nulls != 0 ? " other than NULL" : "",
                       counted(run.times, "call"), run.times == 1 ? "" : "all ", what, where);
  }
  const bool of_nfs = mount.nfs.outcomes.programs == Outcomes::Programs::nfs;
  return fmt::format("nothing gets done: the last {} {}calls{} were all {}, {}", grouped(run.times),
                     of_nfs ? "NFS " : "", run.let_in != 0 ? ", but those that made a client or a session," : "", what,
                     where);
}

/// Who would have to move, as a sentence of its own.
[[nodiscard]] std::string_view who_could_help(const NothingDone& run) {
  const Denial& denial = run.newest;
  if (run.alike < run.times) return "";
  switch (who_helps(run)) {
    case Owes::server:
      if (server_failed(denial)) return " The server says that it has failed, and no more.";
      return denial.of_rpc() ? " The server's machine is alive, its service refuses." : " The server says: later.";
    case Owes::client:
      return " The server does not know the client any more, and the client goes on as if it did.";
    default:
      break;
  }
  if (denial.by == Denial::By::credential) {
    return " The server does not accept who the client says it is: what the client sends and what the server wants do "
           "not agree.";
  }
  if (denial.by == Denial::By::context) {
    return " The server makes no context of RPCSEC_GSS for the client.";
  }
  if (denial.of_transport()) {
    return " The server's RPC-over-RDMA refuses them: NFS has not seen these calls.";
  }
  if ((denial.by == Denial::By::rpc && denial.versions) || lacks_version(denial)) {
    return " The server does not have the version that the client asks for.";
  }
  return "";
}

/// "frame 144 (+1.85 s)"; a capture may have no times.
[[nodiscard]] std::string when(const Assessment& a, FrameRef frame) {
  if (frame.time == 0) return fmt::format("frame {}", frame.number);
  return fmt::format("frame {} (+{:.2f} s)", frame.number, seconds(trace::elapsed(a.begin.time, frame.time)));
}

[[nodiscard]] std::string silence_text(const Assessment& a) {
  if (!a.silence) return "";
  const Assessment::Silence& silence = *a.silence;
  std::string text = fmt::format("; nothing{} has come from the {}", silence.gone() ? "" : " of this mount",
                                 silence.side == Side::active ? "client" : "server");
  if (silence.heard.number != 0) text += " since " + when(a, silence.heard);
  if (silence.elsewhere.number != 0) {
    text += fmt::format(", though its machine is alive (frame {})", silence.elsewhere.number);
  } else if (!silence.gone()) {
    text +=
        ", and whether its machine sends anything is not known: there are more senders than the analyzer tells apart";
  }
  return text;
}

/// What is under way when the capture ends.
[[nodiscard]] std::string under_way(const Assessment& a) {
  std::string text;
  if (a.reconnects != nullptr) {
    text += fmt::format("; its connection ended (frame {}), and the attempt to connect again (frame {}) is under way",
                        a.newest->closed->frame.number, a.reconnects->first.number);
  }
  if (a.pending != nullptr) {
    text += fmt::format("; {} {:#010x} (frame {}) has waited {} so far", a.pending->called(), a.pending->xid,
                        a.pending->first.number, waited(trace::elapsed(a.pending->first.time, a.end.time)));
    text += silence_text(a);
  }
  return text;
}

[[nodiscard]] std::string works(const Mount& mount, const Assessment& a) {
  if (mount.waits.answered + all_open(mount) + hidden(mount) + lost(mount) == 0) {
    return fmt::format("The mount is up; {}{}.", nothing_called(mount), under_way(a));
  }
  if (mount.waits.answered != 0 && mount.waits.answered == refused(mount)) {
    return fmt::format("The mount is up, but no call was served: {}.", calls_text(mount));
  }
  if (a.nothing_done != nullptr) {
    const bool all = a.nothing_of == Assessment::Whose::all;
    return fmt::format("The mount {}, but {}.", all ? "is up" : "works", nothing_done_text(mount, a))
        .append(who_could_help(*a.nothing_done));
  }
  const std::string_view begin = mount.waits.answered == 0 ? "The mount is up" : "The mount works";
  return fmt::format("{}: {}{}{}.", begin, calls_text(mount), slowest(mount), under_way(a));
}

/// Who has to move, as a sentence of its own; empty: what is in the way has been said, or is not known.
[[nodiscard]] std::string who_moves(const Assessment& a) {
  const bool server = a.owes == Owes::server;
  static const OpenCall none;
  const OpenCall& call = a.hanging.empty() ? none : a.hanging.front();
  const std::string_view who = server ? "server" : "client";
  const std::string_view peer = server ? "client" : "server";
  const std::string alive =
      server && call.requester == Side::active
          ? " The server's machine is alive, its service does not answer."
          : fmt::format(" The {}'s machine is alive, but it does not do what the {} waits for.", who, peer);
  std::string there = a.owes == Owes::unknown ? "" : alive;
  switch (a.obstacle) {
    case Obstacle::none:
    case Obstacle::not_known:
    case Obstacle::on_the_way:
    case Obstacle::awaited_briefly:
    // Who says so, the server or something before it, is not known.
    case Obstacle::unreachable:
      return "";
    case Obstacle::silence:
      return a.owes == Owes::server_unreachable ? " The server or the path to it is down."
                                                : " The client or the path to it is down.";
    case Obstacle::declined:
      return " The client does not take the connection that it asked for.";
    case Obstacle::unconfirmed:
      return " The client asks for a connection, and does not confirm it.";
    case Obstacle::undecided:
      return server ? " The server has the request and has not said yes or no." : there;
    case Obstacle::refused:
    case Obstacle::unanswered:
      return server ? " The server's machine answers, its NFS service does not take the connection." : there;
    case Obstacle::sent_away:
    case Obstacle::lost_calls:
      // Where nobody tries again or waits, why the connections ended has been said.
      return a.hanging.empty() && !a.silence ? "" : there;
    case Obstacle::never_whole:
      return fmt::format(" The Call was never sent whole: the {} owes the rest of it.", who);
    case Obstacle::rest_without_credit:
      return server ? " The Call was never sent whole: the server grants nothing, so the client may not send the rest."
                    : " The Call was never sent whole: the client grants nothing, so the server may not send the rest.";
    case Obstacle::answer_without_credit:
      return server ? " The server grants nothing, so the client may not send the answer."
                    : " The client grants nothing, so the server may not send the answer.";
    case Obstacle::answer_without_window:
      return server ? " The server's TCP takes nothing (its window is closed), so the client cannot send the answer."
                    : " The client's TCP takes nothing (its window is closed), so the server cannot send the answer.";
    case Obstacle::lost_on_the_way:
      if (call.answer.number != 0) return " It was answered, and the answer, sent again and again, does not arrive.";
      if (call.pulling.newest_copy.number != 0) return " The Read was sent again and again, and no answer arrives.";
      if (call.pushing.newest_copy.number != 0) return " What is written for it, again and again, does not arrive.";
      return a.silence && a.silence->elsewhere.number == 0
                 ? " It was sent again and again, and does not arrive."
                 : " It was sent again and again, and does not arrive; both machines are alive.";
    case Obstacle::no_receive:
      if (server == (call.requester == Side::active)) {
        return fmt::format(" The {}'s machine is alive, and has no Receive posted for it.", who);
      }
      return fmt::format(" It was answered; the {}'s machine is alive, and has no Receive posted.", who);
    case Obstacle::not_sent_again:
      return fmt::format(" It was not taken (frame {}), and not sent again since.", call.denied.number);
    case Obstacle::refused_answer:
      return " The server has the call again; what it answered before was refused.";
    case Obstacle::broken_call:
      return " It is broken; the server's machine is alive, and its service has neither refused nor answered it.";
    case Obstacle::broken_answer:
      return " The server answered with something that the client cannot take.";
    case Obstacle::closed_instead:
      return " The server ended the connection instead of answering.";
    case Obstacle::unserved:
    case Obstacle::copy:
    case Obstacle::recall:
      return there;
  }
  return "";
}

[[nodiscard]] std::string call_text(const Assessment& a, const OpenCall& call) {
  std::string text = fmt::format("{} {:#010x} (frame {}) has waited {}", call.called(), call.xid, call.first.number,
                                 waited(call.waited));
  if (call.fetching.read.number != 0) {
    text += fmt::format(": its Reply is offered to be read (frame {}), and the Read of that (frame {}) gets no answer",
                        call.fetching.reply.number, call.fetching.read.number);
  } else if (call.pulling.op.number != 0 && !(a.silence && a.silence->gone())) {
    text += fmt::format(": a Read of what it offers (frame {}) got no answer", call.pulling.op.number);
  }
  return text;
}

/// The client is connected again.
[[nodiscard]] std::string_view so_far(const Assessment& a) {
  return connected_just_now(*a.again, a.end) ? ", so far: the client has only just connected again" : "";
}

/// A hang without an open Call.
[[nodiscard]] std::string nfs_waits(const Mount& mount, const Assessment& a) {
  if (a.copies.empty()) {
    const Recall& recall = *a.recalls.front();
    return fmt::format(
        "The mount hangs: the server recalled a {} (frame {}), and the client has not returned it in {}{}.",
        recall.of == Recall::Of::layout ? "layout" : "delegation", recall.callback.number,
        waited(trace::elapsed(recall.callback.time, a.end.time)),
        a.recall_owes == Owes::unknown ? "; the connection ended before it was answered, and it was not sent again"
                                       : "");
  }
  const AsyncCopy& copy = *a.copies.front();
  std::string text =
      fmt::format("The mount hangs: COPY {:#010x} (frame {}) was accepted (frame {}), its completion (CB_OFFLOAD) {}",
                  copy.xid, copy.call.number, copy.reply.number,
                  copy.put_off.number != 0
                      ? fmt::format("was not taken by the client (frame {}), and never came again", copy.put_off.number)
                      : "never came");
  const auto broken = std::find_if(mount.nfs.channel.rbegin(), mount.nfs.channel.rend(), [&](const FlagEpisode& each) {
    return each.cleared.number == 0 && (!copy.session || *copy.session == each.session);
  });
  if (broken != mount.nfs.channel.rend()) {
    text += fmt::format("; since frame {} the server says that its callback channel is broken", broken->first.number);
  }
  return text + '.';
}

[[nodiscard]] std::string hangs(const Mount& mount, const Assessment& a) {
  if (a.hanging.empty()) return nfs_waits(mount, a);
  std::string text = "The mount hangs: " + call_text(a, a.hanging.front());
  if (a.hanging.size() > 1) text += fmt::format(", {} as well", counted(a.hanging.size() - 1, "later call"));
  if (a.again != nullptr) {
    text += fmt::format("; its connection ended (frame {}), and on the one since (frame {}) it was not sent again{}",
                        a.hanging.front().ended.number, a.again->opened.number, so_far(a));
  }
  text += silence_text(a);
  if (a.failing != nullptr) {
    text += a.silence ? ", and " : "; ";
    text += attempts_text(*a.failing);
  }
  text += '.';
  return text.append(who_moves(a));
}

/// Keep-alives, which carry nothing.
[[nodiscard]] std::string asked_in_vain_text(const Life& life, Side side) {
  const auto& asked = life.liveness[index(side)];
  return fmt::format("the {} asked{} whether the {} is still there, and got no answer", name(side),
                     asked ? fmt::format(" {} times", grouped(asked->copies + 1)) : "", name(other(side)));
}

/// Which of those that a connection left open is the oldest, unless how long it waits is said anyway.
[[nodiscard]] std::string oldest_left(const Mount& mount, const Assessment& a, const Life& life, std::uint64_t open) {
  if (!a.hanging.empty()) return "";
  const OpenCall* oldest = nullptr;
  for (const OpenCall& call : mount.lost_calls) {
    const bool left = call.connection == life.id && call.requester == Side::active && call.surely_waits();
    if (left && (oldest == nullptr || later(oldest->first, call.first))) oldest = &call;
  }
  if (oldest == nullptr) return "";
  return fmt::format(" ({}{} {:#010x}, frame {})", open > 1 ? "the oldest: " : "", oldest->called(), oldest->xid,
                     oldest->first.number);
}

/// " with 2 calls open (the oldest: READ 0x5e000003, frame 9), and 1 was sent behind that"
[[nodiscard]] std::string left_text(const Mount& mount, const Assessment& a, const Life& life) {
  const std::uint64_t behind = life.behind_close.calls;
  const std::uint64_t open = life.open_calls - std::min(life.open_calls, behind);
  std::string text =
      open > 0 ? fmt::format(" with {} open{}", counted(open, "call"), oldest_left(mount, a, life, open)) : "";
  if (behind > 0) {
    text += fmt::format(", and {}{} sent behind that", open > 0 ? grouped(behind) : counted(behind, "call"),
                        behind == 1 ? " was" : " were");
  }
  return text;
}

/// Why the connection ended, short: the rule that was broken, or how it went. And where, if it is not down since then.
[[nodiscard]] std::string cause_text(const Mount& mount, const Assessment& a) {
  const Life& life = *a.lost;
  const Closed& closed = *life.closed;
  const std::string where =
      closed.frame.number == a.since->number ? "" : fmt::format(" (frame {})", closed.frame.number);
  if (closed.cause && closed.cause->rule != RuleId::connection_lost && closed.cause->rule != RuleId::cm_dreq) {
    std::string what = closed.cause->message;
    for (const std::string_view begins : {"The ", "A ", "One end", "Lid "}) {
      if (what.starts_with(begins)) what[0] = static_cast<char>(what[0] - 'A' + 'a');
    }
    if (what.ends_with('.')) what.pop_back();
    return fmt::format("{} ({})", what, rule(closed.cause->rule).name);
  }
  const std::string_view by = !closed.by ? "" : *closed.by == Party::client ? "the client" : "the server";
  switch (closed.how) {
    case Closed::How::disconnect:
      return fmt::format("{}{}{}", by.empty() ? "it was closed" : fmt::format("{} closed it", by), where,
                         left_text(mount, a, life));
    case Closed::How::reset:
      return fmt::format("{}{}{}", by.empty() ? "it was reset" : fmt::format("{} reset it", by), where,
                         left_text(mount, a, life));
    case Closed::How::terminate:
      return by.empty() ? "it was ended by a Terminate" : fmt::format("{} ended it with a Terminate", by);
    case Closed::How::nak:
      return by.empty() ? "it was ended by a NAK" : fmt::format("{} ended it with a NAK", by);
    case Closed::How::timeout:
      if (life.asked_in_vain) return asked_in_vain_text(life, *life.asked_in_vain);
      return "packets were repeated and never acknowledged";
    case Closed::How::superseded:
    case Closed::How::unseen:
    case Closed::How::refused:
    case Closed::How::unanswered:
      return "it fell silent";
  }
  return "";
}

[[nodiscard]] std::string is_down(const Mount& mount, const Assessment& a) {
  std::string text = "The mount is down since " + when(a, *a.since);
  if (a.lost != nullptr) text += ": " + cause_text(mount, a);
  if (a.lost != nullptr && a.vain > 0)
    text += fmt::format("; {} since then carried no reply", counted(a.vain, "connection"));
  if (a.sent_away.size() > 1) {
    text += fmt::format("; the server ended {} before any call was made on them",
                        counted(a.sent_away.size(), "connection"));
  }
  text += silence_text(a);
  if (a.failing != nullptr) text += "; " + attempts_text(*a.failing);
  if (!a.hanging.empty()) text += "; " + call_text(a, a.hanging.front());
  if (a.again != nullptr && a.failing == nullptr) {
    text += fmt::format("; on the connection of frame {} it was not sent again{}", a.again->opened.number, so_far(a));
  }
  text += '.';
  return text.append(who_moves(a));
}

[[nodiscard]] std::string never_came_up(const Mount& mount, const Assessment& a) {
  if (a.failing == nullptr) return "No mount: the attempt to connect is still under way when the capture ends.";
  const AttemptSeries& series = *a.failing;
  if (series.last_answer.number != 0 && series.unanswered == 0) {
    const std::uint16_t port = mount.attempts.empty() ? 0 : mount.attempts.back().server_port.value_or(0);
    std::string how =
        fmt::format("the {} refused the connection", series.declined == series.attempts ? "client" : "server");
    if (series.unconfirmed == series.attempts) {
      how = "the server accepted the connection, and the client did not confirm it (REJ of the server, timeout)";
    } else if (series.unheard == series.attempts) {
      how = "the server's acceptance or the client's confirmation did not come through in time";
    } else if (series.unreachable == series.attempts) {
      how = series.by_others == series.attempts ? "a router or firewall says that the server cannot be reached (ICMP)"
            : series.by_others == 0             ? "the server's own address says that it cannot be reached (ICMP)"
                                                : "the server cannot be reached (ICMP)";
    } else if (series.refused == series.attempts && port != 0) {
      how += fmt::format(" (TCP port {} closed)", port);
    } else if (series.reason) {
      how += fmt::format(" (reason {}: {})", *series.reason, wire::reject_reason_text(*series.reason));
    }
    const bool perhaps_gone = series.unheard == series.attempts || series.by_others == series.attempts;
    const std::string gone = perhaps_gone ? who_moves(a) : "";
    if (series.attempts == 1) return fmt::format("No mount: {}, frame {}.{}", how, series.last_answer.number, gone);
    return fmt::format("No mount: {}, {} times from frame {} to {}.{}", how, series.attempts, series.first.number,
                       series.last_answer.number, gone);
  }
  const std::string where = series.first.number == series.last.number
                                ? fmt::format("frame {}", series.first.number)
                                : fmt::format("from frame {} to {}", series.first.number, series.last.number);
  const std::string alive =
      a.silence && a.silence->elsewhere.number != 0
          ? fmt::format("; the {}'s machine is alive (frame {})", name(a.silence->side), a.silence->elsewhere.number)
          : "";
  return fmt::format("No mount: {}, {}{}.", attempts_text(series), where, alive).append(who_moves(a));
}

[[nodiscard]] std::string was_closed(const Mount& mount, const Assessment& a) {
  const std::uint64_t frame = a.since ? a.since->number : 0;
  const std::size_t away = a.sent_away.size();
  if (mount.waits.answered + hidden(mount) + lost(mount) == 0) {
    if (away == 1) {
      return fmt::format(
          "The mount was closed before it was used: the server closed its connection (frame {}) before "
          "any call was made.",
          frame);
    }
    if (away > 1) {
      return fmt::format(
          "The mount was closed before it was used: the server closed {} connections before any call was "
          "made on them, the last in frame {}.",
          grouped(away), frame);
    }
    return fmt::format("The mount was closed in good order (frame {}); {}.", frame, nothing_called(mount));
  }
  if (a.nothing_done != nullptr) {
    return fmt::format("The mount was closed in good order (frame {}), but before that {}.", frame,
                       nothing_done_text(mount, a))
        .append(who_could_help(*a.nothing_done));
  }
  if (a.left_at_the_door != 0) {
    const std::string which = a.left_at_the_door == 1 ? fmt::format("its connection (frame {})", frame)
                                                      : fmt::format("{} connections, the last in frame {}",
                                                                    grouped(a.left_at_the_door), frame);
    return fmt::format(
        "The mount was closed before it was used: the server closed {}, and nothing was called but {}what makes a "
        "client or a session ({}).",
        which, mount.nfs.outcomes.nulls != 0 ? "NULL and " : "", calls_text(mount));
  }
  std::string text = fmt::format("The mount was closed in good order (frame {}): {}{}", frame, calls_text(mount),
                                 mount.waits.count > 0 ? slowest(mount) : "");
  if (away > 0) {
    text += fmt::format("; {} since then {} closed by the server before any call was made", counted(away, "connection"),
                        away == 1 ? "was" : "were");
  }
  return text + '.';
}

[[nodiscard]] std::string sentence_with_roles(const Mount& mount, const Assessment& a) {
  switch (a.state) {
    case State::unknown:
      return cannot_be_told(mount, a);
    case State::never_up:
      return never_came_up(mount, a);
    case State::down:
      return is_down(mount, a);
    case State::closed:
      return was_closed(mount, a);
    case State::waiting:
      return hangs(mount, a);
    case State::working:
      return works(mount, a);
  }
  return "";
}

}  // namespace

EndNames names_of_ends(const Mount& mount) {
  trace::Endpoint client;
  trace::Endpoint server;
  client.address = mount.client;
  server.address = mount.server;
  return names_of_ends(client, server);
}

std::string sentence_of(const Mount& mount, const Assessment& a) {
  std::string said = sentence_with_roles(mount, a);
  return a.roles == MountFacts::Roles::known ? said : without_roles(said, names_of_ends(mount));
}

}  // namespace rpcrdma::referee
