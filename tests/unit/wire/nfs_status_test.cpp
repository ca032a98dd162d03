// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_status.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rpcrdma::wire {
namespace {

TEST(NfsStatus, Version2) {  // RFC 1094 section 2.3.1
  EXPECT_EQ(nfs2_status_name(0), "NFS_OK");
  EXPECT_EQ(nfs2_status_name(5), "NFSERR_IO");
  EXPECT_EQ(nfs2_status_name(nfs2err_stale), "NFSERR_STALE");
  EXPECT_EQ(nfs2_status_name(99), "NFSERR_WFLUSH");
  for (const std::uint32_t unknown : {18U, 22U, 71U, 100U, 10006U, 0xFFFFFFFFU}) {
    EXPECT_EQ(nfs2_status_name(unknown), "") << unknown;
  }
}

TEST(NfsStatus, Version3) {  // RFC 1813 section 2.6
  EXPECT_EQ(nfs3_status_name(0), "NFS3_OK");
  EXPECT_EQ(nfs3_status_name(13), "NFS3ERR_ACCES");
  EXPECT_EQ(nfs3_status_name(71), "NFS3ERR_REMOTE");
  EXPECT_EQ(nfs3_status_name(10002), "NFS3ERR_NOT_SYNC");
  EXPECT_EQ(nfs3_status_name(nfs3err_serverfault), "NFS3ERR_SERVERFAULT");
  EXPECT_EQ(nfs3_status_name(nfs3err_jukebox), "NFS3ERR_JUKEBOX");
  EXPECT_EQ(nfs3_status_name(nfs3err_noent), "NFS3ERR_NOENT");
  EXPECT_EQ(nfs3_status_name(nfs3err_exist), "NFS3ERR_EXIST");
  for (const std::uint32_t unknown : {3U, 72U, 10000U, 10009U, 0xFFFFFFFFU}) {
    EXPECT_EQ(nfs3_status_name(unknown), "") << unknown;
  }
}

TEST(NfsStatus, Version4) {
  struct Row {
    std::uint32_t status;
    std::string name;
  };
  for (const Row& row : {
           // RFC 7531
           Row{0, "NFS4_OK"},
           Row{nfs4err_noent, "NFS4ERR_NOENT"},
           Row{13, "NFS4ERR_ACCESS"},
           Row{nfs4err_exist, "NFS4ERR_EXIST"},
           Row{70, "NFS4ERR_STALE"},
           Row{nfs4err_toosmall, "NFS4ERR_TOOSMALL"},
           Row{nfs4err_serverfault, "NFS4ERR_SERVERFAULT"},
           Row{nfs4err_delay, "NFS4ERR_DELAY"},
           Row{nfs4err_denied, "NFS4ERR_DENIED"},
           Row{nfs4err_expired, "NFS4ERR_EXPIRED"},
           Row{nfs4err_grace, "NFS4ERR_GRACE"},
           Row{nfs4err_clid_inuse, "NFS4ERR_CLID_INUSE"},
           Row{10018, "NFS4ERR_RESOURCE"},
           Row{nfs4err_stale_clientid, "NFS4ERR_STALE_CLIENTID"},
           Row{nfs4err_stale_stateid, "NFS4ERR_STALE_STATEID"},
           Row{nfs4err_bad_stateid, "NFS4ERR_BAD_STATEID"},
           Row{10030, "NFS4ERR_RESTOREFH"},
           Row{nfs4err_admin_revoked, "NFS4ERR_ADMIN_REVOKED"},
           Row{nfs4err_cb_path_down, "NFS4ERR_CB_PATH_DOWN"},
           // RFC 5662
           Row{10049, "NFS4ERR_BADIOMODE"},
           Row{nfs4err_badsession, "NFS4ERR_BADSESSION"},
           Row{nfs4err_conn_not_bound_to_session, "NFS4ERR_CONN_NOT_BOUND_TO_SESSION"},
           Row{10057, "NFS4ERR_BACK_CHAN_BUSY"},
           Row{nfs4err_layouttrylater, "NFS4ERR_LAYOUTTRYLATER"},
           Row{nfs4err_nomatching_layout, "NFS4ERR_NOMATCHING_LAYOUT"},
           Row{10072, "NFS4ERR_HASH_ALG_UNSUPP"},
           Row{10074, "NFS4ERR_CLIENTID_BUSY"},
           Row{nfs4err_deadsession, "NFS4ERR_DEADSESSION"},
           Row{10084, "NFS4ERR_DIRDELEG_UNAVAIL"},
           Row{nfs4err_deleg_revoked, "NFS4ERR_DELEG_REVOKED"},
           // RFC 7863, RFC 8276
           Row{10088, "NFS4ERR_PARTNER_NOTSUPP"},
           Row{nfs4err_offload_no_reqs, "NFS4ERR_OFFLOAD_NO_REQS"},
           Row{10095, "NFS4ERR_NOXATTR"},
           Row{10096, "NFS4ERR_XATTR2BIG"},
           // Not in use
           Row{3, ""},
           Row{10000, ""},
           Row{10002, ""},
           Row{10073, ""},
           Row{10097, ""},
           Row{0xFFFFFFFF, ""},
       }) {
    EXPECT_EQ(nfs4_status_name(row.status), row.name) << row.status;
  }
  // Each number from 10003 on is used, but for one.
  std::set<std::string_view> names;
  for (std::uint32_t status = 10003; status <= 10096; ++status) names.insert(nfs4_status_name(status));
  EXPECT_EQ(names.size(), 94U);  // 93 names, and none for 10073
}

TEST(NfsStatus, FlagsOfSequence) {  // RFC 8881 section 18.46.1
  std::uint32_t bit = 1;
  for (const NamedValue& named : seq4_status_names()) {
    EXPECT_EQ(named.value, bit);
    bit <<= 1U;
  }
  EXPECT_EQ(bit, 0x2000U);
  struct Row {
    std::uint32_t value;
    std::string name;
  };
  for (const Row& row : {Row{seq4_cb_path_down, "SEQ4_STATUS_CB_PATH_DOWN"},
                         Row{seq4_expired_all_state_revoked, "SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED"},
                         Row{seq4_expired_some_state_revoked, "SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED"},
                         Row{seq4_admin_state_revoked, "SEQ4_STATUS_ADMIN_STATE_REVOKED"},
                         Row{seq4_recallable_state_revoked, "SEQ4_STATUS_RECALLABLE_STATE_REVOKED"},
                         Row{seq4_restart_reclaim_needed, "SEQ4_STATUS_RESTART_RECLAIM_NEEDED"},
                         Row{seq4_cb_path_down_session, "SEQ4_STATUS_CB_PATH_DOWN_SESSION"},
                         Row{seq4_backchannel_fault, "SEQ4_STATUS_BACKCHANNEL_FAULT"}}) {
    bool found = false;
    for (const NamedValue& named : seq4_status_names())
      found = found || (named.value == row.value && named.name == row.name);
    EXPECT_TRUE(found) << row.name;
  }
}

}  // namespace
}  // namespace rpcrdma::wire
