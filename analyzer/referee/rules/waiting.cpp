// SPDX-License-Identifier: GPL-2.0-or-later
// Group N: Calls that wait.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/rows.hpp"
#include "referee/rules/symptoms.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] FrameRef newest_of(const Mount& mount, Side side) {
  FrameRef newest;
  for (const Life& life : mount.lives) {
    if (life.heard[index(side)].number > newest.number) newest = life.heard[index(side)];
  }
  return newest;
}

void name_once(std::vector<ConnectionId>& connections, ConnectionId id) {
  if (connections.size() < Mount::most_connections_named &&
      std::find(connections.begin(), connections.end(), id) == connections.end()) {
    connections.push_back(id);
  }
}

}  // namespace

const Row rows::call_hangs{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .consequence = true,
    .source = "observation",
    .who = "nobody",
    .title = "A call gets no answer",
    .explanation =
        "A Call had waited for seconds, and was answered on no connection of the mount. The application that made it "
        "hangs, and with it whoever touches the same file. This says what is felt, not who broke a rule.",
    .evidence =
        "A Call without an answer for as long as --wait says (5 s): to the end of the capture while its connection "
        "lasts "
        "or its requester tries to connect again, else to the end of the newest connection that carried it. A copy on "
        "a later connection does not begin a new wait, and a Reply that was "
        "refused is no answer. Not decided when frames "
        "of the responder, or of another connection of the mount, are missing since the Call, when the capture is a "
        "sample, or when only one direction was captured.",
    .next =
        "When the server owes: its nfsd threads (cat /proc/fs/nfsd/threads, /proc/PID/stack), its disks, its log. When "
        "it cannot be reached: ping, rdma link show, the switch. Client: cat /proc/self/mountstats, rpcdebug or "
        "sunrpc tracepoints for the XID."};

namespace {

/// `calls`: one or more, the oldest first.
void tell_hanging(const MountWitness& witness, const Mount& mount, const std::vector<OpenCall>& calls, Owes owes) {
  const OpenCall& oldest = calls.front();
  const Side silent = other(oldest.requester);
  Symptom symptom;
  symptom.frames = {oldest.first, oldest.frame, newest_of(mount, silent)};
  symptom.owes = owes;
  symptom.xid = oldest.xid;
  symptom.times = calls.size();
  for (const OpenCall& call : calls) name_once(symptom.connections, call.connection);
  symptom.what = fmt::format("{} {:#010x} of the {} (frame {}) has waited {} without an answer", oldest.called(),
                             oldest.xid, name(oldest.requester), oldest.first.number, waited(oldest.waited));
  if (oldest.frame.number != oldest.first.number) {
    symptom.what += fmt::format("; it was sent again (frame {})", oldest.frame.number);
  }
  if (oldest.vain != OpenCall::Vain::no) {
    symptom.what +=
        oldest.answer.number != 0
            ? fmt::format("; what came as its answer (frame {}) was sent again to frame {} and never acknowledged",
                          oldest.answer.number, oldest.newest_copy.number)
            : fmt::format("; it was sent again to frame {} and never acknowledged", oldest.newest_copy.number);
  } else if (oldest.denied.number != 0) {
    symptom.what += fmt::format("; the {} has not taken it (NAK, frame {}), and it was not sent again", name(silent),
                                oldest.denied.number);
  } else if (oldest.fetching.read.number != 0) {
    symptom.what +=
        fmt::format("; its Reply is offered to be read (frame {}), and the Read of that (frame {}) gets no answer",
                    oldest.fetching.reply.number, oldest.fetching.read.number);
  } else if (oldest.pulling.op.number != 0 && owes != Owes::client_unreachable && owes != Owes::server_unreachable) {
    symptom.what += fmt::format("; a Read of what it offers (frame {}) got no answer", oldest.pulling.op.number);
  } else if (oldest.pushing.newest_copy.number != 0 && owes == Owes::unknown) {
    symptom.what += fmt::format("; what is written for it (frame {}) was sent again to frame {} and never acknowledged",
                                oldest.pushing.op.number, oldest.pushing.newest_copy.number);
  } else if (oldest.answer.number != 0) {
    symptom.what += fmt::format("; what came as its answer (frame {}) was refused", oldest.answer.number);
  } else if (oldest.refused.number != 0) {
    symptom.what += fmt::format("; it was refused (frame {})", oldest.refused.number);
  }
  if (oldest.sent != OpenCall::Sent::whole) symptom.what += "; it was never sent whole";
  const std::uint64_t others = calls.size() - 1;
  if (others > 0) symptom.what += fmt::format(", and {} as well", counted(others, "later Call"));
  symptom.what += '.';
  witness.say(RuleId::call_hangs, std::move(symptom));
}

}  // namespace

