// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_connection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/names.hpp"
#include "report/quantity.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::report {
namespace {

using referee::ConnectionFacts;

std::string spoken(const std::optional<referee::PrivateData>& data, const ConnectionFacts& c) {
  if (!data) {
    if (!c.handshake_seen) return "private data not in the capture";
    if (c.version == 2) return "no private data of version 1, which version 2 does not need";
    return c.thresholds.basis == referee::Basis::unknown
               ? "private data not known"
               : "no usable private data: counts as 1,024 octets and no remote invalidation";
  }
  std::string out =
      fmt::format("sends up to {}, receives up to {} octets, {} remote invalidation (private data version {}",
                  grouped(data->send_size), grouped(data->receive_size),
                  data->remote_invalidation ? "supports" : "does not offer", data->version);
  if (data->offset != 0) fmt::format_to(std::back_inserter(out), " at offset {}", data->offset);
  if (data->reserved != 0) fmt::format_to(std::back_inserter(out), ", reserved bits 0x{:02x}", data->reserved);
  fmt::format_to(std::back_inserter(out), ", frame {})", data->frame);
  return out;
}

std::string spoken(const ConnectionFacts& c) {
  const referee::Thresholds& t = c.thresholds;
  const auto side = [](const std::optional<std::uint32_t>& octets) {
    return octets ? grouped(*octets) + " octets" : std::string("unknown");
  };
  std::string_view why;
  switch (t.basis) {
    case referee::Basis::negotiated:
      why = "negotiated";
      break;
    case referee::Basis::default_:
      why = c.version == 2 ? "the default of version 2, for want of properties of both sides"
                           : "the default, for want of private data";
      break;
    case referee::Basis::unknown:
      why = c.handshake_seen ? "one side's private data is not known" : "the handshake is not in the capture";
      break;
  }
  return fmt::format("client to server {}, server to client {} ({})", side(t.client_to_server),
                     side(t.server_to_client), why);
}

/// The dialogue about the version, told in order.
std::string spoken(const referee::Negotiation& n, bool from_the_beginning, Epoch epoch) {
  if (!from_the_beginning && !n.refused) {
    const bool server_first = n.answer.number != 0 && (n.probe.number == 0 || n.answer.number < n.probe.number);
    const std::string first = place(server_first ? n.answer : n.probe, epoch);
    if (n.answer.number == 0) {
      return fmt::format(
          "the client speaks version 2 (first seen in {}); nothing of the server in it is in the capture", first);
    }
    return fmt::format("the connection speaks version 2 (first seen in {})", first);
  }
  std::string out = fmt::format("the client {} version 2 ({}, {})", from_the_beginning ? "began with" : "sent",
                                n.probe_type.empty() ? "an unknown header type" : n.probe_type, place(n.probe, epoch));
  if (n.answer.number == 0) return out + "; no answer to it is in the capture";
  if (!n.refused) {
    return out + fmt::format("; the server took it up ({}), so both keep to version 2", place(n.answer, epoch));
  }
  out += "; the server refused it with ERR_VERS";
  if (n.lowest != 0 && n.lowest == n.highest) {
    fmt::format_to(std::back_inserter(out), ", as it speaks version {} only", n.lowest);
  } else if (n.highest != 0) {
    fmt::format_to(std::back_inserter(out), ", as it speaks versions {} to {}", n.lowest, n.highest);
  }
  fmt::format_to(std::back_inserter(out), " ({})", place(n.answer, epoch));
  if (n.went_on.number == 0) return out + "; nothing in version 1 followed on this connection";
  return out + fmt::format("; the connection went on with version 1 ({})", place(n.went_on, epoch));
}

std::string spoken(const ConnectionFacts::Credits& credits) {
  // Version 2 counts what may still be sent: no message says how many that are.
  std::string out;
  if (credits.requested) fmt::format_to(std::back_inserter(out), "{} requested, ", grouped(*credits.requested));
  if (credits.granted) fmt::format_to(std::back_inserter(out), "{} granted, ", grouped(*credits.granted));
  if (credits.requested && !credits.granted) out += "no grant seen, ";
  fmt::format_to(std::back_inserter(out), "at most {} outstanding", counted(credits.outstanding_peak, "call"));
  if (credits.stalls != 0) out += ", " + counted(credits.stalls, "stall");
  return out;
}

/// "3 NAKs, 1 RNR NAK": only what there was.
std::string present(const std::vector<std::pair<std::uint64_t, std::string_view>>& amounts) {
  std::string out;
  for (const auto& [number, noun] : amounts) {
    if (number == 0) continue;
    if (!out.empty()) out += ", ";
    out += counted(number, noun);
  }
  return out;
}

std::string messages(const ConnectionFacts::Messages& m) {
  std::string out =
      fmt::format("{}, {}", counted(m.calls, "call"), grouped(m.replies) + (m.replies == 1 ? " reply" : " replies"));
  if (m.reverse_calls != 0 || m.reverse_replies != 0) {
    fmt::format_to(std::back_inserter(out), "; reverse direction {}, {} answered", counted(m.reverse_calls, "call"),
                   grouped(m.reverse_replies));
  }
  std::string kinds;
  const auto kind = [&](std::uint64_t number, std::string_view noun) {
    if (number == 0) return;
    fmt::format_to(std::back_inserter(kinds), "{}{} {}", kinds.empty() ? "" : ", ", grouped(number), noun);
  };
  kind(m.rdma_msg, wire::proc_name(wire::Proc::msg));
  kind(m.rdma_nomsg, wire::proc_name(wire::Proc::nomsg));
  kind(m.rdma_msgp, wire::proc_name(wire::Proc::msgp));
  kind(m.rdma_done, wire::proc_name(wire::Proc::done));
  kind(m.rdma_error, wire::proc_name(wire::Proc::error));
  for (const auto& [htype, number] : m.v2) kind(number, htype);
  if (!kinds.empty()) fmt::format_to(std::back_inserter(out), " ({})", kinds);
  return out;
}

std::string operations(const ConnectionFacts& c) {
  const auto& o = c.operations;
  std::string out = counted(o.sends, "Send");
  if (o.sends_with_invalidate != 0)
    fmt::format_to(std::back_inserter(out), " ({} with invalidate)", grouped(o.sends_with_invalidate));
  const auto moved = [&](std::uint64_t number, std::string_view noun, std::uint64_t octets) {
    if (number == 0) return;
    fmt::format_to(std::back_inserter(out), ", {} of {}", counted(number, noun), counted(octets, "octet"));
  };
  moved(o.reads, "Read", o.read_bytes);
  moved(o.writes, "Write", o.write_bytes);
  const std::string trouble =
      present({{o.naks, "NAK"}, {o.rnr_naks, "RNR NAK"}, {o.retransmitted, "retransmitted packet"}});
  if (!trouble.empty()) out += "; " + trouble;
  return out;
}

std::string latency(const referee::Latency& l) {
  if (l.count == 1) return "1 call: " + duration(l.max);
  return fmt::format("{}: median {}, 90% {}, 99% {}, worst {}", counted(l.count, "call"), duration(l.p50),
                     duration(l.p90), duration(l.p99), duration(l.max));
}

void procedures(Page& page, const ConnectionFacts& c, bool verbose) {
  if (c.procedures.empty()) return;
  std::vector<const referee::ProcedureFacts*> order;
  for (const auto& p : c.procedures) order.push_back(&p);
  if (verbose) {
    for (const auto* p : order) {
      std::string line = fmt::format("{}: {}", p->name, counted(p->calls, "call"));
      if (p->latency.count != 0) {
        fmt::format_to(std::back_inserter(line), ", median {}, 99% {}", duration(p->latency.p50),
                       duration(p->latency.p99));
      }
      std::string operations;
      for (const auto& [operation, count] : p->operations) {
        fmt::format_to(std::back_inserter(operations), "{}{} {}", operations.empty() ? "" : ", ", operation,
                       grouped(count));
      }
      if (!operations.empty()) line += "; operations " + operations;
      page.field(p == order.front() ? "procedures" : "", line);
    }
    return;
  }
  // The busiest ones; -v shows all with their times.
  constexpr std::size_t shown = 8;
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->calls > b->calls; });
  std::string line;
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i) {
    fmt::format_to(std::back_inserter(line), "{}{} {}", i == 0 ? "" : ", ", order[i]->name, grouped(order[i]->calls));
  }
  if (order.size() > shown) fmt::format_to(std::back_inserter(line), " and {} more", grouped(order.size() - shown));
  page.field("procedures", line);
}

