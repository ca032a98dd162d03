// SPDX-License-Identifier: GPL-2.0-or-later
// -z rpcrdma,tree and -z rpcrdma,connections, and the same in the Statistics menu.
#pragma once

#include "referee/facts.hpp"
#include "wireshark/draw.hpp"

namespace rpcrdma::plugin {

void register_statistics();
void queue_message(const Canvas& canvas, const journal::Message& message);
void queue_operation(const Canvas& canvas, const journal::Operation& operation);
void queue_finding(const Canvas& canvas, const referee::Finding& finding);

}  // namespace rpcrdma::plugin
