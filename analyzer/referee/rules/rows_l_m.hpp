// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: connection management (L), capture quality (M). Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule l_to_m[] = {
    // L. connection management
    {RuleId::cm_rejected, "cm-rejected", 'L', Severity::warning, Versions::both, "IBA; RFC 5044; RFC 6581",
     "by evidence", "The connection was refused",
     "The other side did not accept the connection: nobody listens on that port, it lacks resources, or the "
     "application "
     "said no. The mount fails or keeps trying. A refusal as stale connection is normal after a crash, and the client "
     "tries again.",
     "A REJ with its reason (8: no listener, 10: stale, 28: refused by the application), or an MPA Reply with the "
     "reject bit.",
     "Server: cat /proc/fs/nfsd/portlist has to show 'rdma 20049' (rdma=y in the [nfsd] section of /etc/nfs.conf); "
     "rdma "
     "resource show cm_id. Client: rpcrdma:xprtrdma_op_connect, rdma_cma:cm_event_handler, and the mount option "
     "port=20049."},
    {RuleId::cm_unanswered, "cm-unanswered", 'L', Severity::warning, Versions::both, "IBA", "nobody",
     "The connection request was never answered",
     "The request was sent, perhaps several times, and no answer came: the host is down, the path is broken, or "
     "something in between drops RDMA packets. The mount hangs until its connect timeout.",
     "A REQ (MPA Request) without REP, REJ or MPA Reply. A capture of one direction only looks the same.",
     "ping and rping between the hosts; firewalls for UDP port 4791 (RoCEv2) or the TCP port (iWARP); rdma link show; "
     "RoCE GID type and priority flow control on the switches."},
    {RuleId::cm_rtu_missing, "cm-rtu-missing", 'L', Severity::note, Versions::both, "IBA", "nobody",
     "The connection carries data without a captured RTU",
     "The last message of the handshake may be lost; the first data establishes the connection just as well.",
     "Data from the client behind REQ and REP and no RTU. Not decided across a gap.",
     "Nothing to do; it hints at packet loss on the fabric or in the capture."},
    {RuleId::cm_dreq, "cm-dreq", 'L', Severity::note, Versions::both, "IBA", "nobody", "Orderly close",
     "One side asked to close the connection and the other agreed. Linux clients do so after five idle minutes and at "
     "unmount.",
     "A DREQ, or a TCP FIN on iWARP; the sender is the side that closed.",
     "Expected after idle time. Close under load: look at the messages just before it, and at "
     "rpcrdma:xprtrdma_disconnect on the client."},
    {RuleId::connection_lost, "connection-lost", 'L', Severity::warning, Versions::both,
     "RFC 8166 sections 3.3 and 4.5", "by evidence", "The connection ended without an orderly close",
     "Traffic stopped, was refused or was reset, and nobody said goodbye. Outstanding RPCs are lost and the client has "
     "to reconnect; if it happens again and again the mount crawls or hangs.",
     "Unanswered retries, a fatal refusal, a reset, or a new connection of the same peers without a close before it. "
     "The end of the capture proves nothing, and across a gap nobody is blamed.",
     "dmesg and rpcrdma:xprtrdma_disconnect, xprtrdma_wc_receive, xprtrdma_wc_send on the client, "
     "rpcrdma:svcrdma_qp_error on the server; rdma statistic show: local_ack_timeout_err (mlx5), retry_exceeded_err "
     "(soft-RoCE); connect_count in /proc/self/mountstats."},
    {RuleId::nak_sequence, "nak-sequence", 'L', Severity::note, Versions::both, "IBA", "nobody",
     "The fabric lost packets (NAK, sequence error)",
     "A receiver found a packet missing and asked for it again. Each one costs a round trip or more; many of them mean "
     "congestion, missing flow control or a bad cable.",
     "NAK 0x60. Packets missing only in the capture cause no NAK.",
     "rdma statistic show: out_of_sequence and packet_seq_err (mlx5), out_of_seq_request and rcvd_seq_err (soft-RoCE). "
     "Then ethtool -S on both ports for discards and pause frames, and PFC and ECN on the switches."},
    {RuleId::nak_invalid_request, "nak-invalid-request", 'L', Severity::error, Versions::both, "IBA", "by evidence",
     "An adapter refused a request as invalid (NAK 0x61)",
     "On a Send this is nearly always a message longer than the receive buffer; it can also be an operation that is "
     "not "
     "allowed or too many RDMA Reads at once. The connection is lost.",
     "NAK 0x61. Who is at fault depends on what was refused: see inline-overrun-fatal. Undecided when the refused "
     "packet was not captured.",
     "rdma statistic show: resp_local_length_error and req_remote_invalid_request (mlx5); rpcrdma:xprtrdma_wc_receive "
     "or svcrdma_wc_recv_err with LOC_LEN_ERR."},
    {RuleId::nak_remote_op, "nak-remote-op", 'L', Severity::error, Versions::both, "IBA", "by evidence",
     "An adapter reported a failure of its own (NAK 0x63)",
     "The receiving adapter could not complete a request for a reason of its own, and the connection is lost. "
     "Soft-RoCE "
     "is the exception: it answers with this code to a message that is too large for the receive buffer, where the "
     "sender is at fault.",
     "NAK 0x63. When the refused Send is larger than the threshold, the size proves the sender's fault.",
     "dmesg of the host that sent the NAK (adapter or driver errors); svcrdma_qp_error or xprtrdma_wc_receive there."},
    {RuleId::iwarp_terminate, "iwarp-terminate", 'L', Severity::error, Versions::both, "RFC 5040; RFC 5041; RFC 5044",
     "by evidence", "An adapter terminated the iWARP stream",
     "The side that found an error says what it was and closes the connection; the fault usually lies with the other "
     "side. The code tells: no buffer (credits), message too long (inline threshold), or a bad steering tag or range "
     "(memory).",
     "A Terminate message with layer, type and code. Soft-iWARP swaps the first two and says 'no buffer' also for a "
     "message that is too long; both readings are tried against what was refused. Undecided when it is cut short.",
     "dmesg of the host that sent it; rpcrdma:xprtrdma_wc_receive and xprtrdma_wc_send, svcrdma_wc_recv_err and "
     "svcrdma_qp_error for the status."},
    {RuleId::mpa_mismatch, "mpa-mismatch", 'L', Severity::warning, Versions::both, "RFC 5044; RFC 6581", "nobody",
     "The two ends of the MPA start-up do not agree",
     "Revision, markers and CRC are settled in the MPA Request and Reply. If the answer does not fit the question, the "
     "peers may frame the stream differently and the connection dies with its first data.",
     "Revision and flags of MPA Request and Reply. Not decided when either was not captured.",
     "The MPA revision, CRC and marker settings of both drivers; in soft-iWARP (siw) they are fixed at compile time."},
    {RuleId::rnr_retry_zero, "rnr-retry-zero", 'L', Severity::note, Versions::both, "IBA", "nobody",
     "RNR retry count is zero",
     "The first missing receive buffer ends the connection instead of being retried. Linux clients and servers set it "
     "on purpose, so that a credit error is seen and not hidden.",
     "The RNR retry count in REQ or REP. It governs the adapter of the side that receives the message. Not decided "
     "without the handshake.",
     "Expected on Linux. It explains why a single RNR NAK was fatal."},
    {RuleId::service_port_unusual, "service-port-unusual", 'L', Severity::note, Versions::both,
     "RFC 8166 section 5; RFC 8267 section 9", "nobody", "The service is not on port 20049",
     "NFS over RDMA has port 20049; any other works as well if both sides agree. Tools that look only at 20049 miss "
     "such a connection when its handshake is not captured.",
     "The port in the service ID or the TCP port. Not decided without the handshake.",
     "Expected if the mount says port=...; name it with --port for captures that start in the middle."},

    // M. capture quality
    {RuleId::capture_start_missing, "capture-start-missing", 'M', Severity::note, Versions::both, "observation",
     "nobody", "The start of the connection is not in the capture",
     "Without the handshake nobody can say what sizes were agreed, whether remote invalidation is allowed, and how "
     "many "
     "calls were open. Rules that need it are not judged.",
     "The first frame of the connection is data, not a REQ or an MPA Request.",
     "Start the capture before the mount, or unmount and mount again while it runs. A Linux client also reconnects by "
     "itself after five idle minutes."},
    {RuleId::capture_one_way, "capture-one-way", 'M', Severity::note, Versions::both, "observation", "nobody",
     "Only one direction of the connection was captured",
     "Calls cannot be matched with replies, and what the other side granted or offered is not known. Rules on credits, "
     "memory and lifetime are not judged.",
     "Packets of one side only, no acknowledgements or answers from the other.",
     "Mirror both directions of the port, or capture on the host; RoCE through the adapter's own sniffing needs both "
     "transmit and receive."},
    {RuleId::capture_gap, "capture-gap", 'M', Severity::note, Versions::both, "observation", "nobody",
     "The capture lacks packets of this connection",
     "Packets that the receiver did get are not in the file. From there on nothing is judged that depends on them, "
     "until every call open at that time is finished.",
     "Sequence numbers that were never seen although later ones were acknowledged.",
     "tcpdump's 'packets dropped by kernel', a larger buffer (-B), a shorter snap length (-s), the mirror port's drop "
     "counters. Capturing an adapter directly reports no drops even when there are some."},
    {RuleId::frame_truncated, "frame-truncated", 'M', Severity::note, Versions::both, "observation", "nobody",
     "Frames were cut short by the snap length",
     "Sizes are still judged by the length on the wire. What stands in the missing octets, such as chunk lists or "
     "private data, is not judged.",
     "Captured length below the length on the wire.",
     "Capture with -s 0, or with at least 512 octets to keep headers, chunk lists and private data."},
    {RuleId::capture_duplicate, "capture-duplicate", 'M', Severity::note, Versions::both, "observation", "nobody",
     "The capture holds the same frames twice",
     "Two taps or a mirror of two ports record each packet more than once. Copies are removed and not counted as "
     "retransmissions.",
     "The same packet with the same octets within a very short time.",
     "Mirror one port only, or capture on one interface of a bond."},
    {RuleId::capture_reordered, "capture-reordered", 'M', Severity::note, Versions::both, "observation", "nobody",
     "Frames stand in the file in another order than on the wire",
     "Packets are put back into sequence order before anything is judged.",
     "Packet sequence numbers against file order.",
     "Usual with several receive queues or two capture interfaces; reordercap puts a file in order by time."},
    {RuleId::capture_time_backwards, "capture-time-backwards", 'M', Severity::note, Versions::both, "observation",
     "nobody", "Time stamps go backwards",
     "The clock was set during the capture or two sources were joined. Latencies and timeouts around that place are "
     "not "
     "reliable; the order of packets is not affected.",
     "A frame with an earlier time stamp than the one before it.",
     "Use one clock (PTP or the adapter's) for all capture points; --merge for two taps."},
    {RuleId::icrc_bad, "icrc-bad", 'M', Severity::note, Versions::both, "IBA; RFC 5044", "nobody",
     "Checksums do not match",
     "The invariant CRC (RoCE, InfiniBand) or the MPA CRC does not fit the packet. Captured on the sending host that "
     "is "
     "usual, because the adapter fills it in later; from a mirror port it means damage on the way.",
     "ICRC or CRC-32c of the first packets of a connection, of all with --check-crc. The packets are judged all the "
     "same.",
     "Captured on the wire: link errors in ethtool -S and rdma statistic show (rx_icrc_encapsulated on mlx5)."},
    {RuleId::not_rpcrdma, "not-rpcrdma", 'M', Severity::note, Versions::both, "observation", "nobody",
     "The connection carries something else",
     "Its messages do not look like RPC-over-RDMA again and again: another protocol uses RDMA here (iSER, NVMe over "
     "fabrics, SMB Direct, MPI). Nothing on it is judged.",
     "XID, version and message type words that make no sense, message after message.",
     "If it should be NFS, check which service answers on that port: rdma resource show cm_id."},
};

}  // namespace rpcrdma::referee::rows