std::string peers(const ConnectionFacts& c) {
  std::string text = fmt::format("client {}, server {}", report::spoken(c.client), report::spoken(c.server));
  switch (c.roles_from) {
    case trace::RolesFrom::handshake:
      break;
    case trace::RolesFrom::port:
      return text + "; roles told by the port";
    case trace::RolesFrom::traffic:
      return text + "; roles told by the traffic";
    case trace::RolesFrom::unknown:
      return text + "; which of them is the client is not known";
  }
  return text;
}

/// What the capture lacks of it; empty: nothing.
std::string lacks(const ConnectionFacts& c) {
  std::vector<std::string> parts;
  if (c.one_way) parts.emplace_back("only one direction was captured");
  if (c.gaps != 0) {
    parts.push_back(counted(c.gaps, c.transport == trace::Transport::iwarp ? "octet" : "packet") + " missing");
  }
  if (c.sends_unrecognised != 0) parts.push_back(counted(c.sends_unrecognised, "Send") + " not RPC-over-RDMA");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string spoken(const referee::Cause& cause) {
  std::string_view message = cause.message;
  if (message.ends_with('.')) message.remove_suffix(1);
  std::string text =
      fmt::format("{} ({}, {})", message, referee::rule(cause.rule).name, cause.proven ? "proven" : "probable");
  if (!cause.frames.empty()) text += "; frames " + listed(cause.frames, 8);
  return text;
}

}  // namespace

