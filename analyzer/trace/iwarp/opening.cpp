// SPDX-License-Identifier: GPL-2.0-or-later
// How a connection becomes known: by its MPA frames, or by FPDUs that can be nothing else.
#include <algorithm>
#include <string>

#include "trace/iwarp/connection.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

/// How long a connection without handshake waits for the other direction to show, and for a Send that tells roles.
constexpr std::uint64_t wait_pieces = 256;
constexpr TimeNs wait_time = 2'000'000'000;
/// Payload without any sign of FPDUs after which a stream is taken for something else.
constexpr std::uint64_t service_payload_limit = 1U << 20U;
constexpr std::uint64_t any_payload_limit = 192U << 10U;

PrivateDataArea area(const wire::MpaFrame& frame) {
  PrivateDataArea a;
  a.octets = frame.private_data;
  a.wire_length = frame.private_data_wire_length;
  a.exact_length = true;
  return a;
}

Depths depths(const wire::MpaFrame& frame) {
  Depths d;
  if (!frame.enhanced) return d;
  if (frame.enhanced->ird) d.responder_resources = *frame.enhanced->ird;
  if (frame.enhanced->ord) d.initiator_depth = *frame.enhanced->ord;
  return d;
}

}  // namespace

Endpoint Connection::endpoint(int direction) const {
  const auto i = static_cast<std::size_t>(direction);
  Endpoint e;
  e.address = ends_.address[i].text();
  e.port = ends_.port[i];
  e.network = ends_.address[i].network;
  return e;
}

bool Connection::advance_half(Half& h, bool last) {
  switch (h.framing.state()) {
    case Framing::State::start:
      if (read_handshake(h)) return true;
      if (last && !h.framing.window().empty()) {  // an MPA frame that never was complete
        not_mpa(h);
        return true;
      }
      return false;
    case Framing::State::search:
      return align(h, last);
    default:
      return false;
  }
}

/// Where its FPDUs begin again, or begin at all.
bool Connection::align(Half& h, bool last) {
  if (open_where_told(h)) return true;
  if (live()) {
    Expectation expected = messages_->expectation(side(h.direction));
    constexpr std::uint64_t least = wire::fpdu_size(wire::ddp_untagged_length);
    expected.msns_missing = static_cast<std::uint32_t>(std::min<std::uint64_t>(h.missing / least, 1U << 30U));
    return h.framing.align(expected, known_stream, last, h);
  }
  return h.framing.align({}, service_ ? service_stream : any_stream, last, h);
}

/// What `h` has said up to now is its MPA frame, which the capture lacks: a client's FPDUs wait for the Reply, and a
/// server's for the first FPDU (RFC 5044 section 7.1.2).
void Connection::note_where_fpdus_begin(Half& h) {
  if (h.handshake || h.fpdus_from) return;
  h.fpdus_from = h.order.started() ? std::optional(static_cast<std::uint32_t>(h.acknowledged)) : h.first_acknowledged;
  if (h.fpdus_from) h.framing.fpdus_begin_at(*h.fpdus_from);
}

/// Nothing of what came before them is in the capture.
bool Connection::open_where_told(Half& h) {
  const Window& window = h.framing.window();
  if (h.framing.state() != Framing::State::search || h.handshake || !h.fpdus_from || window.empty()) return false;
  const bool hole_first = window.contiguous(window.begin()).empty();
  const Position first = hole_first ? window.next_piece(window.begin()) : window.begin();
  return static_cast<std::uint32_t>(first) == *h.fpdus_from && h.framing.open_if_possible(first);
}

