// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp_transport.hpp"

#include <array>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <tuple>

#include "trace/iwarp/attempts.hpp"
#include "trace/iwarp/connection.hpp"
#include "trace/iwarp/ordinary.hpp"
#include "trace/iwarp/plain_nfs.hpp"
#include "trace/proven_order.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace {
namespace {

using iwarp::Connection;
using iwarp::Ends;
using iwarp::Epoch;
using iwarp::OrdinaryTcp;

/// Connections, undecided streams, and connections that ended but may still be repeated.
constexpr std::size_t open_limit = 8192;
constexpr std::size_t pending_limit = 1024;
constexpr std::size_t over_limit = 512;

/// Ends in their order, and which of them sent the segment.
int ends_of(const TcpSegment& s, Ends& ends) noexcept {
  // Octet by octet, as two words: asked of each segment.
  const auto place = [](const Address& address, std::uint16_t port) {
    const std::uint8_t* octets = address.octets.data();
    return std::tuple(wire::load_be64(octets), wire::load_be64(octets + 8), port);
  };
  const bool swap = place(s.source, s.source_port) > place(s.destination, s.destination_port);
  const std::size_t source = swap ? 1 : 0;
  ends.address[source] = s.source;
  ends.port[source] = s.source_port;
  ends.address[1 - source] = s.destination;
  ends.port[1 - source] = s.destination_port;
  return swap ? 1 : 0;
}

}  // namespace

struct IwarpTransport::Impl {
  enum class List : std::uint8_t { pending, open, over };
  struct Entry {
    std::unique_ptr<Connection> connection;
    List list = List::pending;
    std::list<Ends>::iterator place;
    std::uint64_t since = 0;  ///< frame since which it is in that list
    struct Request {
      int direction = 0;
      TcpSegment syn;
    };
    std::optional<Request> next;  ///< Epoch::in_doubt, and nobody has answered it yet
    // NFS over TCP, should it turn out not to be iWARP
    iwarp::PlainPair plain = 0;
    FrameRef plain_first;
    std::uint64_t plain_frames = 0;
  };
  using Map = std::map<Ends, Entry>;

  Impl(const Options& o, ConnectionNumbers& n, EventSink& s)
      : options(o),
        numbers(n),
        sink(s),
        budget(o.room(Budget::usual)),
        attempts(options, sink),
        context{options, numbers, sink, budget, attempts},
        ordinary(plain) {}

  [[nodiscard]] std::list<Ends>& list(List which) noexcept {
    return which == List::pending ? pending : which == List::open ? open : over;
  }

  [[nodiscard]] static Moment::Step step(List which) noexcept {
    return which == List::open      ? Moment::Step::iwarp_open
           : which == List::pending ? Moment::Step::iwarp_pending
                                    : Moment::Step::iwarp_over;
  }

  [[nodiscard]] Map::value_type*& used(std::uint16_t port, std::uint16_t other) noexcept {
    return cache[(port ^ other) % cache.size()];
  }
  [[nodiscard]] Map::value_type*& used(const Ends& ends) noexcept { return used(ends.port[0], ends.port[1]); }

  struct Found {
    Map::value_type* connection = nullptr;
    int direction = 0;
  };
  /// Between its ends, and which of them sent it. Nearly always it is the one that was used last by these ports.
  [[nodiscard]] Found find(const TcpSegment& segment) {
    Map::value_type* const cached = used(segment.source_port, segment.destination_port);
    if (cached != nullptr) {
      if (cached->first.sent(0, segment)) return {cached, 0};
      if (cached->first.sent(1, segment)) return {cached, 1};
    }
    if (connections.empty()) return {};
    Ends ends;
    const int direction = ends_of(segment, ends);
    const auto found = connections.find(ends);
    if (found == connections.end()) return {};
    used(ends) = &*found;
    return {&*found, direction};
  }

  void erase(const Ends& ends) {
    const auto found = connections.find(ends);
    if (found == connections.end()) return;
    list(found->second.list).erase(found->second.place);
    if (used(ends) == &*found) used(ends) = nullptr;
    connections.erase(found);
  }

  /// It is not iWARP, now or at the end of the capture.
  void count_plain(const Entry& entry) noexcept {
    if (entry.connection->status() == Connection::Status::given_up)
      plain.count(entry.plain, entry.plain_first, entry.plain_frames);
  }

