// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/ladder_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/quantity.hpp"
#include "wire/fields.hpp"
#include "wire/private_data.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::report {
namespace {

using Kind = LadderRow::Kind;
using List = LadderSegment::List;
using Details = std::vector<std::string>;

constexpr std::size_t one_line = 66;  // columns that a detail has
constexpr std::size_t each_told = 4;  // segments of a chunk

std::string hex(std::uint64_t value, int digits) { return fmt::format("0x{:0{}x}", value, digits); }
std::string memory(std::uint32_t handle, std::uint64_t offset) {
  return fmt::format("handle {}, offset {:#x}", hex(handle, 8), offset);
}

void private_data(const LadderRow& row, Details& out) {
  const wire::PrivateDataSearch search = wire::find_private_data(row.octets, row.length);
  if (!search.found) {
    if (row.kind != Kind::connect_reject) {
      out.emplace_back(search.cut_by_capture ? "private data cut off by the capture" : "no RPC-over-RDMA private data");
    }
    return;
  }
  const wire::PrivateDataFields& found = *search.found;
  out.push_back(
      fmt::format("sends up to {} octets, receives up to {},", grouped(found.send_size), grouped(found.receive_size)));
  out.push_back(fmt::format("{} remote invalidation (private data version {})",
                            found.remote_invalidation ? "supports" : "does not offer", found.version));
}

std::string chunk_name(List list, std::uint32_t number, std::uint32_t position, bool several) {
  if (list == List::read) {
    return position == 0 ? "Position-Zero Read chunk" : fmt::format("{} at position {}", list_name(list), position);
  }
  if (list == List::write && several) return fmt::format("{} {}", list_name(list), number + 1);
  return std::string(list_name(list));
}

void chunks(const LadderRow& row, Details& out) {
  const bool several = std::any_of(row.segments.begin(), row.segments.end(),
                                   [](const auto& s) { return s.list == List::write && s.chunk != 0; });
  for (auto at = row.segments.begin(); at != row.segments.end();) {
    const LadderSegment& first = *at;
    const auto from = at;
    std::uint64_t octets = 0;
    std::size_t segments = 0;
    for (; at != row.segments.end() && at->list == first.list && at->chunk == first.chunk &&
           at->position == first.position;
         ++at) {
      octets += at->target.length;
      ++segments;
    }
    const std::string text =
        fmt::format("{}: {}", chunk_name(first.list, first.chunk, first.position, several), counted(octets, "octet"));
    const std::string where = memory(first.target.handle, first.target.offset);
    if (segments == 1 && text.size() + where.size() + 2 <= one_line) {
      out.push_back(fmt::format("{}, {}", text, where));
    } else if (segments == 1) {
      out.push_back(text + ",");
      out.push_back(where);
    } else if (segments <= each_told) {
      out.push_back(fmt::format("{} in {} segments:", text, segments));
      for (auto each = from; each != at; ++each) {
        out.push_back(fmt::format("{}, {}", counted(each->target.length, "octet"),
                                  memory(each->target.handle, each->target.offset)));
      }
    } else {
      out.push_back(fmt::format("{} in {} segments, the first", text, segments));
      out.push_back(where);
    }
  }
  if (row.segments_left_out != 0) out.push_back(fmt::format("{} more", counted(row.segments_left_out, "segment")));
}

std::string error_v1(const LadderRow& row) {
  wire::HeaderV1 header;
  if (!wire::decode_header_v1(row.octets, row.length, header)) return {};
  const std::string_view name = wire::value_name(wire::Field::error_code, header.error);
  if (header.error == wire::err_vers) {
    return fmt::format("{}: versions {} to {} are supported", name, header.vers_low, header.vers_high);
  }
  return name.empty() ? fmt::format("error code {}", header.error) : std::string(name);
}

/// What only version 2 has. Of long messages the beginning is at hand: what can be read of it is said.
void version_2(const LadderRow& row, Details& out) {
  if (wire::earlier_draft(row.octets, row.length)) return;
  wire::HeaderV2 header;
  if (!wire::decode_header_v2(row.octets, row.length, header) && header.fixed.version != 2) return;
  if (row.kind == Kind::error) {
    const std::string_view name = wire::error_name_v2(header.error);
    out.push_back(name.empty() ? fmt::format("error code {}", header.error) : std::string(name));
    if (header.error == static_cast<std::uint32_t>(wire::ErrorCode::vers)) {
      out.back() += fmt::format(": versions {} to {} are supported", header.vers_low, header.vers_high);
    }
  }
  if (header.inv_handle != 0) out.push_back(fmt::format("may be invalidated: handle {}", hex(header.inv_handle, 8)));
  if (header.remaining != 0) out.push_back(fmt::format("{} are still to come", counted(header.remaining, "octet")));
  for (const wire::Property& property : header.properties) {
    const std::string_view name = wire::property_name(property.id);
    std::string text = name.empty() ? fmt::format("property {}", property.id) : std::string(name);
    if (property.form == wire::Property::Form::number) {
      fmt::format_to(std::back_inserter(text), ": {}", grouped(property.number));
    } else if (property.form == wire::Property::Form::standard) {
      text += ": the default";
    }
    out.push_back(std::move(text));
  }
}

void credits(const LadderRow& row, std::string& text) {
  if (row.version == 0) return;
  if (row.version != 1) {
    fmt::format_to(std::back_inserter(text), "; credit word {}", grouped(row.credit));
  } else if (row.kind == Kind::call) {
    fmt::format_to(std::back_inserter(text), "; asks for {}", counted(row.credit, "credit"));
  } else if (row.kind == Kind::reply || row.kind == Kind::error) {
    fmt::format_to(std::back_inserter(text), "; grants {}", counted(row.credit, "credit"));
  }
}

std::string message_label(const LadderRow& row, const Ladder& ladder) {
  std::string name;
  switch (row.kind) {
    case Kind::call:
      name = "Call";
      break;
    case Kind::reply:
      name = "Reply";
      break;
    case Kind::done:
      name = wire::proc_name(wire::Proc::done);
      break;
    case Kind::error:
      name = type_name(row);
      break;
    default:
      name = type_name(row).empty() ? "Send" : std::string(type_name(row));
  }
  if (row.has_xid) fmt::format_to(std::back_inserter(name), " {}", xid(row.xid));
  if ((row.kind == Kind::call || row.kind == Kind::reply) && row.procedure != 0) {
    std::string_view procedure = ladder.text(row.procedure);
    // The operations say more than the word COMPOUND.
    if (row.operations != 0 && procedure.ends_with("COMPOUND")) procedure = procedure.substr(0, procedure.rfind(' '));
    fmt::format_to(std::back_inserter(name), "  {}", procedure);
    if (row.operations != 0) fmt::format_to(std::back_inserter(name), " {}", ladder.text(row.operations));
  }
  return name;
}

void message_details(const LadderRow& row, std::optional<trace::FrameRef> call, Details& out) {
  std::string text;
  const std::string_view type = type_name(row);
  if (!type.empty() && row.kind != Kind::done && row.kind != Kind::other && row.kind != Kind::error) {
    text = fmt::format("{}, ", type);
  }
  text += counted(row.length, "octet");
  if (row.holes) text += " at least";
  if (row.version != 0 && type.empty()) {
    fmt::format_to(std::back_inserter(text), "; version {}, type {}", row.version, row.proc);
  }
  credits(row, text);
  if (row.kind == Kind::call && row.outstanding > 1) {
    fmt::format_to(std::back_inserter(text), ", {} open", grouped(row.outstanding));
  }
  out.push_back(std::move(text));
  if (row.threshold && row.length > *row.threshold) {
    out.push_back(fmt::format("the threshold of this direction is {}", counted(*row.threshold, "octet")));
  }
  if (row.version == 1 && row.kind == Kind::error) {
    if (std::string code = error_v1(row); !code.empty()) out.push_back(std::move(code));
  }
  if (row.version == 2) version_2(row, out);
  if (row.invalidated) out.push_back(fmt::format("invalidates handle {}", hex(*row.invalidated, 8)));
  chunks(row, out);
  if (call && row.kind != Kind::call && row.first.time >= call->time) {
    const double waited = (static_cast<double>(row.first.time) - static_cast<double>(call->time)) / 1e3;
    out.push_back(fmt::format("{} after its Call, frame {}", duration(waited), call->number));
  }
}

/// What a refusal or an end is called: in a line of its own, and in a few words.
struct Called {
  std::string_view line;
  std::string_view few;
};

Called refused(const LadderRow& row) {
  switch (row.refusal) {
    case trace::Refusal::Kind::nak_sequence:
      return {"NAK: PSN sequence error, please send again", "NAK: sequence error"};
    case trace::Refusal::Kind::rnr:
      return {"RNR NAK: no Receive is ready, please wait", "RNR NAK: receiver not ready"};
    case trace::Refusal::Kind::invalid_request:
      return {"NAK: invalid request", "NAK: invalid request"};
    case trace::Refusal::Kind::remote_access:
      return {"NAK: remote access error", "NAK: remote access error"};
    case trace::Refusal::Kind::remote_operational:
      return {"NAK: remote operational error", "NAK: remote operational error"};
    case trace::Refusal::Kind::nak_other:
      break;
    case trace::Refusal::Kind::terminate:
      return {"Terminate", "Terminate"};
  }
  return {"NAK", "NAK"};
}

Called closed(const LadderRow& row) {
  switch (row.how) {
    case trace::Disconnect::How::request:
      return {"disconnect request (DREQ)", "disconnect request"};
    case trace::Disconnect::How::reply:
      return {"disconnect reply (DREP)", "disconnect reply"};
    case trace::Disconnect::How::fin:
      return {"end of the TCP stream (FIN)", "FIN"};
    case trace::Disconnect::How::reset:
      return {"reset of the TCP stream (RST)", "RST"};
    case trace::Disconnect::How::superseded:
      return {"a new connection takes this one's place", "replaced by a new connection"};
    case trace::Disconnect::How::unseen:
      return {"it ends here, or goes on as another connection", "ends, or goes on as another"};
  }
  return {"close", "close"};
}

std::string in_packets(const LadderRow& row) {
  std::string text = counted(row.length, "octet");
  if (row.packets > 1) fmt::format_to(std::back_inserter(text), " in {}", counted(row.packets, "packet"));
  return text;
}

LadderLabel message_in_few_words(const LadderRow& row, const Ladder& ladder) {
  const std::string_view type = type_name(row);
  std::string what(row.procedure != 0 ? ladder.text(row.procedure) : type);
  // Of a COMPOUND, what it is for says more than the word.
  if (row.leading != 0 && what.ends_with("COMPOUND"))
    what.replace(what.rfind(' ') + 1, what.npos, ladder.text(row.leading));
  switch (row.kind) {
    case Kind::call:
      return {"Call", std::move(what), row.has_xid};
    case Kind::reply:
      return {"Reply", std::move(what), row.has_xid};
    case Kind::done:
    case Kind::error: {
      const auto like = row.kind == Kind::done ? wire::Proc::done : wire::Proc::error;
      return {std::string(type.empty() ? wire::proc_name(like) : type), {}, row.has_xid};
    }
    default:
      if (type.empty()) return {"Send", "not recognised", false};
      return {std::string(type), {}, row.has_xid};
  }
}

}  // namespace

