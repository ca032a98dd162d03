// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/link_names.hpp"

#include <pcap/pcap.h>

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace rpcrdma::reader {
namespace {

struct Pair {
  int dlt;
  std::uint32_t link_type;
};

// Types whose DLT_ number depends on the system and whose number in files therefore is another.
constexpr std::array kDifferent{
    Pair{DLT_ATM_RFC1483, 100}, Pair{DLT_RAW, 101},      Pair{DLT_SLIP_BSDOS, 102},
    Pair{DLT_PPP_BSDOS, 103},   Pair{DLT_ATM_CLIP, 106}, Pair{DLT_LOOP, 108},
};

}  // namespace

trace::LinkType link_type_of_dlt(int dlt) noexcept {
  for (const Pair& pair : kDifferent) {
    if (pair.dlt == dlt) {
      return static_cast<trace::LinkType>(pair.link_type);
    }
  }
  return static_cast<trace::LinkType>(static_cast<std::uint32_t>(dlt));
}

std::string link_type_name(trace::LinkType type) {
  const auto number = static_cast<std::uint32_t>(type);
  int dlt = static_cast<int>(number & 0x7fffffffU);
  for (const Pair& pair : kDifferent) {
    if (pair.link_type == number) {
      dlt = pair.dlt;
    }
  }
  const char* name = pcap_datalink_val_to_name(dlt);
  return name != nullptr ? std::string(name) : fmt::format("LINKTYPE_{}", number);
}

bool can_be_opened(trace::LinkType type) noexcept {
  switch (type) {
    case trace::LinkType::null_loopback:
    case trace::LinkType::ethernet:
    case trace::LinkType::raw_ip:
    case trace::LinkType::loop:
    case trace::LinkType::linux_sll:
    case trace::LinkType::erf:
    case trace::LinkType::ipv4:
    case trace::LinkType::ipv6:
    case trace::LinkType::infiniband:
    case trace::LinkType::linux_sll2:
    case trace::LinkType::dsa_brcm:
    case trace::LinkType::dsa_brcm_prepend:
    case trace::LinkType::dsa:
    case trace::LinkType::edsa:
      return true;
  }
  return false;
}

}  // namespace rpcrdma::reader
