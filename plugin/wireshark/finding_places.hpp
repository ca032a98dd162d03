// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a frame each of its findings stands: several messages may share it, and each of them may be at fault.
#pragma once

#include "wireshark/session.hpp"

namespace rpcrdma::plugin {

/// A note that is drawn, by what a finding can say of it.
struct DrawnNote {
  std::uint32_t connection = 0;
  std::uint64_t xid = 0;  ///< more than 32 bits: of none
  std::uint32_t by_client = 0;
  std::uint32_t place = 0;
};

/// What of a frame is drawn, once all of it is: both sorted. In the packet's memory.
struct FindingPlaces {
  DrawnNote* by_xid = nullptr;
  DrawnNote* by_sender = nullptr;  ///< without XIDs
  std::uint32_t count = 0;
};

[[nodiscard]] const FindingPlaces* finding_places(const Drawn* drawn, wmem_allocator_t* pool);
/// The newest note that it is about: of its connection, if there is one of its XID and of who is at fault. `none`: of
/// no note here.
[[nodiscard]] std::uint32_t place_of(const FindingPlaces& places, const referee::Finding& finding);

}  // namespace rpcrdma::plugin
