// SPDX-License-Identifier: GPL-2.0-or-later
// The arguments of NFSv4 operations, as sequences of items (RFC 7531, 5662, 7863, 8276).
#include <optional>

#include "wire/nfs4_walker.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire::nfs4 {

namespace {

bool create(Walker& w) {
  std::uint32_t type = 0;
  if (!w.word(type)) return false;
  switch (type) {
    case 3:  // NF4BLK, NF4CHR: device numbers
    case 4:
      if (!w.shape("d")) return false;
      break;
    case 5:  // NF4LNK
      if (!w.shape("D")) return false;
      break;
    default:
      break;
  }
  return w.shape("obo");
}

bool lock(Walker& w) {
  std::uint32_t new_owner = 0;
  if (!w.shape("wwdd") || !w.word(new_owner) || new_owner > 1) return false;
  return new_owner == 1 ? w.shape("wiwdo") : w.shape("iw");
}

bool open_arguments(Walker& w) {
  std::uint32_t how = 0;
  if (!w.shape("wwwdo") || !w.word(how) || how > 1) return false;
  if (how == 1) {
    std::uint32_t mode = 0;
    if (!w.word(mode)) return false;
    switch (mode) {
      case 0:  // UNCHECKED4, GUARDED4
      case 1:
        if (!w.shape("bo")) return false;
        break;
      case 2:  // EXCLUSIVE4
        if (!w.shape("d")) return false;
        break;
      case 3:  // EXCLUSIVE4_1
        if (!w.shape("dbo")) return false;
        break;
      default:
        return false;
    }
  }
  std::uint32_t claim = 0;
  if (!w.word(claim)) return false;
  switch (claim) {
    case 0:  // CLAIM_NULL, CLAIM_DELEGATE_PREV: a name
    case 3:
      return w.shape("o");
    case 1:  // CLAIM_PREVIOUS
      return w.shape("w");
    case 2:  // CLAIM_DELEGATE_CUR
      return w.shape("io");
    case 4:  // CLAIM_FH, CLAIM_DELEG_PREV_FH
    case 6:
      return true;
    case 5:  // CLAIM_DELEG_CUR_FH
      return w.shape("i");
    default:
      return false;
  }
}

// callback_sec_parms4<>
bool callback_security(Walker& w) {
  return w.each([&w] {
    std::uint32_t flavor = 0;
    if (!w.word(flavor)) return false;
    switch (flavor) {
      case 0:  // AUTH_NONE
        return true;
      case 1:  // AUTH_SYS: stamp, machine, user, group, groups
        return w.shape("popp") && w.each([&w] { return w.shape("p"); });
      case flavor_gss:
        return w.shape("woo");
      default:
        return false;
    }
  });
}

bool create_session(Walker& w) {
  // Client id, sequence, flags; two sets of channel attributes, each ending in an array of words; callback program.
  return w.shape("dww") && w.shape("wwwwwwb") && w.shape("wwwwwwb") && w.shape("w") && callback_security(w);
}

bool layoutcommit(Walker& w) {
  std::uint32_t present = 0;
  if (!w.shape("ddwi") || !w.word(present) || present > 1) return false;
  if (present == 1 && !w.shape("d")) return false;                                        // new last offset
  if (!w.word(present) || present > 1 || (present == 1 && !w.shape("dw"))) return false;  // new time
  return w.shape("wo");
}

bool layoutreturn(Walker& w) {
  std::uint32_t type = 0;
  if (!w.shape("www") || !w.word(type)) return false;
  switch (type) {
    case 1:  // LAYOUTRETURN4_FILE
      return w.shape("ddio");
    case 2:  // FSID, ALL
    case 3:
      return true;
    default:
      return false;
  }
}

bool want_delegation(Walker& w) {
  std::uint32_t claim = 0;
  if (!w.shape("w") || !w.word(claim)) return false;
  switch (claim) {
    case 1:  // CLAIM_PREVIOUS
      return w.shape("w");
    case 4:  // CLAIM_FH, CLAIM_DELEG_PREV_FH
    case 6:
      return true;
    default:
      return false;
  }
}

std::optional<std::string_view> arguments_shape(std::uint32_t operation) noexcept {
  switch (operation) {
    case 10:     // GETFH
    case 16:     // LOOKUPP
    case 23:     // PUTPUBFH
    case 24:     // PUTROOTFH
    case 27:     // READLINK
    case 31:     // RESTOREFH
    case 32:     // SAVEFH
    case 10044:  // ILLEGAL
      return "";
    case 3:   // ACCESS
    case 19:  // OPENATTR
    case 52:  // SECINFO_NO_NAME
    case 58:  // RECLAIM_COMPLETE
      return "w";
    case 7:   // DELEGPURGE
    case 30:  // RENEW
    case 57:  // DESTROY_CLIENTID
      return "d";
    case 8:   // DELEGRETURN
    case 45:  // FREE_STATEID
    case 66:  // OFFLOAD_CANCEL
    case 67:  // OFFLOAD_STATUS
      return "i";
    case 44:  // DESTROY_SESSION
      return "n";
    case 11:  // LINK
    case 15:  // LOOKUP
    case 22:  // PUTFH
    case 28:  // REMOVE
    case 33:  // SECINFO
    case 72:  // GETXATTR
    case 75:  // REMOVEXATTR
      return "o";
    case 29:  // RENAME
    case 54:  // SET_SSV
      return "oo";
    case 17:  // NVERIFY
    case 37:  // VERIFY
      return "bo";
    case 25:  // READ
    case 68:  // READ_PLUS
    case 69:  // SEEK
      return "idw";
    case 59:  // ALLOCATE
    case 62:  // DEALLOCATE
      return "idd";
    case 4:  // CLOSE
      return "wi";
    case 5:  // COMMIT
      return "dw";
    case 9:  // GETATTR
      return "b";
    case 13:  // LOCKT
      return "wdddo";
    case 14:  // LOCKU
      return "wwidd";
    case 20:  // OPEN_CONFIRM
      return "iw";
    case 21:  // OPEN_DOWNGRADE
      return "iwww";
    case 26:  // READDIR
      return "ddwwb";
    case 34:  // SETATTR
      return "ibo";
    case 35:  // SETCLIENTID
      return "dowoow";
    case 36:  // SETCLIENTID_CONFIRM
      return "dd";
    case 38:  // WRITE
      return "idwD";
    case 39:  // RELEASE_LOCKOWNER
      return "do";
    case 41:  // BIND_CONN_TO_SESSION
      return "nww";
    case 46:  // GET_DIR_DELEGATION
      return "wbdwdwbb";
    case 47:  // GETDEVICEINFO
      return "nwwb";
    case 48:  // GETDEVICELIST
      return "wwdd";
    case 50:  // LAYOUTGET
      return "wwwdddiw";
    case 53:  // SEQUENCE
      return "nwwww";
    case 55:  // TEST_STATEID
      return "I";
    case 63:  // IO_ADVISE
      return "iddb";
    case 65:  // LAYOUTSTATS
      return "ddiddddnwo";
    case 70:  // WRITE_SAME
      return "iwddddwdo";
    case 71:  // CLONE
      return "iiddd";
    case 73:  // SETXATTR
      return "woo";
    case 74:  // LISTXATTRS
      return "dw";
    default:
      return std::nullopt;
  }
}

}  // namespace

bool step_over_arguments(Walker& w, std::uint32_t operation) {
  if (const auto shape = arguments_shape(operation)) return w.shape(*shape);
  switch (operation) {
    case 6:
      return create(w);
    case 12:
      return lock(w);
    case 18:
      return open_arguments(w);
    case 40:  // BACKCHANNEL_CTL
      return w.shape("w") && callback_security(w);
    case 42:
      return step_over_exchange_id(w, "dow", "OOww", "");  // verifier, owner, flags; algorithms, window, handles
    case 43:
      return create_session(w);
    case 49:
      return layoutcommit(w);
    case 51:
      return layoutreturn(w);
    case 56:
      return want_delegation(w);
    case 60:  // COPY
      return w.shape("iidddww") && w.each([&w] { return step_over_network_location(w); });
    case 61:  // COPY_NOTIFY
      return w.shape("i") && step_over_network_location(w);
    case 64:  // LAYOUTERROR
      return w.shape("ddi") && w.each([&w] { return w.shape("nww"); });
    default:
      return false;
  }
}

}  // namespace rpcrdma::wire::nfs4
