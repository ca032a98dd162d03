// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/attempts.hpp"

#include <algorithm>

#include "trace/iwarp/piece.hpp"
#include "trace/proven_order.hpp"
#include "trace/spans.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

/// No TCP repeats a SYN so soon (RFC 6298 wants a second): the capture holds it twice.
constexpr TimeNs same_syn_window = 5'000'000;

bool twice(TimeNs before, TimeNs now) noexcept {
  const auto apart = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before);
  // Either way round, and without overflow. A time of 0 is none.
  return now != 0 &&
         apart + static_cast<std::uint64_t>(same_syn_window) <= 2 * static_cast<std::uint64_t>(same_syn_window);
}

Endpoint endpoint(const Address& address, std::uint16_t port) {
  Endpoint e;
  e.address = address.text();
  e.port = port;
  e.network = address.network;
  return e;
}

}  // namespace

bool Attempts::service(const Service& server) const {
  const auto& ports = options_.service_ports;
  return std::find(ports.begin(), ports.end(), server.port) != ports.end() || services_.contains(server);
}

void Attempts::segment(const TcpSegment& segment) {
  Seen seen;
  const Service source{segment.source, segment.source_port};
  const Service destination{segment.destination, segment.destination_port};
  const bool ack = (segment.flags & TcpSegment::ack) != 0;
  seen.frame = segment.ref;
  if ((segment.flags & (TcpSegment::fin | TcpSegment::rst)) != 0) {
    if ((segment.flags & TcpSegment::syn) == 0) goes_on(segment);
    take_back({source, destination}, segment);
  }
  if ((segment.flags & (TcpSegment::syn | TcpSegment::rst)) == 0) return;
  if ((segment.flags & TcpSegment::rst) != 0) {
    // What refuses a SYN acknowledges it, and most has no sequence of its own (RFC 9293 section 3.10.7.1). The others
    // are too many to be kept.
    if (!ack || (segment.sequence != 0 && !service(source))) return;
    seen.what = Seen::What::reset;
  } else if (ack) {
    seen.what = Seen::What::answer;
  }
  if (seen.what == Seen::What::syn) {
    seen.flow = {source, destination};
    seen.number = segment.sequence;
    seen.octets = segment.wire_length;
  } else {
    seen.flow = {destination, source};
    seen.number = segment.acknowledgement;
    seen.first = segment.sequence + 1;
  }
  note(seen);
}

/// Load balancers and monitors open the port to see whether it is there, and close it. Their numbers prove that they
/// said nothing, whatever the capture lacks.
void Attempts::take_back(const Flow& flow, const TcpSegment& segment) {
  Attempt* a = find(flow);
  if (a == nullptr || !a->connected() || a->request.number == 0) return;
  if (a->octets != 0 || segment.wire_length != 0 || segment.sequence != a->number + 1) return;
  a->state = Attempt::State::withdrawn;
  Seen seen;
  seen.flow = flow;
  seen.frame = segment.ref;
  tell(TcpAttempt::Step::withdrawn, seen, a->request);
}

void Attempts::passed_over(const TcpSegment& syn, FrameRef frame) {
  Seen seen;
  seen.flow = {{syn.source, syn.source_port}, {syn.destination, syn.destination_port}};
  seen.frame = frame;
  Attempt* a = find(seen.flow);
  if (a == nullptr || a->number != syn.sequence || a->state != Attempt::State::open) return;
  a->state = Attempt::State::withdrawn;
  tell(TcpAttempt::Step::withdrawn, seen, a->request);
}

/// Who speaks behind its SYN has got an answer to that, and who acknowledges more and more has got octets: whether the
/// capture has them or not.
void Attempts::goes_on(const TcpSegment& segment) {
  const auto& ports = options_.service_ports;
  if ((segment.flags & TcpSegment::ack) == 0 || attempts_.empty()) return;
  const auto serves = [&](std::uint16_t port) { return std::find(ports.begin(), ports.end(), port) != ports.end(); };
  const Service source{segment.source, segment.source_port};
  const Service destination{segment.destination, segment.destination_port};
  Seen seen;
  seen.frame = segment.ref;
  if (serves(segment.destination_port)) {
    seen.flow = {source, destination};
    if (Attempt* a = find(seen.flow)) client_goes_on(*a, segment, seen);
  } else if (serves(segment.source_port)) {
    seen.flow = {destination, source};
    if (Attempt* a = find(seen.flow)) server_goes_on(*a, segment, seen);
  }
}

void Attempts::client_goes_on(Attempt& attempt, const TcpSegment& segment, const Seen& seen) {
  if (segment.sequence - (attempt.number + 1) > far_away) return;
  if (attempt.state == Attempt::State::open) {
    if ((segment.flags & (TcpSegment::fin | TcpSegment::rst)) != 0) return;  // it gives up
    attempt.state = Attempt::State::accepted;
    attempt.had = segment.acknowledgement;
    tell(TcpAttempt::Step::accepted, seen, attempt.request);
    return;
  }
  if (attempt.state == Attempt::State::unheard) tell(TcpAttempt::Step::accepted, seen, attempt.request);
  if (attempt.unconfirmed()) attempt.state = Attempt::State::accepted;
  if (attempt.had) lacks(attempt, segment.acknowledgement - *attempt.had, seen);
}

