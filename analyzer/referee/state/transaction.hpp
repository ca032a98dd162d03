// SPDX-License-Identifier: GPL-2.0-or-later
// An RPC Call and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "referee/facts.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/message_body.hpp"
#include "referee/state/side_names.hpp"
#include "referee/state/version2.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::referee {

/// An RPC Call and what became of it.
struct Transaction {
  TransactionId id;
  std::uint32_t xid = 0;
  Side requester = Side::active;
  FrameRef call;  ///< first frame of the Call
  FrameRef call_last;
  std::uint64_t call_ordinal = 0;
  std::uint32_t version = 1;
  std::uint32_t credit = 0;
  std::uint32_t wire_length = 0;  ///< of the Call's Send
  std::uint32_t copies = 1;       ///< the Call was sent so often on this connection
  std::uint32_t answers = 0;      ///< Replies and RDMA_ERRORs
  bool lists_known = true;        ///< false: the chunk lists are not (all) in the capture
  bool malformed = false;         ///< the Call's header is broken: an RDMA_ERROR is the right answer
  bool msgp = false;              ///< RDMA_MSGP: an RDMA_ERROR is a right answer
  bool ill_formed = false;        ///< it decodes, but breaks a rule of form: an RDMA_ERROR is a right answer
  bool avoidable = false;         ///< a Long Call that would have fitted inline
  bool refusal_due = false;       ///< the responder has to answer with RDMA_ERROR
  bool payload_known = false;
  std::uint64_t payload_hash = 0;  ///< of the inline RPC message
  std::uint64_t payload_length = 0;
  std::vector<wire::ReadSegment> reads;
  std::vector<wire::WriteChunk> writes;
  std::optional<wire::WriteChunk> reply_chunk;
  std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> procedure;  // program, version, procedure
  std::optional<bool> wrapped;         ///< RPCSEC_GSS integrity or privacy; not known until the Call has been read
  std::optional<std::size_t> wanted;   ///< how many results may come in Write chunks (RFC 8267), once known
  FrameRef reply;                      ///< first frame of the first Reply; number 0: none yet
  FrameRef broken_reply;               ///< a Reply that cannot be decoded; number 0: none
  bool refused_by_error = false;       ///< answered by RDMA_ERROR ERR_CHUNK
  bool reply_inferred = false;         ///< what counts as its Reply may be a Long Call of its responder
  std::uint64_t completed_before = 0;  ///< transactions completed on the connection when the Call came
  std::uint64_t responder_gaps = 0;    ///< gaps of the responder's direction when the Call came
  FrameRef pulled;                     ///< newest answer to a READ of its Position-Zero Read chunk
  FrameRef reply_written;              ///< first packet of RDMA Write into its Reply chunk
  // The beginning of a payload that travels by RDMA (Position-Zero Read chunk, Reply chunk) or in pieces
  MessageBody call_body;
  MessageBody reply_body;
  std::uint64_t body_length = 0;  ///< octets of its Position-Zero Read chunk; 0: there is none
  bool items = false;             ///< arguments or results may have been moved
  v2::CallFacts v2;

  /// What follows from the lists.
  void lists_changed() noexcept {
    body_length = 0;
    items = !writes.empty();
    for (const wire::ReadSegment& read : reads) {
      if (read.position == 0) {
        body_length += read.target.length;
      } else {
        items = true;
      }
    }
  }
};

}  // namespace rpcrdma::referee
