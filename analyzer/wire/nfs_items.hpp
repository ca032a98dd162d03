// SPDX-License-Identifier: GPL-2.0-or-later
// The items of NFS messages that may travel in chunks of their own (RFC 8267): where they are in an RPC message, and
// where octets that travelled in chunks belong. NFSv2 and NFSv3 READ and READLINK results, WRITE and SYMLINK arguments
// (section 4); NFSv4 READ and READLINK results, WRITE arguments, text of a symbolic link in CREATE (section 6.1).
//
// All positions are octets from the RPC message's XID. The *reduced* stream is what the message holds without the
// moved items and their pads; the *unreduced* stream is the ordinary XDR stream, in which a moved item takes its
// length and its pad (RFC 8166 sections 3.4.4 and 3.4.5).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::wire {

/// What RFC 8267 says of a procedure.
struct DdpBinding {
  bool known = false;      ///< a program and version with a binding: NFS 2, 3, 4 and NFSACL; callbacks have none here
  bool arguments = false;  ///< may hold eligible arguments
  bool results = false;    ///< may hold eligible results
};
[[nodiscard]] DdpBinding ddp_binding(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) noexcept;

/// One Read chunk of a Call: all segments of one Position.
struct ReadChunk {
  std::uint32_t position = 0;
  std::uint64_t length = 0;    ///< octets, sum of its segments
  std::uint32_t segments = 0;  ///< how many
};
/// The Read chunks of a header in increasing order of Position, without Position zero. Keeps the vector's capacity.
void collect_read_chunks(const std::vector<ReadSegment>& reads, std::vector<ReadChunk>& out);

/// A counted item that is eligible, or that a chunk holds although it is not.
struct NfsItem {
  static constexpr std::size_t no_chunk = static_cast<std::size_t>(-1);

  std::size_t length_at = 0;       ///< of its length word, in the stream that was walked
  std::uint64_t position = 0;      ///< of its first octet in the unreduced stream: what a Read chunk names
  std::uint64_t length = 0;        ///< octets without pad, as the length word says
  std::uint32_t operation = 0;     ///< NFSv4: the operation's number; else the procedure
  std::uint32_t index = 0;         ///< NFSv4: which operation of the COMPOUND, from 0
  bool eligible = false;           ///< RFC 8267 names it
  std::size_t chunk = no_chunk;    ///< which chunk holds it; no_chunk: its octets are in the stream
  std::uint64_t chunk_length = 0;  ///< octets of that chunk

  [[nodiscard]] bool moved() const noexcept { return chunk != no_chunk; }
  /// Its first octet, or where it was taken out, in the stream that was walked.
  [[nodiscard]] std::size_t data_at() const noexcept { return length_at + 4; }
  /// Octets of zero behind it in the unreduced stream.
  [[nodiscard]] std::uint32_t pad() const noexcept { return static_cast<std::uint32_t>((4U - length % 4U) % 4U); }
};

/// A result that a Call asks for and that may be moved into a Write chunk.
struct WantedItem {
  static constexpr std::uint64_t no_limit = static_cast<std::uint64_t>(-1);

  std::uint32_t operation = 0;    ///< NFSv4: the operation's number; else the procedure
  std::uint32_t index = 0;        ///< NFSv4: which operation of the COMPOUND, from 0
  std::uint64_t most = no_limit;  ///< octets at most: the count of a READ; READLINK names none
};

/// How a walk ended.
enum class WalkEnd : std::uint8_t {
  whole,        ///< all of the message was walked
  truncated,    ///< the capture ends first
  invalid,      ///< what is there cannot be, or was misread because a chunk holds something unexpected
  unsupported,  ///< a procedure, an operation or a form (results under RPCSEC_GSS integrity) that is not known
  misplaced,    ///< a Read chunk's Position was passed and no counted item began there
};

struct NfsItems {
  std::vector<NfsItem> items;  ///< in the order of the stream; at most 256, a message with more is unsupported
  WalkEnd end = WalkEnd::whole;
  std::string_view field;          ///< static text: what ended the walk; empty when whole
  std::vector<WantedItem> wanted;  ///< Call: what it asks for, in order; at most 256 as well
  std::uint64_t reached = 0;       ///< position in the unreduced stream where the walk ended
  std::size_t left = 0;            ///< octets of the message behind the walk's end
  std::size_t chunks_used = 0;     ///< Read chunks matched, in order; Write chunks passed, in order
  std::uint32_t failed = 0;        ///< Reply: RPC's status or that of NFSv2 and NFSv3, when it is not success
  void clear() noexcept;           ///< keeps the vectors' capacity
};

/// The items of a Call. `stream` begins with the XID: the inline part of RDMA_MSG or what a Position-zero chunk held.
/// `chunks` in increasing order of Position. A chunk whose Position is in the walked part and names no counted item
/// ends the walk as misplaced; `chunks_used` is then its index. Calls that have neither eligible arguments nor eligible
/// results are unsupported.
void list_call_items(Bytes stream, std::size_t wire_length, std::span<const ReadChunk> chunks, NfsItems& out);

/// The items of a Reply to a Call of this program, version and procedure. `returned_lengths`: octets that the Reply
/// says each Write chunk of its list holds, in order; 0 for an unused or an empty one.
///
/// Which items were moved is not written down: chunks are used in order (RFC 8166 section 4.3.2), an item whose length
/// is that of the next used chunk was moved. Where unused chunks leave more than one reading, the one that makes
/// the message end where it ends is taken. An item too long for what is left of the message was moved whatever the
/// chunk's length, which is then to be compared (`chunk_length`).
void list_reply_items(Bytes stream, std::size_t wire_length, std::uint32_t program, std::uint32_t version,
                      std::uint32_t procedure, std::span<const std::uint64_t> returned_lengths, NfsItems& out);

/// One Write chunk's octets and their place.
struct PlacedItem {
  std::size_t chunk = 0;        ///< index in `returned_lengths`
  std::size_t position = 0;     ///< put them in front of this octet of the *reduced* stream
  std::uint64_t length = 0;     ///< how many of the chunk's, from its first on
  std::uint32_t pad = 0;        ///< octets of zero to put behind them
  std::uint64_t unreduced = 0;  ///< where they are in the finished stream
  std::uint32_t operation = 0;  ///< NFSv4: the operation's number; else the procedure
  bool eligible = true;         ///< false: RFC 8267 does not allow to move it, yet it was
};

enum class Placement : std::uint8_t {
  placed,       ///< every chunk with octets has its place in `out`; none at all when no chunk has octets
  truncated,    ///< cannot tell: the capture ends before the last of the items
  invalid,      ///< cannot tell: the reply breaks its format, or is no reply
  unsupported,  ///< cannot tell: a procedure, operation or form that is not known
  disagree,     ///< cannot tell: chunks have octets for which the reply has no item, or one that is longer
};

/// Where the octets that a Reply's Write chunks hold belong. Arguments as for list_reply_items; `out` is replaced and
/// keeps its capacity. Positions increase; to rebuild the stream, copy from one to the next and insert.
[[nodiscard]] Placement place_items(Bytes reduced_rpc_reply, std::size_t wire_length, std::uint32_t program,
                                    std::uint32_t version, std::uint32_t procedure,
                                    std::span<const std::uint64_t> returned_lengths, std::vector<PlacedItem>& out);

}  // namespace rpcrdma::wire
