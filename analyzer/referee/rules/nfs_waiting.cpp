// SPDX-License-Identifier: GPL-2.0-or-later
// Group N: what NFS itself lets a mount wait for, and what the server says of its state.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/symptoms.hpp"
#include "trace/spans.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

namespace {

/// The names of the bits, "CB_PATH_DOWN, BACKCHANNEL_FAULT".
[[nodiscard]] std::string flag_names(std::uint32_t flags) {
  constexpr std::string_view prefix = "SEQ4_STATUS_";
  std::string names;
  for (const wire::NamedValue& flag : wire::seq4_status_names()) {
    if ((flags & flag.value) == 0) continue;
    std::string_view name = flag.name;
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

[[nodiscard]] std::string status_name(std::uint32_t status, bool version_3) {
  const std::string_view name = version_3 ? wire::nfs3_status_name(status) : wire::nfs4_status_name(status);
  return name.empty() ? fmt::format("status {}", status) : std::string(name);
}

}  // namespace

const Row rows::callback_awaited{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 7862 sections 15.2, 16.1",
    .who = "nobody",
    .title = "A copy was accepted, its completion never came",
    .explanation =
        "The server took a COPY to do it in the background, and reports its end with CB_OFFLOAD. Until then the "
        "application waits, although no Call is open.",
    .evidence =
        "A COPY answered as asynchronous with a stateid, and no CB_OFFLOAD with that stateid on any connection of the "
        "mount within --wait. A poll by OFFLOAD_STATUS that says it is complete, or that there is none, or "
        "OFFLOAD_CANCEL, ends the wait, and so do DESTROY_CLIENTID and a restart of the server. Not "
        "decided when frames of the server are missing since, or a message since could not be read to its end.",
    .next =
        "Server: is the copy still going on (nfsd's stacks, its disks)? Can it call back: backchannel-down says more. "
        "Client: nfs4_cb_offload in the nfs4 tracepoints."};

const Row rows::recall_unanswered{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 8881 sections 10.4, 12.5.5, 20.2, 20.3",
    .who = "nobody",
    .title = "The server wants something back and does not get it",
    .explanation =
        "A delegation or a layout was recalled, and the client neither returned it nor said why not. Others who want "
        "the file get DELAY until the lease runs out.",
    .evidence =
        "CB_RECALL or CB_LAYOUTRECALL, and neither DELEGRETURN or LAYOUTRETURN nor an error reply that excuses it "
        "within --wait; one that came later is named with it. A recall that the return had overtaken, or crosses, is "
        "none, "
        "nor is one that was never acknowledged, or that the server forgot in a restart, or with its client "
        "(DESTROY_CLIENTID). A return whose answer is DELAY is none. Not "
        "decided when frames of the client are missing since, or the Call of a Reply since, or a message since could "
        "not be read to its end (encrypted, cut, more than 64 operations, data of which it is not known whether they "
        "stand there, or a Long Call without what was read of it), or where nothing but the "
        "callbacks tells who is the client and none of its own Calls is in the capture.",
    .next =
        "Client: what holds the file: nfs4_cb_recall and nfs4_delegreturn in the nfs4 tracepoints; dirty data that "
        "has to be written first."};

namespace {

/// What the client said to it, in front of "did not return it".
[[nodiscard]] std::string answered_text(const Recall& recall) {
  if (recall.answer.number == 0) return "";
  return fmt::format("{} (frame {}) and ",
                     recall.answered == Recall::Answered::later ? "asked for more time" : "agreed",
                     recall.answer.number);
}

/// Who wanted the file has waited, and waits no longer.
[[nodiscard]] Symptom returned_late(const std::vector<const Recall*>& recalls) {
  const auto wait = [](const Recall* recall) { return trace::elapsed(recall->callback.time, recall->ended.time); };
  const Recall& worst = **std::max_element(recalls.begin(), recalls.end(),
                                           [&](const Recall* a, const Recall* b) { return wait(a) < wait(b); });
  Symptom symptom;
  symptom.frames = {worst.callback, worst.answer, worst.ended};
  symptom.connections = {worst.connection};
  symptom.owes = Owes::nobody;
  symptom.xid = worst.xid;
  symptom.times = recalls.size();
  const std::string how =
      worst.revoked == Recall::Revoked::surely
          ? fmt::format("{}did not return it, and the server took it away after", answered_text(worst))
      : worst.ended.number == worst.answer.number ? "said why not only after"
                                                  : "returned it only after";
  symptom.what = fmt::format("The server recalled a {} (frame {}); the client {} {} (frame {}).",
                             worst.of == Recall::Of::layout ? "layout" : "delegation", worst.callback.number, how,
                             waited(wait(&worst)), worst.ended.number);
  return symptom;
}

}  // namespace

void judge_callbacks(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  constexpr std::string_view unread = "a message could not be read to its end";
  if (mount.nfs.unread.any.number != 0 && !mount.connections.empty()) {
    const UnreadMessages& perhaps = mount.nfs.unread;
    if (perhaps.copy.number != 0 && assessment.copies.empty() && assessment.unread_copy == nullptr) {
      witness.unchecked(RuleId::callback_awaited, newest_connection(mount), unread);
    }
    if (perhaps.recall.number != 0 && assessment.recalls.empty() && assessment.unread_recall == nullptr) {
      witness.unchecked(RuleId::recall_unanswered, newest_connection(mount), unread);
    }
  }
  if (assessment.unread_copy != nullptr) {
    witness.unchecked(RuleId::callback_awaited, assessment.unread_copy->connection, unread);
  }
  if (assessment.unread_recall != nullptr) {
    witness.unchecked(RuleId::recall_unanswered, assessment.unread_recall->connection, unread);
  }
  if (assessment.perhaps_late != nullptr) {
    witness.unchecked(RuleId::recall_unanswered, assessment.perhaps_late->connection,
                      "whether it was given back late is not known: frames are missing since the recall");
  }
  if (assessment.hidden_recall != nullptr) {
    witness.unchecked(RuleId::recall_unanswered, assessment.hidden_recall->connection,
                      assessment.hidden_recall->revoked == Recall::Revoked::perhaps
                          ? "the server has revoked state since, and whether it was this is not known"
                          : "the return may be in frames that the capture lacks");
  }
  if (!assessment.copies.empty()) {
    const AsyncCopy& oldest = *assessment.copies.front();
    Symptom symptom;
    symptom.frames = {oldest.call, oldest.reply, assessment.newest_callback};
    symptom.connections = {oldest.connection};
    symptom.owes = assessment.owes;
    symptom.xid = oldest.xid;
    symptom.times = assessment.copies.size();
    symptom.what = fmt::format(
        "The COPY {:#010x} (frame {}) was accepted as asynchronous (frame {}); its completion (CB_OFFLOAD) {} in "
        "{}",
        oldest.xid, oldest.call.number, oldest.reply.number,
        oldest.put_off.number != 0
            ? fmt::format("was not taken by the client (frame {}) and did not come again", oldest.put_off.number)
            : "did not come",
        waited(trace::elapsed(oldest.reply.time, assessment.end.time)));
    if (assessment.copies.size() > 1)
      symptom.what += fmt::format("; {} wait", counted(assessment.copies.size(), "copy"));
    symptom.what += '.';
    witness.say(RuleId::callback_awaited, std::move(symptom));
  }
  if (!assessment.recalls.empty()) {
    const Recall& oldest = *assessment.recalls.front();
    const bool layout = oldest.of == Recall::Of::layout;
    Symptom symptom;
    symptom.frames = {oldest.callback, oldest.answer};
    symptom.connections = {oldest.connection};
    symptom.owes = assessment.recall_owes;
    symptom.xid = oldest.xid;
    symptom.times = assessment.recalls.size();
    symptom.what = fmt::format("The server recalled a {} (frame {}); the client {}did not return it in {}.",
                               layout ? "layout" : "delegation", oldest.callback.number, answered_text(oldest),
                               waited(trace::elapsed(oldest.callback.time, assessment.end.time)));
    witness.say(RuleId::recall_unanswered, std::move(symptom));
  } else if (!assessment.late_recalls.empty()) {
    witness.say(RuleId::recall_unanswered, returned_late(assessment.late_recalls));
  }
}

const Row rows::backchannel_down{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 8881 section 18.46.3; RFC 7530 section 16.28.4",
    .who = "nobody",
    .title = "The server cannot call back",
    .explanation =
        "With each SEQUENCE, or RENEW of NFSv4.0, the server says that its callback channel is broken. Recalls and "
        "completions of copies do "
        "not come through: whoever waits for them hangs.",
    .evidence =
        "SEQUENCE replies with CB_PATH_DOWN, CB_PATH_DOWN_SESSION or BACKCHANNEL_FAULT; RENEW replies with "
        "NFS4ERR_CB_PATH_DOWN. One episode is one finding; "
        "one that the client mended within --wait is a note.",
    .next =
        "Client: does it answer with BIND_CONN_TO_SESSION or a new session, or of NFSv4.0 with SETCLIENTID (nfs4 "
        "tracepoints)? Server: rpcrdma "
        "tracepoints of its callbacks, /proc/fs/nfsd/clients/*/info (callback state)."};

const Row rows::state_revoked{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 8881 section 18.46.3",
    .who = "nobody",
    .title = "The server took state away",
    .explanation =
        "Locks, opens, delegations or layouts of this client are gone: the lease ran out, an administrator revoked "
        "them or a recall was not answered. Applications get EIO.",
    .evidence =
        "SEQUENCE replies with EXPIRED_ALL_STATE_REVOKED, EXPIRED_SOME_STATE_REVOKED, ADMIN_STATE_REVOKED or "
        "RECALLABLE_STATE_REVOKED.",
    .next =
        "Server: the log of nfsd, /proc/fs/nfsd/clients; how long the client was away before (long-wait, call-hangs)."};

void judge_server_flags(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  for (const FlagEpisode& episode : mount.nfs.channel) {
    const bool mended =
        episode.cleared.number != 0 && episode.cleared.time - episode.first.time < witness.context.options.wait;
    Symptom symptom;
    symptom.frames = {episode.first, episode.last, episode.reaction, episode.cleared};
    symptom.connections = {episode.connection};
    symptom.owes = mended ? Owes::nobody : assessment.owes;
    symptom.times = episode.replies;
    const bool gap = episode.cleared.number == 0 && gap_behind(mount, episode.last);
    if (gap) {
      witness.unchecked(RuleId::backchannel_down, episode.connection, "the capture lacks what was said next");
    }
    symptom.at_most = mended || gap ? Severity::note : Severity::warning;
    const std::string where = episode.first.number == episode.last.number
                                  ? fmt::format("(frame {})", episode.first.number)
                                  : fmt::format("from frame {} to {}", episode.first.number, episode.last.number);
    symptom.what = fmt::format("The server says that its callback channel is broken ({}), in {} {}",
                               flag_names(episode.flags), counted(episode.replies, "reply"), where);
    symptom.what += episode.reaction.number != 0
                        ? fmt::format("; the client made a new one (frame {})", episode.reaction.number)
                        : std::string("; the client did nothing about it");
    symptom.what +=
        episode.cleared.number != 0
            ? fmt::format(", and {} after the first it was mended (frame {}).",
                          waited(trace::elapsed(episode.first.time, episode.cleared.time)), episode.cleared.number)
            : std::string(".");
    witness.say(RuleId::backchannel_down, std::move(symptom));
  }
  for (const FlagEpisode& episode : mount.nfs.revoked) {
    Symptom symptom;
    symptom.frames = {episode.first, episode.last, episode.cleared};
    symptom.connections = {episode.connection};
    symptom.owes = Owes::client;
    symptom.times = episode.replies;
    symptom.what = fmt::format("The server took state of the client away ({}), told in {} since frame {}.",
                               flag_names(episode.flags), counted(episode.replies, "reply"), episode.first.number);
    witness.say(RuleId::state_revoked, std::move(symptom));
  }
}

const Row rows::server_restarted{
    .group = 'N',
    .severity = Severity::note,
    .versions = Versions::both,
    .source = "RFC 8881 sections 8.4.2, 15.1",
    .who = "nobody",
    .title = "The server has lost its state: it was restarted",
    .explanation =
        "The server does not know the client or its session any more, or asks it to reclaim its locks. The client "
        "makes itself known again and goes on; that is how NFS survives a restart.",
    .evidence =
        "STALE_CLIENTID, BADSESSION, STALE_STATEID, GRACE or RESTART_RECLAIM_NEEDED behind the loss of a connection, "
        "or a new one while another has fallen silent.",
    .next = "Server: uptime, the log of nfsd. If nobody restarted it: a lease that ran out looks alike."};

namespace {

/// Before this, and behind a connection that was not heard of again: several beside each other are no sign of it. Nor
/// is that a session was served since, and is not known any more.
[[nodiscard]] bool connected_again(const Mount& mount, const NfsWatch::Restart& restart) {
  FrameRef opened;  // the newest one
  for (const Life& life : mount.lives) {
    if (later(restart.first, life.opened)) keep_later(opened, life.opened);
  }
  const bool of_session = restart.status == wire::nfs4err_badsession;
  const auto& sessions = mount.nfs.clients.sessions();
  const bool served = of_session && std::any_of(sessions.begin(), sessions.end(), [&](const auto& session) {
                        return !later(restart.first, session.denied) && session.denied.number != 0 &&
                               later(session.served, opened) && later(session.denied, session.served);
                      });
  return !served && std::any_of(mount.lives.begin(), mount.lives.end(), [&](const Life& old) {
    return old.last_reply.number != 0 && later(opened, old.last_reply);
  });
}

}  // namespace

void judge_restart(const MountWitness& witness, const Mount& mount) {
  const NfsWatch::Restart& restart = mount.nfs.restart;
  if (restart.replies == 0) return;
  // The loss before it: the newest connection that ended ahead of it.
  FrameRef loss;
  for (const Life& life : mount.lives) {
    if (life.closed && life.closed->frame.number < restart.first.number) loss = life.closed->frame;
  }
  if (loss.number == 0 && !connected_again(mount, restart)) return;
  Symptom symptom;
  symptom.frames = {restart.first, restart.last, loss};
  symptom.connections = {restart.connection};
  symptom.owes = Owes::nobody;
  symptom.times = restart.replies;
  symptom.what = fmt::format("The server has lost its state ({}), as after a restart, told in {} since frame {}.",
                             restart.status == 0 ? "RESTART_RECLAIM_NEEDED" : status_name(restart.status, false),
                             counted(restart.replies, "reply"), restart.first.number);
  witness.say(RuleId::server_restarted, std::move(symptom));
}

const Row rows::server_asks_to_wait{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 8881 section 15.1.1.3; RFC 1813 section 2.6",
    .who = "nobody",
    .title = "The server says: later",
    .explanation =
        "The same operation was answered with JUKEBOX, DELAY or GRACE again and again. The server lives and is busy "
        "with something: a recall, its grace period, a file that comes back from a slow store.",
    .evidence =
        "Three or more of one such answer to one operation, without another about the file (where all are about one) "
        "in between; a warning when that lasted for "
        "--wait, or still does at the end. A grace period that ends is a note: that is how a server starts.",
    .next =
        "What the server waits for: a recall that is outstanding (recall-unanswered), its grace period "
        "(/proc/fs/nfsd/nfsv4gracetime), the state of its file system."};

namespace {

[[nodiscard]] std::string_view what_came_then(DelayRun::Then then) noexcept {
  switch (then) {
    case DelayRun::Then::success:
      return "then it went through";
    case DelayRun::Then::failure:
      return "then it failed";
    case DelayRun::Then::other_delay:
      return "then the server asked to wait in other words";
  }
  return "";
}

}  // namespace

void judge_delays(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  constexpr std::uint64_t enough = 3;
  constexpr TimeNs asks_again = 60'000'000'000;  // clients wait for fifteen seconds at most
  const auto judge = [&](const NfsWatch::ErrorKey& key, const DelayRun& run) {
    if (run.times < enough) return;
    const auto& [operation, status, version_3] = key;
    const bool gap = run.over.number == 0 && gap_behind(mount, run.last);
    if (gap)
      witness.unchecked(RuleId::server_asks_to_wait, run.connection, "the capture lacks what the server said next");
    // Who closed the mount has given up, or who does not ask any more.
    const bool gone =
        assessment.state == MountFacts::State::closed || trace::passed(run.last.time, assessment.end.time, asks_again);
    const bool lasts = run.over.number == 0 && !gap && !gone;
    // A grace period that ends is how a server starts.
    const bool long_enough = status != wire::nfs4err_grace && run.lasted() >= witness.context.options.wait;
    Symptom symptom;
    symptom.frames = {run.first, run.last, run.over};
    symptom.connections = {run.connection};
    symptom.owes = lasts ? Owes::server : Owes::nobody;
    symptom.times = run.times;
    symptom.at_most = long_enough || lasts ? Severity::warning : Severity::note;
    symptom.what = fmt::format("The server answered {} with {} {} times, from frame {} to {}", operation,
                               status_name(status, version_3), run.times, run.first.number, run.last.number);
    symptom.what += lasts ? std::string("; that lasts to the end")
                    : gap ? std::string("; what came of it is not in the capture")
                    : run.over.number == 0
                        ? std::string("; the client gave up")
                        : fmt::format("; {} (frame {}), {} after the first", what_came_then(run.then), run.over.number,
                                      waited(trace::elapsed(run.first.time, run.over.time)));
    if (!assessment.recalls.empty()) {
      symptom.what += fmt::format("; a recall is outstanding (frame {})", assessment.recalls.front()->callback.number);
    }
    symptom.what += '.';
    witness.say(RuleId::server_asks_to_wait, std::move(symptom));
  };
  for (const auto& [key, run] : mount.nfs.delays_over) {
    const auto current = mount.nfs.delays.find(key);
    if (current == mount.nfs.delays.end() || current->second.times < enough) judge(key, run);
  }
  for (const auto& [key, run] : mount.nfs.delays) judge(key, run);
}

const Row rows::nothing_served{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "RFC 5531 section 9; RFC 8881 section 15.1; RFC 1813 section 2.6; RFC 1094 section 2.3.1",
    .who = "nobody",
    .title = "Every call is answered, and nothing is done",
    .explanation =
        "The calls are refused before NFS does anything: by the transport (RDMA_ERROR), or by RPC (the program or its "
        "version is not there, the credentials are not accepted, no context of RPCSEC_GSS is made, the server has "
        "failed). Or NFS refuses what stands in front of each request (SEQUENCE, and what makes a client and its "
        "session), has not the minor version, knows neither client nor session any more, or nothing of the files that "
        "it is asked for, or says SERVERFAULT to all that it is asked for. Whoever uses the mount gets errors or "
        "waits, although no call is open.",
    .evidence =
        "The newest answers all say so, to the end of the capture: a warning where these are three or more over --wait "
        "or longer. A note where RPC, or the minor version, refused all calls that there were but NULL, and not so "
        "often or so long; and where the server says STALE or SERVERFAULT, which may be meant for one file that "
        "was removed, or that it cannot read. One answer that did what was asked ends it, and so does one that could "
        "not be read. Where others between the same "
        "addresses are served: likewise of one session that its SEQUENCE refuses, as long as somebody asks on. That a "
        "context of RPCSEC_GSS has run out, or a program beside NFS is not there (NFSACL, NLM), is daily bread. Frames "
        "that are missing begin the count anew. Answers that say later are server-asks-to-wait.",
    .next =
        "The statuses in the frames. PROG_UNAVAIL, PROG_MISMATCH: /proc/fs/nfsd/versions on the server, vers= of the "
        "mount. AUTH_ERROR: sec= on both ends. STALE: exportfs -v, and whether the file system is still mounted there. "
        "SERVERFAULT: the log of the server, and its disks. "
        "BADSESSION, EXPIRED: the log of the client. ERR_CHUNK and other errors of RPC-over-RDMA: what of the chunks "
        "the server does not take. Others: the logs of both."};

void judge_nothing_served(const MountWitness& witness, const Assessment& assessment) {
  if (assessment.nothing_done == nullptr) return;
  const NothingDone& run = *assessment.nothing_done;
  if (asks_to_wait(run.newest)) return;
  const bool one_file =
      run.refused == 0 && run.at_the_door == 0 && (files_gone(run.newest) || server_failed(run.newest));
  const bool stays = lasting(run, witness.context.options.wait) && !one_file;
  Symptom symptom;
  symptom.frames = {run.first, run.last};
  symptom.connections = {run.connection};
  symptom.owes = who_helps(run);
  symptom.times = run.times;
  symptom.at_most = stays ? Severity::warning : Severity::note;
  const std::string where = run.first.number == run.last.number
                                ? fmt::format("frame {}", run.first.number)
                                : fmt::format("from frame {} to {}", run.first.number, run.last.number);
  const bool of_one = assessment.nothing_of == Assessment::Whose::one_session;
  symptom.what =
      fmt::format("{} {} with {}{}, {}, and nothing else was answered {}since{}.",
                  counted(run.times, "call") + (of_one ? " of one session" : ""),
                  run.refused == run.times ? (run.times == 1 ? "was refused" : "were refused")
                                           : (run.times == 1 ? "was answered" : "were answered"),
                  denial_name(run.newest), run.alike < run.times ? " and the like" : "", where,
                  of_one ? "to who uses it " : "", run.let_in != 0 ? " but what makes a client or a session" : "");
  witness.say(RuleId::nothing_served, std::move(symptom));
}

const Row rows::nfs_errors{.group = 'N',
                           .severity = Severity::note,
                           .versions = Versions::both,
                           .source = "RFC 8881 section 15; RFC 1813 section 2.6",
                           .who = "nobody",
                           .title = "Operations were answered with an error",
                           .explanation =
                               "What NFS itself answered. Names that do not exist, or exist already, are daily bread "
                               "and not counted here; others "
                               "may be what the user sees as EIO, EACCES or ENOSPC.",
                           .evidence = "The status of each operation, counted by operation and status.",
                           .next = "The frames; rpcdebug -m nfs on the client, the log and the exports of the server."};

void judge_nfs_errors(const MountWitness& witness, const Mount& mount) {
  constexpr std::size_t most_named = 12;
  Symptom symptom;
  std::size_t named = 0;
  symptom.times = 0;
  for (const auto& [key, count] : mount.nfs.errors) {
    const auto& [operation, status, version_3] = key;
    if (status == wire::nfs4err_noent || status == wire::nfs4err_exist) continue;
    symptom.times += count.times;
    if (symptom.connections.empty()) symptom.connections = {count.connection};
    if (named++ >= most_named) continue;
    symptom.frames.push_back(count.newest);
    if (!symptom.what.empty()) symptom.what += ", ";
    symptom.what += fmt::format("{} {}", operation, status_name(status, version_3));
    if (count.times > 1) symptom.what += fmt::format(" {} times", count.times);
  }
  if (symptom.times == 0) return;
  symptom.owes = Owes::nobody;
  symptom.what = fmt::format("NFS operations that failed: {}{}.", symptom.what,
                             named > most_named ? fmt::format(" and {} more kinds", named - most_named) : "");
  witness.say(RuleId::nfs_errors, std::move(symptom));
}

}  // namespace rpcrdma::referee
