// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/outcomes.hpp"

#include <string_view>

#include <fmt/format.h>

#include "referee/state/nfs_watch.hpp"
#include "referee/state/transaction.hpp"
#include "wire/fields.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

namespace {

/// Programs beside NFS. A client asks once whether they are there, and does without.
[[nodiscard]] bool accompanies_nfs(std::uint32_t program) noexcept {
  return program == wire::portmapper_program || program == wire::mount_program || program == wire::nlm_program ||
         program == wire::nsm_program || program == wire::nfsacl_program;
}

/// The files that were asked for are not there any more.
[[nodiscard]] bool stale(const Denial& denial) noexcept {
  return denial.by == Denial::By::nfs3   ? denial.status == wire::nfs3err_stale
         : denial.by == Denial::By::nfs4 ? denial.status == wire::nfs4err_stale
                                         : false;
}

void add(NothingDone& run, const Denial& denial, Answered at) {
  if (run.times++ == 0) run.first = at.frame;
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

}  // namespace

void take_refusal(NfsWatch& nfs, Transaction& call, const wire::RpcReply& rpc, wire::Bytes reply, Answered at) {
  call.outcome = Transaction::Outcome::told;
  const auto [program, version, procedure] = *call.procedure;
  if (accompanies_nfs(program)) return;
  NothingDone& run = nfs.outcomes.run;
  const Denial denial = denial_of(rpc, reply);
  add(run, denial, at);
  ++run.by_rpc;
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
  if (accompanies_nfs(std::get<0>(*call.procedure))) return;
  NothingDone& run = nfs.outcomes.run;
  add(run, {Denial::By::context, *major, std::nullopt}, at);
  ++run.by_rpc;
  ++run.for_good;
  ++run.asking;
}

void take_outcome(NfsWatch& nfs, Transaction& call, const Denial& status, bool lease_alone, Answered at) {
  call.outcome = Transaction::Outcome::told;
  NothingDone& run = nfs.outcomes.run;
  if (asks_to_wait(status) || knows_no_client(status) || stale(status)) {
    add(run, status, at);
    return;
  }
  // Who is told "later", or that its files are gone, keeps its lease all the while.
  if (lease_alone && run.times != 0 && (asks_to_wait(run.newest) || stale(run.newest))) return;
  count_done(nfs);
}

void count_done(NfsWatch& nfs) {
  ++nfs.outcomes.done;
  if (nfs.outcomes.run.times != 0) nfs.outcomes.run = {};
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
  if (asks_to_wait(said)) return Owes::server;
  if (said.by == Denial::By::rpc) {
    const bool lacks = said.status == wire::accept_stat::prog_unavail || said.status == wire::accept_stat::system_err;
    return lacks ? Owes::server : Owes::unknown;
  }
  // No answer to a client that makes itself known anew says so (RFC 8881 section 15.2): it goes on as before.
  const bool goes_on =
      said.by == Denial::By::nfs4 && (said.status == wire::nfs4err_badsession || said.status == wire::nfs4err_expired);
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
  }
  return "";
}

}  // namespace rpcrdma::referee
