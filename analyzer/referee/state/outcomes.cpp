// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/outcomes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "referee/state/nfs_watch.hpp"
#include "referee/state/transaction.hpp"
#include "wire/fields.hpp"
#include "wire/nfs_status.hpp"
#include "wire/nfs_steps.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

namespace {

/// Programs beside NFS. A client asks once whether they are there, and does without. So is any other where NFS is used:
/// without it the mount is what it was.
[[nodiscard]] bool accompanies_nfs(const NfsWatch& nfs, std::uint32_t program) noexcept {
  if (program == wire::nfs_program) return false;
  return nfs.outcomes.programs == Outcomes::Programs::nfs || program == wire::portmapper_program ||
         program == wire::mount_program || program == wire::nlm_program || program == wire::nsm_program ||
         program == wire::nfsacl_program;
}

[[nodiscard]] bool keeps_lease(std::uint32_t operation) noexcept {
  return operation == wire::operation::sequence || operation == wire::operation::renew;
}

/// The Call asks for nothing else. That alone its answer does not tell: what follows a SEQUENCE that was refused is not
/// in it.
[[nodiscard]] bool asks_for_lease_alone(const Transaction& call) noexcept {
  return call.operation == wire::nfs4_operation_name(wire::operation::sequence, false) ||
         call.operation == wire::nfs4_operation_name(wire::operation::renew, false);
}

/// It stands in front of what a client wants done, or of all that it will want: where the server refuses it, for
/// whatever reason, nothing has been done.
[[nodiscard]] bool lets_in(std::uint32_t operation) noexcept {
  switch (operation) {
    case wire::operation::sequence:
    case wire::operation::bind_conn_to_session:
    case wire::operation::create_session:
    case wire::operation::exchange_id:
    case wire::operation::setclientid:
    case wire::operation::setclientid_confirm:
      return true;
    default:
      return false;
  }
}

void add(NothingDone& run, const Denial& denial, Answered at) {
  if (run.times++ == 0) run.first = at.frame;
  run.let_in += std::exchange(run.let_in_since, 0);
  run.alike = run.alike != 0 && run.newest.same(denial) ? run.alike + 1 : 1;
  run.newest = denial;
  run.last = at.frame;
  run.connection = at.connection;
}

[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> two_words(wire::Bytes octets, std::size_t at) {
  if (at + 8 > octets.size()) return std::nullopt;
  return std::pair(wire::load_be32(octets.data() + at), wire::load_be32(octets.data() + at + 4));
}

[[nodiscard]] Denial denial_of(const wire::RpcReply& rpc, wire::Bytes reply) {
  Denial denial;
  if (rpc.accepted) {
    denial.by = Denial::By::rpc;
    denial.status = rpc.status;
    if (rpc.status == wire::accept_stat::prog_mismatch) denial.versions = two_words(reply, rpc.body);
  } else if (rpc.status == wire::reject_stat::rpc_mismatch) {
    denial.by = Denial::By::rpc_version;
    denial.versions = two_words(reply, rpc.body);
  } else {
    denial.by = Denial::By::credential;
    if (rpc.body + 4 <= reply.size()) denial.status = wire::load_be32(reply.data() + rpc.body);
  }
  return denial;
}

/// Of a session. Whoever made a new one uses that.
template <class Matches>
void end_denied(Outcomes& outcomes, Matches matches) {
  std::erase_if(outcomes.denied, [&](const SessionDenied& denied) { return matches(denied.session); });
}

void deny_session(Outcomes& outcomes, const wire::SessionId& session, const Denial& denial, Answered at) {
  auto of_it = std::find_if(outcomes.denied.begin(), outcomes.denied.end(),
                            [&](const SessionDenied& denied) { return denied.session == session; });
  if (of_it == outcomes.denied.end()) {
    if (outcomes.denied.size() >= Outcomes::most_denied) outcomes.denied.erase(outcomes.denied.begin());
    outcomes.denied.push_back({session, {}, 0});
  } else {
    const trace::TimeNs pause = trace::elapsed(of_it->run.last.time, at.frame.time);
    of_it->longest_pause = std::max(of_it->longest_pause, pause);
    std::rotate(of_it, of_it + 1, outcomes.denied.end());
  }
  add(outcomes.denied.back().run, denial, at);
}

/// What the answer says of the session that its Call has used, if it has.
void take_of_session(NfsWatch& nfs, const Transaction& call, const Denial& status, std::optional<std::uint32_t> alone,
                     Answered at) {
  Outcomes& outcomes = nfs.outcomes;
  const bool done = status.by == Denial::By::nfs4 && status.status == wire::nfs4_ok;
  if (done && alone == wire::operation::create_session) {
    end_denied(outcomes, [&](const wire::SessionId& old) { return nfs.clients.may_be_made_by(old, call.client); });
  }
  if (!call.session) return;
  const bool denied = !done && alone == wire::operation::sequence && !asks_to_wait(status);
  if (denied) {
    deny_session(outcomes, *call.session, status, at);
  } else if (!outcomes.denied.empty()) {
    end_denied(outcomes, [&](const wire::SessionId& old) { return old == *call.session; });
  }
}

}  // namespace

void note_program(NfsWatch& nfs, const Transaction& call) {
  if (call.procedure && std::get<0>(*call.procedure) == wire::nfs_program) {
    nfs.outcomes.programs = Outcomes::Programs::nfs;
  }
}

void take_refusal(NfsWatch& nfs, Transaction& call, const wire::RpcReply& rpc, wire::Bytes reply, Answered at) {
  call.outcome = Transaction::Outcome::told;
  const auto [program, version, procedure] = *call.procedure;
  if (accompanies_nfs(nfs, program)) return;
  NothingDone& run = nfs.outcomes.run;
  const Denial denial = denial_of(rpc, reply);
  add(run, denial, at);
  ++run.refused;
  const bool context =
      denial.by == Denial::By::credential && (denial.status == wire::auth_stat::gss_credential_problem ||
                                              denial.status == wire::auth_stat::gss_context_problem);
  if (!context || call.asks_context()) ++run.for_good;
  if (procedure != 0 || call.asks_context()) ++run.asking;
}

void take_null(NfsWatch& nfs, Transaction& call) {
  call.outcome = Transaction::Outcome::told;
  ++nfs.outcomes.nulls;
}

void take_context(NfsWatch& nfs, Transaction& call, wire::Bytes results, Answered at) {
  const std::optional<std::uint32_t> major = wire::gss_major_of(results);
  if (!major || *major == wire::gss_major::complete || *major == wire::gss_major::continue_needed) {
    take_null(nfs, call);
    return;
  }
  call.outcome = Transaction::Outcome::told;
  if (accompanies_nfs(nfs, std::get<0>(*call.procedure))) return;
  NothingDone& run = nfs.outcomes.run;
  add(run, {Denial::By::context, *major, std::nullopt}, at);
  ++run.refused;
  ++run.for_good;
  ++run.asking;
}

void take_transport_error(NfsWatch& nfs, Transaction& call, wire::Bytes error, Answered at) {
  call.outcome = Transaction::Outcome::told;
  // Of what was not read: it may be of a program beside NFS.
  if (!call.procedure || accompanies_nfs(nfs, std::get<0>(*call.procedure))) return;
  Denial denial;
  denial.by = call.version == 2 ? Denial::By::transport_2 : Denial::By::transport_1;
  if (error.size() >= wire::error_code_at + 4) denial.status = wire::load_be32(error.data() + wire::error_code_at);
  add(nfs.outcomes.run, denial, at);
  ++nfs.outcomes.run.refused;
}

void take_outcome(NfsWatch& nfs, Transaction& call, const Denial& status, std::optional<std::uint32_t> alone,
                  Answered at) {
  call.outcome = Transaction::Outcome::told;
  take_of_session(nfs, call, status, alone, at);
  NothingDone& run = nfs.outcomes.run;
  const bool not_let_in = status.by == Denial::By::nfs4 && status.status != wire::nfs4_ok && alone && lets_in(*alone);
  if (asks_to_wait(status) || knows_no_client(status) || files_gone(status) || server_failed(status) ||
      lacks_version(status) || not_let_in) {
    add(run, status, at);
    if (asks_for_lease_alone(call)) ++run.of_lease;
    if (not_let_in) ++run.at_the_door;
    if (!lacks_version(status)) return;
    ++run.for_good;
    ++run.asking;
    return;
  }
  const bool lease_alone = alone && keeps_lease(*alone);
  // Who is not known makes itself known anew. Where that goes on and on, nothing else gets done.
  const bool introduced = alone && lets_in(*alone) && !lease_alone;
  if (introduced) ++nfs.outcomes.introductions;
  if (introduced && run.times != 0) {
    ++nfs.outcomes.done;
    ++run.let_in_since;
    return;
  }
  // Who is told "later", or that its files are gone, keeps its lease all the while. Where that was all that it asked
  // for, it now has it. A server that failed as it let the client in does so no longer.
  const bool failed_inside = server_failed(run.newest) && run.at_the_door < run.times;
  const bool beside_lease = asks_to_wait(run.newest) || files_gone(run.newest) || failed_inside;
  if (lease_alone && run.of_lease < run.times && beside_lease) return;
  count_done(nfs);
}

void count_done(NfsWatch& nfs) {
  ++nfs.outcomes.done;
  if (nfs.outcomes.run.times != 0) nfs.outcomes.run = {};
}

void count_unread(NfsWatch& nfs, const Transaction& call) {
  end_denied(nfs.outcomes, [&](const wire::SessionId& old) { return !call.session || old == *call.session; });
  count_done(nfs);
}

void outcomes_missing(NfsWatch& nfs) {
  nfs.outcomes.denied.clear();
  count_done(nfs);
}

bool files_gone(const Denial& denial) noexcept {
  return denial.by == Denial::By::nfs2   ? denial.status == wire::nfs2err_stale
         : denial.by == Denial::By::nfs3 ? denial.status == wire::nfs3err_stale
         : denial.by == Denial::By::nfs4 ? denial.status == wire::nfs4err_stale
                                         : false;
}

bool server_failed(const Denial& denial) noexcept {
  return denial.by == Denial::By::nfs3   ? denial.status == wire::nfs3err_serverfault
         : denial.by == Denial::By::nfs4 ? denial.status == wire::nfs4err_serverfault
                                         : false;
}

bool lacks_version(const Denial& denial) noexcept {
  return denial.by == Denial::By::nfs4 && denial.status == wire::nfs4err_minor_vers_mismatch;
}

bool asks_to_wait(const Denial& denial) noexcept {
  if (denial.by == Denial::By::nfs3) return denial.status == wire::nfs3err_jukebox;
  return denial.by == Denial::By::nfs4 &&
         (denial.status == wire::nfs4err_delay || denial.status == wire::nfs4err_grace);
}

bool knows_no_client(const Denial& denial) noexcept {
  if (denial.by != Denial::By::nfs4) return false;
  switch (denial.status) {
    case wire::nfs4err_expired:
    case wire::nfs4err_stale_clientid:
    case wire::nfs4err_stale_stateid:
    case wire::nfs4err_badsession:
    case wire::nfs4err_deadsession:
    case wire::nfs4err_conn_not_bound_to_session:
      return true;
    default:
      return false;
  }
}

Owes who_helps(const NothingDone& run) noexcept {
  if (run.alike < run.times) return Owes::unknown;
  const Denial& said = run.newest;
  if (asks_to_wait(said) || server_failed(said)) return Owes::server;
  if (said.by == Denial::By::rpc) {
    const bool lacks = said.status == wire::accept_stat::prog_unavail || said.status == wire::accept_stat::system_err;
    return lacks ? Owes::server : Owes::unknown;
  }
  // No answer to a client that makes itself known anew says so (RFC 8881 section 15.2): it goes on as before.
  const bool goes_on = run.let_in == 0 && said.by == Denial::By::nfs4 &&
                       (said.status == wire::nfs4err_badsession || said.status == wire::nfs4err_expired);
  return goes_on ? Owes::client : Owes::unknown;
}

std::string denial_name(const Denial& denial) {
  const auto versions = [&](std::string name) {
    if (!denial.versions) return name;
    const auto [low, high] = *denial.versions;
    return low == high ? fmt::format("{}: it has version {}", name, low)
                       : fmt::format("{}: it has versions {} to {}", name, low, high);
  };
  const auto major = [&] {
    const std::string_view name = wire::gss_major_name(denial.status);
    return name.empty() ? fmt::format("gss_major {:#010x}", denial.status) : fmt::format("gss_major {}", name);
  };
  const auto named = [&](std::string_view name) {
    return name.empty() ? fmt::format("status {}", denial.status) : std::string(name);
  };
  switch (denial.by) {
    case Denial::By::nfs2:
      return named(wire::nfs2_status_name(denial.status));
    case Denial::By::nfs3:
      return named(wire::nfs3_status_name(denial.status));
    case Denial::By::nfs4:
      return named(wire::nfs4_status_name(denial.status));
    case Denial::By::rpc:
      return versions(named(wire::value_name(wire::Field::accept_state, denial.status)));
    case Denial::By::rpc_version:
      return versions("RPC_MISMATCH");
    case Denial::By::credential:
      return denial.status == 0 ? "AUTH_ERROR"
                                : fmt::format("AUTH_ERROR, {}", named(wire::auth_status_name(denial.status)));
    case Denial::By::context:
      return major();
    case Denial::By::transport_1:
      return named(wire::value_name(wire::Field::error_code, denial.status));
    case Denial::By::transport_2:
      return named(wire::value_name(wire::Field::error_code2, denial.status));
  }
  return "";
}

}  // namespace rpcrdma::referee
