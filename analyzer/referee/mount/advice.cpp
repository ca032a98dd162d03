// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/advice.hpp"

#include <fmt/format.h>

#include "referee/mount/owes.hpp"
#include "referee/rules/checks.hpp"
#include "wire/cm.hpp"
#include "wire/rpc_numbers.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

namespace {

/// A sentence of a specification was broken, or an adapter failed, and that ended the connection, as the sentence about
/// the mount says: whoever has to answer, that comes first.
[[nodiscard]] const Cause* broken_by(const Assessment& a) {
  if (a.lost == nullptr || a.failing != nullptr || !a.lost->closed->cause) return nullptr;
  const Cause& cause = *a.lost->closed->cause;
  // That it fell silent the sentence says in other words, and who cannot be reached is the better advice.
  const bool named = cause.proven || cause.rule != RuleId::connection_lost;
  return named && kind(cause.rule) == FindingKind::violation ? &cause : nullptr;
}

/// A NAK or a Terminate ended the connection, and whose fault that was is not proven.
[[nodiscard]] bool refused_undecided(const Assessment& a) {
  if (a.lost == nullptr || a.failing != nullptr || a.silence || !a.lost->closed->cause) return false;
  const Closed::How how = a.lost->closed->how;
  return how == Closed::How::nak || how == Closed::How::terminate;
}

/// What the row of a rule advises is meant for a client or for a server: of use where it is known which is which.
[[nodiscard]] std::string advice_of(RuleId id, const Assessment& a) {
  const Rule& said = rule(id);
  if (a.roles != MountFacts::Roles::known) {
    return fmt::format("What brought the connection down: --explain {}.", said.name);
  }
  return fmt::format("{} (--explain {})", said.next, said.name);
}

[[nodiscard]] std::string where_it_was_left(Party by) {
  return fmt::format("On the {}: its log and dmesg, why it ended the connection.",
                     by == Party::server ? "server" : "client");
}

/// What to look at on a server that refused. Nobody listens, or somebody does and says no.
[[nodiscard]] std::string where_refused(const AttemptSeries& series) {
  using Subject = wire::RejectSubject;
  const Subject subject = wire::reject_subject(series.reason.value_or(0));
  if (series.attempts == series.rejected) {
    switch (subject) {
      case Subject::own_lack:
        return "On the server: rdma resource show, what has used up its queue pairs and memory; its log.";
      case Subject::earlier_connection:
        return "On the server: rdma resource show cm_id, an old connection of this client is still held; the client "
               "may ask again.";
      case Subject::path:
        return "The server's CM finds fault with the path in the request: addresses and GIDs of both ports (ip "
               "address, rdma link show, ibv_devinfo -v), RoCE version, VLAN, routes and MTU.";
      case Subject::parameters:
        return "The server's CM does not take what the request asks for: adapters, drivers and firmware of both "
               "(ibv_devinfo -v); the server's dmesg.";
      case Subject::elsewhere:
        return "On the server: its CM sends the client to another port; mount that address.";
      case Subject::consumer:
        return "On the server: somebody listens there and says no; its log and dmesg say why. (--explain cm-rejected)";
      case Subject::no_listener:
        break;
    }
  }
  return fmt::format("On the server: cat /proc/fs/nfsd/portlist has to show 'rdma {}'; systemctl status nfs-server.",
                     series.port.value_or(wire::nfs_port));
}

/// What to look at where every answer is a refusal.
[[nodiscard]] std::string where_nothing_is_done(const Denial& denial) {
  if (asks_to_wait(denial)) {
    return "On the server: what it waits for; its grace period, its disks. (--explain server-asks-to-wait)";
  }
  if (knows_no_client(denial)) return "On the client: its log, the thread that recovers state; on the server: uptime.";
  switch (denial.by) {
    case Denial::By::nfs3:
    case Denial::By::nfs4:
      return "On the server: exportfs -v, and is the exported file system still mounted; then mount again on the "
             "client.";
    case Denial::By::credential:
    case Denial::By::context:
      return "The sec= of both: exportfs -v on the server, /proc/mounts on the client; with Kerberos the logs of "
             "rpc.gssd and gssproxy, and the clocks.";
    case Denial::By::rpc:
    case Denial::By::rpc_version:
      if (denial.status == wire::accept_stat::garbage_args) {
        return "What the client sends: the server could not decode the arguments of these calls; those of the first "
               "one in Wireshark, and whether its chunks stand where its data do. (--explain garbage-args)";
      }
      if (denial.status == wire::accept_stat::system_err) return "On the server: its log and dmesg, its memory.";
      if (denial.status == wire::accept_stat::proc_unavail) {
        return "On both: their releases; the client asks for a procedure that this server does not have.";
      }
      return "On the server: cat /proc/fs/nfsd/versions has to show what the client asks for; on the client: the vers= "
             "in /proc/mounts.";
  }
  return "";
}

[[nodiscard]] std::string where_unreachable() {
  return "ping the server; the sender and the code of the ICMP message say whether a router, a firewall or the server "
         "itself refuses; on the server rdma link show, and its firewall.";
}

/// What to look at on a server that owes the next step.
[[nodiscard]] std::string where_on_the_server(const Assessment& a) {
  if (a.failing != nullptr && a.failing->unreachable == a.failing->attempts) return where_unreachable();
  if (a.failing == nullptr && a.hanging.empty() && !a.copies.empty()) {
    return "On the server: is the copy still going on (stacks of nfsd), and does its callback channel work; on the "
           "client: dmesg, and does its callback service run (ps: NFSv4 callback).";
  }
  if (a.failing != nullptr && a.failing->receipt.number != 0) {
    return "On the server: who took the request does not decide it; its log, dmesg and the stacks of nfsd.";
  }
  if (a.failing != nullptr) return where_refused(*a.failing);
  if (!a.sent_away.empty()) return "On the server: its log and dmesg, why it ends the connections that it accepts.";
  if (blocked(a) == Blocked::never_whole) {
    return "On the server: what holds back the rest of its Call; its log, rpcrdma tracepoints.";
  }
  if (blocked(a) == Blocked::answer_without_window) {
    return "On the server: what does not read from its socket or adapter; its log, and the adapter's statistics.";
  }
  if (blocked(a) != Blocked::no) {
    return "On the server: its handling of RDMA2_GRANT, and its pool of Receives (--explain v2-credit-starved).";
  }
  if (!a.hanging.empty()) {
    const OpenCall& oldest = a.hanging.front();
    if (oldest.vain == OpenCall::Vain::no_receive) return advice_of(RuleId::credit_grant_unbacked, a);
    if (oldest.wrong == OpenCall::Wrong::call) {
      return "On the client: what makes the broken call; the error found says what is broken in it. On the server: why "
             "it does not refuse it, rpcrdma:svcrdma_decode_parse_err and svcrdma_send_err. (--explain error-missing)";
    }
    if (oldest.wrong == OpenCall::Wrong::answer) {
      return "On the server: what makes its broken answer; the error found says what is wrong with it.";
    }
    if (oldest.answer.number != 0) {
      return fmt::format(
          "Why the client refused the answer of frame {}: the error found there says whose setting has "
          "to change.",
          oldest.answer.number);
    }
  } else if (a.state == MountFacts::State::down && a.lost != nullptr && a.lost->closed->by == Party::server) {
    return where_it_was_left(Party::server);
  }
  return "On the server: cat /proc/fs/nfsd/threads, the stacks of nfsd, its disks and its log.";
}

/// What to look at where attempts to connect fail, and nobody is known to owe an answer.
[[nodiscard]] std::string where_nobody_answers(const Assessment& a, const AttemptSeries& failing) {
  if (failing.unheard != 0) {
    return "Whether everything comes through from one to the other: a capture at either end, ping and rping both "
           "ways, firewalls, routes; or what took the server so long. (--explain cm-rejected)";
  }
  if (failing.unreachable != 0) return where_unreachable();
  if (failing.only_tcp == failing.attempts) {
    return "On the client: why it opens TCP and asks for nothing over it (its log, rdma link show), or which other "
           "program does; then a capture at the server, whether an MPA Request was lost on its way.";
  }
  if (failing.unanswered == failing.attempts && a.silence && !a.silence->gone()) {
    return "What keeps the request from being answered where the machine is alive: rdma link show on the server, "
           "cat /proc/fs/nfsd/portlist, firewalls on the way and on both ends.";
  }
  return "ping the server; is the machine up, and rdma link show on both ends; firewalls; a capture that goes on for "
         "longer.";
}

/// What to look at where a side that lives could not be reached, or was not heard, or which of them has to move is not
/// proven.
[[nodiscard]] std::string where_it_is_not_known(const Assessment& a) {
  if (a.failing == nullptr && !a.hanging.empty() && a.hanging.front().vain == OpenCall::Vain::lost) {
    return "What of it arrives: ping both ways with large packets that must not be fragmented, the MTU of both "
           "ports and of each switch; then a capture at the other end.";
  }
  if (a.failing != nullptr) return where_nobody_answers(a, *a.failing);
  if (a.lost != nullptr && a.lost->closed->cause && a.lost->closed->cause->rule != RuleId::cm_dreq) {
    return advice_of(a.lost->closed->cause->rule, a);
  }
  if (a.again != nullptr) {
    return "On the client: why it does not send the call again on its newest connection: its log, the stacks of "
           "processes in D state, sunrpc tracepoints (rpc_task_run_action, xprt_transmit).";
  }
  if (a.lost != nullptr && a.lost->closed->by) return where_it_was_left(*a.lost->closed->by);
  if (a.state == MountFacts::State::waiting) {
    return "Whether the other machine is alive: ping both ways, and a capture that goes on for longer.";
  }
  return "";
}

/// What another capture has to have.
[[nodiscard]] std::string what_to_capture(const Assessment& a) {
  using Doubt = Assessment::Doubt;
  switch (a.doubt) {
    case Doubt::one_direction:
      return "Ping the side that is silent; then a capture of both directions, at one of the two machines.";
    case Doubt::nothing_readable:
    case Doubt::only_tcp:
    case Doubt::last_words_cut:
    case Doubt::purpose_cut:
      return "A capture with whole packets (no snap length, or 256 octets at least).";
    case Doubt::frames_missing:
    case Doubt::answer_missing:
      return "A capture that loses nothing, of whole packets: at one of the two machines, with a larger buffer.";
    case Doubt::clock_set:
      return "Files of one ring in the order in which they were written; else a capture while no clock is set.";
    case Doubt::port_missing:
      return "A capture from before the mount.";
    case Doubt::unconfirmed:
      return "Whether what the client sends arrives: a capture at the server.";
    case Doubt::more_ended:
    case Doubt::not_kept:
    case Doubt::not_compared:
    case Doubt::call_or_offer:
    case Doubt::message_unread:
    case Doubt::none:
      break;
  }
  return "A capture that begins before the mount and goes on for longer.";
}

}  // namespace

