// SPDX-License-Identifier: GPL-2.0-or-later
// The rules' names, once: RuleId, the name on the outside ("header-too-short") and the row that each rule has above its
// check (rules/*.cpp) are made from this list. A name without a row does not link.
#pragma once

// The order is the order of the table: groups A to M of the catalogue, version 2, then group N.
// clang-format off
#define RPCRDMA_RULES_OF_VERSION_1_AND_BOTH(X) \
  /* A. private data */ \
  X(private_data_absent) \
  X(private_data_unknown_version) \
  X(private_data_truncated) \
  X(private_data_reserved_set) \
  X(private_data_duplicate) \
  X(private_data_length_odd) \
  X(private_data_wrong_message) \
  X(private_data_changed) \
  X(private_data_server_r_clear) \
  /* B. inline thresholds and message size */ \
  X(inline_threshold_exceeded) \
  X(inline_default_exceeded) \
  X(inline_overrun_fatal) \
  X(send_larger_than_known) \
  X(reply_chunk_ignored) \
  X(long_call_avoidable) \
  X(reply_chunk_unneeded_use) \
  X(reply_resource_shortage) \
  /* C. credits */ \
  X(credit_limit_exceeded) \
  X(credit_initial_exceeded) \
  X(credit_grant_zero) \
  X(credit_request_zero) \
  X(credit_grant_above_request) \
  X(credit_grant_unbacked) \
  X(credit_overrun_fatal) \
  X(rnr_nak_seen) \
  X(credit_stall) \
  X(credit_grant_fluctuates) \
  X(reverse_credit_exceeded) \
  X(requester_receives_missing) \
  /* D. header and XDR */ \
  X(header_too_short) \
  X(xdr_malformed) \
  X(xdr_bool_invalid) \
  X(bad_version) \
  X(unknown_proc) \
  X(rdma_msgp_sent) \
  X(rdma_done_sent) \
  X(error_from_requester) \
  X(nomsg_without_body) \
  X(nomsg_trailing_bytes) \
  X(msg_without_rpc) \
  X(position_zero_in_msg) \
  X(xid_mismatch) \
  X(payload_unaligned) \
  X(direction_mismatch) \
  /* E. chunk lists */ \
  X(read_list_in_reply) \
  X(read_position_unaligned) \
  X(read_position_out_of_stream) \
  X(read_chunk_overlap) \
  X(read_list_unordered) \
  X(read_chunk_pad_included) \
  X(read_chunk_length_wrong) \
  X(read_chunk_empty) \
  X(call_chunk_mixed) \
  X(write_list_not_returned) \
  X(write_segments_changed) \
  X(write_length_grown) \
  X(write_fill_gap) \
  X(write_chunk_pad_written) \
  X(write_chunk_pad_provisioned) \
  X(unused_write_chunk_shape) \
  X(empty_write_chunk_filled) \
  X(write_chunk_skipped) \
  X(reply_chunk_not_returned) \
  X(reply_chunk_with_msg) \
  X(reply_chunk_useless) \
  X(ineligible_item_reduced) \
  X(eligible_item_inline) \
  X(reduction_under_gss) \
  X(nfs_chunk_complexity) \
  X(segment_overlap) \
  X(segment_wraps) \
  /* F. RDMA operations against advertised memory */ \
  X(rdma_write_out_of_bounds) \
  X(rdma_read_out_of_bounds) \
  X(rdma_unknown_handle) \
  X(rdma_access_mode) \
  X(rdma_by_requester) \
  X(rdma_before_call) \
  X(rdma_write_after_reply) \
  X(rdma_read_after_reply) \
  X(rdma_after_invalidate) \
  X(write_bytes_missing) \
  X(write_bytes_unreported) \
  X(read_chunk_not_pulled) \
  X(remote_access_error) \
  X(read_depth_exceeded) \
  X(unexpected_opcode) \
  /* G. lifetime and remote invalidation */ \
  X(remote_invalidation_not_allowed) \
  X(remote_invalidation_server_r_clear) \
  X(remote_invalidation_wrong_handle) \
  X(remote_invalidation_not_reply) \
  X(handle_reused_live) \
  X(handle_survives_invalidate) \
  X(chunk_live_at_close) \
  /* H. pull completion */ \
  X(pull_offer_form) \
  X(pull_offer_unneeded) \
  X(done_without_pending_chunk) \
  X(done_before_complete_pull) \
  X(done_with_reads_in_flight) \
  X(done_duplicate) \
  X(done_wrong_sender) \
  X(done_answered) \
  X(pull_completion_missing) \
  X(read_after_done) \
  X(offer_invalidated_early) \
  X(done_invalidate_rule) \
  X(xid_reuse_before_done) \
  X(handle_shared_between_offers) \
  /* I. transactions */ \
  X(xid_duplicate_outstanding) \
  X(call_retransmitted) \
  X(reply_without_call) \
  X(duplicate_reply) \
  X(call_unanswered) \
  X(call_lost_by_close) \
  X(retransmit_after_reconnect) \
  X(error_retried_same_xid) \
  X(reply_version_differs) \
  X(cancelled_write_hazard) \
  /* J. reverse direction */ \
  X(reverse_before_ready) \
  X(reverse_chunk_refusal_missing) \
  X(reverse_version_mismatch) \
  /* K. errors and versions */ \
  X(error_missing) \
  X(error_to_reply) \
  X(error_to_error) \
  X(error_fields) \
  X(error_code_unknown) \
  X(err_vers_range_invalid) \
  X(err_vers_unwarranted) \
  X(msgp_not_refused) \
  X(version_after_refusal) \
  X(version_changed) \
  X(garbage_args) \
  /* L. connection management */ \
  X(cm_rejected) \
  X(cm_unanswered) \
  X(cm_rtu_missing) \
  X(cm_dreq) \
  X(connection_lost) \
  X(nak_sequence) \
  X(nak_invalid_request) \
  X(nak_remote_op) \
  X(iwarp_terminate) \
  X(mpa_mismatch) \
  X(rnr_retry_zero) \
  X(service_port_unusual) \
  /* M. capture quality */ \
  X(capture_start_missing) \
  X(capture_one_way) \
  X(capture_gap) \
  X(frame_truncated) \
  X(capture_duplicate) \
  X(capture_reordered) \
  X(capture_time_backwards) \
  X(icrc_bad) \
  X(not_rpcrdma)

