// SPDX-License-Identifier: GPL-2.0-or-later
// Turns a plan into a scenario. It keeps the books that the specification asks the peers to keep - credits, thresholds,
// what memory is offered, what was read - and lets one party after the other do, by chance, what it is allowed to do.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chance.hpp"
#include "forge/octets.hpp"
#include "forge/rpc.hpp"
#include "plan.hpp"
#include "tale.hpp"

namespace talk {

using forge::Side;
[[nodiscard]] inline std::size_t index(Side side) { return side == Side::client ? 0 : 1; }
[[nodiscard]] inline std::string name(Side side) { return side == Side::client ? "client" : "server"; }

struct Segment {
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};

/// Memory that a chunk offers: one handle, cut into segments of `split` octets.
struct Region {
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t split = 0;
  bool empty = false;   ///< a chunk without segments
  bool shared = false;  ///< its handle stands for other memory, too

  [[nodiscard]] std::vector<Segment> segments() const;
  [[nodiscard]] std::string words(const Words& more = {}) const;
};

struct ReadRegion {
  Region region;
  std::optional<std::size_t> item;  ///< which reducible item, from 0; without it the whole message
};

/// What is asked, in the scenario's words and as the forge will build it.
struct Ask {
  forge::Procedure procedure;
  Words words;
  std::vector<forge::Item> call_items, reply_items;  ///< of filler: what may be moved, from the XID on
  std::uint32_t back = 16;                           ///< octets of data that come back, at most
  bool ready_afterwards = false;                     ///< version 1: the client takes callbacks from now on
  [[nodiscard]] bool is_protected() const;           ///< by GSS: nothing of it may be moved
};

/// A Call with its answer.
struct Trade {
  Side requester = Side::client;
  unsigned version = 1;
  std::uint32_t xid = 0;
  std::string label, answer;  ///< of the steps
  Ask ask;
  std::vector<ReadRegion> reads;
  std::vector<Region> writes;
  std::optional<Region> reply_chunk;
  std::uint32_t inv_handle = 0;
  std::vector<std::uint32_t> pieces;    ///< version 2: sizes of all but the last
  std::size_t header = 0, payload = 0;  ///< octets of the Call

  enum class Answer : std::uint8_t { success, failure, refused, error } how = Answer::success;
  std::uint32_t status = 0;  ///< of NFS for `failure`, accept_stat for `refused`
  std::uint32_t octets = 0;  ///< that come back
  Words error;               ///< of the error step
  Region offer;              ///< of a Reply that has to be read
  bool offered = false;
  std::optional<std::uint32_t> invalidate;

  // What a fault changes. The words replace those of the step; the steps come in between.
  Words call_words, reply_words;
  bool unread = false;         ///< the Read chunks are not read
  bool no_offer_done = false;  ///< no RDMA_DONE
  bool keep_inline = false;    ///< whatever the size of the Reply
  std::function<void()> before_reply, after_reply;
  [[nodiscard]] Side responder() const { return forge::other(requester); }
  [[nodiscard]] std::vector<Segment> segments() const;  ///< of all chunks
};
using TradePtr = std::shared_ptr<Trade>;

struct Action {
  std::function<bool()> may;
  std::function<void()> act;
};

struct Line;

struct Exchange {
  Line* line = nullptr;
  ExchangePlan plan;
  std::deque<Action> actions;
  bool alone = false;  ///< nothing else is under way on the connection
  TradePtr trade;      ///< for what is sent again after a reconnect
  bool waits_for_reply = false;
};

/// Calls of one requester, version 1.
struct Way {
  std::uint32_t open = 0;
  std::uint32_t granted = 1;
  std::uint32_t believed = 1;  ///< what the requester knows of it
  std::uint32_t asked = 64;
  std::uint32_t next_xid = 1;
  std::set<std::uint32_t> xids;     ///< in use
  std::vector<std::uint32_t> free;  ///< were in use
  std::vector<std::uint32_t> used;  ///< of all Calls so far
};

struct Line {
  const LinePlan* plan = nullptr;
  std::size_t number = 0;  ///< of the connection in the scenario, from 1; 0: not yet
  bool ended = false;
  unsigned version = 1;
  Chance chance{0};
  std::array<Way, 2> ways;
  // version 2
  std::array<std::uint32_t, 2> sent{}, limit{1, 1}, advertised{32, 32};
  std::array<bool, 2> said{};  ///< its RDMA2_CONNPROP_FINAL
  bool in_between = false;     ///< pieces of a message: nobody says anything but RDMA2_GRANT
  bool ready = false;          ///< the server may call
  std::array<bool, 2> unacknowledged{};
  std::array<std::deque<std::string>, 2> reading;  ///< steps whose RDMA Reads are not answered
  std::array<std::uint32_t, 2> reads_open{};
  std::uint32_t offers = 0;                        ///< not yet done with
  std::array<std::set<std::uint32_t>, 2> offered;  ///< their XIDs, by the side that offers
  std::uint32_t regions = 0;
  std::array<std::uint64_t, 2> shared_end{};
  std::array<std::vector<Region>, 2> retired;
  std::deque<ExchangePlan> waiting;
  std::deque<std::pair<Ask, std::uint32_t>> again;  ///< Calls that were lost, with their XIDs
  std::vector<std::unique_ptr<Exchange>> running;
};

class Talk {
 public:
  explicit Talk(const Plan& plan);
  /// The scenario. Throws std::logic_error where the talk stops before all is said.
  [[nodiscard]] std::string direct();
  /// Stories of known.cpp that happened in it.
  [[nodiscard]] const std::set<std::string>& met() const { return met_; }