std::string next_step(const Assessment& a) {
  const Cause* cause = a.roles == MountFacts::Roles::known ? broken_by(a) : nullptr;
  if (cause != nullptr) return advice_of(cause->rule, a);
  if (refused_undecided(a)) return advice_of(a.lost->closed->cause->rule, a);
  if (a.state == MountFacts::State::unknown) return what_to_capture(a);
  switch (a.owes) {
    case Owes::server:
      return where_on_the_server(a);
    case Owes::client:
      if (blocked(a) == Blocked::answer_without_window) {
        return "On the client: what does not read from its socket or adapter; its log, and the adapter's statistics.";
      }
      if (blocked(a) != Blocked::no && blocked(a) != Blocked::never_whole) {
        return "On the client: its handling of RDMA2_GRANT, and its pool of Receives (--explain v2-credit-starved).";
      }
      return "On the client: its log, the stacks of processes in D state, sunrpc and rpcrdma tracepoints.";
    case Owes::server_unreachable:
      return "ping the server; is the machine up, and rdma link show on both ends; then switches and firewalls.";
    case Owes::client_unreachable:
      return "ping the client; is the machine up, and rdma link show on both ends; then switches and firewalls.";
    case Owes::nobody:
      if (a.nothing_done != nullptr) return where_nothing_is_done(a.nothing_done->newest);
      return a.state == MountFacts::State::closed && !a.sent_away.empty() ? where_it_was_left(Party::server) : "";
    case Owes::unknown:
      return where_it_is_not_known(a);
  }
  return "";
}

}  // namespace rpcrdma::referee
