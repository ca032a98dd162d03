// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/mount/trunks.hpp"

#include <algorithm>

#include "referee/state/nfs_watch.hpp"

namespace rpcrdma::referee {

template <class Kept>
Trunks::Over Trunks::over(const Kept& kept) {
  Over all;
  for (const StateOver& each : kept) {
    keep_later(all.by_state[each.state.other], each.frame);
    keep_later(all.newest, each.frame);
    if (kept.full() && (all.more.number == 0 || later(all.more, each.frame))) all.more = each.frame;
  }
  return all;
}

FrameRef Trunks::end_of(const Over& over, const wire::StateId& state) {
  const auto at = over.by_state.find(state.other);
  return at == over.by_state.end() ? FrameRef{} : at->second;
}

void Trunks::add(const NfsWatch& mount) {
  if (mount.sessions.empty()) return;
  Word word;
  word.delegations = over(mount.returned);
  word.layouts = over(mount.layouts_returned);
  word.copies = over(mount.copies_over);
  word.all_layouts = mount.all_layouts_returned;
  word.channel_made = mount.channel_made;
  word.unread = mount.unread;
  for (const wire::SessionId& session : mount.sessions) {
    if (session != wire::SessionId{}) put_together(by_session_[session.octets], word);
  }
}

void Trunks::join(const Trunks& others) {
  for (const auto& [session, word] : others.by_session_) put_together(by_session_[session], word);
}

void Trunks::put_together(Over& all, const Over& over) {
  for (const auto& [state, frame] : over.by_state) keep_later(all.by_state[state], frame);
  keep_later(all.newest, over.newest);
  keep_later(all.more, over.more);
}

void Trunks::put_together(Word& all, const Word& word) {
  put_together(all.delegations, word.delegations);
  put_together(all.layouts, word.layouts);
  put_together(all.copies, word.copies);
  keep_later(all.all_layouts, word.all_layouts);
  keep_later(all.channel_made, word.channel_made);
  keep_later(all.unread, word.unread);
}

void Trunks::tell(NfsWatch& mount) const {
  for (const wire::SessionId& session : mount.sessions) {
    const auto word = by_session_.find(session.octets);
    if (word != by_session_.end()) tell(word->second, mount);
  }
}

void Trunks::tell(const Word& word, NfsWatch& mount) {
  for (Recall& recall : mount.recalls) {
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
    if (later(over.more, recall.callback)) recall.more_ended = over.more;
  }
  for (AsyncCopy& copy : mount.copies) {
    if (copy.ended.number != 0) continue;
    const FrameRef end = end_of(word.copies, copy.state);
    if (later(end, copy.call)) copy.ended = end;
    if (later(word.copies.more, copy.call)) copy.more_ended = word.copies.more;
  }
  for (FlagEpisode& episode : mount.channel) {
    const bool open = episode.cleared.number == 0 && episode.reaction.number == 0;
    if (open && later(word.channel_made, episode.first)) episode.reaction = word.channel_made;
  }
  keep_later(mount.unread, word.unread);
}

}  // namespace rpcrdma::referee
