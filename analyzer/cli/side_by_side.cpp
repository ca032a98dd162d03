// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/side_by_side.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cli/block.hpp"
#include "cli/on_threads.hpp"
#include "cli/share.hpp"
#include "referee/shares.hpp"
#include "trace/opener.hpp"
#include "trace/shares.hpp"

namespace rpcrdma::cli {
namespace {

/// What is shorter is over before a thread has begun.
constexpr std::uint64_t alone_for_frames = 1024;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Reads and opens frames, and knows whose share they are. One thread at a time.
class Front {
 public:
  Front(Inputs& inputs, Progress& progress, const trace::Options& tracing, const referee::Options& judging)
      : inputs_(inputs), progress_(progress), tracing_(tracing), judging_(judging) {}

  /// The next frame: `to` keeps it for as long as it has to, and gives shares what is theirs. False: there is none.
  template <class To>
  bool next(To& to) {
    const trace::Frame* read = inputs_.next();
    if (read == nullptr) return false;
    if (progress_.due(read->ref.number)) progress_.show(inputs_.current(), read->ref.number, inputs_.position());
    if (!inputs_.packet()) return true;
    if (opener_.time_passed(read->ref)) to.time_passed(read->ref);
    if (read->behind_a_loss) [[unlikely]] {
      tell_all(trace::Quality::Kind::input_lost, read->ref, to);
    }
    const bool in_time = opener_.open(to.kept(*read));
    if (!in_time) to.of_capture(open(0), trace::Quality::Kind::time_backwards, read->ref);
    const trace::Opener::Task task = opener_.task();
    if (opener_.no_room()) to.of_capture(open(0), trace::Quality::Kind::limit_reached, read->ref);
    if (task == trace::Opener::Task::nothing) return true;
    const trace::Opened& opened = opener_.opened();
    const bool joined = opener_.joined();
    if (opened.content == trace::Content::infiniband) {
      to.give(open(shares_.of(opened.ib)), opened.ib, task, joined);
    } else if (opened.content == trace::Content::tcp) {
      const std::size_t share = open(shares_.of(opened.tcp));
      if (const auto service = shares_.service(opened.tcp)) tell_others({*service, read->ref}, share, to);
      to.give(share, opened.tcp, task, joined);
    } else {
      to.give(open(shares_.of(opened.undelivered)), opened.undelivered);
    }
    return true;
  }

  void time_passed(trace::FrameRef frame) const {
    for (const auto& share : all_) {
      if (share) share->time_passed(frame);
    }
  }
  [[nodiscard]] Share* at(std::size_t share) const noexcept { return all_[share].get(); }
  [[nodiscard]] const Inputs& inputs() const noexcept { return inputs_; }
  [[nodiscard]] trace::FrameRef last() const noexcept { return opener_.last(); }

  void tell_sighted(referee::Presence& presence) const {
    for (const auto& [address, frame] : opener_.sightings().newest()) {
      presence.note(address.text(), frame, referee::Presence::Noted::all);
    }
    presence.note_others(opener_.sightings().of_others());
  }
  [[nodiscard]] trace::Statistics finish() {
    opener_.finish();
    for (const auto& share : all_) {
      if (share) opener_.carried_rdma(share->rdma_segments());
    }
    return opener_.statistics();
  }

 private:
  std::size_t open(std::size_t share) {
    if (!all_[share]) {
      all_[share] = std::make_unique<Share>(tracing_, judging_);
      for (const Serves& service : services_) all_[share]->take(service);
    }
    return share;
  }
  template <class To>
  void tell_others(const Serves& service, std::size_t share, To& to) {
    services_.push_back(service);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] && i != share) to.give(i, service);
    }
  }

  template <class To>
  void tell_all(trace::Quality::Kind kind, trace::FrameRef frame, To& to) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i]) to.of_capture(i, kind, frame);
    }
  }

  Inputs& inputs_;
  Progress& progress_;
  const trace::Options& tracing_;
  const referee::Options& judging_;
  trace::Opener opener_;
  trace::Shares shares_;
  std::vector<Serves> services_;
  std::array<std::unique_ptr<Share>, trace::Shares::count> all_;
};

/// Shares take what is theirs at once.
class AtOnce {
 public:
  explicit AtOnce(Front& front) : front_(front) {}

  void time_passed(trace::FrameRef frame) const { front_.time_passed(frame); }
  static const trace::Frame& kept(const trace::Frame& frame) { return frame; }
  template <class Packet>
  void give(std::size_t share, const Packet& packet, trace::Opener::Task task, bool /*joined*/) {
    front_.at(share)->take(packet, task);
  }
  template <class What>
  void give(std::size_t share, const What& what) {
    front_.at(share)->take(what);
  }
  void of_capture(std::size_t share, trace::Quality::Kind kind, trace::FrameRef frame) {
    front_.at(share)->of_capture(kind, frame);
  }

 private:
  Front& front_;
};

/// Shares take what is theirs later, out of a block.
class Later {
 public:
  Later(const Front& front, Block& block) : front_(front), block_(block) {}