std::string_view spoken(trace::Transport transport) {
  switch (transport) {
    case trace::Transport::rocev2:
      return "RoCEv2";
    case trace::Transport::rocev1:
      return "RoCEv1";
    case trace::Transport::infiniband:
      return "InfiniBand";
    case trace::Transport::iwarp:
      return "iWARP";
  }
  return "RoCEv2";
}

std::string spoken(const trace::Endpoint& end) {
  std::string out = end.address.empty() ? "unknown address" : end.address;
  if (end.port) {
    const bool v6 = out.find(':') != std::string::npos;
    out = v6 ? fmt::format("[{}]:{}", out, *end.port) : fmt::format("{}:{}", out, *end.port);
  }
  if (end.qpn) fmt::format_to(std::back_inserter(out), " (QP 0x{:06x})", *end.qpn);
  return out;
}

std::string in_networks(const std::vector<std::string>& names) {
  return names.empty() ? std::string() : fmt::format(", in {}", fmt::join(names, " and "));
}

std::string ending(const ConnectionFacts& c, Epoch epoch) {
  using How = referee::Closed::How;
  if (!c.closed && !established(c)) return "not opened, as far as the capture goes";
  if (!c.closed) return "still open when the capture ends";
  const referee::Closed& closed = *c.closed;
  const std::string by = closed.by ? fmt::format(" by the {}", name(*closed.by)) : "";
  std::string out;
  switch (closed.how) {
    case How::disconnect:
      out = "closed in good order" + by;
      break;
    case How::reset:
      out = "reset" + by;
      break;
    case How::terminate:
      out = "terminated" + by;
      break;
    case How::nak:
      out = "ended by a refusal (NAK)" + by;
      break;
    case How::timeout:
      out = "fell silent";
      break;
    case How::superseded:
      out = "replaced by a new connection without a close";
      break;
    case How::unseen:
      out = "not known: it may go on as another connection";
      break;
    case How::refused:
      return "never opened: it was refused";
    case How::unanswered:
      return c.server.qpn ? "never opened: its acceptance was not confirmed" : "never opened: nobody answered";
  }
  if (closed.frame.number != 0) out += ", " + place(closed.frame, epoch);
  return out;
}

