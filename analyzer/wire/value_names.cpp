// SPDX-License-Identifier: GPL-2.0-or-later
// Names of message types, errors, properties and the like: each table stands here and nowhere else.
#include <array>

#include "wire/fields.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::wire {

namespace {

using NamedValues = std::span<const NamedValue>;

// RFC 8166 sections 4.2.4 and 4.5
constexpr std::array<NamedValue, 5> procs{
    {{0, "RDMA_MSG"}, {1, "RDMA_NOMSG"}, {2, "RDMA_MSGP"}, {3, "RDMA_DONE"}, {4, "RDMA_ERROR"}}};
constexpr std::array<NamedValue, 2> errors_v1{{{err_vers, "ERR_VERS"}, {err_chunk, "ERR_CHUNK"}}};

// Version 2, sections 6.1, 7 and 5.2
constexpr std::array<NamedValue, 10> htypes{{{4, "RDMA2_ERROR"},
                                             {5, "RDMA2_GRANT"},
                                             {6, "RDMA2_CONNPROP_MIDDLE"},
                                             {7, "RDMA2_CONNPROP_FINAL"},
                                             {8, "RDMA2_CALL_EXTERNAL"},
                                             {9, "RDMA2_CALL_MIDDLE"},
                                             {10, "RDMA2_CALL_INLINE"},
                                             {11, "RDMA2_REPLY_EXTERNAL"},
                                             {12, "RDMA2_REPLY_MIDDLE"},
                                             {13, "RDMA2_REPLY_INLINE"}}};
constexpr std::array<NamedValue, 12> errors_v2{{{1, "RDMA2_ERR_VERS"},
                                                {2, "RDMA2_ERR_BAD_XDR"},
                                                {3, "RDMA2_ERR_BAD_PROPVAL"},
                                                {4, "RDMA2_ERR_INVAL_HTYPE"},
                                                {5, "RDMA2_ERR_INVAL_CONT"},
                                                {6, "RDMA2_ERR_READ_CHUNKS"},
                                                {7, "RDMA2_ERR_WRITE_CHUNKS"},
                                                {8, "RDMA2_ERR_SEGMENTS"},
                                                {9, "RDMA2_ERR_WRITE_RESOURCE"},
                                                {10, "RDMA2_ERR_REPLY_RESOURCE"},
                                                {11, "RDMA2_ERR_VERS_MISMATCH"},
                                                {100, "RDMA2_ERR_SYSTEM"}}};
constexpr std::array<NamedValue, 6> properties{{{1, "Maximum Send Size"},
                                                {2, "Receive Buffer Size"},
                                                {3, "Maximum Segment Size"},
                                                {4, "Maximum Segment Count"},
                                                {5, "Reverse-Direction Support"},
                                                {6, "Host Authentication Message"}}};
constexpr std::array<NamedValue, 4> reverse_levels{{{0, "none"}, {1, "Simple"}, {2, "Continued"}, {3, "general"}}};
// Drafts 00 to 02
constexpr std::array<NamedValue, 5> earlier_htypes{
    {{0, "RDMA2_MSG"}, {1, "RDMA2_NOMSG"}, {4, "RDMA2_ERROR"}, {5, "RDMA2_CONNPROP"}, {6, "RDMA2_GRANT"}}};

// RFC 5531 sections 8.2 and 9
constexpr std::array<NamedValue, 2> message_types{{{0, "CALL"}, {1, "REPLY"}}};
constexpr std::array<NamedValue, 4> flavors{
    {{0, "AUTH_NONE"}, {1, "AUTH_SYS"}, {flavor_gss, "RPCSEC_GSS"}, {7, "AUTH_TLS"}}};
constexpr std::array<NamedValue, 2> reply_states{{{0, "MSG_ACCEPTED"}, {1, "MSG_DENIED"}}};
constexpr std::array<NamedValue, 6> accept_states{{{accept_stat::success, "SUCCESS"},
                                                   {accept_stat::prog_unavail, "PROG_UNAVAIL"},
                                                   {accept_stat::prog_mismatch, "PROG_MISMATCH"},
                                                   {accept_stat::proc_unavail, "PROC_UNAVAIL"},
                                                   {accept_stat::garbage_args, "GARBAGE_ARGS"},
                                                   {accept_stat::system_err, "SYSTEM_ERR"}}};
constexpr std::array<NamedValue, 2> reject_states{
    {{reject_stat::rpc_mismatch, "RPC_MISMATCH"}, {reject_stat::auth_error, "AUTH_ERROR"}}};
constexpr std::array<NamedValue, 15> auth_states{{{0, "AUTH_OK"},
                                                  {1, "AUTH_BADCRED"},
                                                  {2, "AUTH_REJECTEDCRED"},
                                                  {3, "AUTH_BADVERF"},
                                                  {4, "AUTH_REJECTEDVERF"},
                                                  {5, "AUTH_TOOWEAK"},
                                                  {6, "AUTH_INVALIDRESP"},
                                                  {7, "AUTH_FAILED"},
                                                  {8, "AUTH_KERB_GENERIC"},
                                                  {9, "AUTH_TIMEEXPIRE"},
                                                  {10, "AUTH_TKT_FILE"},
                                                  {11, "AUTH_DECODE"},
                                                  {12, "AUTH_NET_ADDR"},
                                                  {auth_stat::gss_credential_problem, "RPCSEC_GSS_CREDPROBLEM"},
                                                  {auth_stat::gss_context_problem, "RPCSEC_GSS_CTXPROBLEM"}}};
constexpr std::array<NamedValue, 18> gss_routine_errors{{{1, "GSS_S_BAD_MECH"},
                                                         {2, "GSS_S_BAD_NAME"},
                                                         {3, "GSS_S_BAD_NAMETYPE"},
                                                         {4, "GSS_S_BAD_BINDINGS"},
                                                         {5, "GSS_S_BAD_STATUS"},
                                                         {6, "GSS_S_BAD_MIC"},
                                                         {7, "GSS_S_NO_CRED"},
                                                         {8, "GSS_S_NO_CONTEXT"},
                                                         {9, "GSS_S_DEFECTIVE_TOKEN"},
                                                         {10, "GSS_S_DEFECTIVE_CREDENTIAL"},
                                                         {11, "GSS_S_CREDENTIALS_EXPIRED"},
                                                         {12, "GSS_S_CONTEXT_EXPIRED"},
                                                         {13, "GSS_S_FAILURE"},
                                                         {14, "GSS_S_BAD_QOP"},
                                                         {15, "GSS_S_UNAUTHORIZED"},
                                                         {16, "GSS_S_UNAVAILABLE"},
                                                         {17, "GSS_S_DUPLICATE_ELEMENT"},
                                                         {18, "GSS_S_NAME_NOT_MN"}}};
constexpr std::array<NamedValue, 6> programs{{{portmapper_program, "portmapper"},
                                              {nfs_program, "NFS"},
                                              {mount_program, "MOUNT"},
                                              {nlm_program, "NLM"},
                                              {nsm_program, "NSM"},
                                              {nfsacl_program, "NFSACL"}}};

/// Tables without holes are indexed; the others are short.
[[nodiscard]] constexpr std::string_view name_in(NamedValues names, std::uint32_t value) noexcept {
  const std::uint32_t index = value - names.front().value;
  if (index < names.size() && names[index].value == value) return names[index].name;
  for (const NamedValue& named : names) {
    if (named.value == value) return named.name;
  }
  return {};
}

}  // namespace

