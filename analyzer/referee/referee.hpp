// SPDX-License-Identifier: GPL-2.0-or-later
// The reference state machine: RDMA events in, facts and findings out. One entry for both seats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "referee/facts.hpp"
#include "referee/options.hpp"
#include "trace/events.hpp"
#include "trace/moment.hpp"

namespace rpcrdma::referee {

class Listener;
class Observer;
struct Share;
struct AcrossMounts;

class Referee final : public trace::EventSink {
 public:
  /// `observer` and `listener`, where there is one, outlive the referee. What `listener` was told is forgotten, and
  /// not in the report of finish().
  explicit Referee(Options options, Observer* observer = nullptr, Listener* listener = nullptr);
  ~Referee() override;
  Referee(const Referee&) = delete;
  Referee& operator=(const Referee&) = delete;

  void on(const trace::ConnectRequest&) override;
  void on(const trace::ConnectReply&) override;
  void on(const trace::ConnectReject&) override;
  void on(const trace::RequestReceipt&) override;
  void on(const trace::RequestUndelivered&) override;
  void on(const trace::Sighted&) override;
  void on(const trace::ConnectReady&) override;
  void on(const trace::Adopted&) override;
  void on(const trace::Disconnect&) override;
  void on(const trace::Send&) override;
  void on(const trace::SendPart&) override {}
  void on(const trace::Write&) override;
  void on(const trace::ReadRequest&) override;
  void on(const trace::Atomic&) override;
  void on(const trace::ReadResponse&) override;
  void on(const trace::Refusal&) override;
  void on(const trace::Acknowledged&) override;
  void on(const trace::Gap&) override;
  void on(const trace::Repeated&) override;
  void on(const trace::Quality&) override;
  void on(const trace::TcpAttempt&) override;
  void on(const trace::Liveness&) override;
  void on(const trace::NfsOverTcp&) override;

  /// End of capture: judge what is still open, hand over the report. The referee is empty afterwards. Times in
  /// sentences count from the capture's earliest frame, or from the first one that is known of a mount.
  [[nodiscard]] Report finish(FrameRef last, FrameRef first = {});

  /// Open at once; further ones are not judged.
  static constexpr std::size_t most_connections = 65536;
  static constexpr std::size_t most_of_share = most_connections / 8;

  // Of several, which have a share of a capture's connections each (referee/shares.hpp)
  /// What says when events happen. Outlives the referee.
  void follow(const trace::Moment& now);
  /// Instead of finish(): first this, of each, which judges connections; then the other, with what all of them said.
  [[nodiscard]] AcrossMounts finish_connections(FrameRef last);
  [[nodiscard]] Share finish_share(FrameRef last, FrameRef first, const AcrossMounts& across);

  /// The findings so far, by number from 0; later ones are appended, and those here may still get evidence and another
  /// severity. Without a listener only.
  [[nodiscard]] std::size_t findings() const noexcept;
  [[nodiscard]] const Finding& finding(std::size_t number) const;

  /// Tells the listener what has become certain; to be called now and then, such as after each frame.
  void tell();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpcrdma::referee
