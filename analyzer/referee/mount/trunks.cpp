// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/trunks.hpp"

#include <algorithm>

#include "referee/state/nfs_watch.hpp"

namespace rpcrdma::referee {

void Trunks::More::keep(FrameRef oldest_kept) {
  if (oldest_kept.number == newest_.number) return;
  if (later(oldest_kept, newest_)) std::swap(oldest_kept, newest_);
  keep_later(second_, oldest_kept);
}

void Trunks::More::keep(const More& others) {
  keep(others.newest_);
  keep(others.second_);
}

FrameRef Trunks::More::newest_but(const More& own) const noexcept {
  return newest_.number == own.newest_.number ? second_ : newest_;
}

template <class Kept>
Trunks::More Trunks::more(const Kept& kept) {
  More more;
  if (!kept.full()) return more;
  FrameRef oldest;
  for (const StateOver& each : kept) {
    if (oldest.number == 0 || later(oldest, each.frame)) oldest = each.frame;
  }
  more.keep(oldest);
  return more;
}

template <class Kept>
Trunks::Over Trunks::over(const Kept& kept) {
  Over all;
  for (const StateOver& each : kept) {
    keep_later(all.by_state[each.state.other], each.frame);
    keep_later(all.newest, each.frame);
  }
  all.more = more(kept);
  return all;
}

FrameRef Trunks::end_of(const Over& over, const wire::StateId& state) {
  const auto at = over.by_state.find(state.other);
  return at == over.by_state.end() ? FrameRef{} : at->second;
}

void Trunks::add(const NfsWatch& mount) {
  if (mount.clients.sessions().empty()) return;
  ++mounts_;
  if (mount.clients.sessions_forgotten()) ++forgetful_;
  Word word;
  word.delegations = over(mount.promises.returned);
  word.layouts = over(mount.promises.layouts_returned);
  word.copies = over(mount.promises.copies_over);
  word.all_layouts = mount.promises.all_layouts_returned;
  word.channel_made = mount.channel_made;
  word.unread = mount.unread;
  for (const NfsClients::Session& session : mount.clients.sessions()) {
    if (session.id != wire::SessionId{}) put_together(by_session_[session.id.octets], word);
  }
}

void Trunks::join(const Trunks& others) {
  mounts_ += others.mounts_;
  forgetful_ += others.forgetful_;
  for (const auto& [session, word] : others.by_session_) put_together(by_session_[session], word);
}

void Trunks::put_together(Over& all, const Over& over) {
  for (const auto& [state, frame] : over.by_state) keep_later(all.by_state[state], frame);
  keep_later(all.newest, over.newest);
  all.more.keep(over.more);
}

void Trunks::put_together(Word& all, const Word& word) {
  put_together(all.delegations, word.delegations);
  put_together(all.layouts, word.layouts);
  put_together(all.copies, word.copies);
  keep_later(all.all_layouts, word.all_layouts);
  keep_later(all.channel_made, word.channel_made);
  all.unread.keep_ends(word.unread);
}

void Trunks::tell(NfsWatch& mount) const {
  for (const NfsClients::Session& session : mount.clients.sessions()) {
    const auto word = by_session_.find(session.id.octets);
    if (word != by_session_.end()) tell(word->second, session.id, mount);
  }
  const bool forgot = mount.clients.sessions_forgotten();
  const bool others_forgot = forgetful_ > (forgot ? 1U : 0U);
  const bool others = mounts_ > (mount.clients.sessions().empty() ? 0U : 1U);
  if (!others || !(forgot || others_forgot)) return;
  for (Recall& recall : mount.promises.recalls) recall.elsewhere = Elsewhere::more_than_kept;
  for (AsyncCopy& copy : mount.promises.copies) copy.elsewhere = Elsewhere::more_than_kept;
}

void Trunks::tell(const Word& word, const wire::SessionId& session, NfsWatch& mount) {
  const More own_delegations = more(mount.promises.returned);
  const More own_layouts = more(mount.promises.layouts_returned);
  const More own_copies = more(mount.promises.copies_over);
  for (Recall& recall : mount.promises.recalls) {
    if (recall.ended.number != 0) continue;
    const bool layout = recall.of == Recall::Of::layout;
    const Over& over = layout ? word.layouts : word.delegations;
    FrameRef end = recall.state ? end_of(over, *recall.state) : over.newest;
    if (layout) keep_later(end, word.all_layouts);
    if (later(end, recall.callback)) {
      recall.ended = end;
    } else if (!layout && end.number != 0) {
      recall.ended = recall.callback;  // the return was on its way already
    }
    const FrameRef more_ended = over.more.newest_but(layout ? own_layouts : own_delegations);
    if (later(more_ended, recall.callback)) recall.elsewhere = Elsewhere::more_than_kept;
  }
  for (AsyncCopy& copy : mount.promises.copies) {
    if (copy.ended.number != 0) continue;
    const FrameRef end = end_of(word.copies, copy.state);
    if (later(end, copy.call)) copy.ended = end;
    const FrameRef more_ended = word.copies.more.newest_but(own_copies);
    if (later(more_ended, copy.call)) copy.elsewhere = Elsewhere::more_than_kept;
  }
  for (FlagEpisode& episode : mount.channel) {
    const bool open = episode.session == session && episode.cleared.number == 0 && episode.reaction.number == 0;
    if (open && later(word.channel_made, episode.first)) episode.reaction = word.channel_made;
  }
  mount.unread.keep_ends(word.unread);
}

}  // namespace rpcrdma::referee
