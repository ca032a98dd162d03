// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/nameless.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using rpcrdma::referee::EndNames;
using rpcrdma::referee::names_of_ends;
using rpcrdma::referee::without_roles;
using rpcrdma::trace::Endpoint;

TEST(Nameless, rolesBecomeAddresses) {
  const EndNames v4{"192.0.2.1", "192.0.2.2"};
  const struct {
    const char* with;
    const char* without;
  } texts[] = {
      {"The client sent 12 octets.", "192.0.2.1 sent 12 octets."},
      {"The server's adapter failed; the client's did not.", "192.0.2.2's adapter failed; 192.0.2.1's did not."},
      {"It was the server", "It was 192.0.2.2"},
      {"the client, (the server) and the client.", "192.0.2.1, (192.0.2.2) and 192.0.2.1."},
      // In general, and within other words and names.
      {"a habit of Linux servers; a client may", "a habit of Linux servers; a client may"},
      {"the clients, the server-side, the client_to_server", "the clients, the server-side, the client_to_server"},
      {"lathe client", "lathe client"},
      {"the other client", "the other client"},
      {"the clien", "the clien"},
      {"the ", "the "},
      {"The", "The"},
      {"", ""},
  };
  for (const auto& text : texts) EXPECT_EQ(without_roles(text.with, v4), text.without) << text.with;
}

TEST(Nameless, nothingChangesTwice) {
  const EndNames names{"one end", "the other end"};
  const std::string once = without_roles("The client called the server. The server's answer; the client", names);
  EXPECT_EQ(once, "One end called the other end. The other end's answer; one end");
  EXPECT_EQ(without_roles(once, names), once);
}

TEST(Nameless, onlyWordsBeginWithACapital) {
  const char* const text = "The client sent it.";
  EXPECT_EQ(without_roles(text, {"lid 5", ""}), "Lid 5 sent it.");
  EXPECT_EQ(without_roles(text, {"fd77::1", ""}), "fd77::1 sent it.");
  EXPECT_EQ(without_roles(text, {"fe:80", ""}), "fe:80 sent it.");
}

TEST(Nameless, equalAddressesNeedMore) {
  const auto end = [](std::string address, std::optional<std::uint16_t> port = {},
                      std::optional<std::uint32_t> qpn = {}) {
    Endpoint made;
    made.address = std::move(address);
    made.port = port;
    made.qpn = qpn;
    return made;
  };
  const struct {
    Endpoint client, server;
    const char *client_name, *server_name;
  } rows[] = {
      {end("192.0.2.1", 700, 17), end("192.0.2.2", 20049, 18), "192.0.2.1", "192.0.2.2"},
      {end("127.0.0.1", 700), end("127.0.0.1", 20050), "127.0.0.1:700", "127.0.0.1:20050"},
      {end("::1", 700), end("::1", 20050), "[::1]:700", "[::1]:20050"},
      {end("lid 5", {}, 17), end("lid 5", {}, 0xabcdef), "lid 5 QP 0x000011", "lid 5 QP 0xabcdef"},
      {end("lid 5"), end("lid 5"), "one end", "the other end"},
      {end(""), end("192.0.2.2"), "one end", "the other end"},
  };
  for (const auto& row : rows) {
    const EndNames names = names_of_ends(row.client, row.server);
    EXPECT_EQ(names.client, row.client_name);
    EXPECT_EQ(names.server, row.server_name);
  }
}

}  // namespace