std::span<const NamedValue> value_names(Field field) noexcept {
  switch (field) {
    case Field::proc:
      return procs;
    case Field::error_code:
      return errors_v1;
    case Field::htype:
      return htypes;
    case Field::error_code2:
      return errors_v2;
    case Field::property_id:
      return properties;
    case Field::rpc_type:
      return message_types;
    case Field::program:
      return programs;
    case Field::credential_flavor:
    case Field::verifier_flavor:
      return flavors;
    case Field::reply_state:
      return reply_states;
    case Field::accept_state:
      return accept_states;
    case Field::reject_state:
      return reject_states;
    default:
      return {};
  }
}

std::string_view value_name(Field field, std::uint32_t value) noexcept {
  const NamedValues names = value_names(field);
  return names.empty() ? std::string_view{} : name_in(names, value);
}

std::string_view auth_status_name(std::uint32_t status) noexcept { return name_in(auth_states, status); }
std::string_view gss_major_name(std::uint32_t major) noexcept {
  constexpr std::uint32_t routine_error_bits = 16;  // RFC 2744 section 3.9.1
  return name_in(gss_routine_errors, major >> routine_error_bits & 0xffU);
}
std::string_view proc_name(std::uint32_t proc) noexcept { return name_in(procs, proc); }
std::string_view htype_name_v2(std::uint32_t htype) noexcept { return name_in(htypes, htype); }
std::string_view error_name_v2(std::uint32_t code) noexcept { return name_in(errors_v2, code); }
std::string_view property_name(std::uint32_t id) noexcept { return name_in(properties, id); }
std::string_view reverse_level_name(std::uint32_t level) noexcept { return name_in(reverse_levels, level); }
std::string_view earlier_htype_name(std::uint32_t htype) noexcept { return name_in(earlier_htypes, htype); }

}  // namespace rpcrdma::wire