LadderWords words(const LadderRow& row, const Ladder& ladder, trace::Transport transport,
                  std::optional<trace::FrameRef> call) {
  const bool iwarp = transport == trace::Transport::iwarp;
  LadderWords out;
  switch (row.kind) {
    case Kind::connect_request:
      out.label = iwarp ? "MPA request" : "connection request (CM REQ)";
      private_data(row, out.details);
      break;
    case Kind::connect_reply:
      out.label = iwarp ? "MPA reply" : "connection reply (CM REP)";
      private_data(row, out.details);
      break;
    case Kind::connect_reject:
      out.label = iwarp             ? "MPA reply: rejected"
                  : row.reason == 0 ? "rejected (CM REJ)"
                                    : fmt::format("rejected (CM REJ, reason {})", row.reason);
      private_data(row, out.details);
      break;
    case Kind::connect_ready:
      out.label = "ready to use (CM RTU)";
      break;
    case Kind::call:
    case Kind::reply:
    case Kind::done:
    case Kind::error:
    case Kind::other:
      out.label = message_label(row, ladder);
      message_details(row, call, out.details);
      break;
    case Kind::read_request:
      out.label = fmt::format("RDMA Read request: {}", counted(row.length, "octet"));
      out.details.push_back(memory(row.handle, row.offset));
      break;
    case Kind::read_response:
      out.label = fmt::format("RDMA Read response: {}", counted(row.length, "octet"));
      break;
    case Kind::write:
      out.label = fmt::format("RDMA Write: {}", counted(row.length, "octet"));
      out.details.push_back(memory(row.handle, row.offset));
      break;
    case Kind::refusal:
      out.label = refused(row).line;
      if (row.refused_frame.number != 0) out.details.push_back(fmt::format("of frame {}", row.refused_frame.number));
      break;
    case Kind::gap:
      out.label =
          fmt::format("missing in the capture here: {} of the {}", counted(row.packets, iwarp ? "octet" : "packet"),
                      row.sender == trace::Side::active ? "client" : "server");
      break;
    case Kind::unread:
      out.label = fmt::format("cannot be read: {} of the {}", counted(row.packets, "octet"),
                              row.sender == trace::Side::active ? "client" : "server");
      break;
    case Kind::close:
      out.label = closed(row).line;
      break;
    case Kind::repeat:
      out.label = "sent again";
      break;
    case Kind::frame:  // its finding says what it shows
      break;
    case Kind::left_out:
      out.label = fmt::format("{} not kept", counted(row.packets, "step"));
      break;
  }
  if ((row.operation() || row.kind == Kind::repeat) && row.packets > 1) {
    out.details.push_back(
        fmt::format("{} packets, frames {} to {}", grouped(row.packets), row.first.number, row.last.number));
  } else if (row.message() && row.last.number > row.first.number) {
    out.details.push_back(fmt::format("frames {} to {}", row.first.number, row.last.number));
  }
  return out;
}