#define RPCRDMA_RULES_OF_VERSION_2(X) \
  X(v2_first_message_too_large) \
  X(v2_connprop_too_large) \
  X(v2_credit_exceeded) \
  X(v2_credit_initial_exceeded) \
  X(v2_credit_limit_invalid) \
  X(v2_credit_regressed) \
  X(v2_credit_starved) \
  X(v2_grant_xid_nonzero) \
  X(v2_grant_has_body) \
  X(v2_unknown_htype) \
  X(v2_call_chunk_missing) \
  X(v2_reply_chunk_missing) \
  X(v2_segment_count_exceeded) \
  X(v2_segment_size_exceeded) \
  X(v2_inv_handle_unknown) \
  X(v2_inv_handle_mismatch) \
  X(v2_inv_on_control) \
  X(v2_reverse_level_exceeded) \
  X(v2_continuation_broken) \
  X(v2_remaining_inconsistent) \
  X(v2_connprop_interrupted) \
  X(v2_connprop_after_final) \
  X(v2_connprop_final_missing) \
  X(v2_propval_bad) \
  X(v2_property_unknown) \
  X(v2_htype_repeated) \
  X(v2_inval_cont_missing) \
  X(v2_error_detail)

#define RPCRDMA_RULES_OF_PEERS(X) \
  X(version_negotiation_loop)

#define RPCRDMA_RULES_OF_MOUNTS(X) \
  X(call_hangs) \
  X(long_wait) \
  X(connect_unanswered) \
  X(connect_refused) \
  X(reconnect_loop) \
  X(callback_awaited) \
  X(recall_unanswered) \
  X(backchannel_down) \
  X(state_revoked) \
  X(server_restarted) \
  X(server_asks_to_wait) \
  X(nothing_served) \
  X(nfs_errors) \
  X(nfs_over_tcp) \
  X(capture_sampled)
// clang-format on