  void time_passed(trace::FrameRef frame) { block_.time_passed(frame); }
  const trace::Frame& kept(const trace::Frame& frame) {
    frame_ = frame;
    block_.keep(frame_, [&] { return front_.inputs().hold(); });
    return frame_;
  }
  void give(std::size_t share, const trace::IbPacket& packet, trace::Opener::Task task, bool joined) {
    trace::IbPacket& given = block_.give(share, packet, task);
    if (!joined) return;
    given.octets = block_.copied(packet.octets);
    given.network = block_.copied(packet.network);
  }
  void give(std::size_t share, const trace::TcpSegment& segment, trace::Opener::Task task, bool joined) {
    trace::TcpSegment& given = block_.give(share, segment, task);
    if (joined) given.payload = block_.copied(segment.payload);
  }
  template <class What>
  void give(std::size_t share, const What& what) {
    block_.give(share, what);
  }
  void of_capture(std::size_t share, trace::Quality::Kind kind, trace::FrameRef frame) {
    block_.give(share, Part::OfCapture{kind, frame});
  }

 private:
  const Front& front_;
  Block& block_;
  trace::Frame frame_;
};

/// Blocks of frames on their way from the front to the shares. What a block will hold is read from the file by some
/// thread, beside others; blocks are opened in their order and one at a time, each by who has read it, where it can be,
/// since what one processor has read another one has to fetch; and a share takes its parts in their order and in one
/// thread at a time, whichever that is.
class Line {
 public:
  Line(Front& front, std::size_t threads) : front_(front), blocks_(threads + 2), ahead_(front.inputs().ahead()) {
    for (Block& block : blocks_) free_.push_back(&block);
  }

  /// Until all is taken. To be called by each thread.
  void work(std::size_t thread) {
    std::unique_lock lock(access_);
    while (!stopped_ && !finished()) {
      if (may_open() && to_open_.front().reader == thread) {
        guarded([&] { open(lock); });
      } else if (may_read() && one_reads()) {
        guarded([&] { read(lock, thread); });
      } else if (Lane* lane = next_lane(thread)) {
        guarded([&] { take(lock, *lane, thread); });
      } else if (may_read()) {
        guarded([&] { read(lock, thread); });
      } else if (may_open()) {
        guarded([&] { open(lock); });
      } else {
        wait(lock);
      }
    }
    changed_.notify_all();
  }

 private:
  /// A share's way.
  struct Lane {
    std::deque<Block*> waiting;
    std::size_t thread = 0;  ///< which one took the last part: it has the share at hand
    bool busy = false;

    [[nodiscard]] bool ready() const noexcept { return !busy && !waiting.empty(); }
  };
  /// A block that is to be opened.
  struct Unopened {
    Block* block = nullptr;
    std::size_t reader = 0;  ///< the thread
    enum class State : std::uint8_t { reading, read } state = State::reading;
    std::shared_ptr<reader::ReadAhead> from;
    std::uint64_t part = 0;  ///< of it, up to where frames are taken; 0: as many as there is room for
  };

