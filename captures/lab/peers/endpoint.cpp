// SPDX-License-Identifier: GPL-2.0-or-later
#include "endpoint.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace lab {

namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

std::uint64_t address_of(const Octets& octets) { return reinterpret_cast<std::uintptr_t>(octets.data()); }

}  // namespace

void say(const std::string& line) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  std::printf("[%lld.%03lld] %s\n", static_cast<long long>(milliseconds / 1000),
              static_cast<long long>(milliseconds % 1000), line.c_str());
  std::fflush(stdout);
}

std::string hex(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", static_cast<unsigned>(value));
  return text.data();
}

std::uint64_t Memory::address() const { return address_of(octets); }

std::unique_ptr<Endpoint> Endpoint::dialled(const std::string& host, const std::string& port,
                                            const Settings& settings) {
  std::unique_ptr<Endpoint> end(new Endpoint);
  end->settings_ = settings;
  end->channel_.reset(rdma_create_event_channel());
  rdma_cm_id* id = nullptr;
  if (!end->channel_ || rdma_create_id(end->channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) fail("rdma_create_id");
  end->id_.reset(id);
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), nullptr, &found) != 0) throw std::runtime_error("no such host: " + host);
  const int resolved = rdma_resolve_addr(id, nullptr, found->ai_addr, 5000);
  freeaddrinfo(found);
  if (resolved != 0) fail("rdma_resolve_addr");
  end->expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  if (rdma_resolve_route(id, 5000) != 0) fail("rdma_resolve_route");
  end->expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  end->prepare();
  rdma_conn_param parameters = end->parameters();
  if (rdma_connect(id, &parameters) != 0) fail("rdma_connect");
  end->expect(RDMA_CM_EVENT_ESTABLISHED);
  fcntl(end->channel_->fd, F_SETFL, O_NONBLOCK);
  say("connected, " + end->told());
  return end;
}

std::unique_ptr<Endpoint> Endpoint::listening(const std::string& port, const Settings& settings) {
  std::unique_ptr<Endpoint> end(new Endpoint);
  end->settings_ = settings;
  end->channel_.reset(rdma_create_event_channel());
  rdma_cm_id* listener = nullptr;
  if (!end->channel_ || rdma_create_id(end->channel_.get(), &listener, nullptr, RDMA_PS_TCP) != 0)
    fail("rdma_create_id");
  end->listener_.reset(listener);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  if (rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&any)) != 0 || rdma_listen(listener, 1) != 0)
    fail("rdma_listen");
  say("listening");
  end->expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  end->prepare();
  rdma_conn_param parameters = end->parameters();
  if (rdma_accept(end->id_.get(), &parameters) != 0) fail("rdma_accept");
  end->expect(RDMA_CM_EVENT_ESTABLISHED);
  fcntl(end->channel_->fd, F_SETFL, O_NONBLOCK);
  say("accepted, " + end->told());
  return end;
}

Endpoint::~Endpoint() {
  hang_up();
  if (id_ && id_->qp != nullptr) rdma_destroy_qp(id_.get());
  receives_.reset();
  if (completions_ != nullptr) ibv_destroy_cq(completions_);
  if (domain_ != nullptr) ibv_dealloc_pd(domain_);
}

void Endpoint::expect(rdma_cm_event_type wanted) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) fail("rdma_get_cm_event");
  const rdma_cm_event_type got = event->event;
  if (got == RDMA_CM_EVENT_CONNECT_REQUEST) id_.reset(event->id);
  rdma_ack_cm_event(event);
  if (got != wanted) {
    throw std::runtime_error(std::string("not ") + rdma_event_str(wanted) + " but " + rdma_event_str(got));
  }
}

std::string Endpoint::told() const {
  Reader in(settings_.private_data);
  std::string text = "private data";
  if (in.left() == 0) text += " none";
  while (in.left() >= 4) text.append(" ").append(hex(in.u32()));
  return text + ", " + std::to_string(settings_.receives) + " receives of " + std::to_string(settings_.receive_size) +
         " octets";
}

