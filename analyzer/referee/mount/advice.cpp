// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/advice.hpp"

#include <fmt/format.h>

#include "referee/mount/lives.hpp"
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
  if (files_gone(denial)) {
    return "On the server: exportfs -v, and is the exported file system still mounted; then mount again on the client.";
  }
  if (server_failed(denial)) {
    return "On the server: its log and dmesg, its disks, and the file system that is exported.";
  }
  constexpr std::string_view versions =
      "On the server: cat /proc/fs/nfsd/versions has to show what the client asks for; on the client: the vers= in "
      "/proc/mounts.";
  if (lacks_version(denial)) return std::string(versions);
  switch (denial.by) {
    case Denial::By::nfs2:
    case Denial::By::nfs3:
    case Denial::By::nfs4:
      return "On the client: its log, the thread that recovers state; on the server: its log, and what it says of this "
             "client in /proc/fs/nfsd/clients.";
    case Denial::By::transport_2:
      return "On the server: what its RPC-over-RDMA does not take; its log. On the client: what it sends there.";
    case Denial::By::transport_1:
      return "On the server: what it does not take; its log, rpcrdma:svcrdma_decode_parse_err, svcrdma_small_wrch_err, "
             "svcrdma_err_chunk, svcrdma_err_vers. On the client: rpcrdma:xprtrdma_marshal, what it offers.";
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
      return std::string(versions);
  }
  return "";
}