bool Connection::read_handshake(Half& h) {
  const Window& window = h.framing.window();
  if (window.empty()) return false;
  const std::uint64_t available = window.end() - window.begin();
  std::array<std::uint8_t, wire::mpa_header_length> head{};
  std::size_t known = 0;
  while (known < head.size() && window.read(window.begin() + known, 1, {}, head.data() + known) == Window::Have::yes) {
    ++known;
  }
  const bool cut = known < head.size() && known < available;
  const wire::MpaKey key = wire::mpa_key(Bytes(head).first(std::min(known, wire::mpa_key_length)));
  const bool missing = window.front().hole != 0;
  const bool cut_in_key = key == wire::MpaKey::partial && cut && !missing;
  if (cut_in_key) {
    h.cut_in_key = window.front().piece.ref;
    if (live()) h.mpa_cut(h.cut_in_key);
  }
  if (cut_in_key && window.begin() == h.origin && known > 0) {
    // It may well be one; whether it is, its peer's answer tells. Where it ends is not known.
    h.framing.begin_search(window.begin());
    return true;
  }
  if (key == wire::MpaKey::none || cut_in_key || missing) {
    not_mpa(h);
    return true;
  }
  if (key == wire::MpaKey::partial) return false;
  if (const auto header = wire::decode_mpa_header(Bytes(head).first(known), known)) {
    if (available < header->frame_length()) return false;
    take_handshake(h, header->frame_length());
    return true;
  }
  if (!cut) return false;
  // The capture ends between key and length. The frame ends where the segment ends that was cut: it waits for an
  // answer, or is one.
  constexpr Position longest = wire::mpa_header_length + 0xFFFF;
  const Position end = window.next_piece(window.begin() + known);
  take_handshake(h, static_cast<std::size_t>(std::min(end - window.begin(), longest)));
  return true;
}

void Connection::take_handshake(Half& h, std::size_t length) {
  const Window& window = h.framing.window();
  auto taken = std::make_unique<Handshake>();
  taken->octets.resize(length);
  taken->wire_length = length;
  taken->frame = window.front().piece.ref;
  std::size_t have = 0;
  if (window.read(window.begin(), length, {}, taken->octets.data()) == Window::Have::yes) {
    have = length;
  } else {
    while (have < length && window.read(window.begin() + have, 1, {}, taken->octets.data() + have) == Window::Have::yes)
      ++have;
  }
  taken->octets.resize(have);
  const Position end = window.begin() + length;
  taken->end = end;
  if (StreamWatch* watch = context_.options.streams; watch != nullptr) [[unlikely]] {
    watch->handshake(
        {window.begin(), end, taken->frame, {}, {}, taken->octets, static_cast<std::uint32_t>(length), {}, 0});
  }
  if (const auto frame = wire::decode_mpa_frame(taken->octets, length)) {
    taken->parsed = *frame;
  } else {  // cut inside of flags, revision or length
    taken->parsed.header.request = wire::mpa_key(taken->octets) == wire::MpaKey::request;
    taken->parsed.private_data_wire_length =
        static_cast<std::uint32_t>(length - std::min(length, wire::mpa_header_length));
    if (have > wire::mpa_key_length) taken->parsed.header.flags = taken->octets[wire::mpa_key_length];
    if (have > wire::mpa_key_length + 1) taken->parsed.header.revision = taken->octets[wire::mpa_key_length + 1];
  }
  taken->request = taken->parsed.header.request;
  Half& peer = half(1 - h.direction);
  if (!taken->request) note_where_fpdus_begin(peer);
  if (peer.handshake && peer.handshake->request == taken->request) {
    h.mpa_bad(taken->frame);
    h.framing.silence();
    return;
  }
  h.handshake = std::move(taken);
  h.framing.open_at(end, false, Framing::Crc::unknown);
  apply_flags();
  if (live()) report_handshake(h);
}

void Connection::not_mpa(Half& h) {
  const Window& window = h.framing.window();
  const bool first_octet_seen = window.begin() == h.origin && !window.contiguous(h.origin).empty();
  const bool start_known = opening_.first[static_cast<std::size_t>(h.direction)].has_value();
  if (!live() && start_known && first_octet_seen) {
    status_ = Status::given_up;
    return;
  }
  if (live() && start_known && first_octet_seen) h.mpa_bad(window.front().piece.ref);
  h.framing.begin_search(window.begin());
}

/// Markers go to whoever asked for them; CRCs are used when either side asked.
void Connection::apply_flags() {
  std::optional<std::uint8_t> request;
  std::optional<std::uint8_t> reply;
  for (const Half& h : halves_) {
    if (h.handshake) (h.handshake->request ? request : reply) = h.handshake->parsed.header.flags;
  }
  const unsigned any = request.value_or(0) | unsigned{reply.value_or(0)};
  auto crc = Framing::Crc::unknown;
  if ((any & wire::mpa_flag_crc) != 0) {
    crc = Framing::Crc::used;
  } else if (request && reply) {
    crc = Framing::Crc::unused;
  }
  for (Half& h : halves_) {
    const Half& peer = half(1 - h.direction);
    if (peer.handshake) {
      h.framing.expect_markers((peer.handshake->parsed.header.flags & wire::mpa_flag_markers) != 0);
    }
    h.framing.set_crc(crc);
  }
}

