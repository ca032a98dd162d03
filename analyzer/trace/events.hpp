// SPDX-License-Identifier: GPL-2.0-or-later
// The seam: what happened on the fabric, in transport-neutral words.
//
// The trace turns frames into these events and hands them to one EventSink. It has already removed retransmissions
// and duplicates, put packets of each direction into PSN / TCP sequence order, and folded packets into messages.
// Within one direction of one connection events come in wire order (PSN order), not in file order.
// Spans are valid only during the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/frame.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::trace {

using wire::Bytes;

/// One epoch of one connection: a reconnect, or reuse of QPNs or ports, gets a new number. From 1, by first appearance.
using ConnectionId = std::uint32_t;

enum class Transport : std::uint8_t { rocev2, rocev1, infiniband, iwarp };

/// The clocks of two taps may be: what one of them shows comes up to so much later than what the other one does.
inline constexpr TimeNs two_taps_apart = 200'000'000;
/// Packets that stand so near to each other may have changed places: on their way into the file (the queues of an
/// adapter, two taps whose clocks all but agree). Those further apart have not.
inline constexpr TimeNs change_of_places = 1'000'000;

/// The active side opened the connection: it is the client. The passive side is the server.
enum class Side : std::uint8_t { active, passive };
[[nodiscard]] constexpr Side other(Side s) noexcept { return s == Side::active ? Side::passive : Side::active; }

/// How the trace knows which side is active.
enum class RolesFrom : std::uint8_t { handshake, port, traffic, unknown };

struct Endpoint {
  std::string address;                ///< "192.168.77.2", "fd77::1", GID text, or "lid 5"
  std::optional<std::uint16_t> port;  ///< TCP port, or the port of the RDMA IP CM header / service ID
  std::optional<std::uint32_t> qpn;   ///< 24 bits; never on iWARP
  std::uint8_t network = 0;           ///< which of several VLANs or tunnels that use the address; the same at both ends
  /// The GID or LID that its packets name, where `address` is an IP address that stands in a REQ; else empty.
  std::string fabric;
};

struct EventBase {
  ConnectionId connection = 0;
  Side side = Side::active;  ///< who did it (sent the message, issued the operation, refused, acknowledged)
  FrameRef frame;            ///< where the thing starts
  /// InfiniBand: what its side sent later stands here already, or behind here a NAK shows it; number 0: neither.
  FrameRef overtaken_in;

  /// By then it had been sent, or may have been.
  [[nodiscard]] FrameRef sent_by() const noexcept {
    return overtaken_in.number != 0 && overtaken_in.number < frame.number ? overtaken_in : frame;
  }
};

/// Consumer private data of one handshake message (RFC 8797 section 5.2; the RDMA IP CM header and the MPA enhanced
/// word are already stripped).
struct PrivateDataArea {
  Bytes octets;                   ///< as captured
  std::uint32_t wire_length = 0;  ///< length of the area on the wire
  bool exact_length = false;      ///< MPA: the sender gave this length. IB: fixed size, zero padded
};

/// Handshake numbers; absent where the message has no such field.
struct Depths {
  std::optional<std::uint32_t> responder_resources;  ///< inbound READs accepted by the sender (IB) / IRD (MPA rev 2)
  std::optional<std::uint32_t> initiator_depth;      ///< outbound READs wanted by the sender (IB) / ORD
  std::optional<std::uint32_t> rnr_retry;            ///< IB: 0..7, how often the *receiver* of this message may retry
  std::optional<std::uint32_t> retry_count;
};

/// REQ, or MPA Request frame. Always the first event of its connection. Repeated REQs are folded.
struct ConnectRequest : EventBase {
  Transport transport = Transport::rocev2;
  Endpoint client;
  Endpoint server;  ///< qpn not yet known
  FrameRef opened;  ///< first frame of the connection (iWARP: the SYN if captured, else the MPA Request)
  PrivateDataArea private_data;
  Depths depths;
  std::optional<std::uint64_t> service_id;  ///< IB only
  // iWARP only
  std::uint8_t mpa_revision = 0;
  std::uint8_t mpa_flags = 0;  ///< M 0x80, C 0x40, R 0x20, S 0x10
};

/// REP, or MPA Reply without R. `server.qpn` is now known.
struct ConnectReply : EventBase {
  Endpoint server;
  PrivateDataArea private_data;
  Depths depths;
  std::uint8_t mpa_revision = 0;
  std::uint8_t mpa_flags = 0;
};

/// REJ, or MPA Reply with R. The epoch is over.
struct ConnectReject : EventBase {
  std::uint16_t reason = 0;  ///< IB REJ reason; 0: the capture was cut before it, or iWARP, where none is given
  PrivateDataArea private_data;
};

