// SPDX-License-Identifier: GPL-2.0-or-later
// The rule table: one row a rule. It feeds --list-rules, --explain, the documents, the reports and the plugin.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rpcrdma::referee {

enum class Severity : std::uint8_t { note, warning, error };
enum class Versions : std::uint8_t { v1, v2, both };

/// The order is the order of the table: groups A to M of the catalogue.
enum class RuleId : std::uint16_t {
  // A. private data
  private_data_absent,
  private_data_unknown_version,
  private_data_truncated,
  private_data_reserved_set,
  private_data_duplicate,
  private_data_length_odd,
  private_data_wrong_message,
  private_data_changed,
  private_data_server_r_clear,
  // B. inline thresholds and message size
  inline_threshold_exceeded,
  inline_default_exceeded,
  inline_overrun_fatal,
  send_larger_than_known,
  reply_chunk_ignored,
  long_call_avoidable,
  reply_chunk_unneeded_use,
  reply_resource_shortage,
  // C. credits
  credit_limit_exceeded,
  credit_initial_exceeded,
  credit_grant_zero,
  credit_request_zero,
  credit_grant_above_request,
  credit_grant_unbacked,
  credit_overrun_fatal,
  rnr_nak_seen,
  credit_stall,
  credit_grant_fluctuates,
  reverse_credit_exceeded,
  requester_receives_missing,
  // D. header and XDR
  header_too_short,
  xdr_malformed,
  xdr_bool_invalid,
  bad_version,
  unknown_proc,
  rdma_msgp_sent,
  rdma_done_sent,
  error_from_requester,
  nomsg_without_body,
  nomsg_trailing_bytes,
  msg_without_rpc,
  position_zero_in_msg,
  xid_mismatch,
  payload_unaligned,
  direction_mismatch,
  // E. chunk lists
  read_list_in_reply,
  read_position_unaligned,
  read_position_out_of_stream,
  read_chunk_overlap,
  read_list_unordered,
  read_chunk_pad_included,
  read_chunk_length_wrong,
  read_chunk_empty,
  call_chunk_mixed,
  write_list_not_returned,
  write_segments_changed,
  write_length_grown,
  write_fill_gap,
  write_chunk_pad_written,
  write_chunk_pad_provisioned,
  unused_write_chunk_shape,
  empty_write_chunk_filled,
  write_chunk_skipped,
  reply_chunk_not_returned,
  reply_chunk_with_msg,
  reply_chunk_useless,
  ineligible_item_reduced,
  eligible_item_inline,
  reduction_under_gss,
  nfs_chunk_complexity,
  segment_overlap,
  segment_wraps,
  // F. RDMA operations against advertised memory
  rdma_write_out_of_bounds,
  rdma_read_out_of_bounds,
  rdma_unknown_handle,
  rdma_access_mode,
  rdma_by_requester,
  rdma_before_call,
  rdma_write_after_reply,
  rdma_read_after_reply,
  rdma_after_invalidate,
  write_bytes_missing,
  write_bytes_unreported,
  read_chunk_not_pulled,
  remote_access_error,
  read_depth_exceeded,
  unexpected_opcode,
  // G. lifetime and remote invalidation
  remote_invalidation_not_allowed,
  remote_invalidation_server_r_clear,
  remote_invalidation_wrong_handle,
  remote_invalidation_not_reply,
  handle_reused_live,
  handle_survives_invalidate,
  chunk_live_at_close,
  // H. pull completion
  pull_offer_form,
  pull_offer_unneeded,
  done_without_pending_chunk,
  done_before_complete_pull,
  done_with_reads_in_flight,
  done_duplicate,
  done_wrong_sender,
  done_answered,
  pull_completion_missing,
  read_after_done,
  offer_invalidated_early,
  done_invalidate_rule,
  // I. transactions
  xid_duplicate_outstanding,
  call_retransmitted,
  reply_without_call,
  duplicate_reply,
  call_unanswered,
  call_lost_by_close,
  retransmit_after_reconnect,
  error_retried_same_xid,
  reply_version_differs,
  cancelled_write_hazard,
  // J. reverse direction
  reverse_before_ready,
  reverse_chunk_refusal_missing,
  reverse_version_mismatch,
  // K. errors and versions
  error_missing,
  error_to_reply,
  error_to_error,
  error_fields,
  error_code_unknown,
  err_vers_range_invalid,
  err_vers_unwarranted,
  msgp_not_refused,
  version_after_refusal,
  version_changed,
  garbage_args,
  // L. connection management
  cm_rejected,
  cm_unanswered,
  cm_rtu_missing,
  cm_dreq,
  connection_lost,
  nak_sequence,
  nak_invalid_request,
  nak_remote_op,
  iwarp_terminate,
  mpa_mismatch,
  rnr_retry_zero,
  service_port_unusual,
  // M. capture quality
  capture_start_missing,
  capture_one_way,
  capture_gap,
  frame_truncated,
  capture_duplicate,
  capture_reordered,
  capture_time_backwards,
  icrc_bad,
  not_rpcrdma,
  // Version 2, of all groups
  v2_first_message_too_large,
  v2_connprop_too_large,
  v2_credit_exceeded,
  v2_credit_initial_exceeded,
  v2_credit_limit_invalid,
  v2_credit_regressed,
  v2_credit_starved,
  v2_grant_xid_nonzero,
  v2_grant_has_body,
  v2_unknown_htype,
  v2_call_chunk_missing,
  v2_reply_chunk_missing,
  v2_segment_count_exceeded,
  v2_segment_size_exceeded,
  v2_inv_handle_unknown,
  v2_inv_handle_mismatch,
  v2_inv_on_control,
  v2_reverse_level_exceeded,
  v2_continuation_broken,
  v2_remaining_inconsistent,
  v2_connprop_interrupted,
  v2_connprop_after_final,
  v2_connprop_final_missing,
  v2_propval_bad,
  v2_property_unknown,
  v2_htype_repeated,
  v2_inval_cont_missing,
  v2_error_detail,
  version_negotiation_loop,
  count_
};

struct Rule {
  RuleId id;
  std::string_view name;  ///< stable: "inline-threshold-exceeded"
  char group;             ///< 'A'..'M'
  Severity severity;      ///< the most a finding of this rule says; an undecidable condition lowers it
  Versions versions;
  std::string_view source;       ///< "RFC 8166 section 3.3.2; RFC 8797 section 4.2"
  std::string_view who;          ///< "sender", "requester", "responder", "client", "server", "nobody"
  std::string_view title;        ///< one line, no full stop
  std::string_view explanation;  ///< the requirement in plain words (own words), and what breaks when it is not kept
  std::string_view evidence;     ///< what on the wire proves it here, and when it cannot be decided
  std::string_view next;         ///< what to look at next on the host (tracepoint, counter, setting)
};

/// All rules, indexed by RuleId.
[[nodiscard]] std::span<const Rule> all_rules() noexcept;
[[nodiscard]] const Rule& rule(RuleId id) noexcept;
[[nodiscard]] const Rule* find_rule(std::string_view name) noexcept;
[[nodiscard]] std::string_view text(Severity severity) noexcept;
[[nodiscard]] std::string_view text(Versions versions) noexcept;  // "1", "2", "1, 2"

}  // namespace rpcrdma::referee
