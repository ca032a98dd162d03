// SPDX-License-Identifier: GPL-2.0-or-later
// fattr4: the values of attributes, in the order of their numbers, as a bitmap names them (RFC 7531, 5662, 7863, 8276).
#pragma once

#include "wire/bytes.hpp"
#include "wire/item_watch.hpp"

namespace rpcrdma::wire {

/// `values` is a part of `message`, from where offsets count. From the first attribute of which the form is not known,
/// nothing more is told.
void walk_attributes(Bytes message, std::size_t values_at, std::size_t length, Bytes bitmap, ItemWatch& watch);

}  // namespace rpcrdma::wire