/// MRA of the server: it has the REQ, and its answer will take some time. Only the first one, and only in front of the
/// answer.
struct RequestReceipt : EventBase {};

/// Who says that something reaches nobody.
enum class ReportBy : std::uint8_t {
  server,
  another  ///< a router, a firewall
};

/// ICMP about the REQ (RoCEv2): nobody there takes it. Who says so need not be the server. Only the first one, and only
/// in front of the answer; the REQ may be repeated, and answered after all.
struct RequestUndelivered : EventBase {
  ReportBy by = ReportBy::server;
};

/// RTU, or the first data of the active side in front of which none stands; the RTU may come behind it all the same.
struct ConnectReady : EventBase {
  bool message_seen = false;  ///< an RTU was captured (IB)
  PrivateDataArea private_data;
};

/// A connection whose handshake is not in the capture, found from its traffic. First event of its connection.
/// Also used for half a connection (one_way): then only one side's events follow.
struct Adopted : EventBase {
  Transport transport = Transport::rocev2;
  Endpoint client;
  Endpoint server;
  RolesFrom roles_from = RolesFrom::unknown;
  bool one_way = false;
};

/// The end of an epoch, or a step towards it. DREQ, DREP, FIN and RST may each be reported; the first one tells who
/// and how.
struct Disconnect : EventBase {
  enum class How : std::uint8_t {
    request,
    reply,
    fin,
    reset,
    superseded,  ///< the same QPN pair or TCP ports began a new epoch without a close in the capture
    unseen,      ///< after a long silence they count from elsewhere: a new epoch, or this one, behind what the capture
                 ///< lacks; or there was no room to follow it. What still comes is adopted as a connection of its own
  } how = How::request;
  PrivateDataArea private_data;  ///< of DREQ / DREP
  bool shown_by_peer = false;    ///< a FIN that is not in the capture: in `frame` its peer acknowledges it
};
/// Not by this connection's own word.
[[nodiscard]] constexpr bool by_what_follows(Disconnect::How how) noexcept {
  return how == Disconnect::How::superseded || how == Disconnect::How::unseen;
}

/// One complete RDMA Send (zero-length RTR operations of iWARP are not reported as Sends).
struct Send : EventBase {
  Bytes octets;                   ///< as captured, contiguous from the start; may be shorter than wire_length
  std::uint32_t wire_length = 0;  ///< octets of the message on the wire, without pad and ICRC
  std::optional<std::uint32_t> invalidated;  ///< handle of Send With Invalidate
  bool immediate = false;
  bool holes = false;          ///< a packet in the middle is missing from the capture: wire_length is a lower bound
  FrameRef last;               ///< frame of the last packet (frame: of the first one)
  std::uint64_t ordinal = 0;   ///< counts this side's Sends, from 1
  std::uint64_t sequence = 0;  ///< position in this side's request order: unwrapped PSN, or TCP stream offset
};

/// InfiniBand: a Send has come to its end, and waits for others: Send, or Repeated, comes later. For who shows frames
/// as they come. Of one packet, or, where its connection is not known yet (0, and the side means nothing), of several
/// of which none is missing.
struct HeldSend : EventBase {
  std::uint32_t flow = 0;         ///< without a connection: which way it goes, by a number of its own
  Bytes octets;                   ///< as captured
  std::uint32_t wire_length = 0;  ///< octets of the message on the wire, without pad and ICRC
};

/// A packet (FPDU) of a Send that is not its last one: the Send itself follows.
struct SendPart : EventBase {
  std::uint64_t ordinal = 0;  ///< that of the Send
};

/// One packet (FPDU) of an RDMA Write. `op` joins the packets of one Write.
struct Write : EventBase {
  std::uint64_t op = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;     ///< where this packet's octets go
  std::uint32_t length = 0;     ///< of this packet, on the wire, without pad
  std::uint64_t announced = 0;  ///< IB: DMA length of the whole Write, on each of its packets; iWARP: 0
  Bytes octets;                 ///< as captured
  bool first = false;           ///< first packet of the Write
  bool last = false;            ///< last packet
  std::uint64_t sequence = 0;
};

/// `handle`/`offset`/`length` name the memory of the *other* side that is to be read (iWARP: source STag, source TO).
/// A resumed READ (retransmission with advanced address) is not reported again.
struct ReadRequest : EventBase {
  std::uint64_t op = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t sequence = 0;
};

/// One packet of the answer to ReadRequest `op`; `side` is the owner of the memory that was read.
/// handle/offset are translated back to the memory that was read, also on iWARP.
struct ReadResponse : EventBase {
  std::uint64_t op = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  Bytes octets;
  bool last = false;  ///< the whole request has been answered
};

/// InfiniBand: an atomic operation on eight octets of the *other* side's memory, which RPC-over-RDMA never uses.
struct Atomic : EventBase {
  std::uint64_t op = 0;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
};

