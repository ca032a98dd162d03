// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of NFS steps share: messages as the XDR files of the RFCs lay them out, and steps told as text.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "encoder.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::wire::test {

using Octets = std::vector<std::uint8_t>;
using Told = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

inline constexpr Asked compound_asked{100003, 4, 1, Protection::none};
inline constexpr Asked callback_asked{0x40000000, 1, 1, Protection::none};

inline Encoder words(const Words& values) { return Encoder().words(values); }
inline Encoder join(std::initializer_list<Encoder> parts) {
  Encoder all;
  for (const Encoder& part : parts) all.append(part.octets());
  return all;
}
/// stateid4: seqid 7, other 01 to 0c
inline Encoder state() { return words({7, 0x01020304, 0x05060708, 0x090A0B0C}); }
inline constexpr const char* state_told = "7/0102030405060708090a0b0c";
/// sessionid4: a0 to af
inline Encoder session() { return words({0xA0A1A2A3, 0xA4A5A6A7, 0xA8A9AAAB, 0xACADAEAF}); }
inline constexpr const char* session_told = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
inline Encoder handle() { return Encoder().opaque(9); }
inline Encoder channel() { return words({0, 1049620, 1049480, 3428, 8, 64, 1, 5}); }

// --- Told as text

template <std::size_t size>
std::string told(const std::array<std::uint8_t, size>& octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", octet);
    text += two.data();
  }
  return text;
}
inline std::string told(std::monostate) { return {}; }
inline std::string told(const StateId& state) { return std::to_string(state.sequence) + "/" + told(state.other); }
inline std::string told(const SessionId& session) { return told(session.octets); }
inline std::string told(const OffloadDone& done) { return told(done.state) + " status " + std::to_string(done.status); }
inline std::string told(const Layouts& layouts) {
  if (layouts.of == Layouts::Of::file) return "file " + told(layouts.state);
  return layouts.of == Layouts::Of::fsid ? "fsid" : "all";
}
inline std::string told(const BoundConnection& bound) {
  return told(bound.session) + " direction " + std::to_string(bound.direction);
}
inline std::string told(const SessionWanted& wanted) {
  return "client " + std::to_string(wanted.client) + " flags " + std::to_string(wanted.flags);
}
inline std::string told(const ClientBegun& client) {
  return "verifier " + std::to_string(client.verifier) + " owner " + std::to_string(client.owner);
}
inline std::string told(const FileNamed& /*named*/) { return {}; }
inline std::string told(const ClientGone& gone) { return "client " + std::to_string(gone.client); }
inline std::string told(const Written& written) { return "count " + std::to_string(written.count); }
inline std::string told(const ClientNamed& named) {
  return "client " + std::to_string(named.client) + (named.known() ? " known" : "");
}
inline std::string told(const Sequenced& sequenced) {
  return told(sequenced.session) + " flags " + std::to_string(sequenced.flags);
}
inline std::string told(const Copied& copied) {
  return std::string(copied.synchronous ? "synchronous" : "asynchronous") + " count " + std::to_string(copied.count) +
         (copied.callback ? " callback " + told(*copied.callback) : "");
}
inline std::string told(const OffloadProgress& progress) {
  return "count " + std::to_string(progress.count) +
         (progress.complete ? " complete " + std::to_string(*progress.complete) : "");
}
inline std::string told(const CreatedSession& created) {
  return told(created.session) + " flags " + std::to_string(created.flags);
}
inline std::string told(const CallStep& step) {
  const std::string what = std::visit([](const auto& arguments) { return told(arguments); }, step.arguments);
  return std::to_string(step.operation) + (what.empty() ? "" : " ") + what;
}
inline std::string told(const ReplyStep& step) {
  const std::string what = std::visit([](const auto& result) { return told(result); }, step.result);
  return std::to_string(step.operation) + "=" + std::to_string(step.status) + (what.empty() ? "" : " ") + what;
}
template <class Steps>
Told all_told(const Steps& steps) {
  Told all;
  for (const auto& step : steps) all.push_back(told(step));
  return all;
}

/// What was read of a cut message stands first in the whole reading; of the last step something may lack.
inline void expect_first_of(const Told& whole, const Told& cut, std::size_t length) {
  ASSERT_LE(cut.size(), whole.size()) << length;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (i + 1 == cut.size()) {
      EXPECT_EQ(whole[i].compare(0, cut[i].size(), cut[i]), 0) << length << ": " << cut[i] << " of " << whole[i];
    } else {
      EXPECT_EQ(cut[i], whole[i]) << length;
    }
  }
}

/// rpc_gss_integ_data: databody_integ with the sequence number in front, checksum
inline Encoder integrity(const Encoder& body) {
  return join({words({static_cast<std::uint32_t>(body.size() + 4), 5}), body, Encoder().opaque(28)});
}

}  // namespace rpcrdma::wire::test
