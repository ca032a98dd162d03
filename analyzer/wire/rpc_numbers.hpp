// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of ONC RPC (RFC 5531, RFC 2203), and of the programs that NFS and what comes with it are.
#pragma once

#include <cstdint>

namespace rpcrdma::wire {

// RFC 5531 section 13 and the registry that it began
inline constexpr std::uint32_t portmapper_program = 100000;
inline constexpr std::uint32_t nfs_program = 100003;
inline constexpr std::uint32_t mount_program = 100005;
inline constexpr std::uint32_t nlm_program = 100021;
inline constexpr std::uint32_t nsm_program = 100024;
inline constexpr std::uint32_t nfsacl_program = 100227;

/// Of a Reply (RFC 5531 section 9).
namespace reply_stat {
inline constexpr std::uint32_t accepted = 0;
inline constexpr std::uint32_t denied = 1;
}  // namespace reply_stat

/// Of a Reply that was accepted (RFC 5531 section 9).
namespace accept_stat {
inline constexpr std::uint32_t success = 0;
inline constexpr std::uint32_t prog_unavail = 1;
inline constexpr std::uint32_t prog_mismatch = 2;  ///< the lowest and the highest version follow
inline constexpr std::uint32_t proc_unavail = 3;
inline constexpr std::uint32_t garbage_args = 4;
inline constexpr std::uint32_t system_err = 5;
}  // namespace accept_stat

/// Of one that was denied (RFC 5531 section 9).
namespace reject_stat {
inline constexpr std::uint32_t rpc_mismatch = 0;  ///< the lowest and the highest version follow
inline constexpr std::uint32_t auth_error = 1;    ///< an auth_stat follows
}  // namespace reject_stat

/// The server wants another context of RPCSEC_GSS, which the client makes (RFC 5531 section 9).
namespace auth_stat {
inline constexpr std::uint32_t gss_credential_problem = 13;
inline constexpr std::uint32_t gss_context_problem = 14;
}  // namespace auth_stat

inline constexpr std::uint32_t flavor_sys = 1;
inline constexpr std::uint32_t flavor_gss = 6;

/// A credential or a verifier has no more octets (RFC 5531 section 8.2), nor what has to stand in one, as the handle of
/// a context of RPCSEC_GSS.
inline constexpr std::uint32_t most_auth_octets = 400;

/// rpc_gss_proc_t (RFC 2203 section 5.2.2): who has no context yet asks for one, in one round or several; who needs it
/// no longer gives it up.
namespace gss_procedure {
inline constexpr std::uint32_t init = 1;
inline constexpr std::uint32_t continue_init = 2;
inline constexpr std::uint32_t destroy = 3;
}  // namespace gss_procedure

/// Of the answer to these (RFC 2203 section 5.2.3.1). Any other is an error.
namespace gss_major {
inline constexpr std::uint32_t complete = 0;
inline constexpr std::uint32_t continue_needed = 1;
}  // namespace gss_major

/// rpc_gss_service_t (RFC 2203 section 5.3.1).
namespace gss_service {
inline constexpr std::uint32_t none = 1;
inline constexpr std::uint32_t integrity = 2;
inline constexpr std::uint32_t privacy = 3;
}  // namespace gss_service

}  // namespace rpcrdma::wire
