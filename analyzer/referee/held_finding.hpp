// SPDX-License-Identifier: GPL-2.0-or-later
// A finding that may still be amended.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace rpcrdma::referee {

/// Whoever may amend a finding later holds this; FindingBook takes no other name for it, but for
/// attempts to connect, which a mount tells as one at the end. When the last holder is gone
/// the finding is settled, and may be told before the capture ends. Empty: no finding.
class HeldFinding {
 public:
  HeldFinding() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return token_ != nullptr; }
  void reset() noexcept { token_.reset(); }
  friend bool operator==(const HeldFinding&, const HeldFinding&) noexcept = default;

 private:
  friend class FindingBook;
  HeldFinding(std::size_t index, std::shared_ptr<void> token) noexcept : index_(index), token_(std::move(token)) {}

  std::size_t index_ = 0;
  std::shared_ptr<void> token_;
};

}  // namespace rpcrdma::referee
