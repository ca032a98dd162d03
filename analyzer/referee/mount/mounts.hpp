// SPDX-License-Identifier: GPL-2.0-or-later
// The book of mounts: which connections and attempts lie between which two addresses, from the first to the last frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/docket/symptoms.hpp"
#include "referee/mount/across.hpp"
#include "referee/mount/port_names.hpp"
#include "referee/state/connection.hpp"
#include "referee/state/finished.hpp"
#include "referee/state/mount.hpp"
#include "referee/state/turned_away.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

class Mounts {
 public:
  /// `book`: knows when things are said. Where options say `share`, there are others for other mounts.
  Mounts(const FindingBook& book, const Options& options)
      : book_(book),
        service_ports_(options.service_ports),
        turned_away_{room(options.share), 0, {}},
        ports_(room(options.share)) {}
  Mounts(const Mounts&) = delete;
  Mounts& operator=(const Mounts&) = delete;
  ~Mounts() = default;

  /// What lies between two GIDs or LIDs is, as this REQ says, between two IP addresses. What was adopted under their
  /// names and is over stands in `finished`.
  void names(const trace::ConnectRequest& request, Finished& finished);
  /// REQ or MPA Request.
  void requests(Connection& connection, Attempt::Port port);
  /// Who connects again waits no more for an answer to its farewells, or its server for those of its own: how these
  /// connections end.
  [[nodiscard]] static std::vector<trace::Disconnect> left_behind(const Connection& begun);
  /// Its handshake is not in the capture.
  void adopts(Connection& connection);
  void repeats_request(const Connection& connection, FrameRef frame);
  /// MRA: the server has the request, and has not decided.
  static void acknowledges(Connection& connection, FrameRef frame);
  /// ICMP about the request.
  static void unreachable(Connection& connection, const trace::RequestUndelivered& event);
  void establishes(const Connection& connection, FrameRef frame);
  /// A REJ or an MPA Reply, or, without a reason, the end of TCP.
  void rejects(const Connection& connection, FrameRef frame, Attempt::Outcome outcome,
               std::optional<std::uint16_t> reason = {});
  /// The client, which has waited for an answer in vain, ends TCP without a word.
  void leaves(const Connection& connection, FrameRef frame);
  /// What was said about this attempt alone: a series says it once, which shows at the end.
  void said(const Connection& connection, HeldFinding finding);
  void attempts(const trace::TcpAttempt& event);
  void without_rdma(const trace::NfsOverTcp& event);

  /// Nothing more will be heard of the connection.
  void ends(const Connection& connection, bool reported);
  /// Nothing more can come of it, and the capture goes on.
  static void forgets(const Connection& connection);

  /// This frame came from that address, whatever it was. `noted`: are such told of all that it sends?
  void sees(const std::string& address, FrameRef frame, Presence::Noted noted) {
    presence_.note(address, frame, noted);
  }
  /// So did this one, from an address of which is not known which it is.
  void sees_others(FrameRef frame) { presence_.note_others(frame); }
  void clock_set_back(FrameRef frame) { keep_later(clock_set_, frame); }
  /// What was captured in front of this frame could not be read: of all mounts, also of those without a connection.
  void input_lost(FrameRef frame);
  /// What other mounts have to know. Nothing more comes.
  [[nodiscard]] AcrossMounts across() const;
  /// At the end of the capture: rules of group N, what became of each mount, and the sentence. Mounts by when they
  /// became known. `across`: of all mounts. `now`: is told whose turn it is.
  [[nodiscard]] std::vector<Said<MountFacts>> finish(const MountWitness& witness, FrameRef first, FrameRef last,
                                                     const AcrossMounts& across, trace::Moment& now);
  /// When each became known, also those of which finish() says nothing; by number, from 1.
  [[nodiscard]] const std::vector<trace::Moment>& known() const noexcept { return known_; }
  /// Mounts that are not kept; each request of them counts.
  [[nodiscard]] const TurnedAway& turned_away() const noexcept { return turned_away_; }
  /// Others use iWARP as well: attempts to reach one of those, at no service port, are none to mount. First of all at
  /// the end.
  void leave_out_strangers(const Services& services);
  /// Is there a mount of which nothing but failed attempts is known?
  [[nodiscard]] bool any_attempt() const noexcept;

 private:
  static void join(Connection& connection, Mount* mount);
  void fold_oldest(Mount& mount) const;
  Attempt& new_attempt(Mount& mount, Attempt&& attempt) const;
  using Key = std::tuple<std::string, std::string, std::uint8_t>;  // with the network that has them

  [[nodiscard]] static constexpr std::size_t room(bool share) noexcept { return share ? 1024 : 4096; }
  void rename(const trace::Endpoint& client, const trace::Endpoint& server, Finished& finished);
  [[nodiscard]] Mount* between(const trace::Endpoint& client, const trace::Endpoint& server);

  const FindingBook& book_;
  const std::vector<std::uint16_t>& service_ports_;
  TurnedAway turned_away_;
  PortNames ports_;
  std::vector<trace::Moment> known_;
  std::map<Key, std::unique_ptr<Mount>> mounts_;
  StepsRead steps_read_;
  FrameRef clock_set_;
  FrameRef input_lost_;
  Presence presence_;
  Services services_;
};

}  // namespace rpcrdma::referee
