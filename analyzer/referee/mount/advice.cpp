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

/// A sentence of a specification was broken, or an adapter failed, and the connection with it: whoever has to answer,
/// that comes first.
[[nodiscard]] const Cause* broken_by(const Assessment& a) {
  if (a.lost == nullptr || a.failing != nullptr || !a.lost->closed->cause) return nullptr;
  const Cause& cause = *a.lost->closed->cause;
  const bool accuses = cause.proven && kind(cause.rule) == FindingKind::violation;
  return accuses ? &cause : nullptr;
}

/// A NAK or a Terminate ended the connection, and whose fault that was is not proven.
[[nodiscard]] bool refused_undecided(const Assessment& a) {
  if (a.lost == nullptr || a.failing != nullptr || a.silence || !a.lost->closed->cause) return false;
  const Closed::How how = a.lost->closed->how;
  return how == Closed::How::nak || how == Closed::How::terminate;
}

[[nodiscard]] std::string what_brought_it_down(const Assessment& a) {
  return fmt::format("What brought the connection down: --explain {}.", rule(a.lost->closed->cause->rule).name);
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
      if (denial.status == wire::accept_stat::garbage_args) return "The first of these calls. (--explain garbage-args)";
      if (denial.status == wire::accept_stat::system_err) return "On the server: its log and dmesg, its memory.";
      return "On the server: cat /proc/fs/nfsd/versions has to show what the client asks for; on the client: the vers= "
             "in /proc/mounts.";
  }
  return "";
}

/// What to look at on a server that owes the next step.
[[nodiscard]] std::string where_on_the_server(const Assessment& a) {
  if (a.failing != nullptr && a.failing->unreachable == a.failing->attempts) {
    return "ping the server; who sent the ICMP message says whether a router, a firewall or the server itself "
           "refuses; on the server rdma link show.";
  }
  if (a.failing == nullptr && a.hanging.empty() && !a.copies.empty()) {
    return "On the server: is the copy still going on (stacks of nfsd), and does its callback channel work; on the "
           "client: the log of nfs4_callback_svc.";
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
  const bool no_receive = !a.hanging.empty() && a.hanging.front().vain == OpenCall::Vain::no_receive;
  if (no_receive) {
    const Rule& lacks = rule(RuleId::credit_grant_unbacked);
    return fmt::format("{} (--explain {})", lacks.next, lacks.name);
  }
  return "On the server: cat /proc/fs/nfsd/threads, the stacks of nfsd, its disks and its log.";
}

}  // namespace

std::string next_step(const Assessment& a) {
  // What a rule advises is meant for a client or for a server.
  const Cause* cause = a.roles == MountFacts::Roles::known ? broken_by(a) : nullptr;
  if (cause != nullptr) {
    return fmt::format("{} (--explain {})", rule(cause->rule).next, rule(cause->rule).name);
  }
  if (refused_undecided(a)) return what_brought_it_down(a);
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
      return a.nothing_done != nullptr ? where_nothing_is_done(a.nothing_done->newest) : "";
    case Owes::unknown:
      if (a.failing == nullptr && !a.hanging.empty() && a.hanging.front().vain == OpenCall::Vain::lost) {
        return "What of it arrives: ping both ways with large packets that must not be fragmented, the MTU of both "
               "ports and of each switch; then a capture at the other end.";
      }
      if (a.failing != nullptr && a.failing->unheard != 0) {
        return "Whether everything comes through from one to the other: a capture at either end, ping and rping both "
               "ways, firewalls, routes; or what took the server so long. (--explain cm-rejected)";
      }
      if (a.failing != nullptr && a.failing->unanswered == a.failing->attempts && a.silence && !a.silence->gone()) {
        return "What keeps the request from being answered where the machine is alive: rdma link show on the server, "
               "cat /proc/fs/nfsd/portlist, firewalls on the way and on both ends.";
      }
      if (a.lost == nullptr) return "";
      if (a.lost->closed->cause) return what_brought_it_down(a);
      return a.lost->closed->by == Party::server ? "On the server: its log and dmesg, why it ended the connection."
                                                 : "";
  }
  return "";
}

}  // namespace rpcrdma::referee
