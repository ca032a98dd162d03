// SPDX-License-Identifier: GPL-2.0-or-later
// The referee of NFS over RDMA for programs of your own: frames in, facts and findings out.
//
//   rpcrdma::Judge judge;
//   judge.frame({time_ns, rpcrdma::ethernet, octets, captured, length});   // each frame, in the order of the capture
//   rpcrdma::Report report;
//   judge.finish(report);
//
// No exception leaves these functions; each says how it went. Nothing here prints, reads a clock or holds a global. One
// Judge is one trace: it is used by one thread at a time, and several of them share nothing. Link rpcrdma::rpcrdma
// (CMake: find_package(rpcrdma)). The API is documented here and may grow; no ABI is promised: build against the
// version that is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rpcrdma {

/// How a call went. After anything but `ok` (and `finished`) the Judge is of no further use.
enum class Status : std::uint8_t {
  ok,
  finished,  ///< finish() was called before; nothing was done
  out_of_memory,
  callback_failed,  ///< a function of the caller's threw
  failed            ///< a defect of this library
};
[[nodiscard]] std::string_view text(Status status) noexcept;

/// Link-layer header types, by the numbers that pcap files use (LINKTYPE_...). Others can be given as well: what cannot
/// be opened is counted, and said among `Report::unchecked`. What pcap_datalink() says is another number for some.
inline constexpr std::uint32_t null_loopback = 0, ethernet = 1, raw_ip = 101, loop = 108, linux_sll = 113, erf = 197,
                               ipv4 = 228, ipv6 = 229, infiniband = 247, linux_sll2 = 276;

struct Frame {
  std::int64_t time = 0;                 ///< ns since the Unix epoch
  std::uint32_t link_type = ethernet;    ///< of the first octet
  const std::uint8_t* octets = nullptr;  ///< as captured; read during the call only
  std::size_t captured = 0;              ///< how many octets there are
  std::uint32_t length = 0;              ///< how long the frame was on the wire; more than `captured` where it was cut
};

enum class Severity : std::uint8_t { note, warning, error };
enum class Kind : std::uint8_t {
  violation,  ///< somebody broke a rule of the protocol
  symptom,    ///< what a user feels: a Call that hangs, a mount that never came up
  habit,      ///< legal, and worth knowing
  capture     ///< of the capture itself: what is missing, cut, twice
};
enum class Party : std::uint8_t { unknown, client, server };

struct Finding {
  std::string rule;   ///< "inline-threshold-exceeded": stable; docs/rules has a page on each
  std::string title;  ///< of the rule, in a few words
  Severity severity = Severity::note;
  Kind kind = Kind::violation;
  std::uint32_t connection = 0;       ///< Connection::id; 0: the capture as a whole
  std::vector<std::uint64_t> frames;  ///< from 1 in the order given to frame(): the offending one, then the evidence
  std::int64_t time = 0;              ///< of the offending frame, ns since the Unix epoch
  std::optional<std::uint32_t> xid;   ///< of the RPC transaction
  Party violator = Party::unknown;
  std::string message;      ///< what happened, with numbers
  std::string source;       ///< which sentence of which specification
  std::string next;         ///< what to look at next
  std::uint64_t times = 1;  ///< how often, when several are told as one
};

struct Endpoint {
  std::string address;
  std::optional<std::uint16_t> port;
  std::optional<std::uint32_t> qpn;
};

/// What is not known is empty, never zero. All there is to know of it stands in Report::json.
struct Connection {
  std::uint32_t id = 0;   ///< from 1, by first appearance
  std::string transport;  ///< "rocev2", "rocev1", "infiniband" or "iwarp"
  Endpoint client, server;
  bool open = true;                                                 ///< at the end of the capture
  std::optional<std::uint32_t> version;                             ///< of RPC-over-RDMA
  std::optional<std::uint32_t> client_to_server, server_to_client;  ///< inline thresholds, octets (RFC 8166, 3.3.2)
  std::optional<std::uint32_t> credits_requested, credits_granted;  ///< the last values
  std::uint64_t calls = 0, replies = 0;
  std::optional<double> median_us, p99_us;  ///< from Call to Reply
};

enum class State : std::uint8_t { unknown, never_up, down, closed, waiting, working };

/// One client and one server with every connection and every attempt between them.
struct Mount {
  std::uint32_t id = 0;
  std::string client, server;  ///< addresses
  State state = State::unknown;
  std::string sentence;  ///< what happened to it
  std::string next;      ///< what to look at; empty: nothing
  std::vector<std::uint32_t> connections;
};

/// What could not be judged, and why. Absence of a finding means nothing for these.
struct Unchecked {
  std::string rule;
  std::uint32_t connection = 0;
  std::string reason;
};

struct Report {
  State state = State::unknown;  ///< of the worst mount
  std::string sentence;          ///< what every report begins with
  std::vector<Mount> mounts;
  std::vector<Connection> connections;  ///< empty, as the next two, when Options::on_finding was given
  std::vector<Finding> findings;        ///< by frame
  std::vector<Unchecked> unchecked;
  bool any_rpcrdma = false;  ///< false: no RPC-over-RDMA in these frames
  bool judged = false;       ///< false: too little of it to judge anything
  std::string json;          ///< with Options::json: everything, as `rpcrdma-analyzer --json` prints it
};

struct Options {
  std::vector<std::uint16_t> service_ports{20049};
  double wait_seconds = 5;           ///< the shortest wait that is a symptom
  double pull_timeout_seconds = 60;  ///< how long a pull completion may take
  bool check_crc = false;            ///< ICRC and MPA CRC of every packet, not only of the first ones of a connection
  bool json = false;                 ///< fill Report::json
  /// For a program that never ends: findings, connections that are over and what was unchecked are told as soon as they
  /// are certain, from within frame() and finish(), and then forgotten. The Judge must not be called from there.
  std::function<void(const Finding&)> on_finding;
  std::function<void(const Connection&)> on_connection;
  std::function<void(const Unchecked&)> on_unchecked;
};

class Judge {
 public:
  explicit Judge(Options options = {}) noexcept;
  ~Judge();
  Judge(Judge&& other) noexcept;
  Judge& operator=(Judge&& other) noexcept;

  /// Frames are numbered from 1 in the order in which they come.
  [[nodiscard]] Status frame(const Frame& frame) noexcept;

  /// End of the capture: what is still open is judged, and everything handed over. Once.
  [[nodiscard]] Status finish(Report& report) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  ///< null: there was no memory for it, or it was moved from
};

/// One row of the table of rules.
struct Rule {
  std::string_view name, title, explanation, evidence, next, source;
  Severity severity = Severity::note;  ///< the most that a finding of it says
  Kind kind = Kind::violation;
};
/// By number from 0; empty behind the last.
[[nodiscard]] std::optional<Rule> rule(std::size_t number) noexcept;

/// "0.1.0"
[[nodiscard]] std::string_view version() noexcept;

}  // namespace rpcrdma
