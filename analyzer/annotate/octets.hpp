// SPDX-License-Identifier: GPL-2.0-or-later
// The octets of a capture file once more, from the start; compression is taken off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

namespace rpcrdma::annotate {

class Octets {
 public:
  /// `path` is one that can be opened again. The error is the reason alone.
  [[nodiscard]] static tl::expected<std::unique_ptr<Octets>, std::string> open(const std::string& path);
  Octets(const Octets&) = delete;
  Octets& operator=(const Octets&) = delete;
  virtual ~Octets() = default;

  /// Fewer than asked for only at the end, or where it is damaged.
  [[nodiscard]] virtual std::size_t read(std::uint8_t* to, std::size_t length) = 0;

 protected:
  Octets() = default;
};

}  // namespace rpcrdma::annotate