  // talk.cpp: what all exchanges are made of
  void tell(Line& line, Side by, const std::string& verb, const Words& words, const std::string& label = {});
  void pause(const std::string& seconds);
  /// A step that nobody acknowledges by itself.
  void tell_aside(Line& line, const std::string& verb, const Words& words, const std::string& label = {});
  [[nodiscard]] std::string label(const std::string& kind) { return kind + std::to_string(++labels_); }
  [[nodiscard]] std::uint32_t new_xid(Line& line, Side requester, Chance& chance);
  [[nodiscard]] Region region(Line& line, Side owner, std::uint32_t length, std::uint32_t most_segments,
                              Chance& chance);
  [[nodiscard]] std::uint32_t threshold(const Line& line, Side sender) const;
  [[nodiscard]] bool may_call(const Line& line, Side requester, std::size_t messages) const;
  [[nodiscard]] bool may_speak(const Line& line, Side by, std::size_t messages = 1) const;
  /// Version 2: the words of its credits, and the books.
  void advertise(Line& line, Side by, Words& words, std::size_t messages, Chance& chance);
  [[nodiscard]] std::uint32_t grant(Line& line, Side requester, Chance& chance);
  /// `by` has received all that the other side sent: a lower grant, too.
  static void received(Line& line, Side by);
  [[nodiscard]] std::uint32_t request(Line& line, Side requester, Chance& chance);

  // trade.cpp: Calls and Replies
  [[nodiscard]] Ask ask(const Line& line, Side requester, Chance& chance) const;
  [[nodiscard]] Ask filler(std::uint32_t octets) const;
  [[nodiscard]] TradePtr trade(Line& line, Side requester, Chance& chance, const Ask& ask,
                               std::optional<std::uint32_t> xid = {});
  /// A Call without chunks, for an exchange that adds what it needs.
  [[nodiscard]] TradePtr bare(Line& line, const Ask& ask, Side requester = Side::client);
  /// Header and payload of the Call from its chunks; in version 2 also its pieces.
  [[nodiscard]] static bool only_simple(const Line& line, const Trade& trade);
  void measure(Line& line, Trade& trade, Chance& chance);
  void perform(Exchange& exchange, const TradePtr& trade, Chance chance);
  /// How many of its pieces are left for later.
  std::uint32_t say_call(Line& line, Trade& trade, Chance& chance);
  void say_reply(Exchange& exchange, const TradePtr& trade, Chance& chance);
  void read_all(Exchange& exchange, Side by, const std::vector<Region>& regions, Chance& chance, bool in_front);
  /// What `stop_after` left of a message of version 2, and perhaps an RDMA2_GRANT before it.
  void say_rest(Exchange& exchange, Side by, std::uint32_t pieces, Chance& chance);
  void close_call(Line& line, const Trade& trade);
  void done(Line& line, Trade& trade, Chance& chance, const Words& more = {});

  // exchanges.cpp: how connections begin and end, and what is not a Call
  void begin(Line& line);
  void start(Line& line, const ExchangePlan& plan);
  void end(Line& line);
  void open_version_2(Exchange& exchange, Chance chance);
  void properties(Line& line, Side by, bool last, Chance& chance, const Words& more = {});
  void say_grant(Line& line, Side by, std::optional<std::uint32_t> advertised, Chance& chance);

  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  [[nodiscard]] bool step();
  [[nodiscard]] bool unstick();
  void candidates(Line& line, std::vector<std::function<void()>>& all);
  [[nodiscard]] bool may_end(const Line& line) const;
  void begin_reading(Exchange& exchange, Side by, const Region& region, Chance& chance, std::deque<Action>& actions);

  Plan plan_;
  Chance chance_;
  Tale tale_;
  std::deque<Line> lines_;
  std::set<std::string> met_;
  std::size_t connections_ = 0;
  std::size_t labels_ = 0;
};

inline constexpr std::uint32_t most_reads_at_once = 16;
[[nodiscard]] inline std::size_t padded(std::size_t octets) { return (octets + 3) / 4 * 4; }

}  // namespace talk
