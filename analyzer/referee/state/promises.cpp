// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/promises.hpp"

#include <algorithm>

#include "trace/spans.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::referee {

namespace {

using wire::StateId;

[[nodiscard]] bool same_state(const StateId& a, const StateId& b) noexcept { return a.other == b.other; }

void give_back(std::vector<Recall>& recalls, Recall::Of of, const std::optional<StateId>& state, const Operation& by) {
  for (Recall& recall : recalls) {
    const bool meant = !state || !recall.state || same_state(*recall.state, *state);
    if (recall.of != of || recall.ended.number != 0 || !meant) continue;
    recall.ended = by.call;
    recall.returned = by;
  }
}

/// The return was on its way already. A delegation is gone with it; of a layout a part may be given back at any time,
/// so that only counts while its answer is awaited. Call number 0: it was not.
[[nodiscard]] Operation crossing_return(const Promises& promises, const Recall& recall) {
  const auto same = [&](const StateOver& given) { return recall.state && same_state(given.state, *recall.state); };
  if (recall.of == Recall::Of::delegation) {
    const StateOver* delegation = promises.returned.newest(same);
    return delegation != nullptr ? Operation{delegation->frame, delegation->place} : Operation{};
  }
  const StateOver* file = promises.layouts_returned.newest(same);
  Operation given = file != nullptr ? Operation{file->frame, file->place} : Operation{};
  if (!later(given.call, promises.all_layouts_returned)) {
    given = {promises.all_layouts_returned, promises.all_layouts_place};
  }
  const bool awaited = std::any_of(promises.layouts_returning.begin(), promises.layouts_returning.end(),
                                   [&](FrameRef call) { return call.number == given.call.number; });
  return awaited ? given : Operation{};
}

}  // namespace

namespace {

[[nodiscard]] FrameRef promised(const AsyncCopy& copy) noexcept { return copy.reply; }
[[nodiscard]] FrameRef promised(const Recall& recall) noexcept { return recall.callback; }

template <class Promise>
void show(Promise& promise, const Promises::Sign& sign, const Promises::Sign& perhaps) {
  const FrameRef made = promised(promise);
  if (made.number < sign.opened.number) keep_later(promise.forgotten.sign, sign.frame);
  if (made.number < perhaps.opened.number && promise.connection != perhaps.on) {
    keep_later(promise.forgotten.perhaps, perhaps.frame);
  }
}

}  // namespace

void Promises::forget(const ConnectionFacts& on, FrameRef frame, const NfsClients& clients,
                      std::optional<std::uint64_t> owner) {
  const Sign sign{on.opened, frame, on.id};
  // Whether a connection whose beginning is not in the capture is a new one is not known.
  const bool seen = on.handshake_seen;
  Sign& newest = seen ? begun : perhaps_begun;
  if (!later(newest.opened, sign.opened)) newest = sign;
  const auto show_each = [&](auto& promises) {
    for (auto& promise : promises) {
      if (promise.ended.number != 0 || (owner && !clients.may_be_of(promise.session, *owner))) continue;
      show(promise, seen ? sign : Sign{}, seen ? Sign{} : sign);
    }
  };
  show_each(copies);
  show_each(recalls);
}

void Promises::end_copy(const StateId& state, const Operation& by) {
  copies_over.add({state, by.call, by.place});
  for (AsyncCopy& copy : copies) {
    if (copy.ended.number != 0 || !same_state(copy.state, state)) continue;
    copy.ended = by.call;
    copy.ended_by = by;
  }
}

void Promises::begin_copy(AsyncCopy copy) {
  show(copy, begun, perhaps_begun);
  if (copies.size() >= most_copies) {
    const auto over = [](const AsyncCopy& other) { return other.ended.number != 0; };
    const auto gone = [](const AsyncCopy& other) { return other.forgotten.sign.number != 0; };
    auto at = std::find_if(copies.begin(), copies.end(), over);
    if (at == copies.end()) at = std::find_if(copies.begin(), copies.end(), gone);
    if (at == copies.end()) {
      keep_later(copy_not_kept, copy.reply);
      return;
    }
    copies.erase(at);
  }
  // It may have been done before its Reply came.
  const StateOver* done = copies_over.newest(
      [&](const StateOver& over) { return same_state(over.state, copy.state) && later(over.frame, copy.call); });
  if (done != nullptr) {
    copy.ended = copy.reply;
    copy.ended_by = {done->frame, done->place};
  }
  copies.push_back(copy);
}

void Promises::begin_recall(Recall recall) {
  show(recall, begun, perhaps_begun);
  if (recalls.size() >= most_recalls) {
    // Of what is over, what was over soonest: a long wait is told at the end.
    const auto wait = [](const Recall& each) {
      return each.ended.number != 0 ? trace::elapsed(each.callback.time, each.ended.time) : INT64_MAX;
    };
    const auto shortest = std::min_element(recalls.begin(), recalls.end(),
                                           [&](const Recall& a, const Recall& b) { return wait(a) < wait(b); });
    auto at = shortest;
    if (shortest->ended.number == 0) {
      at = std::find_if(recalls.begin(), recalls.end(),
                        [](const Recall& each) { return each.forgotten.sign.number != 0; });
    }
    if (at == recalls.end()) {
      keep_later(recall_not_kept, recall.callback);
      return;
    }
    recalls.erase(at);
  }
  recall.returned = crossing_return(*this, recall);
  if (recall.returned.call.number != 0) recall.ended = recall.callback;
  recalls.push_back(recall);
}