  /// Who fails stops the others.
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      stopped_ = true;
      more_.store(true, std::memory_order_relaxed);
      changed_.notify_all();
      throw;
    }
  }

  [[nodiscard]] bool finished() const noexcept {
    return ended_ && !opening_ && reading_ == 0 && free_.size() == blocks_.size();
  }
  [[nodiscard]] bool may_open() const noexcept {
    return !opening_ && !to_open_.empty() && to_open_.front().state == Unopened::State::read;
  }
  [[nodiscard]] bool may_read() const noexcept {
    if (ended_ || free_.empty()) return false;
    return ahead_ == nullptr ? to_open_.empty() : reading_ == 0 || ahead_->at_once();
  }
  /// What only one thread at a time can read, all others wait for.
  [[nodiscard]] bool one_reads() const noexcept { return ahead_ == nullptr || !ahead_->at_once(); }
  [[nodiscard]] bool anything_to_do() const noexcept {
    return may_open() || may_read() ||
           std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.ready(); });
  }

  /// Whoever has chosen what to do calls this, and one more when there is more to do. What becomes possible does so by
  /// the hand of somebody who chooses again.
  void begin() {
    more_.store(anything_to_do(), std::memory_order_relaxed);
    if (more_.load(std::memory_order_relaxed)) changed_.notify_one();
  }
  void end() { more_.store(anything_to_do() || finished(), std::memory_order_relaxed); }

  /// Until there is something to do. That is soon, and to fall asleep and wake takes longer: one thread stays awake.
  void wait(std::unique_lock<std::mutex>& lock) {
    constexpr int patience = 1000;
    if (!somebody_is_awake_) {
      somebody_is_awake_ = true;
      {
        const Unlocked unlocked(lock);
        for (int i = 0; i < patience && !more_.load(std::memory_order_relaxed); ++i) pause();
      }
      somebody_is_awake_ = false;
    }
    changed_.wait(lock, [&] { return anything_to_do() || finished() || stopped_; });
  }

  /// What a block will be made of.
  void read(std::unique_lock<std::mutex>& lock, std::size_t thread) {
    Block& block = *free_.back();
    free_.pop_back();
    to_open_.push_back({&block, thread, Unopened::State::reading, ahead_, 0});
    ++reading_;
    Unopened& mine = to_open_.back();  // stays where it is: nobody opens it before it is read
    begin();
    {
      const Unlocked unlocked(lock);
      if (mine.from) mine.part = mine.from->read();
    }
    --reading_;
    mine.state = Unopened::State::read;
    end();
  }

  void open(std::unique_lock<std::mutex>& lock) {
    opening_ = true;
    // What these held is given back here, where it may be used again.
    for (Block* each : free_) each->clear();
    const Unopened& next = to_open_.front();
    Block& block = *next.block;
    block.clear();
    bool more = !ended_;
    std::shared_ptr<reader::ReadAhead> ahead;
    begin();
    {
      const Unlocked unlocked(lock);
      Later later(front_, block);
      while (more && !block.full()) {
        more = front_.next(later);
        if (next.part != 0 && front_.inputs().used_up(next.part) && front_.inputs().ahead() == next.from) break;
      }
      ahead = front_.inputs().ahead();
    }
    opening_ = false;
    to_open_.pop_front();
    ahead_ = std::move(ahead);
    ended_ = !more;
    block.awaited = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (front_.at(i) == nullptr || block.nothing_for(i)) continue;
      ++block.awaited;
      lanes_[i].waiting.push_back(&block);
    }
    if (block.awaited == 0) free_.push_back(&block);
    end();
  }

  /// Preferably one that this thread had before; then the one that is furthest behind.
  [[nodiscard]] Lane* next_lane(std::size_t thread) noexcept {
    Lane* best = nullptr;
    const auto worth = [&](const Lane& lane) { return std::pair(lane.thread == thread, lane.waiting.size()); };
    for (Lane& lane : lanes_) {
      if (!lane.ready()) continue;
      if (best == nullptr || worth(*best) < worth(lane)) best = &lane;
    }
    return best;
  }

  void take(std::unique_lock<std::mutex>& lock, Lane& lane, std::size_t thread) {
    lane.busy = true;
    lane.thread = thread;
    Block& block = *lane.waiting.front();
    lane.waiting.pop_front();
    const auto share = static_cast<std::size_t>(&lane - lanes_.data());
    begin();
    {
      const Unlocked unlocked(lock);
      block.take(share, *front_.at(share));
    }
    lane.busy = false;
    if (--block.awaited == 0) free_.push_back(&block);
    end();
  }

  class Unlocked {
   public:
    explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    std::unique_lock<std::mutex>& lock_;
  };

  Front& front_;
  std::vector<Block> blocks_;
  std::mutex access_;
  std::condition_variable changed_;
  std::atomic<bool> more_{false};  ///< to do, for who waits awake
  bool somebody_is_awake_ = false;
  std::vector<Block*> free_;
  std::deque<Unopened> to_open_;  ///< in their order
  std::array<Lane, trace::Shares::count> lanes_;
  std::shared_ptr<reader::ReadAhead> ahead_;  ///< null: whoever opens reads
  std::size_t reading_ = 0;                   ///< so many threads
  bool opening_ = false;
  bool ended_ = false;
  bool stopped_ = false;
};

/// In this thread, to the end or so many frames. False: it was the end.
bool alone(Front& front, std::uint64_t frames) {
  AtOnce at_once(front);
  bool more = true;
  for (std::uint64_t i = 0; more && i < frames; ++i) more = front.next(at_once);
  return more;
}

}  // namespace

Judged judge_side_by_side(Inputs& inputs, Progress& progress, trace::Options tracing, referee::Options judging,
                          std::size_t threads) {
  tracing.share = judging.share = true;
  threads = std::min(threads, trace::Shares::count + 1);
  Front front(inputs, progress, tracing, judging);
  bool more = alone(front, threads > 1 ? alone_for_frames : UINT64_MAX);
  if (more) {
    Line line(front, threads);
    on_threads(threads, [&](std::size_t thread) { line.work(thread); });
  } else {
    threads = 1;
  }

  std::vector<trace::Service> services;
  std::vector<Share*> shares;
  for (std::size_t i = 0; i < trace::Shares::count; ++i) {
    if (front.at(i) == nullptr) continue;
    shares.push_back(front.at(i));
    const auto of_share = shares.back()->services();
    services.insert(services.end(), of_share.begin(), of_share.end());
  }
  std::vector<referee::AcrossMounts> known(shares.size());
  share_out(threads, shares.size(), [&](std::size_t i) {
    for (const trace::Service& service : services) shares[i]->take(Serves{service, front.last()});
    known[i] = shares[i]->finish_connections(front.last(), inputs.last());
  });
  referee::AcrossMounts all;
  for (const referee::AcrossMounts& each : known) all.join(each);
  front.tell_sighted(all.presence);
  std::vector<referee::Share> finished(shares.size());
  share_out(threads, shares.size(),
            [&](std::size_t i) { finished[i] = shares[i]->finish(inputs.last(), inputs.first(), all); });
  if (finished.empty()) finished.emplace_back();
  return {referee::put_together(std::move(finished)), front.finish()};
}

}  // namespace rpcrdma::cli
