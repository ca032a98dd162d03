// SPDX-License-Identifier: GPL-2.0-or-later
// What the referee knows when it is done: facts, findings, and what could not be judged. Sinks read this and nothing
// else. An empty optional means "not known", never "zero".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "referee/packed/list.hpp"
#include "referee/rules/table.hpp"
#include "trace/events.hpp"

namespace rpcrdma::referee {

using trace::ConnectionId;
using trace::FrameRef;
using trace::TimeNs;

enum class Party : std::uint8_t { client, server };
enum class Role : std::uint8_t { requester, responder };

/// Who has to take the next step of a mount that waits, is down or never came up.
enum class Owes : std::uint8_t { nobody, server, client, server_unreachable, client_unreachable, unknown };

struct Finding {
  RuleId rule = RuleId::private_data_absent;
  Severity severity = Severity::note;  ///< at most the rule's
  ConnectionId connection = 0;         ///< 0: the capture as a whole
  std::vector<std::uint64_t> frames;   ///< offending frame first, then the evidence
  TimeNs time = 0;                     ///< of the offending frame
  std::optional<std::uint32_t> xid;
  std::optional<Party> violator;
  std::optional<Role> role;
  std::string message;            ///< for a person: what happened, with numbers
  std::uint64_t occurrences = 1;  ///< notes about habits are folded: how often it was seen
  struct Follows {
    RuleId rule = RuleId{};
    std::uint64_t frame = 0;
  };
  std::optional<Follows> follows;  ///< from another finding of the same connection, by its rule and offending frame
  // Symptoms only
  std::optional<Owes> owes;
  std::vector<ConnectionId> connections;  ///< where, when it is one finding of several connections; else empty
};

struct Unchecked {
  RuleId rule = RuleId::private_data_absent;
  ConnectionId connection = 0;
  std::string reason;
};

/// RFC 8797 fields of one side, sizes in octets.
struct PrivateData {
  std::uint64_t frame = 0;
  std::uint32_t offset = 0;  ///< into the consumer's private data
  std::uint8_t version = 0;
  bool remote_invalidation = false;
  std::uint32_t send_size = 0;
  std::uint32_t receive_size = 0;
  std::uint8_t reserved = 0;  ///< flags octet without R (0 when all is well)
};

enum class Basis : std::uint8_t { negotiated, default_, unknown };

struct Thresholds {
  std::optional<std::uint32_t> client_to_server;
  std::optional<std::uint32_t> server_to_client;
  Basis basis = Basis::unknown;
};

struct Cause {
  RuleId rule = RuleId::connection_lost;
  bool proven = false;
  std::vector<std::uint64_t> frames;
  std::string message;
};

struct Closed {
  /// `refused` and `unanswered`: it was never established.
  enum class How : std::uint8_t {
    disconnect,
    reset,
    terminate,
    nak,
    timeout,
    superseded,
    refused,
    unanswered
  } how = How::disconnect;
  FrameRef frame;
  std::optional<Party> by;
  std::optional<Cause> cause;
};

/// Latencies in microseconds from a log-linear histogram (relative error below 2 %); min and max are exact.
struct Latency {
  std::uint64_t count = 0;
  double min = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};

struct ProcedureFacts {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::string name;  ///< "NFSv3 READ", "NFSv4 COMPOUND", "program 400000 procedure 3"
  std::uint64_t calls = 0;
  Latency latency;
  struct Operation {
    std::string_view name;  ///< of a table
    std::uint64_t count = 0;
  };
  std::vector<Operation> operations;  ///< NFSv4: by name, as far as inline
};

/// What came of a client's first message of version 2 (draft, section 4.3).
struct Negotiation {
  FrameRef probe;          ///< that message; number 0: there is none
  std::string probe_type;  ///< "RDMA2_CONNPROP_FINAL"
  FrameRef answer;         ///< the server's first message of version 2, or its ERR_VERS; number 0: neither
  bool refused = false;    ///< it is ERR_VERS
  std::uint32_t lowest = 0, highest = 0;  ///< which versions ERR_VERS says that the server speaks; 0 and 0: not known
  FrameRef went_on;                       ///< the first message of version 1 after the refusal; number 0: none
};

/// Calls that had no Reply when the connection, or the capture, came to its end.
struct Waiting {
  std::uint64_t calls = 0;
  FrameRef oldest;  ///< the Call that waited longest
  FrameRef until;
};

struct ConnectionFacts {
  ConnectionId id = 0;
  trace::Transport transport = trace::Transport::rocev2;
  trace::Endpoint client;
  trace::Endpoint server;
  std::vector<std::string> networks;  ///< its VLANs and tunnels: "VLAN 10, VXLAN 5001"; several: "there" and "back"
  trace::RolesFrom roles_from = trace::RolesFrom::unknown;
  FrameRef opened;
  bool handshake_seen = false;
  std::optional<Closed> closed;
  std::optional<std::uint32_t> version;
  std::optional<PrivateData> private_data_client;
  std::optional<PrivateData> private_data_server;
  Thresholds thresholds;

