// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/exchange/beginning.hpp"

namespace rpcrdma::referee {

void begin_in_the_middle(Connection& connection, const trace::Adopted& event) {
  ConnectionFacts& facts = connection.facts;
  facts.transport = event.transport;
  facts.client = event.client;
  facts.server = event.server;
  facts.roles_from = event.roles_from;
  facts.opened = event.frame;
  facts.one_way = event.one_way;
  connection.last_frame = event.frame;
  connection.distrust(adopted_distrust, Doubt::began_before);
}

void distrust_cut_handshake(Connection& connection, const trace::Depths& depths,
                            const trace::PrivateDataArea& private_data) {
  const bool cut = !depths.rnr_retry && private_data.octets.empty() && private_data.wire_length != 0;
  if (cut && connection.facts.transport != trace::Transport::iwarp)
    connection.distrust(adopted_distrust, Doubt::cut_handshake);
}

void doubt_beginning(Connection& connection) {
  if (connection.messages != 0 || !connection.facts.handshake_seen || connection.reply_seen()) return;
  connection.distrust(adopted_distrust, Doubt::cut_handshake);
}

}  // namespace rpcrdma::referee