/// NAK, RNR NAK or Terminate sent by `side` about something the other side sent.
struct Refusal : EventBase {
  enum class Kind : std::uint8_t {
    nak_sequence,        ///< IB 0x60: loss on the fabric, the sender restarts
    rnr,                 ///< IB RNR NAK
    invalid_request,     ///< IB NAK 0x61
    remote_access,       ///< IB NAK 0x62
    remote_operational,  ///< IB NAK 0x63
    nak_other,
    terminate,  ///< iWARP
  } kind = Kind::nak_other;
  enum class Refused : std::uint8_t { unknown, send, write, read, atomic, nothing } refused = Refused::unknown;
  FrameRef refused_frame;            ///< frame of the refused packet (number 0: not known)
  std::uint64_t refused_op = 0;      ///< op of what is no Send, ordinal of the Send (also if it never completed)
  std::uint32_t refused_length = 0;  ///< octets of the refused Send as far as seen
  // Terminate, as it stands on the wire; siw packs layer and type the other way round (see linux-behaviour 8.2)
  std::uint8_t layer = 0;
  std::uint8_t etype = 0;
  std::uint8_t ecode = 0;
  bool truncated = false;  ///< the Terminate's control word is not in the capture
};

/// `side` is proven to have received (not necessarily processed) every Send of the other side up to `ordinal`.
/// Only reported when it advances.
struct Acknowledged : EventBase {
  std::uint64_t ordinal = 0;
};

/// What `side` sent, and the other side is proven or presumed to have got, cannot be known from the capture.
struct Gap : EventBase {
  enum class Kind : std::uint8_t {
    missing,   ///< it is not there
    headless,  ///< an FPDU whose header is not whole in the capture: cut by the snap length, or with a hole
    unaligned  ///< it is there, in front of `frame`, and where its FPDUs begin is not known
  } kind = Kind::missing;
  std::uint64_t count = 0;  ///< packets (IB) or octets (TCP)
  bool proven = false;      ///< the receiver acknowledged them
};

/// A packet that was seen before. Never reaches the other events again.
struct Repeated : EventBase {
  enum class Kind : std::uint8_t {
    retransmission,     ///< the transport sent it again
    capture_duplicate,  ///< the capture holds the same frame twice (mirror port, two taps)
    handshake,          ///< a CM message sent again
    handshake_copy,     ///< a CM message that the capture holds twice
  } kind = Kind::retransmission;
  bool rest = false;  ///< of what an earlier frame began to send again, over iWARP: no repetition of its own
};

/// Anything about the capture's quality that belongs to no message. connection is 0 where no connection is meant.
struct Quality : EventBase {
  enum class Kind : std::uint8_t {
    frame_truncated,  ///< caplen < wire length, in a frame that carries RDMA
    checksum_bad,     ///< ICRC or MPA CRC32c
    reordered,        ///< packets of this side changed places: PSN order differs from file order
    late,             ///< packets of this side stand in the file behind what its peer answered to them
    shuffled,         ///< that, and answers of some side changed places with its own requests
    time_backwards,
    input_lost,     ///< what was captured in front of this frame could not be read: anything may have been sent
    immediate,      ///< data that RPC-over-RDMA never uses (rule unexpected-opcode)
    limit_reached,  ///< an explicit bound on state was met; what it held is no longer judged
    mpa_bad,        ///< MPA stream lost its FPDU alignment, or a header that cannot be
    mpa_cut,        ///< the snap length took a length word or an MPA key: where the next FPDU begins is not known
    resent,         ///< lost in front of the capture, and sent again: it stands behind what this side sent later
    unplaced,       ///< an InfiniBand packet whose own header was cut: whose it is, is not known
  } kind = Kind::frame_truncated;
};

/// A step of opening a TCP connection to a service port, or to an address and port that spoke MPA in this capture.
/// connection is 0. What comes of it is a connection when ConnectRequest::opened is the frame of `request`. Where an
/// address and port turn out to speak MPA, what went there before is told then: late, with its own frames.
struct TcpAttempt : EventBase {
  enum class Step : std::uint8_t {
    request,   ///< SYN; after `refused` the same SYN is a new attempt
    repeated,  ///< the same SYN again, with no answer of the server between
    accepted,  ///< SYN and ACK, the first, or where the capture lacks it what the client says behind it
    unheard,   ///< behind that the SYN comes again, or its answer, and the client has not confirmed it; when it does,
               ///< `accepted` is told again
    refused,   ///< RST in answer to the SYN
    unreachable,  ///< ICMP: nobody there to take it. The SYN may be repeated
    unreadable,   ///< the server sent octets, and the capture lacks them, or cut them before it could be told what they
                  ///< are
    withdrawn,    ///< the client ends TCP, which is up, and has sent no octet, or goes on with what was open before
  } step = Step::request;
  ReportBy by = ReportBy::server;  ///< of `unreachable`
  Endpoint client;
  Endpoint server;
  FrameRef request;  ///< first SYN of this attempt; number 0: not in the capture (then only `accepted` is told)
};