void judge_hanging_calls(const MountWitness& witness, const Mount& mount, const Assessment& assessment) {
  if (!assessment.given_up.empty()) tell_hanging(witness, mount, assessment.given_up, Owes::nobody);
  if (!assessment.hanging.empty()) {
    tell_hanging(witness, mount, assessment.hanging, assessment.owes);
  } else if (assessment.hidden > assessment.hidden_recalls && !mount.connections.empty()) {
    const std::uint64_t calls = assessment.hidden - assessment.hidden_recalls;
    std::string_view why = "the answers of Calls that wait may be in the frames that the capture lacks";
    if (assessment.doubtful == calls) {
      why = "whether what waits is a Call, or a Reply that is offered to be read, is not known";
    } else if (assessment.cut == calls) {
      why = "the snap length cut what would tell whether what waits is a Call, or got an answer";
    }
    witness.unchecked(RuleId::call_hangs, newest_connection(mount), why);
  }
}

const Row rows::long_wait{
    .group = 'N',
    .severity = Severity::warning,
    .versions = Versions::both,
    .source = "observation",
    .who = "nobody",
    .title = "A call was answered late",
    .explanation =
        "The answer came, but only after seconds: whoever waited for it saw a hang that went away by itself. A "
        "reconnect in between, a slow disk, a server that was out of threads or a lost packet with a long retry look "
        "the same from outside.",
    .evidence =
        "Call and Reply, the wait counted from the first copy of the Call on whatever connection of the mount. The "
        "worst one is named, the others are counted.",
    .next =
        "Sent again: how the connection of the first copy ended, if it did, and why it was not answered there. Else "
        "the table of times, by operation: whether it went into the pull (client and path), the server (its threads, "
        "disks, log) or the push (docs/guide/slow.md)."};

namespace {

void tell_long_waits(const MountWitness& witness, const LongWaits& waits) {
  // What came as an answer may have turned out to be none, and the worst of the others is no long wait.
  if (waits.count == 0 || waits.worst_time < witness.context.options.wait) return;
  Symptom symptom;
  symptom.frames = {waits.worst.frame, waits.worst.reply_frame, waits.worst.again};
  symptom.connections = waits.connections;
  symptom.owes = Owes::nobody;
  symptom.xid = waits.xid;
  symptom.times = waits.count;
  const bool read = waits.worst.operation != MountFacts::operation_not_read;
  symptom.what = fmt::format("{} {:#010x} (frame {}) was answered after {} (frame {})",
                             read ? waits.worst.operation : "A Call that could not be read,", waits.xid,
                             waits.worst.frame.number, waited(waits.worst_time), waits.worst.reply_frame.number);
  if (waits.worst.again.number != 0) {
    symptom.what +=
        fmt::format("; its first copy got no answer, and it was sent again (frame {})", waits.worst.again.number);
  }
  if (waits.count > 1) symptom.what += fmt::format("; {} waited as long as that counts", counted(waits.count, "Call"));
  symptom.what += '.';
  witness.say(RuleId::long_wait, std::move(symptom));
}

}  // namespace

void judge_long_waits(const MountWitness& witness, const Mount& mount) {
  tell_long_waits(witness, mount.waits);
  tell_long_waits(witness, mount.callback_waits);
}

void leave_waits_unchecked(const MountWitness& witness, const Mount& mount) {
  if (mount.connections.empty()) return;
  for (const RuleId rule : {RuleId::call_hangs, RuleId::long_wait, RuleId::connection_lost, RuleId::connect_unanswered,
                            RuleId::callback_awaited, RuleId::recall_unanswered, RuleId::server_asks_to_wait,
                            RuleId::pull_completion_missing}) {
    witness.unchecked(rule, newest_connection(mount), "the capture has no times: how long anything took is not known");
  }
}

}  // namespace rpcrdma::referee
