// SPDX-License-Identifier: GPL-2.0-or-later
// For those who want to know where each thing stands that a walk over NFS steps over.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rpcrdma::wire {

/// One thing in the stream that is walked. Offsets count from the message's XID.
struct PassedItem {
  enum class Form : std::uint8_t {
    words,       ///< a number of 32 bits or of 64: counts, statuses, flags, offsets
    time,        ///< of a file: 8 octets or 12
    bitmap,      ///< several words of 32 bits
    person,      ///< the number of a user or of a group
    stateid,     ///< 16 octets: a version, and what names the state
    stateids,    ///< several of them
    name,        ///< 16 octets that are one: sessionid4, deviceid4
    names,       ///< several of them
    opaque,      ///< octets behind their length word: handles, names, owners
    attributes,  ///< likewise: the values that a bitmap in front of them names
    data,        ///< likewise: what RFC 8267 lets go into a chunk, and what is of that sort
  } form = Form::words;
  std::size_t at = 0;      ///< its first octet, behind the length word
  std::size_t length = 0;  ///< octets without pad
};

class ItemWatch {
 public:
  ItemWatch(const ItemWatch&) = delete;
  ItemWatch& operator=(const ItemWatch&) = delete;
  virtual ~ItemWatch() = default;
  /// A walk begins; what an earlier one passed over it had misread.
  virtual void restart() = 0;
  /// Not in the order of the stream, and the same thing may come twice.
  virtual void passed(const PassedItem& item) = 0;

 protected:
  ItemWatch() = default;
};

}  // namespace rpcrdma::wire