bool established(const ConnectionFacts& c) noexcept {
  using How = referee::Closed::How;
  if (c.closed) return c.closed->how != How::refused && c.closed->how != How::unanswered;
  // A request that waits for its answer when the capture ends.
  const bool heard = c.server.qpn || c.private_data_server || c.messages.rdma_msg + c.messages.rdma_nomsg != 0;
  return heard || !c.handshake_seen || c.version;
}

void connection_block(Page& page, const ConnectionFacts& c, Epoch epoch, const TextStyle& style) {
  page.line();
  page.line(fmt::format("Connection {}: {}", c.id, spoken(c.transport)), Ink::bold);
  page.field("peers", peers(c));
  if (!c.networks.empty()) page.field("network", fmt::format("{}", fmt::join(c.networks, " and ")));
  std::string opened = c.opened.number == 0 ? std::string("not seen") : place(c.opened, epoch);
  opened += c.handshake_seen ? "" : "; its handshake is not in the capture";
  if (c.path_mtu) fmt::format_to(std::back_inserter(opened), "; path MTU {}", *c.path_mtu);
  page.field("opened", opened);
  if (c.handshake_seen || c.private_data_client || c.private_data_server) {
    page.field("client", spoken(c.private_data_client, c));
    page.field("server", spoken(c.private_data_server, c));
  }
  const bool negotiated = c.negotiation.probe.number != 0 || (c.version == 2 && c.negotiation.answer.number != 0);
  if (negotiated) page.field("version", spoken(c.negotiation, c.handshake_seen, epoch));
  if (established(c)) page.field("thresholds", spoken(c));
  if (c.credits.requested || c.credits.granted || c.credits.outstanding_peak != 0) {
    page.field("credits", spoken(c.credits));
  }
  const auto& m = c.messages;
  if (m.calls + m.replies + m.reverse_calls + m.reverse_replies + m.rdma_done + m.rdma_error != 0 || !m.v2.empty()) {
    page.field("messages",
               (c.version ? fmt::format("version {}: ", *c.version) : std::string()) + messages(c.messages));
  }
  if (c.operations.sends + c.operations.reads + c.operations.writes != 0) page.field("operations", operations(c));
  if (c.pull_completion.offered != 0) {
    page.field("pulls", fmt::format("{} offered, {} reported complete, {} missing", grouped(c.pull_completion.offered),
                                    grouped(c.pull_completion.completed), grouped(c.pull_completion.missing)));
  }
  const bool timed = c.opened.time != 0;  // a capture without times tells how long nothing took
  if (c.latency.count != 0 && timed) page.field("latency", latency(c.latency));
  procedures(page, c, style.verbose);
  if (c.waiting.calls != 0) {
    page.field("waiting",
               fmt::format("{} without a reply {}; the {} ({})", counted(c.waiting.calls, "call"),
                           c.closed ? "when the connection ended" : "at the end of the capture",
                           timed ? "longest for " + waited(c.waiting) : "oldest", place(c.waiting.oldest, epoch)));
  }
  if (const std::string missing = lacks(c); !missing.empty()) page.field("capture", missing);
  page.field("end", ending(c, epoch));
  if (c.closed && c.closed->cause) page.field("cause", spoken(*c.closed->cause));
}

}  // namespace rpcrdma::report
