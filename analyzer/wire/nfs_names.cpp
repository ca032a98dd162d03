// SPDX-License-Identifier: GPL-2.0-or-later
// Names of what travels over RPC: NFS in all versions and its side protocols.
#include <array>
#include <span>
#include <string>

#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 18> nfs2{"NULL", "GETATTR",    "SETATTR", "ROOT",   "LOOKUP",  "READLINK",
                                                "READ", "WRITECACHE", "WRITE",   "CREATE", "REMOVE",  "RENAME",
                                                "LINK", "SYMLINK",    "MKDIR",   "RMDIR",  "READDIR", "STATFS"};
constexpr std::array<std::string_view, 22> nfs3{"NULL",   "GETATTR", "SETATTR",  "LOOKUP", "ACCESS",  "READLINK",
                                                "READ",   "WRITE",   "CREATE",   "MKDIR",  "SYMLINK", "MKNOD",
                                                "REMOVE", "RMDIR",   "RENAME",   "LINK",   "READDIR", "READDIRPLUS",
                                                "FSSTAT", "FSINFO",  "PATHCONF", "COMMIT"};
constexpr std::array<std::string_view, 2> nfs4{"NULL", "COMPOUND"};
constexpr std::array<std::string_view, 2> nfs4_callback{"CB_NULL", "CB_COMPOUND"};
constexpr std::array<std::string_view, 6> acl2{"NULL", "GETACL", "SETACL", "GETATTR", "ACCESS", "GETXATTRDIR"};
constexpr std::array<std::string_view, 4> acl3{"NULL", "GETACL", "SETACL", "GETXATTRDIR"};
constexpr std::array<std::string_view, 8> mount{"NULL",    "MNT",    "DUMP",      "UMNT",
                                                "UMNTALL", "EXPORT", "EXPORTALL", "PATHCONF"};
constexpr std::array<std::string_view, 24> nlm{"NULL",        "TEST",     "LOCK",     "CANCEL",     "UNLOCK",
                                               "GRANTED",     "TEST_MSG", "LOCK_MSG", "CANCEL_MSG", "UNLOCK_MSG",
                                               "GRANTED_MSG", "TEST_RES", "LOCK_RES", "CANCEL_RES", "UNLOCK_RES",
                                               "GRANTED_RES", "",         "",         "",           "",
                                               "SHARE",       "UNSHARE",  "NM_LOCK",  "FREE_ALL"};
constexpr std::array<std::string_view, 7> nsm{"NULL", "STAT", "MON", "UNMON", "UNMON_ALL", "SIMU_CRASH", "NOTIFY"};
constexpr std::array<std::string_view, 6> portmap2{"NULL", "SET", "UNSET", "GETPORT", "DUMP", "CALLIT"};
constexpr std::array<std::string_view, 9> rpcbind3{"NULL",   "SET",     "UNSET",       "GETADDR",    "DUMP",
                                                   "CALLIT", "GETTIME", "UADDR2TADDR", "TADDR2UADDR"};
constexpr std::array<std::string_view, 13> rpcbind4{
    "NULL",        "SET",         "UNSET",       "GETADDR",  "DUMP",        "BCAST",  "GETTIME",
    "UADDR2TADDR", "TADDR2UADDR", "GETVERSADDR", "INDIRECT", "GETADDRLIST", "GETSTAT"};

struct Protocol {
  std::uint32_t program;
  std::uint32_t version;
  std::string_view name;  // with the version, as people write it
  Names procedures;
};

constexpr std::uint32_t nfs_callback_program = 0x40000000;

// The callback program speaks of version 1; some peers use 4, the version of NFS.
constexpr std::array protocols{
    Protocol{nfs_program, 2, "NFSv2", nfs2},
    Protocol{nfs_program, 3, "NFSv3", nfs3},
    Protocol{nfs_program, 4, "NFSv4", nfs4},
    Protocol{nfs_callback_program, 1, "NFSv4", nfs4_callback},
    Protocol{nfs_callback_program, 4, "NFSv4", nfs4_callback},
    Protocol{nfsacl_program, 2, "NFSACLv2", acl2},
    Protocol{nfsacl_program, 3, "NFSACLv3", acl3},
    Protocol{mount_program, 1, "MOUNTv1", Names(mount).first(7)},
    Protocol{mount_program, 2, "MOUNTv2", mount},
    Protocol{mount_program, 3, "MOUNTv3", Names(mount).first(6)},
    Protocol{nlm_program, 1, "NLMv1", Names(nlm).first(16)},
    Protocol{nlm_program, 2, "NLMv2", Names(nlm).first(16)},
    Protocol{nlm_program, 3, "NLMv3", nlm},
    Protocol{nlm_program, 4, "NLMv4", nlm},
    Protocol{100024, 1, "NSMv1", nsm},
    Protocol{100000, 2, "PORTMAPv2", portmap2},
    Protocol{100000, 3, "RPCBINDv3", rpcbind3},
    Protocol{100000, 4, "RPCBINDv4", rpcbind4},
};