bool Connection::waited_enough(FrameRef now, bool last) {
  return last || crowded_ || pieces_ > wait_pieces || now.time - first_payload_.time > wait_time;
}

void Connection::try_open(FrameRef now, bool last) {
  for (Half& h : halves_) {
    if (!h.handshake || !h.handshake->request) continue;
    open_by_request(h);
    return;
  }
  const bool enough = waited_enough(now, last);
  for (Half& h : halves_) {
    if (!h.handshake) continue;
    // A Reply alone. The Request may be on its way only while the other direction has not shown anything.
    const Half& peer = half(1 - h.direction);
    if (!enough && (!peer.seen || peer.framing.state() == Framing::State::start)) return;
    active_ = peer.direction;
    adopt(RolesFrom::handshake, !peer.seen, h.handshake->frame);
    return;
  }

  Half* aligned = nullptr;
  for (Half& h : halves_) {
    if (h.framing.state() != Framing::State::framed || h.framing.window().empty()) continue;
    const bool earlier = aligned == nullptr || h.framing.window().front().piece.ref.number <
                                                   aligned->framing.window().front().piece.ref.number;
    if (earlier) aligned = &h;
  }
  if (aligned == nullptr) {
    const std::uint64_t payload = std::max(halves_[0].payload, halves_[1].payload);
    if (last || payload > (service_ ? service_payload_limit : any_payload_limit)) status_ = Status::given_up;
    return;
  }
  const Half& peer = half(1 - aligned->direction);
  if (!enough && !peer.seen) return;
  const FrameRef frame = aligned->framing.window().front().piece.ref;
  if (opening_.opener) {
    active_ = *opening_.opener;
    adopt(RolesFrom::handshake, !peer.seen, frame);
  } else if (const auto by_port = active_by_port()) {
    active_ = *by_port;
    adopt(RolesFrom::port, !peer.seen, frame);
  } else if (const auto by_traffic = active_by_traffic(enough)) {
    active_ = by_traffic->active;
    adopt(by_traffic->from, !peer.seen, frame);
  } else if (enough) {
    active_ = ends_.port[0] > ends_.port[1] ? 0 : 1;  // ephemeral ports are mostly high: said to be unknown
    adopt(RolesFrom::unknown, !peer.seen, frame);
  }
}

std::optional<int> Connection::active_by_port() const noexcept {
  const bool first = context_.service_port(ends_.port[0]);
  const bool second = context_.service_port(ends_.port[1]);
  if (first == second) return std::nullopt;
  return first ? 1 : 0;
}

std::optional<Connection::Roles> Connection::active_by_traffic(bool last) {
  std::array<RoleHint, 2> hints{};
  for (const Half& h : halves_) {
    if (h.framing.state() != Framing::State::framed || h.framing.window().empty()) continue;
    hints[static_cast<std::size_t>(h.direction)] =
        role_in_window(h.framing.window(), h.framing.window().begin(), h.framing.markers());
  }
  for (int d = 0; d < 2; ++d) {
    const RoleHint hint = d == 0 ? hints[0] : hints[1];
    if (hint == RoleHint::client) return Roles{d, RolesFrom::traffic};
    if (hint == RoleHint::server) return Roles{1 - d, RolesFrom::traffic};
  }
  if (!last) return std::nullopt;
  const bool first = hints[0] == RoleHint::perhaps_client;
  const bool second = hints[1] == RoleHint::perhaps_client;
  if (first && second) return std::nullopt;
  if (first || second) return Roles{first ? 0 : 1, RolesFrom::unknown};
  const std::array<RoleHint, 2> likely = {likely_role(hints[0], hints[1]), likely_role(hints[1], hints[0])};
  for (int d = 0; d < 2; ++d) {
    const RoleHint hint = d == 0 ? likely[0] : likely[1];
    const RoleHint peer = d == 0 ? likely[1] : likely[0];
    if (hint == RoleHint::likely_client && peer != RoleHint::likely_client) return Roles{d, RolesFrom::traffic};
    if (hint == RoleHint::likely_server && peer != RoleHint::likely_server) return Roles{1 - d, RolesFrom::traffic};
  }
  return std::nullopt;
}

