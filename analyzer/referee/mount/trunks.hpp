// SPDX-License-Identifier: GPL-2.0-or-later
// Session trunking (RFC 8881 section 2.10.5): a client may use one session over several addresses. Each pair of
// addresses is a mount, and what one of them waits for may come through another: whatever is known at the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "referee/state/nfs_watch.hpp"
#include "trace/events.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::referee {

class Trunks {
 public:
  /// What came through one mount.
  void add(const NfsWatch& mount);
  /// Those of other mounts.
  void join(const Trunks& others);
  /// To one mount, what its sessions show elsewhere. Its own part of it changes nothing.
  void tell(NfsWatch& mount) const;

 private:
  using Ended = std::map<std::array<std::uint8_t, 12>, trace::FrameRef>;  ///< by a stateid's `other`
  // What came through the mounts of one session. Frames with number 0: nothing of it.
  /// A mount keeps the newest few of what ended: the oldest that one keeps of so many that there may have been others
  /// in front of it. What a mount waits for is not among its own: that was noticed when it came. So the newest two.
  class More {
   public:
    void keep(trace::FrameRef oldest_kept);
    void keep(const More& others);
    [[nodiscard]] trace::FrameRef newest_but(const More& own) const noexcept;

   private:
    trace::FrameRef newest_;
    trace::FrameRef second_;
  };
  struct Over {
    Ended by_state;
    trace::FrameRef newest;
    More more;
  };
  struct Word {
    Over delegations;
    Over layouts;
    Over copies;
    trace::FrameRef all_layouts;
    trace::FrameRef channel_made;
    UnreadMessages unread;
  };
  template <class Kept>
  [[nodiscard]] static More more(const Kept& kept);
  template <class Kept>
  [[nodiscard]] static Over over(const Kept& kept);
  [[nodiscard]] static trace::FrameRef end_of(const Over& over, const wire::StateId& state);
  static void put_together(Over& all, const Over& over);
  static void put_together(Word& all, const Word& word);
  static void tell(const Word& word, const wire::SessionId& session, NfsWatch& mount);

  std::map<std::array<std::uint8_t, 16>, Word> by_session_;
  std::uint64_t mounts_ = 0;     // that have sessions
  std::uint64_t forgetful_ = 0;  // of these, which had more than they keep: what came through them may be anybody's
};

}  // namespace rpcrdma::referee
