// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: the Write list and the Reply chunk of a Reply, against those of its Call.
#include <algorithm>

#include <fmt/format.h>

#include "referee/rules/checks.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

namespace {

class ReplyLists {
 public:
  ReplyLists(Context& context, Connection& connection, const trace::Send& event, const Transaction& call) noexcept
      : context_(context), connection_(connection), event_(event), call_(call) {}

  void say(RuleId rule, std::string message, std::optional<Severity> severity = std::nullopt) {
    context_.book.add({rule,
                       connection_.id(),
                       {event_.frame, call_.call},
                       std::move(message),
                       severity,
                       call_.xid,
                       party(event_.side),
                       Role::responder});
  }
  [[nodiscard]] const char* who() const noexcept { return name(event_.side); }

 private:
  Context& context_;
  Connection& connection_;
  const trace::Send& event_;
  const Transaction& call_;
};

/// False when it is not the same chunk, or claims more than it has. `which`: "Write chunk 2", "Reply chunk".
bool judge_chunk(ReplyLists& lists, const std::string& which, const wire::WriteChunk& provided,
                 const wire::WriteChunk& returned) {
  const auto changed = [&](std::string how) {
    lists.say(RuleId::write_segments_changed,
              fmt::format("The {}'s Reply returns {} changed: {}.", lists.who(), which, how));
    return false;
  };
  if (provided.size() != returned.size()) {
    return changed(fmt::format("{} segments instead of {}", returned.size(), provided.size()));
  }
  const wire::Segment* short_one = nullptr;
  bool grown = false;
  bool gap = false;
  for (std::size_t i = 0; i < provided.size(); ++i) {
    const wire::Segment& was = provided[i];
    const wire::Segment& is = returned[i];
    if (was.handle != is.handle || was.offset != is.offset) {
      return changed(fmt::format("segment {} names handle {:#010x} at {:#x}, the Call named {:#010x} at {:#x}", i + 1,
                                 is.handle, is.offset, was.handle, was.offset));
    }
    if (is.length > was.length && !grown) {
      grown = true;
      lists.say(RuleId::write_length_grown,
                fmt::format("The {}'s Reply says that {} octets were written to segment {} of {}; the Call gave room "
                            "for {}.",
                            lists.who(), is.length, i + 1, which, was.length));
    }
    if (is.length != 0 && short_one != nullptr && !gap) {
      gap = true;
      lists.say(RuleId::write_fill_gap,
                fmt::format("The {}'s Reply leaves a gap in {}: {} octets in segment {} behind a segment with {} "
                            "octets that are not full.",
                            lists.who(), which, is.length, i + 1, short_one->length));
    }
    if (is.length < was.length) short_one = &is;
  }
  return !grown;
}

bool judge_write_list(ReplyLists& lists, const wire::HeaderV1& header, const Transaction& call) {
  if (header.writes.size() != call.writes.size()) {
    lists.say(RuleId::write_list_not_returned,
              fmt::format("The {}'s Reply has {} Write chunk{}, its Call {}: each has to be returned.", lists.who(),
                          header.writes.size(), header.writes.size() == 1 ? "" : "s", call.writes.size()));
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; i < call.writes.size(); ++i) {
    const wire::WriteChunk& provided = call.writes[i];
    const wire::WriteChunk& returned = header.writes[i];
    if (provided.empty() && !returned.empty()) {
      lists.say(RuleId::empty_write_chunk_filled,
                fmt::format("The {}'s Reply returns {} segments in Write chunk {}, which was empty in the Call.",
                            lists.who(), returned.size(), i + 1));
      same = false;
    } else if (!provided.empty() && returned.empty()) {
      // For results without data the text of RFC 8267 asks for an empty chunk: both shapes are in use.
      const bool may_be = !call.procedure || std::get<0>(*call.procedure) == wire::nfs_program;
      lists.say(RuleId::unused_write_chunk_shape,
                fmt::format("The {}'s Reply returns Write chunk {} without its {} segments instead of with lengths of "
                            "zero.",
                            lists.who(), i + 1, provided.size()),
                may_be ? std::optional(Severity::note) : std::nullopt);
    } else {
      same = judge_chunk(lists, fmt::format("Write chunk {}", i + 1), provided, returned) && same;
    }
  }
  return same;
}

void judge_reply_chunk(ReplyLists& lists, const wire::HeaderV1& header, const Transaction& call) {
  if (call.reply_chunk && !header.reply) {
    lists.say(RuleId::reply_chunk_not_returned,
              fmt::format("The {}'s Reply does not return the Reply chunk of its Call ({} octets).", lists.who(),
                          wire::chunk_length(*call.reply_chunk)));
    return;
  }
  if (!header.reply || (!call.reply_chunk && header.reply->empty())) return;
  static const wire::WriteChunk none;
  const bool same = judge_chunk(lists, "the Reply chunk", call.reply_chunk ? *call.reply_chunk : none, *header.reply);
  const std::uint64_t length = wire::chunk_length(*header.reply);
  if (same && length != 0 && header.fixed.proc == static_cast<std::uint32_t>(wire::Proc::msg)) {
    lists.say(
        RuleId::reply_chunk_with_msg,
        fmt::format("The {}'s Reply is inline, yet says that {} octets are in the Reply chunk.", lists.who(), length));
  }
}

}  // namespace

bool judge_reply_lists(Context& context, Connection& connection, const trace::Send& event, const wire::HeaderV1& header,
                       const Transaction& call) {
  const bool lists = !call.writes.empty() || call.reply_chunk || !header.writes.empty() || header.reply;
  if (!call.lists_known || !lists || call.malformed) return call.lists_known && !call.malformed;
  if (call.copies != 1 || !connection.trusted()) {
    // A Call that was sent again has registered its memory anew, and either may be the one that is answered.
    context.book.unchecked(
        RuleId::write_list_not_returned, connection.id(),
        call.copies != 1 ? std::string_view("a Call was sent more than once") : connection.why_not_whole());
    return false;
  }
  ReplyLists say(context, connection, event, call);
  const bool same = judge_write_list(say, header, call);
  judge_reply_chunk(say, header, call);
  return same;
}

}  // namespace rpcrdma::referee
