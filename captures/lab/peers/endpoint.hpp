// SPDX-License-Identifier: GPL-2.0-or-later
// One RDMA connection by librdmacm and libibverbs: Sends, Receives, RDMA Reads and Writes, one after the other and each
// waited for. What a driver refuses is not an error of this program: the call returns false, says why, and the
// connection is broken.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "octets.hpp"

namespace lab {

// One line to standard output, with the time.
void say(const std::string& line);
std::string hex(std::uint32_t value);

struct Settings {
  Octets private_data;
  unsigned receives = 16;           // Receives kept posted
  std::size_t receive_size = 4096;  // octets of each
  std::uint8_t rnr_retry = 7;       // 7: without end
};

struct MemoryCloser {
  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
  void operator()(ibv_mw* window) const { ibv_dealloc_mw(window); }
};

// Registered octets. With a window the peer gets the handle of a memory window, which a Send with Invalidate can take
// away in soft-RoCE too; without one that of the region.
struct Memory {
  Octets octets;
  std::unique_ptr<ibv_mr, MemoryCloser> region;
  std::unique_ptr<ibv_mw, MemoryCloser> window;
  std::uint32_t handle = 0;

  [[nodiscard]] std::uint64_t address() const;
};

class Endpoint {
 public:
  // Both throw std::runtime_error when there is no connection. `listening` prints that it listens and takes one
  // connection.
  static std::unique_ptr<Endpoint> dialled(const std::string& host, const std::string& port, const Settings& settings);
  static std::unique_ptr<Endpoint> listening(const std::string& port, const Settings& settings);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  bool send(const Octets& message, std::optional<std::uint32_t> invalidate = {});
  // Several Sends posted before the first is waited for.
  bool send_at_once(const std::vector<Octets>& messages);
  // The next message; nothing when the connection is over or the time is.
  std::optional<Octets> receive(std::chrono::milliseconds patience = std::chrono::seconds(20));
  std::unique_ptr<Memory> expose(Octets octets, bool window = false);
  bool read(Memory& into, std::size_t at, std::uint32_t handle, std::uint64_t offset, std::size_t length);
  bool write(const Octets& data, std::uint32_t handle, std::uint64_t offset);
  // Ends the connection and waits for the peer to end it too.
  void hang_up();
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  struct Id {
    void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
  };
  struct Channel {
    void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
  };
  Endpoint() = default;
  void expect(rdma_cm_event_type wanted);
  void prepare();
  void post_receive(std::size_t slot);
  bool post(ibv_send_wr& work);
  bool wait_for(std::uint64_t work);
  void poll();
  void look_for_events();
  [[nodiscard]] std::string told() const;
  [[nodiscard]] rdma_conn_param parameters() const;

  Settings settings_;
  std::unique_ptr<rdma_event_channel, Channel> channel_;
  std::unique_ptr<rdma_cm_id, Id> listener_;
  std::unique_ptr<rdma_cm_id, Id> id_;
  ibv_pd* domain_ = nullptr;
  ibv_cq* completions_ = nullptr;
  std::unique_ptr<Memory> receives_;
  std::deque<Octets> arrived_;
  std::uint64_t next_work_ = std::uint64_t{1} << 32;  // below: slots of Receives
  std::uint64_t done_work_ = 0;
  bool broken_ = false;
  bool hung_up_ = false;
};

}  // namespace lab
