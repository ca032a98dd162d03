// SPDX-License-Identifier: GPL-2.0-or-later
// Plays a scenario on one fabric: each step becomes frames on the film.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connection.hpp"
#include "memory.hpp"
#include "rpc.hpp"
#include "rpcrdma_header.hpp"
#include "rpcrdma_v2.hpp"
#include "scenario.hpp"

namespace forge {

struct Fabric {
  Link link = Link::ipv4;
  bool iwarp = false;
  bool odd_segments = false;
  MpaSettings mpa;
};

class Story {
 public:
  /// `number`: of many in one file, from 0: each has addresses, QPNs, IDs and XIDs of its own, but for what it names.
  Story(const Scenario& scenario, const Fabric& fabric, Film& film, unsigned number = 0);
  void play();

 private:
  struct Asked {  ///< a Call that was sent
    std::string label;
    Side requester = Side::client;
    std::uint32_t xid = 0;
    std::uint32_t version = 1;
    Procedure procedure;
    std::vector<Chunk> writes;
    std::optional<Chunk> reply;
    bool answered = false;
  };
  struct Exposed {  ///< Read chunks of a message
    std::string label;
    Side owner = Side::client;
    std::uint32_t xid = 0;
    std::vector<Chunk> chunks;
  };
  struct Done {  ///< an operation of the fabric
    std::string label;
    std::string part;
    Op op = 0;
    bool spoken = false;
    std::optional<Segment> unanswered;  ///< of a read: what it asked for
    Side by = Side::client;
  };
  struct Piece {  ///< of a message of version 2
    Side by = Side::client;
    Octets octets;
    std::optional<std::uint32_t> invalidate;
  };
  struct Line {  ///< a connection with all that was said on it
    std::unique_ptr<Connection> wire;
    std::array<Memory, 2> memory;
    std::vector<Asked> calls;
    std::vector<Exposed> exposed;
    std::vector<Done> done;
    std::uint32_t client_credits = 32;
    std::uint32_t server_credits = 32;
    std::array<std::uint32_t, 2> sent{};  ///< messages, client's and server's
    std::vector<Piece> rest;              ///< pieces that were not sent yet
  };
  struct Placement {
    std::uint32_t handle = 0;
    std::uint64_t offset = 0;
    Octets octets;
  };
  struct Outgoing {  ///< a message on its way from words to octets
    Side by = Side::client;
    RdmaHeader header;
    RpcMessage rpc;
    std::vector<Placement> placements;
    bool version2 = false;
    bool is_call = false;
    std::uint32_t inv_handle = 0;
  };

  void play(const Step& step);
  void lose_frames(const Step& step, std::size_t first);
  void mirror_frames(std::size_t first);
  void sample();

  // story.cpp
  void connect(const Step& step, Words& words);
  void attempt(const Step& step, Words& words);
  void disconnect(const Step& step, Words& words);
  void retransmit(const Step& step, Words& words);
  void refuse(const Step& step, Words& words);
  // story_memory.cpp
  void read(const Step& step, Words& words);
  void respond(const Step& step, Words& words);
  void write(const Step& step, Words& words);
  void atomic(const Step& step, Words& words);
  // story_beside.cpp
  void exchange(const Step& step, Words& words);
  void keep_alive(const Step& step, Words& words);
  void window(const Step& step, Words& words);
  void noise(const Step& step, Words& words);
  void ping(const Step& step, Words& words);
  void nfs_over_tcp(const Step& step, Words& words);
  // story_messages.cpp
  void call(const Step& step, Words& words);
  void reply(const Step& step, Words& words);
  void answer(const Step& step, Words& words, Asked& a, bool reverse);
  void done(const Step& step, Words& words);
  void error(const Step& step, Words& words);
  void send_raw(const Step& step, Words& words);
  // story_v2.cpp
  void rest(const Step& step, Words& words);
  void grant(const Step& step, Words& words);
  void properties(const Step& step, Words& words);
  void refusal(const Step& step, Words& words);
  void message(const Step& step, Words& words);
  void say_v2(const Step& step, Words& words, const Outgoing& out, std::optional<std::uint32_t> invalidate);
  [[nodiscard]] static HeaderV2 header_v2(const Outgoing& out);
  /// rdma_credit: received plus advertised, unless the step says otherwise.
  [[nodiscard]] std::uint32_t credit_of(Side by, Words& words);

  void reduce_reads(const Step& step, Outgoing& out, bool items, Words& words);
  void say(const Step& step, Words& words, Outgoing& out, std::optional<std::uint32_t> invalidate);
  void emit(const Step& step, Side by, const Octets& message, std::optional<std::uint32_t> invalidate, bool ordinary);
  void place(const Step& step, Side by, const std::vector<Placement>& placements);
  void acknowledge(const Step& step, Side by);

  /// `number`: of the connection.
  [[nodiscard]] Stage stage(unsigned number, std::uint8_t server);
  [[nodiscard]] Line& line();
  [[nodiscard]] Memory& memory(Side s) { return line().memory.at(s == Side::client ? 0 : 1); }
  [[nodiscard]] const Done& operation(const std::string& name);
  [[nodiscard]] Asked* asked(const std::string& label);
  /// Who answers a call has it.
  void has_taken(const Asked& call);

  const Scenario& scenario_;
  Fabric fabric_;
  Film& film_;
  Network network_;
  std::vector<Line> lines_;
  std::size_t current_ = 0;
  unsigned attempts_ = 0;  ///< that became no connection
  unsigned streams_ = 0;   ///< of NFS over TCP
  unsigned number_;
  unsigned connection_ = 0;  ///< number of the newest connection: gives QPNs and ports
  unsigned life_ = 0;        ///< which one with that number
  std::array<std::uint32_t, 2> next_xid_;
};

/// A chunk: one segment {handle, offset, length}, several in a list, or one cut by `split`.
[[nodiscard]] Chunk read_chunk(const YAML::Node& node, const std::string& where, std::uint32_t length);

[[nodiscard]] inline std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

inline constexpr std::uint8_t client_host = 2;
inline constexpr std::uint8_t server_host = 1;
inline constexpr std::uint8_t server_second = 4;        ///< another address of the server
inline constexpr const char* noise_part = "noise";      ///< of frames that belong to neither side
inline constexpr std::uint64_t usual_offset = 0x10000;  ///< of a region whose offset a step does not name

}  // namespace forge