  struct Credits {
    std::optional<std::uint32_t> requested;
    std::optional<std::uint32_t> granted;
    std::uint64_t outstanding_peak = 0;
    std::uint64_t stalls = 0;
  } credits;

  struct Messages {
    std::uint64_t calls = 0, replies = 0, reverse_calls = 0, reverse_replies = 0;
    std::uint64_t rdma_msg = 0, rdma_nomsg = 0, rdma_msgp = 0, rdma_done = 0, rdma_error = 0;
    std::map<std::string, std::uint64_t> v2;
  } messages;

  struct Operations {
    std::uint64_t sends = 0, sends_with_invalidate = 0, reads = 0, writes = 0, read_bytes = 0, write_bytes = 0;
    std::uint64_t naks = 0, rnr_naks = 0, retransmitted = 0;
  } operations;

  struct Pull {
    std::uint64_t offered = 0, completed = 0, missing = 0;
  } pull_completion;

  Latency latency;
  std::vector<ProcedureFacts> procedures;  ///< by program, version, procedure

  // For the text report beside the contract
  Negotiation negotiation;
  Waiting waiting;
  std::optional<std::uint32_t> path_mtu;
  bool one_way = false;
  std::uint64_t gaps = 0;                ///< packets (octets on iWARP) that the capture lacks
  std::uint64_t sends_unrecognised = 0;  ///< Sends that are no RPC-over-RDMA
};

void pack(PackedOctets& to, PackedWords& words, const Finding& finding);
void unpack(const std::uint8_t*& from, const PackedWords& words, Finding& into);
void pack(PackedOctets& to, PackedWords& words, const ConnectionFacts& facts);
void unpack(const std::uint8_t*& from, const PackedWords& words, ConnectionFacts& into);

/// Where the time of an answered Call went, as the tap saw it.
struct CallTimes {
  trace::TimeNs whole = 0;            ///< from the Call's first packet to the Reply's last one
  std::optional<trace::TimeNs> pull;  ///< from the Call to the last Read response for it; empty: there was none
  trace::TimeNs server = 0;           ///< from the Call, or the end of the pull, to the first packet of its answer
  std::optional<trace::TimeNs> push;  ///< from the first Write to the Reply's last packet; empty: there was none
  std::uint64_t octets = 0;           ///< of Call and Reply, with what travelled by RDMA
};

/// One kind of operation of a mount, by the name that mountstats uses. Times in microseconds.
struct OperationTimes {
  std::string name;          ///< "READ", "COPY", "NFSv3 READ" only where two versions share the mount
  std::uint64_t calls = 0;   ///< answered ones
  std::uint64_t octets = 0;  ///< of Calls and Replies, with what travelled by RDMA
  Latency latency;
  std::optional<double> pull_p50;    ///< from the Call to the last Read response for it
  std::optional<double> server_p50;  ///< from the Call, or the end of the pull, to the first packet of its answer
  std::optional<double> push_p50;    ///< from the first Write to the Reply's last packet
};

/// One client address and one server address with everything between them: every connection, and every attempt that
/// became none.
struct MountFacts {
  enum class State : std::uint8_t { unknown, never_up, down, closed, waiting, working };
  /// Is it known which of the two is the client?
  enum class Roles : std::uint8_t { known, guessed };

