// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/doubt.hpp"

namespace rpcrdma::referee {

std::string_view text(Doubt doubt) noexcept {
  switch (doubt) {
    case Doubt::began_before:
      return "the capture begins in the middle of this connection";
    case Doubt::cut_handshake:
      return "the handshake is not whole in the capture: where the packets of this connection begin is not known";
    case Doubt::frames_missing:
      return "frames of this connection are missing from the capture";
    case Doubt::input_lost:
      return "a capture in between is missing, or could not be read to its end";
    case Doubt::framing_lost:
      return "where the messages of this connection begin and end can no longer be told";
    case Doubt::headless:
      return "headers of FPDUs of this connection are not whole in the capture";
    case Doubt::cut_message:
      return "messages of this connection were cut by the capture";
    case Doubt::direction:
      return "whether a message of this connection is a Call or a Reply cannot be told";
    case Doubt::unrecognised:
      return "messages came before it could be told what this connection carries";
    case Doubt::bound:
      return "more of this connection is open than the analyzer keeps";
  }
  return {};
}

}  // namespace rpcrdma::referee