[[nodiscard]] std::string where_unreachable() {
  return "ping the server; the sender and the code of the ICMP message say whether a router, a firewall or the server "
         "itself refuses; on the server rdma link show, and its firewall.";
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

/// What to look at where the connection ended, and who has to move is not known.
[[nodiscard]] std::string where_it_ended(const Assessment& a) {
  if (a.lost != nullptr && a.lost->closed->cause && a.lost->closed->cause->rule != RuleId::cm_dreq) {
    return advice_of(a.lost->closed->cause->rule, a);
  }
  if (a.again != nullptr && connected_just_now(*a.again, a.end)) {
    return "A capture that goes on for longer: the client has only just connected again.";
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

[[nodiscard]] std::string where_it_sends_away() {
  return "On the server: its log and dmesg, why it ends the connections that it accepts.";
}

/// What to look at on the side that has to move, where nothing better is known.
[[nodiscard]] std::string where_it_owes(const Assessment& a) {
  switch (a.owes) {
    case Owes::server:
      if (!a.sent_away.empty()) return where_it_sends_away();
      return "On the server: cat /proc/fs/nfsd/threads, the stacks of nfsd, its disks and its log.";
    case Owes::client:
      return "On the client: its log, the stacks of processes in D state, sunrpc and rpcrdma tracepoints.";
    case Owes::server_unreachable:
      return "ping the server; is the machine up, and rdma link show on both ends; then switches and firewalls.";
    case Owes::client_unreachable:
      return "ping the client; is the machine up, and rdma link show on both ends; then switches and firewalls.";
    case Owes::nobody:
    case Owes::unknown:
      break;
  }
  return where_it_ended(a);
}

/// What to look at where attempts to connect fail.
[[nodiscard]] std::string where_attempts_fail(const Assessment& a) {
  if (a.owes == Owes::unknown) return where_nobody_answers(a, *a.failing);
  if (a.owes != Owes::server) return where_it_owes(a);
  if (a.failing->unreachable == a.failing->attempts) return where_unreachable();
  if (a.failing->receipt.number != 0) {
    return "On the server: who took the request does not decide it; its log, dmesg and the stacks of nfsd.";
  }
  return where_refused(*a.failing);
}

/// What to look at where something is in the way.
[[nodiscard]] std::string where_it_stands(const Assessment& a) {
  const std::string_view side = a.owes == Owes::server ? "server" : "client";
  switch (a.obstacle) {
    case Obstacle::declined:
    case Obstacle::unconfirmed:
    case Obstacle::refused:
    case Obstacle::unreachable:
    case Obstacle::on_the_way:
    case Obstacle::undecided:
    case Obstacle::unanswered:
    case Obstacle::awaited_briefly:
      return where_attempts_fail(a);
    case Obstacle::sent_away:
      return where_it_sends_away();
    case Obstacle::lost_calls:
      if (a.owes == Owes::server && a.sent_away.empty() && a.lost->closed->by == Party::server) {
        return where_it_was_left(Party::server);
      }
      return where_it_owes(a);
    case Obstacle::copy:
      return "On the server: is the copy still going on (stacks of nfsd), and does its callback channel work; on the "
             "client: dmesg, and does its callback service run (ps: NFSv4 callback).";
    case Obstacle::never_whole:
      if (a.owes != Owes::server) return where_it_owes(a);
      return "On the server: what holds back the rest of its Call; its log, rpcrdma tracepoints.";
    case Obstacle::answer_without_window:
      return fmt::format(
          "On the {}: what does not read from its socket or adapter; its log, and the adapter's statistics.", side);
    case Obstacle::rest_without_credit:
    case Obstacle::answer_without_credit:
      return fmt::format(
          "On the {}: its handling of RDMA2_GRANT, and its pool of Receives (--explain v2-credit-starved).", side);
    case Obstacle::lost_on_the_way:
      return "What of it arrives: ping both ways with large packets that must not be fragmented, the MTU of both "
             "ports and of each switch; then a capture at the other end.";
    case Obstacle::no_receive:
      return a.owes == Owes::server ? advice_of(RuleId::credit_grant_unbacked, a) : where_it_owes(a);
    case Obstacle::not_sent_again:
      return "Whether its sender is still there, and has got the NAK: ping it; rdma statistic show and dmesg there, "
             "and a capture at its end.";
    case Obstacle::refused_answer:
      return fmt::format(
          "Why the client refused the answer of frame {}: the error found there says whose setting has to change.",
          a.hanging.front().answer.number);
    case Obstacle::broken_call:
      return "On the client: what makes the broken call; the error found says what is broken in it. On the server: why "
             "it does not refuse it, rpcrdma:svcrdma_decode_parse_err and svcrdma_send_err. (--explain error-missing)";
    case Obstacle::broken_answer:
      return "On the server: what makes its broken answer; the error found says what is wrong with it.";
    case Obstacle::closed_instead:
      return "On the server: its log and dmesg, why it ends the connection instead of answering this call; "
             "rpcrdma:svcrdma_qp_error, svcrdma_send_err and svcrdma_decode_parse_err.";
    case Obstacle::recall:
      if (a.owes != Owes::unknown) break;
      return "On the server: whether it calls back again (the callback state in /proc/fs/nfsd/clients/*/info); on the "
             "client: whether the recall came through (nfs4_cb_recall in the nfs4 tracepoints).";
    case Obstacle::none:
    case Obstacle::not_known:
    case Obstacle::silence:
    case Obstacle::unserved:
      break;
  }
  return where_it_owes(a);
}

/// What another capture has to have.
[[nodiscard]] std::string what_to_capture(const Assessment& a) {
  using Doubt = Assessment::Doubt;
  switch (a.doubt) {
    case Doubt::direction_lost:
      return "A capture of both directions, at one of the two machines.";
    case Doubt::one_direction:
      return "Ping the side that is silent; then a capture of both directions, at one of the two machines.";
    case Doubt::nothing_readable:
    case Doubt::only_tcp:
    case Doubt::messages_cut:
    case Doubt::last_words_cut:
    case Doubt::purpose_cut:
      return "A capture with whole packets (no snap length, or 512 octets at least).";
    case Doubt::frames_missing:
    case Doubt::answer_missing:
    case Doubt::end_unseen:
      return "A capture that loses nothing, of whole packets: at one of the two machines, with a larger buffer.";
    case Doubt::input_lost:
      return "The whole capture: every file of the ring or merge, not damaged.";
    case Doubt::clock_set:
      return "Files of one ring in the order in which they were written; else a capture while no clock is set.";
    case Doubt::no_times:
      return "A capture whose frames have their times: as tcpdump or dumpcap wrote it, not converted.";
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
  switch (a.state) {
    case MountFacts::State::unknown:
      return what_to_capture(a);
    case MountFacts::State::working:
    case MountFacts::State::closed:
      // What RPC or NFS said was read, and so who asked; an RDMA_ERROR does not tell.
      if (a.nothing_done != nullptr && a.nothing_done->newest.of_transport() && a.roles != MountFacts::Roles::known) {
        return "What the RDMA_ERRORs answer: chunks that the other side does not take. (--explain nothing-served)";
      }
      // Nor does a program that is not known: either end may call the other.
      if (a.nothing_done != nullptr && a.roles != MountFacts::Roles::known) {
        return "Whether the program that is asked for is there where it is asked for. (--explain nothing-served)";
      }
      if (a.nothing_done != nullptr) return where_nothing_is_done(a.nothing_done->newest);
      if (a.pending != nullptr || a.reconnects != nullptr) {
        return "A capture that goes on for longer: what is under way has not waited long enough to call it a hang "
               "(--wait).";
      }
      return a.state == MountFacts::State::closed && (!a.sent_away.empty() || a.left_at_the_door != 0)
                 ? where_it_was_left(Party::server)
                 : "";
    case MountFacts::State::never_up:
    case MountFacts::State::down:
    case MountFacts::State::waiting:
      return where_it_stands(a);
  }
  return "";
}

}  // namespace rpcrdma::referee