rdma_conn_param Endpoint::parameters() const {
  rdma_conn_param parameters{};
  parameters.private_data = settings_.private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(settings_.private_data.size());
  parameters.responder_resources = 8;
  parameters.initiator_depth = 8;
  parameters.retry_count = 3;
  parameters.rnr_retry_count = settings_.rnr_retry;
  return parameters;
}

// Queues, and the Receives before there is anything to come.
void Endpoint::prepare() {
  domain_ = ibv_alloc_pd(id_->verbs);
  completions_ = ibv_create_cq(id_->verbs, 512, nullptr, nullptr, 0);
  if (domain_ == nullptr || completions_ == nullptr) fail("ibv_create_cq");
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions_;
  attributes.recv_cq = completions_;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = 64;
  attributes.cap.max_recv_wr = 64;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  if (rdma_create_qp(id_.get(), domain_, &attributes) != 0) fail("rdma_create_qp");
  receives_ = expose(Octets(settings_.receives * settings_.receive_size));
  for (std::size_t slot = 0; slot < settings_.receives; ++slot) post_receive(slot);
}

void Endpoint::post_receive(std::size_t slot) {
  ibv_sge piece{};
  piece.addr = receives_->address() + slot * settings_.receive_size;
  piece.length = static_cast<std::uint32_t>(settings_.receive_size);
  piece.lkey = receives_->region->lkey;
  ibv_recv_wr work{};
  work.wr_id = slot;
  work.sg_list = &piece;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (ibv_post_recv(id_->qp, &work, &bad) != 0 && !broken_) say("a Receive cannot be posted");
}

bool Endpoint::post(ibv_send_wr& work) {
  if (broken_) return false;
  work.wr_id = next_work_;
  work.send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(id_->qp, &work, &bad) != 0) {
    say("the queue pair takes no more work");
    broken_ = true;
    return false;
  }
  ++next_work_;
  return true;
}

