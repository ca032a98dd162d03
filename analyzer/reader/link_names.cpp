// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/link_names.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "reader/pcap_library.hpp"

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

/// libpcap's names for what the trace looks into: these need no library. Empty: it does not.
[[nodiscard]] constexpr std::string_view name_of_opened(trace::LinkType type) noexcept {
  switch (type) {
    case trace::LinkType::null_loopback:
      return "NULL";
    case trace::LinkType::ethernet:
      return "EN10MB";
    case trace::LinkType::raw_ip:
      return "RAW";
    case trace::LinkType::loop:
      return "LOOP";
    case trace::LinkType::linux_sll:
      return "LINUX_SLL";
    case trace::LinkType::erf:
      return "ERF";
    case trace::LinkType::ipv4:
      return "IPV4";
    case trace::LinkType::ipv6:
      return "IPV6";
    case trace::LinkType::infiniband:
      return "INFINIBAND";
    case trace::LinkType::linux_sll2:
      return "LINUX_SLL2";
    case trace::LinkType::dsa_brcm:
      return "DSA_TAG_BRCM";
    case trace::LinkType::dsa_brcm_prepend:
      return "DSA_TAG_BRCM_PREPEND";
    case trace::LinkType::dsa:
      return "DSA_TAG_DSA";
    case trace::LinkType::edsa:
      return "DSA_TAG_EDSA";
  }
  return {};
}

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
  if (const std::string_view name = name_of_opened(type); !name.empty()) {
    return std::string(name);
  }
  const auto number = static_cast<std::uint32_t>(type);
  int dlt = static_cast<int>(number & 0x7fffffffU);
  for (const Pair& pair : kDifferent) {
    if (pair.link_type == number) {
      dlt = pair.dlt;
    }
  }
  const PcapLibrary& library = PcapLibrary::instance();
  const char* name = library.missing.empty() ? library.datalink_val_to_name(dlt) : nullptr;
  return name != nullptr ? std::string(name) : fmt::format("LINKTYPE_{}", number);
}

bool can_be_opened(trace::LinkType type) noexcept { return !name_of_opened(type).empty(); }

}  // namespace rpcrdma::reader
