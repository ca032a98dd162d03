// SPDX-License-Identifier: GPL-2.0-or-later
// Headers of the copy, in front of what the messages put into its payload.
#pragma once

#include "sanitize/copied_frame.hpp"
#include "sanitize/pseudonyms.hpp"
#include "trace/frame.hpp"
#include "trace/link/open_frame.hpp"

namespace rpcrdma::sanitize {

/// Of each header on the way through the frame what is understood, with other addresses; of an encapsulation behind
/// which nothing known was found no more than what makes it one. `frame` is zero so far.
void copy_headers(CopiedFrame& frame, const trace::Frame& original, const trace::PassedLayers& layers,
                  Pseudonyms& pseudonyms);

}  // namespace rpcrdma::sanitize