const Protocol* protocol_of(std::uint32_t program, std::uint32_t version) noexcept {
  for (const Protocol& protocol : protocols) {
    if (protocol.program == program && protocol.version == version) return &protocol;
  }
  return nullptr;
}

constexpr std::uint32_t first_operation = 3;

constexpr std::array<std::string_view, 73> operations{"ACCESS",
                                                      "CLOSE",
                                                      "COMMIT",
                                                      "CREATE",
                                                      "DELEGPURGE",
                                                      "DELEGRETURN",
                                                      "GETATTR",
                                                      "GETFH",
                                                      "LINK",
                                                      "LOCK",
                                                      "LOCKT",
                                                      "LOCKU",
                                                      "LOOKUP",
                                                      "LOOKUPP",
                                                      "NVERIFY",
                                                      "OPEN",
                                                      "OPENATTR",
                                                      "OPEN_CONFIRM",
                                                      "OPEN_DOWNGRADE",
                                                      "PUTFH",
                                                      "PUTPUBFH",
                                                      "PUTROOTFH",
                                                      "READ",
                                                      "READDIR",
                                                      "READLINK",
                                                      "REMOVE",
                                                      "RENAME",
                                                      "RENEW",
                                                      "RESTOREFH",
                                                      "SAVEFH",
                                                      "SECINFO",
                                                      "SETATTR",
                                                      "SETCLIENTID",
                                                      "SETCLIENTID_CONFIRM",
                                                      "VERIFY",
                                                      "WRITE",
                                                      "RELEASE_LOCKOWNER",
                                                      "BACKCHANNEL_CTL",
                                                      "BIND_CONN_TO_SESSION",
                                                      "EXCHANGE_ID",
                                                      "CREATE_SESSION",
                                                      "DESTROY_SESSION",
                                                      "FREE_STATEID",
                                                      "GET_DIR_DELEGATION",
                                                      "GETDEVICEINFO",
                                                      "GETDEVICELIST",
                                                      "LAYOUTCOMMIT",
                                                      "LAYOUTGET",
                                                      "LAYOUTRETURN",
                                                      "SECINFO_NO_NAME",
                                                      "SEQUENCE",
                                                      "SET_SSV",
                                                      "TEST_STATEID",
                                                      "WANT_DELEGATION",
                                                      "DESTROY_CLIENTID",
                                                      "RECLAIM_COMPLETE",
                                                      "ALLOCATE",
                                                      "COPY",
                                                      "COPY_NOTIFY",
                                                      "DEALLOCATE",
                                                      "IO_ADVISE",
                                                      "LAYOUTERROR",
                                                      "LAYOUTSTATS",
                                                      "OFFLOAD_CANCEL",
                                                      "OFFLOAD_STATUS",
                                                      "READ_PLUS",
                                                      "SEEK",
                                                      "WRITE_SAME",
                                                      "CLONE",
                                                      "GETXATTR",
                                                      "SETXATTR",
                                                      "LISTXATTRS",
                                                      "REMOVEXATTR"};
constexpr std::array<std::string_view, 13> callback_operations{
    "CB_GETATTR",    "CB_RECALL",          "CB_LAYOUTRECALL",         "CB_NOTIFY",
    "CB_PUSH_DELEG", "CB_RECALL_ANY",      "CB_RECALLABLE_OBJ_AVAIL", "CB_RECALL_SLOT",
    "CB_SEQUENCE",   "CB_WANTS_CANCELLED", "CB_NOTIFY_LOCK",          "CB_NOTIFY_DEVICEID",
    "CB_OFFLOAD"};

static_assert(operations[9 - first_operation] == "GETATTR" && operations[38 - first_operation] == "WRITE" &&
              operations[53 - first_operation] == "SEQUENCE" && operations[72 - first_operation] == "GETXATTR");
static_assert(callback_operations[11 - first_operation] == "CB_SEQUENCE");

}  // namespace

std::string_view nfs4_operation_name(std::uint32_t operation, bool callback) noexcept {
  const Names names = callback ? Names(callback_operations) : Names(operations);
  if (operation == nfs4_illegal_operation) return callback ? "CB_ILLEGAL" : "ILLEGAL";
  if (operation < first_operation || operation - first_operation >= names.size()) return {};
  return names[operation - first_operation];
}

std::string_view bare_procedure_name(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) noexcept {
  const auto in = [procedure](Names names) { return procedure < names.size() ? names[procedure] : std::string_view{}; };
  if (callback_program(program)) return in(nfs4_callback);
  const Protocol* const protocol = protocol_of(program, version);
  return protocol != nullptr ? in(protocol->procedures) : std::string_view{};
}

std::string procedure_name(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
  const Protocol* const protocol = protocol_of(program, version);
  const std::string_view bare = bare_procedure_name(program, version, procedure);
  if (protocol != nullptr && !bare.empty()) {
    std::string name(protocol->name);
    name += ' ';
    name += bare;
    return name;
  }
  return "program " + std::to_string(program) + " version " + std::to_string(version) + " procedure " +
         std::to_string(procedure);
}

}  // namespace rpcrdma::wire