  struct Attempts {
    std::uint64_t made = 0, established = 0, refused = 0, unanswered = 0;
    std::uint64_t only_tcp = 0;  ///< of the unanswered ones: TCP was taken, and nothing asked for
    void add(const Attempts& more) noexcept {
      made += more.made;
      established += more.established;
      refused += more.refused;
      unanswered += more.unanswered;
      only_tcp += more.only_tcp;
    }
  };
  static constexpr std::string_view operation_not_read = "not read";  ///< in the place of an operation
  struct Waiting {
    std::uint64_t calls = 0;  ///< that have waited that long
    FrameRef frame;           ///< the first copy of the oldest
    std::uint32_t xid = 0;
    std::string operation;
    double seconds = 0;
  };
  struct LongestWait {
    FrameRef frame;  ///< the Call
    FrameRef again;  ///< its newest copy, where that is on another connection; number 0: it is not
    FrameRef reply_frame;
    std::string operation;
    double seconds = 0;
  };
  struct NfsOverTcp {
    std::uint64_t frames = 0;
    FrameRef first;
  };

  std::uint32_t id = 0;  ///< from 1, by first appearance
  std::string client;    ///< addresses
  std::string server;
  Roles roles = Roles::known;
  std::vector<ConnectionId> connections;  ///< of the report, ascending
  Attempts attempts;
  State state = State::unknown;
  std::optional<FrameRef> since;  ///< the frame from which the state holds
  Owes owes = Owes::unknown;
  std::optional<Waiting> waiting;
  std::optional<LongestWait> longest_wait;
  std::vector<OperationTimes> operations;  ///< by calls times median, the most costly first
  std::optional<NfsOverTcp> nfs_over_tcp;
  bool nothing_done = false;  ///< it is up, and nothing that was asked of it has been done
  std::string sentence;       ///< what happened to the mount
  std::string next;           ///< what to look at; empty: nothing
};

/// As the reports write it.
[[nodiscard]] constexpr std::string_view name(MountFacts::State state) noexcept {
  switch (state) {
    case MountFacts::State::unknown:
      break;
    case MountFacts::State::never_up:
      return "never-up";
    case MountFacts::State::down:
      return "down";
    case MountFacts::State::closed:
      return "closed";
    case MountFacts::State::waiting:
      return "waiting";
    case MountFacts::State::working:
      return "working";
  }
  return "unknown";
}

/// The sentence that every report begins with, and the state of the worst mount.
struct Verdict {
  MountFacts::State state = MountFacts::State::unknown;
  std::optional<std::uint32_t> mount;  ///< the worst; empty: the capture holds none
  std::string sentence;                ///< of each mount that does not work, a count of the rest, and the rules broken
};

struct Report {
  Verdict verdict;
  std::vector<MountFacts> mounts;           ///< by id
  PackedList<ConnectionFacts> connections;  ///< only those that carry, or were set up for, RPC-over-RDMA; by id
  PackedList<Finding> findings;             ///< by frame
  std::vector<Unchecked> unchecked;
  std::uint64_t rdma_messages = 0;  ///< RPC-over-RDMA messages of all connections
  bool any_rpcrdma = false;         ///< false: nothing here is RPC-over-RDMA (exit status 3)
  bool judged = false;              ///< at least one connection was complete enough to judge something
};

}  // namespace rpcrdma::referee
