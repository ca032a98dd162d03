// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of the copy: as long as they were, with other addresses, and with what the messages have put into their
// payload.
#pragma once

#include <cstdint>

#include "sanitize/copied_frame.hpp"
#include "sanitize/places.hpp"
#include "sanitize/pseudonyms.hpp"
#include "trace/frame.hpp"
#include "trace/link/open_frame.hpp"

namespace rpcrdma::sanitize {

class FrameCopy {
 public:
  /// `places` are settled.
  FrameCopy(const Places& places, Pseudonyms& pseudonyms) : places_(places), pseudonyms_(pseudonyms) {}

  /// The octets that take the place of the frame's. In the order of the capture. Valid until the next call.
  [[nodiscard]] wire::Bytes of(const trace::Frame& frame);

 private:
  void undelivered();
  void message_of_cm(wire::Bytes packet, std::size_t wire_length);
  void infiniband();
  void tcp();
  void markers(const Places::InStream& at);
  void last_fpdu(const Places::InStream& at);
  void crc(const Places::InStream& at);
  void invariant_crc();
  void internet_checksums();
  [[nodiscard]] std::uint32_t of_addresses(wire::Bytes ip) noexcept;

  const Places& places_;
  Pseudonyms& pseudonyms_;
  trace::Opened opened_;
  trace::PassedLayers layers_;
  trace::Fragments fragments_;
  trace::Frame frame_;
  CopiedFrame out_;
};

}  // namespace rpcrdma::sanitize
