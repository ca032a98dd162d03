// SPDX-License-Identifier: GPL-2.0-or-later
// For observers that stand in front of another one.
#pragma once

#include "referee/observer.hpp"

namespace rpcrdma::referee {

/// Hands all on to `next`, where there is one. Who derives from it overrides what it wants to hear itself, and hands
/// that on.
class Forwarding : public Observer {
 public:
  explicit Forwarding(Observer* next = nullptr) noexcept : next_(next) {}

  void handshake(const ConnectionFacts& connection, trace::Side sender, FrameRef frame) override {
    if (next_ != nullptr) next_->handshake(connection, sender, frame);
  }
  void message(const ConnectionFacts& connection, const MessageSeen& seen) override {
    if (next_ != nullptr) next_->message(connection, seen);
  }
  void operation(const ConnectionFacts& connection, const OperationSeen& seen) override {
    if (next_ != nullptr) next_->operation(connection, seen);
  }
  void heard(const trace::ConnectRequest& event) override { hand_on(event); }
  void heard(const trace::ConnectReply& event) override { hand_on(event); }
  void heard(const trace::ConnectReject& event) override { hand_on(event); }
  void heard(const trace::ConnectReady& event) override { hand_on(event); }
  void heard(const trace::Disconnect& event) override { hand_on(event); }
  void heard(const trace::Refusal& event) override { hand_on(event); }
  void heard(const trace::Gap& event) override { hand_on(event); }
  void heard(const trace::Repeated& event) override { hand_on(event); }

 protected:
  void hand_on_to(Observer* next) noexcept { next_ = next; }

 private:
  template <class Event>
  void hand_on(const Event& event) {
    if (next_ != nullptr) next_->heard(event);
  }

  Observer* next_;
};

}  // namespace rpcrdma::referee
