// SPDX-License-Identifier: GPL-2.0-or-later
// The arguments of COMPOUND and CB_COMPOUND, walked operation by operation; no interface of this folder.
#pragma once

#include "wire/bytes.hpp"
#include "wire/data_places.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire::nfs4 {

class Walker;

/// stateid4
[[nodiscard]] bool read_state(Walker& walker, StateId& state);

struct CompoundHead {
  Bytes tag;
  std::uint32_t minor_version = 0;
  std::uint32_t count = 0;  ///< of operations; the message is long enough to hold them
  bool callback = false;
};

/// What stands in front of the operations; `cursor` is left behind it.
[[nodiscard]] Decoded<CompoundHead> decode_compound_head(Cursor& cursor, bool callback);

/// The operations behind it: fills in `steps` and `stopped`.
void read_operations(const Cursor& cursor, const CompoundHead& head, const DataPlaces& places, ItemWatch* watch,
                     CallSteps& out);

}  // namespace rpcrdma::wire::nfs4