void Promises::give_back_delegation(const StateId& state, const Operation& by) {
  give_back(recalls, Recall::Of::delegation, state, by);
  returned.add({state, by.call, by.place});
}

void Promises::give_back_layouts(const wire::Layouts& layouts, const Operation& by) {
  const bool file = layouts.of == wire::Layouts::Of::file;
  if (file) {
    layouts_returned.add({layouts.state, by.call, by.place});
  } else if (!later(all_layouts_returned, by.call)) {
    all_layouts_returned = by.call;
    all_layouts_place = by.place;
  }
  give_back(recalls, Recall::Of::layout, file ? std::optional(layouts.state) : std::nullopt, by);
  layouts_returning.push_back(by.call);
  if (layouts_returning.size() > most_returning) layouts_returning.pop_front();
}

void Promises::not_done(const Operation& first) {
  const auto meant = [&](FrameRef call, std::size_t place) {
    return call.number == first.call.number && place >= first.place;
  };
  for (Recall& recall : recalls) {
    if (!meant(recall.returned.call, recall.returned.place)) continue;
    recall.ended = {};
    recall.returned = {};
  }
  for (AsyncCopy& copy : copies) {
    if (!meant(copy.ended_by.call, copy.ended_by.place)) continue;
    copy.ended = {};
    copy.ended_by = {};
  }
  const auto forget_each = [&](auto& over) {
    for (StateOver& each : over) {
      if (meant(each.frame, each.place)) each = {};
    }
  };
  forget_each(copies_over);
  forget_each(returned);
  forget_each(layouts_returned);
  if (meant(all_layouts_returned, all_layouts_place)) all_layouts_returned = {};
}

void Promises::client_gone(std::uint64_t client, FrameRef reply, const NfsClients& clients) {
  const auto end_each = [&](auto& promises) {
    for (auto& promise : promises) {
      if (promise.ended.number != 0 || promised(promise).number > reply.number) continue;
      switch (clients.whose(promise.session, client)) {
        case NfsClients::Whose::this_client:
          promise.ended = reply;
          break;
        case NfsClients::Whose::perhaps_this_client:
          keep_later(promise.forgotten.perhaps, reply);
          break;
        case NfsClients::Whose::another:
          break;
      }
    }
  };
  end_each(copies);
  end_each(recalls);
}

void Promises::layouts_answered(FrameRef call) {
  std::erase_if(layouts_returning, [&](FrameRef returning) { return returning.number == call.number; });
}

void Promises::answer_callback(FrameRef callback, const wire::ReplySteps& reply, FrameRef frame) {
  const std::size_t read = reply.steps.size();
  if (read == 0) {
    if (reply.status.value_or(0) != 0) not_taken({callback, 0});
  } else if (const wire::ReplyStep& last = reply.steps[read - 1];
             last.status == wire::nfs4err_delay ||
             (last.status != 0 && last.operation == wire::operation::cb_sequence)) {
    not_taken({callback, read - 1});
  }
  for (Recall& recall : recalls) {
    if (recall.callback.number != callback.number) continue;
    const std::uint32_t status =
        recall.place < reply.steps.size() ? reply.steps[recall.place].status : reply.status.value_or(0);
    recall.answer = frame;
    recall.answered = status == wire::nfs4err_delay ? Recall::Answered::later : Recall::Answered::agreed;
    if (status != 0 && status != wire::nfs4err_delay && recall.ended.number == 0) recall.ended = frame;
  }
}

void Promises::refuse_callback(FrameRef callback, FrameRef frame) {
  not_taken({callback, 0});
  for (Recall& recall : recalls) {
    if (recall.callback.number == callback.number && recall.ended.number == 0) recall.ended = frame;
  }
}

void Promises::not_taken(const Operation& first) {
  // One frame may hold several callbacks: which of them is meant is not known then.
  std::size_t said = 0;
  for (const StateOver& over : copies_over) {
    if (over.frame.number == first.call.number) ++said;
  }
  if (said != 1) return;
  for (AsyncCopy& copy : copies) {
    if (copy.ended_by.call.number == first.call.number && copy.ended_by.place >= first.place) copy.put_off = first.call;
  }
  not_done(first);
}

void Promises::recalls_answered_unseen(FrameRef callback) {
  std::erase_if(recalls, [&](const Recall& recall) {
    return recall.callback.number == callback.number && recall.ended.number == 0;
  });
}

void Promises::revoke(std::uint32_t flags, FrameRef reply, const wire::SessionId& session, const NfsClients& clients) {
  if (flags == 0) return;
  const auto awaited = [&](const Recall& recall) {
    return recall.ended.number == 0 && later(reply, recall.callback) && clients.same_client(recall.session, session);
  };
  const bool only_one = recall_not_kept.number == 0 && std::count_if(recalls.begin(), recalls.end(), awaited) == 1;
  const bool all = (flags & wire::seq4_expired_all_state_revoked) != 0;
  const bool its_own = (flags & wire::seq4_recallable_state_revoked) != 0 && only_one;
  for (Recall& recall : recalls) {
    if (!awaited(recall)) continue;
    if (all || its_own) recall.ended = reply;
    recall.revoked = all || its_own ? Recall::Revoked::surely : Recall::Revoked::perhaps;
  }
}

void Promises::perhaps_given_back(FrameRef reply) {
  for (Recall& recall : recalls) {
    const bool before = recall.callback.number < reply.number;
    if (before && recall.perhaps_returned.number == 0) recall.perhaps_returned = reply;
  }
}

}  // namespace rpcrdma::referee
