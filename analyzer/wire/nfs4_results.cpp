// SPDX-License-Identifier: GPL-2.0-or-later
// The results of NFSv4 operations, as sequences of items (RFC 7531, 5662, 7863, 8276).
#include <optional>

#include "wire/nfs4_walker.hpp"
#include "wire/nfs_status.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire::nfs4 {

namespace {

// nfsace4
bool access_entry(Walker& w) { return w.shape("wwwo"); }

// open_delegation4
bool delegation(Walker& w) {
  std::uint32_t type = 0;
  std::uint32_t limit = 0;
  if (!w.word(type)) return false;
  switch (type) {
    case 0:  // OPEN_DELEGATE_NONE
      return true;
    case 1:  // OPEN_DELEGATE_READ, and with delegated attributes (RFC 9754)
    case 4:
      return w.shape("iw") && access_entry(w);
    case 2:  // OPEN_DELEGATE_WRITE, alike: a limit in octets or in blocks takes two words either way
    case 5:
      return w.shape("iw") && w.word(limit) && limit >= 1 && limit <= 2 && w.shape("d") && access_entry(w);
    case 3: {  // OPEN_DELEGATE_NONE_EXT; two of the reasons say whether the server will tell
      std::uint32_t why = 0;
      if (!w.word(why)) return false;
      return why != 1 && why != 2 ? true : w.shape("w");
    }
    default:
      return false;
  }
}

bool open_results(Walker& w) { return w.shape("iwddwb") && delegation(w); }

bool readdir(Walker& w) {
  if (!w.shape("d")) return false;
  for (;;) {  // each entry takes 24 octets or more
    bool another = false;
    if (!w.boolean(another)) return false;
    if (!another) return w.shape("w");
    if (!w.shape("dobo")) return false;
  }
}

bool read_plus(Walker& w) {
  return w.shape("w") && w.each([&w] {
    std::uint32_t content = 0;
    if (!w.word(content)) return false;
    switch (content) {
      case 0:  // NFS4_CONTENT_DATA: RFC 8267 does not name it, so it must stay in the stream
        return w.shape("dX");
      case 1:  // NFS4_CONTENT_HOLE
        return w.shape("dd");
      default:
        return false;
    }
  });
}

bool security(Walker& w) {
  return w.each([&w] {
    std::uint32_t flavor = 0;
    if (!w.word(flavor)) return false;
    return flavor != flavor_gss || w.shape("oww");
  });
}

bool get_dir_delegation(Walker& w) {
  std::uint32_t status = 0;
  if (!w.word(status) || status > 1) return false;
  return status == 0 ? w.shape("dibbb") : w.shape("w");
}

bool layoutget(Walker& w) {
  return w.shape("wi") && w.each([&w] { return w.shape("ddwwo"); });
}

/// What one boolean says is there.
bool optional(Walker& w, std::string_view items) {
  bool present = false;
  return w.boolean(present) && (!present || w.shape(items));
}

bool copy_notify(Walker& w) {
  return w.shape("dwi") && w.each([&w] { return step_over_network_location(w); });
}

/// What follows NFS4_OK; nothing for an operation that has a function of its own.
std::optional<std::string_view> results_shape(std::uint32_t operation) noexcept {
  switch (operation) {
    case 7:   // DELEGPURGE
    case 8:   // DELEGRETURN
    case 13:  // LOCKT
    case 15:  // LOOKUP
    case 16:  // LOOKUPP
    case 17:  // NVERIFY
    case 19:  // OPENATTR
    case 22:  // PUTFH
    case 23:  // PUTPUBFH
    case 24:  // PUTROOTFH
    case 30:  // RENEW
    case 31:  // RESTOREFH
    case 32:  // SAVEFH
    case 36:  // SETCLIENTID_CONFIRM
    case 37:  // VERIFY
    case 39:  // RELEASE_LOCKOWNER
    case 40:  // BACKCHANNEL_CTL
    case 44:  // DESTROY_SESSION
    case 45:  // FREE_STATEID
    case 57:  // DESTROY_CLIENTID
    case 58:  // RECLAIM_COMPLETE
    case 59:  // ALLOCATE
    case 62:  // DEALLOCATE
    case 64:  // LAYOUTERROR
    case 65:  // LAYOUTSTATS
    case 66:  // OFFLOAD_CANCEL
    case 71:  // CLONE
      return "";
    case 3:  // ACCESS
      return "ww";
    case 4:   // CLOSE
    case 12:  // LOCK
    case 14:  // LOCKU
    case 20:  // OPEN_CONFIRM
    case 21:  // OPEN_DOWNGRADE
      return "i";
    case 5:  // COMMIT
      return "d";
    case 6:  // CREATE
      return "wddb";
    case 9:  // GETATTR
      return "bo";
    case 10:  // GETFH
    case 54:  // SET_SSV
      return "o";
    case 11:  // LINK
    case 28:  // REMOVE
    case 73:  // SETXATTR
    case 75:  // REMOVEXATTR
      return "wdd";
    case 25:  // READ
      return "wD";
    case 27:  // READLINK
      return "D";
    case 29:  // RENAME
      return "wddwdd";
    case 35:  // SETCLIENTID
      return "dd";
    case 38:  // WRITE
      return "wwd";
    case 41:  // BIND_CONN_TO_SESSION
      return "nww";
    case 43:  // CREATE_SESSION: identifier, sequence, flags, two sets of channel attributes
      return "nwwwwwwwwbwwwwwwb";
    case 47:  // GETDEVICEINFO
      return "wob";
    case 48:  // GETDEVICELIST
      return "ddNw";
    case 53:  // SEQUENCE
      return "nwwwww";
    case 55:  // TEST_STATEID
    case 63:  // IO_ADVISE
      return "b";
    case 60:  // COPY: identifiers, octets, committed, verifier; consecutive, synchronous
      return "Idwdww";
    case 67:  // OFFLOAD_STATUS
      return "db";
    case 69:  // SEEK
      return "wd";
    case 70:  // WRITE_SAME
      return "Idwd";
    case 72:  // GETXATTR
      return "X";
    case 74:  // LISTXATTRS
      return "dOw";
    default:
      return std::nullopt;
  }
}

bool step_over_success(Walker& w, std::uint32_t operation) {
  if (const auto shape = results_shape(operation)) return w.shape(*shape);
  switch (operation) {
    case 18:
      return open_results(w);
    case 26:
      return readdir(w);
    case 33:  // SECINFO, SECINFO_NO_NAME
    case 52:
      return security(w);
    case 34:  // SETATTR
      return w.shape("b");
    case 42:
      return step_over_exchange_id(
          w, "dww", "wwwwO", "doo");  // client, sequence, flags; algorithms, lengths, window, handles; owner, scope
    case 46:
      return get_dir_delegation(w);
    case 49:  // LAYOUTCOMMIT: a new size
      return optional(w, "d");
    case 50:
      return layoutget(w);
    case 51:  // LAYOUTRETURN: a new stateid
      return optional(w, "i");
    case 56:  // WANT_DELEGATION
      return delegation(w);
    case 61:
      return copy_notify(w);
    case 68:
      return read_plus(w);
    default:
      return false;
  }
}

/// Most operations that fail say no more than why.
bool step_over_failure(Walker& w, std::uint32_t operation, std::uint32_t status) {
  switch (operation) {
    case 12:  // LOCK, LOCKT: who holds the lock
    case 13:
      return status == nfs4err_denied ? w.shape("ddwdo") : true;
    case 34:  // SETATTR: what was set nevertheless
      return w.shape("b");
    case 35:  // SETCLIENTID: who uses the identifier
      return status == nfs4err_clid_inuse ? w.shape("oo") : true;
    case 47:  // GETDEVICEINFO: how much room it would take
      return status == nfs4err_toosmall ? w.shape("w") : true;
    case 50:  // LAYOUTGET: whether the server will tell
      return status == nfs4err_layouttrylater ? w.shape("w") : true;
    case 60:  // COPY: what could have been met
      return status == nfs4err_offload_no_reqs ? w.shape("ww") : true;
    default:
      return true;
  }
}

}  // namespace

bool known_operation(std::uint32_t operation) noexcept {
  return (operation >= 3 && operation <= 75) || operation == 10044;
}

bool step_over_results(Walker& walker, std::uint32_t operation, bool& ok) {
  std::uint32_t status = 0;
  ok = false;
  if (!walker.word(status)) return false;
  ok = status == nfs4_ok;
  return ok ? step_over_success(walker, operation) : step_over_failure(walker, operation, status);
}

}  // namespace rpcrdma::wire::nfs4
