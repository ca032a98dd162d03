// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: private data (A), inline thresholds and message size (B), credits (C).
// Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule a_to_c[] = {
    // A. private data
    {RuleId::private_data_absent, "private-data-absent", 'A', Severity::note, Versions::v1,
     "RFC 8797 sections 5.1 and 5.2", "nobody", "A peer sent no RPC-over-RDMA private data",
     "Private data in the connection handshake is how a peer says how large a message it sends and receives, and "
     "whether it supports remote invalidation. A peer that stays silent is treated as if it had said 1024 octets both "
     "ways and no remote invalidation. That is legal and usual for old stacks, but a mount between a silent and a "
     "talkative peer runs with small inline messages and breaks if either side does not fall back to 1024.",
     "The whole private data area of the CM REQ or REP (MPA Request or Reply) is in the capture and the identifier "
     "0xF6AB0E18 occurs at no offset. Not decided when the handshake was not captured or its frame is cut short.",
     "Linux client: tracepoint rpcrdma:xprtrdma_inline_thresh shows the sizes it settled on. An implementation that "
     "sends none (older Solaris, some user-space servers) cannot be told to by a setting."},
    {RuleId::private_data_unknown_version, "private-data-unknown-version", 'A', Severity::warning, Versions::v1,
     "RFC 8797 sections 4, 5.2 and 6", "sender", "Private data carries a version other than 1",
     "Only version 1 of the private data format is defined. A receiver has to treat any other version as if nothing "
     "had been sent, so both peers fall back to 1024 octets and no remote invalidation for that side. If the sender "
     "believes its values were accepted, its first larger message ends the connection.",
     "The identifier 0xF6AB0E18 is found and the octet behind it is not 1. The search goes on behind such a hit, so a "
     "valid block later in the area wins. Not decided when the frame is cut before that octet.",
     "Find out what the sending stack puts there; on a Linux peer rpcrdma:xprtrdma_inline_thresh shows whether the "
     "defaults are in use."},
    {RuleId::private_data_truncated, "private-data-truncated", 'A', Severity::warning, Versions::v1,
     "RFC 8797 section 5.2", "sender", "The private data area ends inside the private data block",
     "The eight octets of the block have to lie inside the private data the peer sent. A block that runs out of the "
     "area has to be ignored, and the defaults of 1024 octets apply.",
     "The identifier is found fewer than eight octets before the end of the area. On MPA the length is exact; an "
     "InfiniBand area is padded with zeros, so there only the very end of the area can show it. A frame cut by the "
     "capture's snap length proves nothing and is not reported here.",
     "Look at the private_data_len the sender passes to rdma_connect() or rdma_accept()."},
    {RuleId::private_data_reserved_set, "private-data-reserved-set", 'A', Severity::error, Versions::v1,
     "RFC 8797 section 4", "sender", "Reserved bits of the private data are not zero",
     "All bits of the flags octet except the R bit are reserved: a sender has to write zero, a receiver ignores them. "
     "Nothing breaks today, but a peer that writes rubbish there will be misunderstood as soon as a bit gets a "
     "meaning, "
     "and often the other fields of such a block are wrong as well.",
     "Octet 5 of a valid version 1 block has a bit other than 0x01 set. Not decided when the frame is cut before it.",
     "A defect of the sending implementation: compare how it fills the structure (byte order, missing memset)."},
    {RuleId::private_data_duplicate, "private-data-duplicate", 'A', Severity::note, Versions::v1,
     "RFC 8797 section 5.2 (derived)", "sender", "Two valid private data blocks in one handshake message",
     "One block is expected. With two, receivers may disagree about which one counts: one that searches takes the "
     "first, one that looks only at a fixed place may take the other.",
     "Two valid blocks at different offsets of the consumer's private data. The 36 octets of the RDMA IP CM header are "
     "not searched.",
     "If both blocks name different sizes, check rpcrdma:xprtrdma_inline_thresh on a Linux client for the one it "
     "used."},
    {RuleId::private_data_length_odd, "private-data-length-odd", 'A', Severity::note, Versions::v1,
     "RFC 8797 section 4", "sender", "MPA private data is longer than the block",
     "Version 1 of the block is exactly eight octets. Other data around it is possible and harmless as long as the "
     "receiver searches for the identifier instead of expecting it at the start.",
     "MPA's PD_Length (less four octets in the enhanced set-up of revision 2) is not eight. InfiniBand and RoCE have "
     "no "
     "such length, so there it is never decided.",
     "Linux reads the block only at the very start of the private data: if other data stands before it, a Linux peer "
     "falls back to 1024 octets (rpcrdma:xprtrdma_inline_thresh)."},
    {RuleId::private_data_wrong_message, "private-data-wrong-message", 'A', Severity::note, Versions::v1,
     "RFC 8797 section 4 (derived)", "sender", "Private data in a message other than REQ and REP",
     "The block is exchanged in the connection request and in its reply, nowhere else. Elsewhere it is ignored.",
     "The identifier occurs in the private data of an RTU, REJ, DREQ or DREP, or of an MPA Reply that rejects.",
     "Nothing breaks. Look at the sender only if its values in REQ or REP are missing."},
    {RuleId::private_data_changed, "private-data-changed", 'A', Severity::note, Versions::v1, "RFC 8797 section 4",
     "nobody", "Settings differ from those of the previous connection",
     "Sizes and the R bit belong to one connection and may be different on the next one. A peer that keeps using the "
     "old values after a reconnect sends too large messages.",
     "Two connections of the same two addresses carry blocks with different fields. Not decided when either handshake "
     "was not captured.",
     "Usually a sysctl was changed or a failover moved the address: compare /proc/sys/sunrpc/rdma_max_inline_* on the "
     "client and /proc/sys/sunrpc/svc_rdma/max_req_size on the server."},
    {RuleId::private_data_server_r_clear, "private-data-server-r-clear", 'A', Severity::note, Versions::v1,
     "RFC 8797 section 4.1", "server", "The server does not offer remote invalidation",
     "The client offers remote invalidation and the server leaves its R bit clear. By the letter replies then use "
     "plain Sends, and the client has to invalidate its memory itself, one work request more for each call.",
     "R is 1 in the client's private data and 0 in the server's. Not decided when a side of the handshake is missing.",
     "Expected with Linux servers, which leave R at 0 and invalidate anyway (see remote-invalidation-server-r-clear)."},

    // B. inline thresholds and message size
    {RuleId::inline_threshold_exceeded, "inline-threshold-exceeded", 'B', Severity::error, Versions::both,
     "RFC 8166 sections 3.3.2 and 4.2.4; RFC 8797 section 4.2; version 2 draft section 4.2.2", "sender",
     "A message is larger than the peer can receive",
     "Transport header and inline payload of one Send together have to fit the threshold of that direction: the "
     "smaller "
     "of what the sender said it sends and the receiver said it receives. A larger message does not fit the receive "
     "buffer; the receiving adapter reports a length error, and the connection is lost unless the buffer happened to "
     "be larger than announced.",
     "The length on the wire of the reassembled Send, and both private data blocks. Never said with this weight when a "
     "side of the handshake is missing or a packet of the Send was not captured.",
     "Linux client: rpcrdma:xprtrdma_inline_thresh shows what was negotiated, rpcrdma:xprtrdma_wc_receive the status "
     "LOC_LEN_ERR. Linux server: rpcrdma:svcrdma_wc_recv_err. Sizes come from /proc/sys/sunrpc/rdma_max_inline_read "
     "and "
     "rdma_max_inline_write on the client and svc_rdma/max_req_size on the server; changes apply to the next "
     "connection."},
    {RuleId::inline_default_exceeded, "inline-default-exceeded", 'B', Severity::error, Versions::v1,
     "RFC 8166 section 3.3.3; RFC 8797 section 5.1", "sender",
     "A message larger than 1024 octets though a peer announced nothing",
     "Where one peer sends no private data, that side counts as 1024 octets and messages have to stay within it. A "
     "peer "
     "may know better by other means, but the wire does not show that; without such knowledge a larger message "
     "overruns "
     "the receive buffer and ends the connection.",
     "The handshake is in the capture, one side carries no usable private data, and a Send is longer than 1024 octets. "
     "If the connection carries on unharmed it is a warning. Not decided when the handshake was not captured.",
     "rpcrdma:xprtrdma_inline_thresh on a Linux client; on the sending server look for a fixed inline size in its "
     "configuration. nfsd does this when a Call offers no Reply chunk and the reply is large."},
    {RuleId::inline_overrun_fatal, "inline-overrun-fatal", 'B', Severity::error, Versions::both,
     "RFC 8166 section 3.3 (derived); RFC 8797 section 3.1; version 2 draft section 4.2", "sender",
     "A message that was too large ended the connection",
     "An RDMA receiver cannot cut or split a message: one that is longer than the receive buffer makes the adapter "
     "refuse it and both ends stop. Every outstanding RPC is lost with it, and the client reconnects, often to send "
     "the "
     "same message again.",
     "A Send above the threshold, followed by a NAK of that packet (0x61; soft-RoCE answers 0x63), a Terminate for it, "
     "or the end of the connection. Only probable when the refusal has the code but the size does not prove it. Not "
     "decided when packets are missing in between.",
     "Receiver: adapter counter resp_local_length_error (rdma statistic show), rpcrdma:xprtrdma_wc_receive or "
     "svcrdma_wc_recv_err with LOC_LEN_ERR. Then compare the sizes as for inline-threshold-exceeded."},
    {RuleId::send_larger_than_known, "send-larger-than-known", 'B', Severity::note, Versions::both,
     "RFC 8166 section 3.3.3", "nobody", "A message larger than the default, and the threshold is not known",
     "1024 octets may always be sent; more needs an agreement, and the handshake that would show it is not in the "
     "capture. So nobody can be blamed, but the real threshold is probably at least this large.",
     "A Send longer than 1024 octets on a connection whose handshake was not captured. This can never become an error.",
     "Start the capture before the mount (or force a reconnect), or read rpcrdma:xprtrdma_inline_thresh on the "
     "client."},
    {RuleId::reply_chunk_ignored, "reply-chunk-ignored", 'B', Severity::error, Versions::both,
     "RFC 8166 section 3.5.3; version 2 draft section 6.6.3", "responder",
     "A reply was sent inline though it does not fit and a Reply chunk was offered",
     "A requester that expects a large reply offers memory for it, the Reply chunk. When the reply does not fit the "
     "threshold the responder has to use it; sent inline it overruns the requester's receive buffer.",
     "The Reply's length exceeds the threshold and its Call carried a Reply chunk large enough. Not decided without "
     "the "
     "handshake, or when Call or Reply are cut short.",
     "Linux server: rpcrdma:svcrdma_decode_wseg shows the chunk it saw, svcrdma_post_reply_chunk that it wrote one."},
    {RuleId::long_call_avoidable, "long-call-avoidable", 'B', Severity::note, Versions::both,
     "RFC 8166 section 3.5.3; version 2 draft section 6.6.3", "requester",
     "A call was moved into a Read chunk although it fits inline",
     "A requester may always hand over a whole call in a Position-Zero Read chunk. For a call that fits inline it "
     "costs "
     "a memory registration and a round trip for nothing.",
     "The length of the Position-Zero Read chunk plus header is within the threshold. Not decided without the "
     "handshake.",
     "Linux client: nomsg_call_count in the xprt line of /proc/self/mountstats; rpcrdma:xprtrdma_marshal shows '*read "
     "list'. Large inline sizes on both sides help: /proc/sys/sunrpc/rdma_max_inline_write."},
    {RuleId::reply_chunk_unneeded_use, "reply-chunk-unneeded-use", 'B', Severity::note, Versions::both,
     "RFC 8166 section 4.3.3", "responder", "A small reply was put into the Reply chunk",
     "A responder may use an offered Reply chunk for a reply that would fit inline. It costs an RDMA Write more for "
     "each reply.",
     "An RDMA_NOMSG Reply whose Reply chunk length plus header is within the threshold. Not decided without the "
     "handshake.",
     "Expected with nfsd and nfs-ganesha, which use the Reply chunk whenever there is one. Larger "
     "/proc/sys/sunrpc/rdma_max_inline_read on the client makes it offer fewer Reply chunks."},
    {RuleId::reply_resource_shortage, "reply-resource-shortage", 'B', Severity::warning, Versions::v1,
     "RFC 8166 section 4.5.3; RFC 8267 section 3.1", "requester",
     "A call was refused, possibly because its reply has no room",
     "The requester has to offer enough room for the largest possible reply. When inline, Write chunks and Reply chunk "
     "together do not suffice, the responder can only answer ERR_CHUNK; the application then sees an I/O error "
     "although "
     "the operation itself may have been carried out.",
     "A well-formed Call answered by RDMA_ERROR with ERR_CHUNK and no trouble with its Read chunks. ERR_CHUNK has "
     "other "
     "causes too, so this is a possibility and no proof.",
     "Linux server: rpcrdma:svcrdma_small_wrch_err and svcrdma_err_chunk; client: rpcrdma:xprtrdma_err_chunk, "
     "xprtrdma_chunk_reply, and bad_reply_count in /proc/self/mountstats. Typical on Linux: NFSv4.2 GETXATTR "
     "without a Reply chunk."},

    // C. credits
    {RuleId::credit_limit_exceeded, "credit-limit-exceeded", 'C', Severity::error, Versions::v1,
     "RFC 8166 section 3.3.1", "requester", "More calls outstanding than the responder granted",
     "Each reply grants the requester a number of calls that may be unanswered at once. More calls than that can find "
     "no receive buffer: the responder's adapter answers RNR NAK (on iWARP it terminates), and when retries run out "
     "the "
     "connection is lost.",
     "Unanswered Calls of one direction against the newest grant the requester is proven to have received; a lowered "
     "grant counts only once it was acknowledged. Exceeding only what the requester itself asked for is a warning. Not "
     "decided when the capture has gaps or begins in the middle.",
     "Linux client: rpcrdma:xprtrdma_reply shows the credits of each reply; /proc/sys/sunrpc/rdma_slot_table_entries "
     "is "
     "what it asks for. Linux server: /proc/sys/sunrpc/svc_rdma/max_requests is what it grants."},
    {RuleId::credit_initial_exceeded, "credit-initial-exceeded", 'C', Severity::error, Versions::v1,
     "RFC 8166 section 3.3.3", "requester", "More than one call before the first reply",
     "A new connection starts with a single credit: the second call has to wait for the first reply, because the "
     "responder need not have more receive buffers ready. A burst at the start can meet an unprepared responder and "
     "kill the connection before it was ever used.",
     "A second Call on the connection before any Reply or RDMA_ERROR in the other direction. Counted for each "
     "direction "
     "apart. Not decided when the start of the connection was not captured or packets are missing.",
     "Linux client: rpcrdma:xprtrdma_connect, then the order of xprtrdma_post_send and xprtrdma_reply. Typical for "
     "user-space clients that fill their pipeline at once."},
    {RuleId::credit_grant_zero, "credit-grant-zero", 'C', Severity::error, Versions::v1, "RFC 8166 section 3.3.1",
     "responder", "A reply grants no credits",
     "A grant of zero would leave the requester unable ever to send again, so it is forbidden. Linux takes it as one, "
     "which looks like a mount that works but is very slow: one RPC at a time.",
     "A message known to be a Reply with credit value 0. Not decided for messages whose direction is not known "
     "(RDMA_ERROR, RDMA_NOMSG with unseen payload).",
     "Look at the server's credit setting; a Linux client shows the value in rpcrdma:xprtrdma_reply, and a growing "
     "backlog (bklog_u) in the xprt line of /proc/self/mountstats."},
    {RuleId::credit_request_zero, "credit-request-zero", 'C', Severity::note, Versions::v1,
     "RFC 8166 section 3.3.1 (derived)", "requester", "A call requests no credits",
     "Nothing forbids a request for zero credits, but it is useless: the responder may grant as little as one.",
     "A Call with credit value 0. Some stacks do this in reverse-direction calls.",
     "If throughput is poor, see what the requester should have asked for: on Linux "
     "/proc/sys/sunrpc/rdma_slot_table_entries."},
    {RuleId::credit_grant_above_request, "credit-grant-above-request", 'C', Severity::note, Versions::v1,
     "RFC 8166 section 3.3.1", "nobody", "The grant is larger than the request",
     "Legal: the smaller of the two numbers counts. A server that grants whatever it likes may have fewer receive "
     "buffers than it says.",
     "A Reply's credit value above that of the newest Call of the requester.",
     "Only interesting together with rnr-nak-seen; on a Linux server compare /proc/sys/sunrpc/svc_rdma/max_requests."},
    {RuleId::credit_grant_unbacked, "credit-grant-unbacked", 'C', Severity::error, Versions::v1,
     "RFC 8166 section 3.3.1", "responder", "A call within the grant found no receive buffer",
     "A responder has to post the receive buffers for a grant before it sends the reply that carries it. If it has "
     "not, "
     "a requester that keeps every rule still meets RNR NAK, and with an RNR retry count of zero loses the connection.",
     "RNR NAK (or a Terminate for want of a buffer) on a Call while the Calls outstanding do not exceed the grant, "
     "with "
     "every frame present. A warning when a retry got through. Not decided when packets are missing or the capture "
     "point cannot tell what was known when.",
     "Server: rpcrdma:svcrdma_post_recv and svcrdma_rq_post_err; adapter counters out_of_buffer (mlx5) or send_rnr_err "
     "(soft-RoCE) through rdma statistic show. A shared receive queue that is too small looks the same."},
    {RuleId::credit_overrun_fatal, "credit-overrun-fatal", 'C', Severity::error, Versions::both,
     "RFC 8166 section 3.3 (derived); version 2 draft section 4.2", "sender",
     "More calls than granted ended the connection",
     "Calls beyond the grant used up the receiver's buffers. The receiving adapter refused the next message and the "
     "connection ended, with every outstanding RPC lost.",
     "More Calls outstanding than granted, then RNR NAK without a successful retry or a DDP Terminate for want of a "
     "buffer, then the end of the connection. With no more Calls than granted it is credit-grant-unbacked. Not decided "
     "when packets are missing.",
     "Requester's credit accounting first (see credit-limit-exceeded); adapter counters rnr_nak_retry_err (mlx5) or "
     "retry_rnr_exceeded_err (soft-RoCE)."},
    {RuleId::rnr_nak_seen, "rnr-nak-seen", 'C', Severity::warning, Versions::both,
     "RFC 8166 section 3.3.1 (derived); IBA", "by evidence", "Receiver not ready (RNR NAK)",
     "Credits exist so that a receive buffer is always ready; a well-behaved pair never sees RNR NAK. With a retry "
     "count above zero it only costs time, with zero the first one is fatal. Right after the connection opened it can "
     "be harmless.",
     "An acknowledgement with an RNR NAK syndrome. Who is to blame follows from the calls outstanding and the grant.",
     "rdma statistic show on both hosts: out_of_buffer and rnr_nak_retry_err on mlx5, send_rnr_err and rcvd_rnr_err on "
     "soft-RoCE. Then see credit-limit-exceeded and credit-grant-unbacked."},
    {RuleId::credit_stall, "credit-stall", 'C', Severity::note, Versions::v1, "RFC 8166 section 3.3.1", "nobody",
     "All credits were in use for a while",
     "The requester had as many calls outstanding as it was allowed and had to wait. Under load that is normal; when "
     "it lasts, the server's grant limits throughput or the server is slow.",
     "Calls outstanding equal the grant for longer than a second. Not decided across a gap in the capture.",
     "Linux client: bklog_u in the xprt line of /proc/self/mountstats. Raise /proc/sys/sunrpc/svc_rdma/max_requests on "
     "the server if its grant is the limit, /proc/sys/sunrpc/rdma_slot_table_entries if the client's request is."},
    {RuleId::credit_grant_fluctuates, "credit-grant-fluctuates", 'C', Severity::note, Versions::v1,
     "RFC 8166 section 3.3.1", "responder", "The grant changes from reply to reply",
     "A responder may raise and lower its grant at any time. A requester that does not follow a lowered grant overruns "
     "it.",
     "Replies of one connection carry different credit values.",
     "Informational; Linux servers grant a constant. See whether credit-limit-exceeded follows a lowered grant."},
    {RuleId::reverse_credit_exceeded, "reverse-credit-exceeded", 'C', Severity::error, Versions::v1,
     "RFC 8167 section 4.1", "server", "More reverse calls outstanding than the client granted",
     "Callbacks run in the other direction and have a credit count of their own, granted by the client. A server that "
     "sends more finds no receive buffer at the client, whose RNR retry count is usually zero: the connection is lost.",
     "As credit-limit-exceeded, for Calls from the server to the client. Not decided with gaps or without the start of "
     "the connection.",
     "Client: rpcrdma:xprtrdma_cb_setup (how many it is ready for), xprtrdma_cb_call. Server: "
     "/proc/sys/sunrpc/svc_rdma/max_bc_requests."},
    {RuleId::requester_receives_missing, "requester-receives-missing", 'C', Severity::warning, Versions::v1,
     "RFC 8166 section 3.3.1", "requester", "A reply found no receive buffer at the requester",
     "A requester has to keep a receive buffer ready for every reply it expects. Without one its adapter answers RNR "
     "NAK to the reply; Linux clients announce an RNR retry count of zero, so the first one ends the connection.",
     "RNR NAK (or a Terminate for want of a buffer) by the requester on a Reply. Not decided when packets are missing.",
     "Client: rpcrdma:xprtrdma_post_recvs (how many are active) and xprtrdma_post_recvs_err; adapter counter "
     "out_of_buffer (mlx5) or send_rnr_err (soft-RoCE)."},
};

}  // namespace rpcrdma::referee::rows