  void quality(FrameRef frame) {
    Quality e;
    e.frame = frame;
    e.kind = Quality::Kind::limit_reached;
    sink.on(e);
  }

  /// Makes room: the oldest of a full list goes. What was still undecided or open is ended as at the capture's end.
  void bound(List which, std::size_t limit, FrameRef frame) {
    std::list<Ends>& of = list(which);
    if (of.size() <= limit) return;
    const Ends oldest = of.front();
    const auto found = connections.find(oldest);
    found->second.connection->finish(frame);
    count_plain(found->second);
    if (which != List::over) quality(frame);
    erase(oldest);
  }

  /// Moves the entry to the list that its state asks for.
  void settle(const Ends& ends, Entry& entry, FrameRef frame) {
    const Connection& connection = *entry.connection;
    if (connection.status() == Connection::Status::given_up) {
      count_plain(entry);
      ordinary.ignore(OrdinaryTcp::hash_of(ends), entry.plain);
      erase(ends);
      return;
    }
    const List now = connection.over()                                    ? List::over
                     : connection.status() == Connection::Status::pending ? List::pending
                                                                          : List::open;
    if (now == entry.list) return;
    list(now).splice(list(now).end(), list(entry.list), entry.place);
    entry.list = now;
    entry.since = frame.number;
    bound(now, options.room(now == List::over ? over_limit : open_limit), frame);
  }

  bool use(Map::value_type& connection, int direction, const TcpSegment& segment) {
    Entry& entry = connection.second;
    entry.connection->segment(direction, segment);
    if (entry.plain != 0 && segment.wire_length != 0) {
      ++entry.plain_frames;
      plain.watch(entry.plain, segment);
    }
    const bool known = entry.connection->status() == Connection::Status::open;
    settle(connection.first, entry, segment.ref);
    return known;
  }

  /// The ports are used again, as this segment shows.
  void replace(Map::value_type& known, int direction, const TcpSegment& segment, Disconnect::How how) {
    const Ends ends = known.first;
    Connection& connection = *known.second.connection;
    before.keep(ends, connection.said(segment.ref), direction, segment);
    connection.supersede(direction, segment.ref, how);
    count_plain(known.second);
    erase(ends);
    ordinary.forget(OrdinaryTcp::hash_of(ends));
  }

  /// The SYN was taken: somebody goes on from there.
  [[nodiscard]] static bool goes_on_from(const Entry::Request& next, int direction, const TcpSegment& segment,
                                         bool own) {
    constexpr std::uint32_t near = 64U << 20U;
    const std::uint32_t first = next.syn.sequence + 1;
    if (direction != next.direction) {
      constexpr unsigned agrees = TcpSegment::syn | TcpSegment::ack;
      return (segment.flags & agrees) == agrees && segment.acknowledgement == first;
    }
    if ((segment.flags & (TcpSegment::syn | TcpSegment::rst)) != 0) return false;
    return segment.sequence == first || (!own && segment.sequence - first < near);
  }

  /// True: the connection is another one from now on.
  bool settle_doubt(Map::value_type& known, int direction, const TcpSegment& segment, bool own) {
    std::optional<Entry::Request>& next = known.second.next;
    if (!next) return false;
    if (goes_on_from(*next, direction, segment, own)) {
      const Entry::Request taken = *next;
      const Ends ends = known.first;
      replace(known, taken.direction, taken.syn, Disconnect::How::superseded);
      begin(ends, taken.direction, taken.syn);
      return true;
    }
    // Its sender goes on with what was there before.
    constexpr unsigned no_word = TcpSegment::syn | TcpSegment::rst;
    const bool denied = direction == next->direction && own && (segment.flags & no_word) == 0 &&
                        passed(next->syn.ref.time, segment.ref.time, ProvenOrder::patience);
    if (denied) {
      attempts.passed_over(next->syn, segment.ref);
      next.reset();
    }
    return false;
  }

