// SPDX-License-Identifier: GPL-2.0-or-later
// Runs built by hand, for the tests of the sinks.
#pragma once

#include "report/report.hpp"

namespace rpcrdma::report {

/// One complete, closed connection with a fault, and one of which next to nothing is known.
inline Run sample_run() {
  constexpr std::int64_t t0 = 1'764'900'000'123'456'789;
  Run run;
  run.frames = 846;
  Input input;
  input.path = "mount.pcap";
  input.format = "pcap";
  input.link_types = {"EN10MB"};
  input.frames = 846;
  input.bytes = 123456;
  input.first_time = t0;
  input.last_time = t0 + 2'500'000'000;
  input.truncated_frames = 3;
  run.inputs.push_back(input);

  referee::Report& report = run.report;
  report.any_rpcrdma = true;
  report.judged = true;
  report.rdma_messages = 74;

  referee::ConnectionFacts c;
  c.id = 1;
  c.transport = trace::Transport::rocev2;
  c.client = {"192.168.77.2", 43180, 17, 0, {}};
  c.server = {"192.168.77.1", 20049, 0x12, 0, {}};
  c.roles_from = trace::RolesFrom::handshake;
  c.opened = {3, t0 + 1'000'000};
  c.handshake_seen = true;
  c.version = 1;
  c.private_data_client = referee::PrivateData{3, 0, 1, true, 4096, 8192, 0};
  c.private_data_server = referee::PrivateData{4, 2, 1, false, 4096, 4096, 0x40};
  c.thresholds = {4096, 4096, referee::Basis::negotiated};
  c.credits = {128, 64, 3, 1};
  c.messages.calls = 37;
  c.messages.replies = 36;
  c.messages.reverse_calls = 2;
  c.messages.reverse_replies = 1;
  c.messages.rdma_msg = 50;
  c.messages.rdma_nomsg = 21;
  c.messages.rdma_error = 3;
  c.messages.v2["RDMA2_GRANT"] = 4;
  c.operations = {74, 21, 5, 16, 4096, 65536, 1, 2, 7};
  c.pull_completion = {2, 1, 1};
  c.latency = {36, 100, 412.5, 900, 1500, 2'500'000};
  referee::ProcedureFacts getattr;
  getattr.program = 100003;
  getattr.version = 3;
  getattr.procedure = 1;
  getattr.name = "NFSv3 GETATTR";
  getattr.calls = 36;
  getattr.latency = {36, 100, 400, 900, 1500, 2000};
  referee::ProcedureFacts compound;
  compound.program = 100003;
  compound.version = 4;
  compound.procedure = 1;
  compound.name = "NFSv4 COMPOUND";
  compound.calls = 1;
  compound.operations = {{"PUTFH", 1}, {"READ", 1}};
  c.procedures = {getattr, compound};
  c.path_mtu = 1024;
  referee::Closed closed;
  closed.how = referee::Closed::How::nak;
  closed.frame = {840, t0 + 2'400'000'000};
  closed.by = referee::Party::client;
  closed.cause = referee::Cause{referee::RuleId::inline_overrun_fatal, true, {812, 840}, "the reply did not fit."};
  c.closed = closed;
  report.connections.push_back(c);

  referee::ConnectionFacts unknown;
  unknown.id = 2;
  unknown.transport = trace::Transport::iwarp;
  unknown.client.address = "fd77::2";
  unknown.server.address = "fd77::1";
  unknown.server.port = 20049;
  unknown.opened = {500, t0 + 1'500'000'000};
  unknown.one_way = true;
  unknown.gaps = 1460;
  report.connections.push_back(unknown);

  // Not in the order of frames, to see that sinks sort.
  referee::Finding note;
  note.rule = referee::RuleId::remote_invalidation_server_r_clear;
  note.severity = referee::Severity::note;
  note.connection = 1;
  note.frames = {831, 3, 4};
  note.time = t0 + 2'000'000'000;
  note.xid = 7;
  note.violator = referee::Party::server;
  note.role = referee::Role::responder;
  note.message = "the server invalidates remotely though its own R bit is clear";
  note.occurrences = 21;
  report.findings.push_back(note);

  referee::Finding error;
  error.rule = referee::RuleId::inline_threshold_exceeded;
  error.severity = referee::Severity::error;
  error.connection = 1;
  error.frames = {812, 4, 3, 4};
  error.time = t0 + 1'900'000'000;
  error.xid = 0x08ea8cef;
  error.violator = referee::Party::server;
  error.role = referee::Role::responder;
  error.message = "a Reply of 20,100 octets to a client that receives 4,096";
  report.findings.push_back(error);

  referee::Finding warning;
  warning.rule = referee::RuleId::rnr_nak_seen;
  warning.severity = referee::Severity::warning;
  warning.connection = 1;
  warning.frames = {9};
  warning.time = t0 + 5'000'000;
  warning.message = "RNR NAK for frame 8";
  report.findings.push_back(warning);

  referee::Finding whole;
  whole.rule = referee::RuleId::capture_time_backwards;
  whole.severity = referee::Severity::note;
  whole.message = "the clock was set back once";
  report.findings.push_back(whole);

  report.unchecked.push_back({referee::RuleId::inline_threshold_exceeded, 2, "the handshake is not in the capture"});
  report.unchecked.push_back({referee::RuleId::credit_limit_exceeded, 2, "the handshake is not in the capture"});
  report.unchecked.push_back({referee::RuleId::icrc_bad, 0, "no checksums in this link type"});
  return run;
}

/// An element that is changed: `edited(list)->field = value;`
template <class T>
class Edited {
 public:
  Edited(referee::PackedList<T>& list, std::size_t index) : list_(list), index_(index), value_(list.at(index)) {}
  Edited(const Edited&) = delete;
  Edited& operator=(const Edited&) = delete;
  ~Edited() { list_.set(index_, value_); }
  T* operator->() noexcept { return &value_; }

 private:
  referee::PackedList<T>& list_;
  std::size_t index_;
  T value_;
};
template <class T>
[[nodiscard]] Edited<T> edited(referee::PackedList<T>& list, std::size_t index = 0) {
  return {list, index};
}

/// A mount that works: one connection, habits of Linux only.
inline Run healthy_run() {
  Run run = sample_run();
  referee::ConnectionFacts c = run.report.connections.at(0);
  c.closed.reset();
  c.private_data_server = referee::PrivateData{4, 0, 1, false, 4096, 4096, 0};
  c.pull_completion = {};
  c.operations.naks = c.operations.rnr_naks = c.operations.retransmitted = 0;
  c.messages.v2.clear();
  run.inputs[0].truncated_frames = 0;
  run.report.connections = {c};
  run.report.findings.keep({0});
  run.report.unchecked.clear();
  return run;
}

}  // namespace rpcrdma::report
