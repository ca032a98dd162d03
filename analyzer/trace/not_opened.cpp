// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/not_opened.hpp"

#include <string_view>

#include <fmt/format.h>

namespace rpcrdma::trace {
namespace {

struct Name {
  NotOpened::By by;
  std::uint32_t number;
  std::string_view name;
};

using By = NotOpened::By;
constexpr Name names[] = {
    {By::ether_type, 0x88BE, "ERSPAN"}, {By::ether_type, 0x22EB, "ERSPAN III"},
    {By::ether_type, 0x8847, "MPLS"},   {By::ether_type, 0x8848, "MPLS"},
    {By::ether_type, 0x8864, "PPPoE"},  {By::ether_type, 0x8909, "Cisco MetaData"},
    {By::ether_type, 0x8949, "NVIDIA"}, {By::ether_type, 0x88E5, "MACsec"},
    {By::ether_type, 0x894F, "NSH"},    {By::ether_type, 0x880B, "PPP"},
    {By::ether_type, 0x8906, "FCoE"},   {By::ip_protocol, 47, "GRE"},
    {By::ip_protocol, 50, "ESP"},       {By::ip_protocol, 97, "EtherIP"},
    {By::ip_protocol, 115, "L2TP"},     {By::udp_port, 4789, "VXLAN"},
    {By::udp_port, 8472, "VXLAN"},      {By::udp_port, 4790, "VXLAN-GPE"},
    {By::udp_port, 6081, "Geneve"},     {By::udp_port, 37008, "TZSP"},
    {By::udp_port, 2152, "GTP-U"},      {By::ip_protocol, 51, "AH"},
};

std::string named(std::string text, const NotOpened& what) {
  for (const Name& n : names) {
    if (n.by == what.by && n.number == what.number) return fmt::format("{} ({})", text, n.name);
  }
  return text;
}

}  // namespace

std::string NotOpened::text() const {
  switch (by) {
    case By::nothing:
      break;
    case By::ether_type:
      return named(fmt::format("EtherType {:#06x}", number), *this);
    case By::ip_protocol:
      return named(fmt::format("IP protocol {}", number), *this);
    case By::udp_port:
      return named(fmt::format("UDP port {}", number), *this);
    case By::fragment:
      return fmt::format("fragments of IP packets that are not whole (protocol {})", number);
    case By::too_deep:
      return fmt::format("packets more than {} deep inside others", number);
    case By::shortened:
      return "packets that a mirror cut and gave other lengths";
  }
  return "nothing";
}

}  // namespace rpcrdma::trace