  bool segment(const TcpSegment& segment) {
    auto [known, direction] = find(segment);
    // Of the epoch before is nothing that may be of this one.
    const bool own = known != nullptr && known->second.connection->may_be_own(direction, segment);
    Ends ends;
    if (!own) {
      direction = ends_of(segment, ends);
      if (before.holds(ends, direction, segment)) return true;
    }
    if (known != nullptr && settle_doubt(*known, direction, segment, own)) known = find(segment).connection;
    const Epoch epoch = known == nullptr ? Epoch::this_one : known->second.connection->epoch_of(direction, segment);
    if (epoch == Epoch::next || epoch == Epoch::not_known) {
      ends = known->first;
      replace(*known, direction, segment, epoch == Epoch::next ? Disconnect::How::superseded : Disconnect::How::unseen);
      known = nullptr;
    }
    constexpr unsigned begins_or_ends = TcpSegment::syn | TcpSegment::fin | TcpSegment::rst;
    if ((segment.flags & begins_or_ends) != 0) {
      attempts.segment(segment);
    } else if (known == nullptr || known->second.list == List::pending) {
      attempts.goes_on(segment);
    }
    constexpr std::size_t least_of_mpa = 20;  // a Request or Reply frame without private data (RFC 5044 section 7.1)
    const bool cut = segment.payload.size() < std::min<std::size_t>(segment.wire_length, least_of_mpa);
    if (cut && (known == nullptr || known->second.list == List::pending)) attempts.cut(segment);
    if (epoch == Epoch::in_doubt) {
      std::optional<Entry::Request>& next = known->second.next;
      if (!next || next->syn.sequence != segment.sequence) next = {direction, segment};
      return true;
    }
    return known != nullptr ? use(*known, direction, segment) : begin(ends, direction, segment);
  }

  bool begin(const Ends& ends, int direction, const TcpSegment& segment) {
    const bool service = context.service_port(ends.port[0]) || context.service_port(ends.port[1]);
    iwarp::TcpOpening opening;
    if (!ordinary.worth_a_look(OrdinaryTcp::hash_of(ends), direction, segment, service, opening)) return false;
    auto [at, added] = connections.try_emplace(ends);
    at->second.connection = std::make_unique<Connection>(context, ends, opening);
    at->second.place = pending.insert(pending.end(), ends);
    at->second.since = segment.ref.number;
    if (service) {
      at->second.plain = plain.look(segment, context.service_port(segment.destination_port),
                                    context.service_port(segment.source_port));
      at->second.plain_first = segment.ref;
    }
    used(ends) = &*at;
    bound(List::pending, options.room(pending_limit), segment.ref);
    return use(*at, direction, segment);
  }

  bool copy(const TcpSegment& segment) {
    const auto [known, direction] = find(segment);
    return known != nullptr && known->second.connection->copy(direction, segment);
  }

  void finish(FrameRef last) {
    for (const std::list<Ends>* each : {&open, &pending, &over}) {
      for (const Ends& ends : *each) {
        const Entry& entry = connections.at(ends);
        numbers.at({step(entry.list), entry.since});
        entry.connection->finish(last);
        count_plain(entry);
      }
    }
    numbers.at({Moment::Step::nfs_over_tcp, 0});
    plain.tell(sink);
  }

  const Options& options;
  ConnectionNumbers& numbers;
  EventSink& sink;
  Budget budget;
  iwarp::Attempts attempts;
  iwarp::Context context;
  iwarp::PlainNfs plain;
  OrdinaryTcp ordinary;
  iwarp::EpochsBefore before;
  Map connections;
  std::array<Map::value_type*, 256> cache{};  ///< connections used lately
  std::list<Ends> pending;
  std::list<Ends> open;
  std::list<Ends> over;
};

IwarpTransport::IwarpTransport(const Options& options, ConnectionNumbers& numbers, EventSink& sink)
    : impl_(std::make_unique<Impl>(options, numbers, sink)) {}
IwarpTransport::~IwarpTransport() = default;

bool IwarpTransport::segment(const TcpSegment& segment) { return impl_->segment(segment); }
bool IwarpTransport::copy(const TcpSegment& segment) { return impl_->copy(segment); }
void IwarpTransport::undelivered(const Undelivered& segment) { impl_->attempts.undelivered(segment); }
std::vector<Service> IwarpTransport::services() const {
  const std::set<Service>& seen = impl_->attempts.seen_to_serve();
  return {seen.begin(), seen.end()};
}
void IwarpTransport::serves(const Service& service) { impl_->attempts.hears_of(service); }
void IwarpTransport::finish(FrameRef last) { impl_->finish(last); }

}  // namespace rpcrdma::trace
