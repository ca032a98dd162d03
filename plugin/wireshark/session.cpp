// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/session.hpp"

#include <memory>

#include "wireshark/fields.hpp"
#include "wireshark/preferences.hpp"

namespace rpcrdma::plugin {

namespace {

std::unique_ptr<journal::Journal> open_journal;
constexpr std::uint32_t drawn_key = 0x8797;

/// The journal fails for good rather than half: what it says of a file is whole or nothing.
template <class Action>
void guarded(Action action) noexcept {
  try {
    action();
  } catch (...) {
    open_journal.reset();
    g_warning("rpcrdma: out of memory; this file is shown without the referee");
  }
}

[[nodiscard]] std::optional<trace::LinkType> link_type(const packet_info* pinfo) noexcept {
  switch (pinfo->rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
      return trace::LinkType::ethernet;
    case WTAP_ENCAP_NULL:
      return trace::LinkType::null_loopback;
    case WTAP_ENCAP_LOOP:
      return trace::LinkType::loop;
    case WTAP_ENCAP_RAW_IP:
      return trace::LinkType::raw_ip;
    case WTAP_ENCAP_RAW_IP4:
      return trace::LinkType::ipv4;
    case WTAP_ENCAP_RAW_IP6:
      return trace::LinkType::ipv6;
    case WTAP_ENCAP_SLL:
      return trace::LinkType::linux_sll;
    case WTAP_ENCAP_SLL2:
      return trace::LinkType::linux_sll2;
    case WTAP_ENCAP_INFINIBAND:
      return trace::LinkType::infiniband;
    case WTAP_ENCAP_ERF:
      break;
    default:
      return std::nullopt;
  }
  switch (pinfo->pseudo_header->erf.phdr.type & 0x7fU) {
    case 2:  // ETH, and its kinds
    case 11:
    case 16:
    case 20:
      return trace::LinkType::ethernet;
    case 21:  // INFINIBAND
    case 25:  // INFINIBAND_LINK
      return trace::LinkType::infiniband;
    case 22:
      return trace::LinkType::ipv4;
    case 23:
      return trace::LinkType::ipv6;
    default:
      return std::nullopt;
  }
}

void feed(packet_info* pinfo) {
  if (pinfo->data_src == nullptr || pinfo->rec->rec_type != REC_TYPE_PACKET) return;
  auto* source = static_cast<struct data_source*>(pinfo->data_src->data);
  tvbuff_t* tvb = get_data_source_tvb(source);
  const auto captured = static_cast<std::size_t>(tvb_captured_length(tvb));
  const std::uint8_t* octets = captured == 0 ? nullptr : tvb_get_ptr(tvb, 0, static_cast<int>(captured));
  const auto link = link_type(pinfo);
  trace::Frame frame;
  frame.ref.number = pinfo->num;
  frame.ref.time = trace::time_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
  frame.link = link.value_or(static_cast<trace::LinkType>(UINT32_MAX));
  frame.octets = wire::Bytes(octets, captured);
  frame.wire_length = tvb_reported_length(tvb);
  if (pinfo->rec->rec_header.packet_header.pkt_encap == WTAP_ENCAP_ETHERNET) {
    frame.fcs_length = trace::fcs_octets(pinfo->pseudo_header->eth.fcs_len);
  }
  guarded([&] { open_journal->feed(frame); });
}

}  // namespace

void open_session() noexcept {
  guarded([] { open_journal = std::make_unique<journal::Journal>(options()); });
}
void close_session() noexcept { open_journal.reset(); }
void end_of_pass() noexcept {
  if (open_journal) guarded([] { open_journal->finish(); });
}

const journal::Journal* finished_journal() {
  return open_journal && open_journal->finished() ? open_journal.get() : nullptr;
}

Drawn* look(packet_info* pinfo) {
  if (!open_journal) return nullptr;
  auto* drawn = static_cast<Drawn*>(p_get_proto_data(pinfo->pool, pinfo, proto_rpcrdma, drawn_key));
  if (drawn != nullptr) return drawn;
  feed(pinfo);
  if (!open_journal) return nullptr;
  drawn = static_cast<Drawn*>(wmem_alloc0(pinfo->pool, sizeof(Drawn)));
  drawn->journal = open_journal.get();
  drawn->frame = pinfo->num;
  for (std::uint32_t at = open_journal->first(pinfo->num); at != journal::none; at = open_journal->note(at).next) {
    ++drawn->notes;
  }
  drawn->done = static_cast<std::uint8_t*>(wmem_alloc0(pinfo->pool, drawn->notes + 1U));
  p_add_proto_data(pinfo->pool, pinfo, proto_rpcrdma, drawn_key, drawn);
  return drawn;
}

}  // namespace rpcrdma::plugin