LadderLabel label(const LadderRow& row, const Ladder& ladder) {
  switch (row.kind) {
    case Kind::connect_request:
      return {"connect request", {}};
    case Kind::connect_reply:
      return {"connect reply", {}};
    case Kind::connect_reject:
      return {"connection refused", row.reason == 0 ? std::string() : fmt::format("reason {}", row.reason)};
    case Kind::connect_ready:
      return {"ready to use", {}};
    case Kind::call:
    case Kind::reply:
    case Kind::done:
    case Kind::error:
    case Kind::other:
      return message_in_few_words(row, ladder);
    case Kind::read_request:
      return {"RDMA Read", fmt::format("asks for {}", counted(row.length, "octet"))};
    case Kind::read_response:
      return {"Read answer", in_packets(row)};
    case Kind::write:
      return {"RDMA Write", in_packets(row)};
    case Kind::refusal: {
      const std::uint64_t frame = row.refused_frame.number;
      return {std::string(refused(row).few), frame == 0 ? std::string{} : fmt::format("about frame {}", frame)};
    }
    case Kind::gap:
      return {"not captured", fmt::format("{} missing here", grouped(row.packets))};
    case Kind::unread:
      return {"cannot be read", counted(row.packets, "octet")};
    case Kind::close:
      return {"close", std::string(closed(row).few)};
    case Kind::repeat:
      return {"sent again", counted(row.packets, "packet")};
    case Kind::frame:
      return {"frame", "of a finding"};
    case Kind::left_out:
      return {"left out", fmt::format("{} not kept in this page", counted(row.packets, "row"))};
  }
  return {};
}

std::string_view list_name(List list) noexcept {
  switch (list) {
    case List::call:
      return "Call chunk";
    case List::read:
      return "Read chunk";
    case List::write:
      return "Write chunk";
    case List::reply:
      return "Reply chunk";
  }
  return "chunk";
}

}  // namespace rpcrdma::report