bool Endpoint::send(const Octets& message, std::optional<std::uint32_t> invalidate) {
  const std::unique_ptr<Memory> memory = expose(message);
  ibv_sge piece{memory->address(), static_cast<std::uint32_t>(message.size()), memory->region->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
  if (invalidate) {
    work.invalidate_rkey = *invalidate;
    work.wr.rdma.rkey = *invalidate;  // rdma-core's provider of soft-iWARP takes it from here
  }
  return post(work) && wait_for(work.wr_id);
}

bool Endpoint::send_at_once(const std::vector<Octets>& messages) {
  std::vector<std::unique_ptr<Memory>> kept;
  for (const Octets& message : messages) {
    kept.push_back(expose(message));
    ibv_sge piece{kept.back()->address(), static_cast<std::uint32_t>(message.size()), kept.back()->region->lkey};
    ibv_send_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.opcode = IBV_WR_SEND;
    if (!post(work)) return false;
  }
  return wait_for(next_work_ - 1);
}

bool Endpoint::read(Memory& into, std::size_t at, std::uint32_t handle, std::uint64_t offset, std::size_t length) {
  ibv_sge piece{into.address() + at, static_cast<std::uint32_t>(length), into.region->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_READ;
  work.wr.rdma.rkey = handle;
  work.wr.rdma.remote_addr = offset;
  const bool done = post(work) && wait_for(work.wr_id);
  say("RDMA Read of " + std::to_string(length) + " octets of " + hex(handle) + (done ? "" : ": refused"));
  return done;
}

bool Endpoint::write(const Octets& data, std::uint32_t handle, std::uint64_t offset) {
  const std::unique_ptr<Memory> memory = expose(data);
  ibv_sge piece{memory->address(), static_cast<std::uint32_t>(data.size()), memory->region->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.wr.rdma.rkey = handle;
  work.wr.rdma.remote_addr = offset;
  const bool done = post(work) && wait_for(work.wr_id);
  say("RDMA Write of " + std::to_string(data.size()) + " octets to " + hex(handle) + (done ? "" : ": refused"));
  return done;
}

std::unique_ptr<Memory> Endpoint::expose(Octets octets, bool window) {
  auto memory = std::make_unique<Memory>();
  memory->octets = std::move(octets);
  if (memory->octets.empty()) memory->octets.resize(4);
  memory->region.reset(
      ibv_reg_mr(domain_, memory->octets.data(), memory->octets.size(), kAccess | (window ? IBV_ACCESS_MW_BIND : 0)));
  if (!memory->region) fail("ibv_reg_mr");
  memory->handle = memory->region->rkey;
  if (!window) return memory;
  memory->window.reset(ibv_alloc_mw(domain_, IBV_MW_TYPE_2));
  if (!memory->window) {
    // Soft-iWARP has no windows, but takes the handle of a region away as well.
    memory->region.reset(ibv_reg_mr(domain_, memory->octets.data(), memory->octets.size(), kAccess));
    if (!memory->region) fail("ibv_reg_mr");
    memory->handle = memory->region->rkey;
    return memory;
  }
  ibv_send_wr work{};
  work.opcode = IBV_WR_BIND_MW;
  work.bind_mw.mw = memory->window.get();
  work.bind_mw.rkey = ibv_inc_rkey(memory->window->rkey);
  work.bind_mw.bind_info.mr = memory->region.get();
  work.bind_mw.bind_info.addr = memory->address();
  work.bind_mw.bind_info.length = memory->octets.size();
  work.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  memory->handle = work.bind_mw.rkey;
  if (!post(work) || !wait_for(work.wr_id)) throw std::runtime_error("a memory window cannot be bound");
  return memory;
}

std::optional<Octets> Endpoint::receive(std::chrono::milliseconds patience) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (arrived_.empty()) {
    poll();
    if (!arrived_.empty()) break;
    if (broken_ || std::chrono::steady_clock::now() > limit) return {};
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  Octets message = std::move(arrived_.front());
  arrived_.pop_front();
  return message;
}

bool Endpoint::wait_for(std::uint64_t work) {
  while (done_work_ < work && !broken_) {
    poll();
    if (done_work_ < work) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return done_work_ >= work;
}

void Endpoint::poll() {
  std::array<ibv_wc, 16> done{};
  const int count = ibv_poll_cq(completions_, static_cast<int>(done.size()), done.data());
  for (int i = 0; i < count; ++i) {
    const ibv_wc& one = done.at(static_cast<std::size_t>(i));
    if (one.status != IBV_WC_SUCCESS) {
      if (!broken_ && one.status != IBV_WC_WR_FLUSH_ERR)
        say(std::string("a completion says: ") + ibv_wc_status_str(one.status));
      broken_ = true;
    } else if (one.wr_id >= std::uint64_t{1} << 32) {
      done_work_ = one.wr_id;
    } else {
      const auto start = receives_->octets.begin() + static_cast<std::ptrdiff_t>(one.wr_id * settings_.receive_size);
      arrived_.emplace_back(start, start + one.byte_len);
      post_receive(one.wr_id);
    }
  }
  if (count == 0) look_for_events();
}

void Endpoint::look_for_events() {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) return;
  const rdma_cm_event_type what = event->event;
  rdma_ack_cm_event(event);
  say(rdma_event_str(what));
  if (what == RDMA_CM_EVENT_DISCONNECTED || what == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
    broken_ = true;
    if (!hung_up_) rdma_disconnect(id_.get());
    hung_up_ = true;
  }
}

void Endpoint::hang_up() {
  if (!id_ || hung_up_) return;
  say("hanging up");
  rdma_disconnect(id_.get());
  hung_up_ = true;
  broken_ = true;
  for (int i = 0; i < 100; ++i) {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_.get(), &event) == 0) {
      const bool over = event->event == RDMA_CM_EVENT_DISCONNECTED;
      rdma_ack_cm_event(event);
      if (over) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace lab
