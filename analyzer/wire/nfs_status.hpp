// SPDX-License-Identifier: GPL-2.0-or-later
// What NFS answers: stat of NFSv2 (RFC 1094 section 2.3.1), nfsstat3 (RFC 1813 section 2.6), nfsstat4 (RFC 7531, 5662,
// 7863, 8276) and the state that a server reports with each SEQUENCE (RFC 8881 section 18.46.3).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wire/fields.hpp"

namespace rpcrdma::wire {

inline constexpr std::uint32_t nfs2err_stale = 70;

inline constexpr std::uint32_t nfs3_ok = 0;
inline constexpr std::uint32_t nfs3err_noent = 2;
inline constexpr std::uint32_t nfs3err_exist = 17;
inline constexpr std::uint32_t nfs3err_stale = 70;
inline constexpr std::uint32_t nfs3err_serverfault = 10006;
inline constexpr std::uint32_t nfs3err_jukebox = 10008;

inline constexpr std::uint32_t nfs4_ok = 0;
inline constexpr std::uint32_t nfs4err_noent = 2;
inline constexpr std::uint32_t nfs4err_exist = 17;
inline constexpr std::uint32_t nfs4err_stale = 70;
inline constexpr std::uint32_t nfs4err_toosmall = 10005;
inline constexpr std::uint32_t nfs4err_serverfault = 10006;
inline constexpr std::uint32_t nfs4err_delay = 10008;
inline constexpr std::uint32_t nfs4err_denied = 10010;
inline constexpr std::uint32_t nfs4err_expired = 10011;
inline constexpr std::uint32_t nfs4err_grace = 10013;
inline constexpr std::uint32_t nfs4err_clid_inuse = 10017;
inline constexpr std::uint32_t nfs4err_minor_vers_mismatch = 10021;
inline constexpr std::uint32_t nfs4err_stale_clientid = 10022;
inline constexpr std::uint32_t nfs4err_stale_stateid = 10023;
inline constexpr std::uint32_t nfs4err_bad_stateid = 10025;
inline constexpr std::uint32_t nfs4err_admin_revoked = 10047;
inline constexpr std::uint32_t nfs4err_cb_path_down = 10048;
inline constexpr std::uint32_t nfs4err_badsession = 10052;
inline constexpr std::uint32_t nfs4err_conn_not_bound_to_session = 10055;
inline constexpr std::uint32_t nfs4err_layouttrylater = 10058;
inline constexpr std::uint32_t nfs4err_nomatching_layout = 10060;
inline constexpr std::uint32_t nfs4err_deadsession = 10078;
inline constexpr std::uint32_t nfs4err_deleg_revoked = 10087;
inline constexpr std::uint32_t nfs4err_offload_no_reqs = 10094;

/// "NFSERR_STALE"; empty if unknown.
[[nodiscard]] std::string_view nfs2_status_name(std::uint32_t status) noexcept;
/// "NFS3ERR_JUKEBOX"; empty if unknown.
[[nodiscard]] std::string_view nfs3_status_name(std::uint32_t status) noexcept;
/// "NFS4ERR_DELAY"; empty if unknown.
[[nodiscard]] std::string_view nfs4_status_name(std::uint32_t status) noexcept;

// Bits of sr_status_flags
inline constexpr std::uint32_t seq4_cb_path_down = 0x1;
inline constexpr std::uint32_t seq4_expired_all_state_revoked = 0x8;
inline constexpr std::uint32_t seq4_expired_some_state_revoked = 0x10;
inline constexpr std::uint32_t seq4_admin_state_revoked = 0x20;
inline constexpr std::uint32_t seq4_recallable_state_revoked = 0x40;
inline constexpr std::uint32_t seq4_restart_reclaim_needed = 0x100;
inline constexpr std::uint32_t seq4_cb_path_down_session = 0x200;
inline constexpr std::uint32_t seq4_backchannel_fault = 0x400;

/// All bits that have a name, "SEQ4_STATUS_CB_PATH_DOWN" and so on, the lowest first.
[[nodiscard]] std::span<const NamedValue> seq4_status_names() noexcept;

}  // namespace rpcrdma::wire