/// Each of its segments says how much it had said before.
void Attempts::server_goes_on(Attempt& attempt, const TcpSegment& segment, const Seen& seen) {
  if (segment.wire_length != 0) attempt.answers_seen = true;
  if (attempt.had) lacks(attempt, segment.sequence - *attempt.had, seen);
}

/// The server has sent so many octets, of which one may be a FIN.
void Attempts::lacks(Attempt& attempt, std::uint32_t octets, const Seen& seen) {
  if (!attempt.connected() || attempt.answers_seen || octets <= 1 || octets > far_away) return;
  attempt.state = Attempt::State::unreadable;
  tell(TcpAttempt::Step::unreadable, seen, attempt.request);
}

void Attempts::undelivered(const Undelivered& segment) {
  Seen seen;
  seen.what = Seen::What::unreachable;
  if (segment.by == Undelivered::By::another) seen.by = ReportBy::another;
  seen.flow = {{segment.source, segment.source_port}, {segment.destination, segment.destination_port}};
  seen.number = segment.sequence;
  seen.frame = segment.ref;
  note(seen);
}

void Attempts::cut(const TcpSegment& segment) {
  const Service source{segment.source, segment.source_port};
  if (!service(source)) return;
  Seen seen;
  seen.flow = {{segment.destination, segment.destination_port}, source};
  seen.frame = segment.ref;
  Attempt* a = find(seen.flow);
  if (a == nullptr || (a->state != Attempt::State::open && !a->connected())) return;
  a->state = Attempt::State::unreadable;
  tell(TcpAttempt::Step::unreadable, seen, a->request);
}

void Attempts::note(const Seen& seen) {
  if (service(seen.flow.server)) {
    take(seen);
    return;
  }
  if (earlier_.empty()) earlier_.resize(max_earlier);
  earlier_[earlier_at_] = seen;
  earlier_at_ = (earlier_at_ + 1) % earlier_.size();
}

void Attempts::serves(const Address& server, std::uint16_t port) {
  const auto& ports = options_.service_ports;
  if (std::find(ports.begin(), ports.end(), port) != ports.end()) return;
  if (seen_to_serve_.size() < max_services) seen_to_serve_.insert({server, port});
  hears_of({server, port});
}

void Attempts::hears_of(const Service& known) {
  if (service(known)) return;
  if (services_order_.size() >= max_services) {
    services_.erase(services_order_.front());
    services_order_.pop_front();
  }
  services_.insert(known);
  services_order_.push_back(known);
  for (std::size_t i = 0; i < earlier_.size(); ++i) {
    Seen& seen = earlier_[(earlier_at_ + i) % earlier_.size()];
    if (seen.frame.number == 0 || !(seen.flow.server == known)) continue;
    take(seen);
    seen = {};
  }
}

FrameRef Attempts::opens(const Address& client, std::uint16_t client_port, const Address& server,
                         std::uint16_t server_port, std::uint32_t first) {
  Seen unseen;
  unseen.flow = {{client, client_port}, {server, server_port}};
  unseen.number = first - 1;
  Attempt* a = find(unseen.flow);
  const bool same = a != nullptr && a->number == unseen.number;
  if (!same && a != nullptr && a->state == Attempt::State::open) return {};  // another one has begun
  if (!same) a = &begin(unseen);
  a->state = Attempt::State::streaming;
  return a->request;
}

void Attempts::take(const Seen& seen) {
  switch (seen.what) {
    case Seen::What::syn:
      take_syn(seen);
      return;
    case Seen::What::answer:
    case Seen::What::reset:
      take_answer(seen);
      return;
    case Seen::What::unreachable:
      take_report(seen);
      return;
  }
}

void Attempts::take_syn(const Seen& seen) {
  Attempt* a = find(seen.flow);
  if (a == nullptr || a->number != seen.number) {
    Attempt& fresh = begin(seen);
    tell(TcpAttempt::Step::request, seen, fresh.request);
    if (!early_.empty()) refuse_early(fresh);
    return;
  }
  if (a->request.number == 0) {  // its answer came before it
    a->request = seen.frame;
    const bool more = a->state == Attempt::State::streaming || a->state == Attempt::State::unreadable;
    if (!more) tell(TcpAttempt::Step::request, seen, a->request);
    return;
  }
  if (twice(a->newest, seen.frame.time)) return;
  a->newest = seen.frame.time;
  switch (a->state) {
    case Attempt::State::open:
      tell(TcpAttempt::Step::repeated, seen, a->request);
      return;
    case Attempt::State::answered:  // that was lost behind the capture: there will be another
    case Attempt::State::unheard:
      tell_unheard(*a, seen);
      return;
    case Attempt::State::accepted:  // a copy that comes late says nothing
    case Attempt::State::streaming:
    case Attempt::State::unreadable:
    case Attempt::State::withdrawn:
      return;
    case Attempt::State::refused:
      if (!passed(a->refused, seen.frame.time, ProvenOrder::patience)) {
        a->copy = seen;
        return;
      }
      tell(TcpAttempt::Step::request, seen, begin(seen).request);  // some systems try three times
      return;
  }
}