void Connection::opened() {
  status_ = Status::open;
  id_ = context_.numbers.next();
  messages_ = std::make_unique<Messages>(context_.sink, id_);
  for (const Half& h : halves_) messages_->origin(side(h.direction), h.origin);
}

/// Who speaks MPA here is a service. The SYN that opened the connection, if it is known: `first` is the sequence number
/// of the client's first octet.
FrameRef Connection::serve(std::uint32_t first) {
  const auto client = static_cast<std::size_t>(active_);
  const std::size_t server = 1 - client;
  context_.attempts.serves(ends_.address[server], ends_.port[server]);
  return context_.attempts.opens(ends_.address[client], ends_.port[client], ends_.address[server], ends_.port[server],
                                 first);
}

void Connection::open_by_request(Half& h) {
  active_ = h.direction;
  opened();
  messages_->from_handshake();
  const Handshake& shake = *h.handshake;
  ConnectRequest e;
  e.connection = id_;
  e.side = Side::active;
  e.frame = shake.frame;
  e.transport = Transport::iwarp;
  e.client = endpoint(h.direction);
  e.server = endpoint(1 - h.direction);
  e.opened = opening_.syn.number != 0 ? opening_.syn : shake.frame;
  const FrameRef request = serve(static_cast<std::uint32_t>(h.origin));
  if (request.number != 0) e.opened = request;
  e.private_data = area(shake.parsed);
  e.depths = depths(shake.parsed);
  e.mpa_revision = shake.parsed.header.revision;
  e.mpa_flags = shake.parsed.header.flags;
  context_.sink.on(e);
  h.handshake_reported = true;
  report_handshake(h);
  Half& peer = half(1 - h.direction);
  if (peer.handshake) report_handshake(peer);
  report_early();
}

void Connection::adopt(RolesFrom roles, bool one_way, FrameRef frame) {
  opened();
  if (roles != RolesFrom::unknown) (void)serve(opening_.first[static_cast<std::size_t>(active_)].value_or(0));
  Adopted e;
  e.connection = id_;
  e.side = Side::active;
  e.frame = frame;
  e.transport = Transport::iwarp;
  e.client = endpoint(active_);
  e.server = endpoint(1 - active_);
  e.roles_from = roles;
  e.one_way = one_way;
  context_.sink.on(e);
  for (Half& h : halves_) {
    if (h.handshake) report_handshake(h);
  }
  report_early();
}

/// What was noticed before there was a connection to say it of.
void Connection::report_early() {
  for (Half& h : halves_) {
    if (h.cut_in_key.number != 0) h.mpa_cut(h.cut_in_key);
    messages_->acknowledged(side(1 - h.direction), h.acknowledged, {});
  }
}

/// The frame's place in the protocol: a Reply, or something about a Request that was reported.
void Connection::report_handshake(Half& h) {
  if (h.handshake->parsed.header.private_data_length > wire::mpa_private_data_limit) h.mpa_bad(h.handshake->frame);
  if (!h.handshake->request && !h.handshake_reported) report_reply(h);
  h.handshake_reported = true;
}

void Connection::report_reply(Half& h) {
  const Handshake& shake = *h.handshake;
  if ((shake.parsed.header.flags & wire::mpa_flag_reject) != 0) {
    ConnectReject e;
    e.connection = id_;
    e.side = side(h.direction);
    e.frame = shake.frame;
    e.private_data = area(shake.parsed);
    tell_liveness(shake.frame);
    context_.sink.on(e);
    rejected_ = true;
    for (Half& each : halves_) each.framing.silence();
    return;
  }
  ConnectReply e;
  e.connection = id_;
  e.side = side(h.direction);
  e.frame = shake.frame;
  e.server = endpoint(h.direction);
  e.private_data = area(shake.parsed);
  e.depths = depths(shake.parsed);
  e.mpa_revision = shake.parsed.header.revision;
  e.mpa_flags = shake.parsed.header.flags;
  context_.sink.on(e);
}

}  // namespace rpcrdma::trace::iwarp