/// What is known of one direction when its connection ends, or the capture: told once for each side, the active one
/// first, before the first Disconnect or ConnectReject, or from finish(); and again behind a FIN whose sender had
/// repeated itself in vain. What comes behind a close is not in it, the frame of the close is. `frame` is that frame,
/// or the last one of the capture.
struct Liveness : EventBase {
  FrameRef heard;          ///< newest frame of this side, bare acknowledgements and CM messages as well; number 0: none
  FrameRef acknowledging;  ///< newest one that acknowledges something, as each segment of TCP does; number 0: none
  /// Oldest packet that the other side has not acknowledged; number 0: none. A READ until its last response, an
  /// unanswered REQ or REP, any TCP octet. Where too much is under way to be remembered: the oldest that is.
  FrameRef unacknowledged;
  FrameRef first_copy;    ///< first transmission, or first known, of what is sent again
  FrameRef first_repeat;  ///< oldest repeat of it
  FrameRef last_copy;     ///< newest repeat of it
  FrameRef denied;        ///< newest frame in which the other side says that it has not taken just that; number 0: none
  enum class Denial : std::uint8_t {
    lacks,      ///< it asks for it: NAK, any segment of TCP
    not_ready,  ///< it came, and there was no Receive: RNR NAK
  } denial = Denial::lacks;
  /// Newest frame in which the other side acknowledges more of what this side sent before its first packet in the
  /// capture; number 0: none, or the acknowledgements do not tell.
  FrameRef before_capture;
  std::uint64_t copies = 0;  ///< repeats since the acknowledgement last moved, `first_copy` not counted; 0: none
  /// Those since the other side was heard last. Who is silent since the first repeat is not there.
  struct Unheard {
    FrameRef first;         ///< transmission
    FrameRef first_repeat;  ///< of that; the newest is `last_copy`
    FrameRef behind;        ///< newest frame of the other side by then
    std::uint64_t copies = 0;
  } unheard;
  std::uint64_t amount = 0;   ///< packets (requests and READ responses), octets (TCP) that this side sent, as seen
  std::uint64_t missing = 0;  ///< those the capture lacks
  std::uint64_t places = 0;   ///< in so many gaps
  FrameRef window_closed;     ///< TCP: since this segment this side says that it can take nothing; number 0: it can
  /// In which networks its packets were seen, where those have a name: "VLAN 10", "VLAN 10, VXLAN 5001".
  std::vector<std::string> networks;
};

/// NFS over TCP without RDMA between two addresses: told once a pair, from finish(). connection is 0. Not for NULL
/// alone, which clients of NFS over RDMA call over TCP to set up security contexts.
struct NfsOverTcp : EventBase {  // frame: the first of them
  Endpoint client;               ///< no port: there may be several connections
  Endpoint server;
  std::uint64_t frames = 0;  ///< that carry octets of such connections, either way
};

/// Somebody is there: newest frame over IP that is not RoCE. Told once an address, from finish(), before what is told
/// of it. connection is 0. Without an address: of more addresses than are told one by one, the newest.
struct Sighted : EventBase {
  std::string address;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const ConnectRequest&) = 0;
  virtual void on(const ConnectReply&) = 0;
  virtual void on(const ConnectReject&) = 0;
  virtual void on(const RequestReceipt&) = 0;
  virtual void on(const RequestUndelivered&) = 0;
  virtual void on(const Sighted&) = 0;
  virtual void on(const ConnectReady&) = 0;
  virtual void on(const Adopted&) = 0;
  virtual void on(const Disconnect&) = 0;
  virtual void on(const Send&) = 0;
  virtual void on(const SendPart&) = 0;
  virtual void on(const Write&) = 0;
  virtual void on(const ReadRequest&) = 0;
  virtual void on(const ReadResponse&) = 0;
  virtual void on(const Refusal&) = 0;
  virtual void on(const Acknowledged&) = 0;
  virtual void on(const Gap&) = 0;
  virtual void on(const Repeated&) = 0;
  virtual void on(const Quality&) = 0;
  virtual void on(const TcpAttempt&) {}
  virtual void on(const Liveness&) {}
  virtual void on(const NfsOverTcp&) {}
  virtual void on(const HeldSend&) {}
  virtual void on(const Atomic&) {}

 protected:
  EventSink() = default;
  EventSink(const EventSink&) = default;
  EventSink& operator=(const EventSink&) = default;
};

}  // namespace rpcrdma::trace
