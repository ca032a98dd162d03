// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/slots.hpp"

#include <algorithm>

#include "referee/state/connection.hpp"
#include "referee/state/mount.hpp"

namespace rpcrdma::referee {

void take_up_slot(Connection& connection, Transaction& call, const wire::SlotUse& use) {
  if (connection.mount == nullptr || call.requester != Side::active || !call.session) return;
  Mount& mount = *connection.mount;
  const NfsClients::Request before =
      mount.nfs.clients.takes(*call.session, use.slot, {use.sequence, call.xid, call.call, connection.id()});
  if (before.call.number == 0) return;
  call.slot_copy = before.call;
  if (before.call.number == call.call.number) return;
  const auto at = mount.calling.find(before.connection);
  Transaction* open = at != mount.calling.end() ? at->second->find(call.requester, before.xid) : nullptr;
  // Of what some clients number without care a reply cache may still be the answer; that nobody waits is not said of
  // it.
  const bool same = open != nullptr && open->call.number == before.call.number && open->procedure == call.procedure &&
                    open->wire_length == call.wire_length;
  const bool waits = same && open->answers == 0;
  if (waits && !open->settled_elsewhere()) {
    open->sent_again = call.call;
    call.first_copy = open->first_copy.number != 0 ? open->first_copy : open->call;
  }
  const auto lost = std::find_if(mount.lost_calls.begin(), mount.lost_calls.end(), [&](const OpenCall& each) {
    return each.frame.number == before.call.number && each.wire_length == call.wire_length;
  });
  if (lost == mount.lost_calls.end()) return;
  call.first_copy = lost->first;
  mount.lost_calls.erase(lost);
}

}  // namespace rpcrdma::referee
