// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of the InfiniBand Communication Manager, as 256-octet management datagrams.
#pragma once

#include <cstdint>

#include "octets.hpp"

namespace forge::cm {

struct Request {
  std::uint64_t transaction = 0;
  std::uint32_t communication_id = 0;
  std::uint64_t service_id = 0;
  std::uint64_t guid = 0;
  std::uint32_t qpn = 0;
  std::uint32_t responder_resources = 0;
  std::uint32_t initiator_depth = 0;
  std::uint32_t starting_psn = 0;  ///< of the packets this side receives
  std::uint32_t mtu_code = 3;      ///< 1: 256 ... 5: 4096
  std::uint32_t rnr_retry = 0;
  std::uint32_t retry = 6;
  std::uint32_t local_lid = 0;
  std::uint32_t remote_lid = 0;
  Octets local_gid;
  Octets remote_gid;
  // RDMA IP CM header
  std::uint16_t source_port = 0;
  bool ipv6 = false;
  Octets source_address;
  Octets destination_address;
  Octets private_data;  ///< the consumer's, up to 56 octets
};

struct Reply {
  std::uint64_t transaction = 0;
  std::uint32_t communication_id = 0;
  std::uint32_t remote_id = 0;
  std::uint32_t qpn = 0;
  std::uint32_t starting_psn = 0;
  std::uint32_t responder_resources = 0;
  std::uint32_t initiator_depth = 0;
  std::uint32_t rnr_retry = 0;
  std::uint64_t guid = 0;
  Octets private_data;
};

/// RTU, DREQ, DREP and REJ are small enough for functions.
[[nodiscard]] Octets request(const Request& r);
[[nodiscard]] Octets reply(const Reply& r);
[[nodiscard]] Octets ready(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote, const Octets& data);
/// MRA: the REQ has come, and its answer will take some time.
[[nodiscard]] Octets receipt(std::uint64_t transaction, std::uint32_t remote);
/// REQ, REP, or neither: its sender has given up.
enum class Rejected : std::uint8_t { request, reply, other };
[[nodiscard]] Octets reject(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote, std::uint32_t reason,
                            const Octets& data, Rejected what = Rejected::request);
[[nodiscard]] Octets disconnect_request(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote,
                                        std::uint32_t remote_qpn, const Octets& data);
[[nodiscard]] Octets disconnect_reply(std::uint64_t transaction, std::uint32_t local, std::uint32_t remote,
                                      const Octets& data);

}  // namespace forge::cm