void Attempts::take_answer(const Seen& seen) {
  Attempt* a = find(seen.flow);
  // Where the SYN carries octets, the answer may take them or not.
  const bool fits = a != nullptr && seen.number - (a->number + 1) <= a->octets;
  if (fits && a->state == Attempt::State::refused && a->copy) {
    const Seen copy = *a->copy;
    a = &begin(copy);
    tell(TcpAttempt::Step::request, copy, a->request);
  }
  if (seen.what == Seen::What::reset) {
    if (fits) {
      if (a->state == Attempt::State::open) refuse(*a, seen);
      return;
    }
    if (early_.size() >= max_early) early_.pop_front();
    early_.push_back(seen);
    return;
  }
  if (!fits) {  // to a SYN that is not in the capture
    Seen lost = seen;
    lost.number = seen.number - 1;
    a = &begin(lost);
    a->request = {};
  } else if (a->state != Attempt::State::open) {
    if (a->unconfirmed() && !twice(a->newest_answer, seen.frame.time)) tell_unheard(*a, seen);
    return;
  }
  a->state = Attempt::State::answered;
  a->newest_answer = seen.frame.time;
  a->had = seen.first;
  tell(TcpAttempt::Step::accepted, seen, a->request);
}

void Attempts::tell_unheard(Attempt& attempt, const Seen& seen) {
  if (seen.what == Seen::What::answer) attempt.newest_answer = seen.frame.time;
  attempt.state = Attempt::State::unheard;
  tell(TcpAttempt::Step::unheard, seen, attempt.request);
}

void Attempts::refuse(Attempt& attempt, const Seen& seen) {
  attempt.state = Attempt::State::refused;
  attempt.refused = seen.frame.time;
  tell(TcpAttempt::Step::refused, seen, attempt.request);
}

/// Between two taps the refusal may stand in front of the SYN that it answers.
void Attempts::refuse_early(Attempt& attempt) {
  for (auto it = early_.begin(); it != early_.end(); ++it) {
    const bool fits = it->flow == *attempt.place && it->number - (attempt.number + 1) <= attempt.octets;
    if (!fits || passed(it->frame.time, attempt.newest, ProvenOrder::patience)) continue;
    const Seen early = *it;
    early_.erase(it);
    refuse(attempt, early);
    return;
  }
}

void Attempts::take_report(const Seen& seen) {
  Attempt* a = find(seen.flow);
  if (a == nullptr || a->number != seen.number || a->state != Attempt::State::open) return;
  if (a->reported && twice(a->newest_report, seen.frame.time)) return;
  a->reported = true;
  a->newest_report = seen.frame.time;
  tell(TcpAttempt::Step::unreachable, seen, a->request);
}

Attempts::Attempt* Attempts::find(const Flow& flow) {
  const auto at = attempts_.find(flow);
  return at == attempts_.end() ? nullptr : &at->second;
}

/// A new attempt from and to these ports, in the place of an older one.
Attempts::Attempt& Attempts::begin(const Seen& seen) {
  const auto [at, fresh] = attempts_.try_emplace(seen.flow);
  Attempt& a = at->second;
  const auto place = fresh ? order_.insert(order_.end(), seen.flow) : a.place;
  if (!fresh) order_.splice(order_.end(), order_, place);
  a = {};
  a.number = seen.number;
  a.octets = seen.octets;
  a.request = seen.frame;
  a.newest = seen.frame.time;
  a.place = place;
  if (order_.size() > max_attempts) {
    attempts_.erase(order_.front());
    order_.pop_front();
  }
  return a;
}

void Attempts::tell(TcpAttempt::Step step, const Seen& seen, FrameRef request) {
  TcpAttempt e;
  const bool by_client = step == TcpAttempt::Step::request || step == TcpAttempt::Step::repeated ||
                         step == TcpAttempt::Step::withdrawn ||
                         (step == TcpAttempt::Step::unheard && seen.what == Seen::What::syn);
  e.side = by_client ? Side::active : Side::passive;
  e.frame = seen.frame;
  e.step = step;
  e.by = seen.by;
  e.client = endpoint(seen.flow.client.address, seen.flow.client.port);
  e.server = endpoint(seen.flow.server.address, seen.flow.server.port);
  e.request = request;
  sink_.on(e);
}

}  // namespace rpcrdma::trace::iwarp
