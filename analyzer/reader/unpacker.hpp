// SPDX-License-Identifier: GPL-2.0-or-later
// Takes compression off: gzip, zstd and lz4, any number of members or frames one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "reader/content.hpp"
#include "wire/bytes.hpp"

namespace rpcrdma::reader {

class Unpacker {
 public:
  /// What one step took and gave.
  struct Moved {
    std::size_t in = 0;
    std::size_t out = 0;
  };

  /// Null: not a compression that is known here, or no memory.
  [[nodiscard]] static std::unique_ptr<Unpacker> of(Content content);
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;

  /// Takes what it can and gives what there is; neither, when it needs more or has failed.
  [[nodiscard]] Moved step(wire::Bytes from, std::uint8_t* to, std::size_t length);
  /// Why it cannot go on; empty: it can.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Nothing is missing, if this was the end.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// How many members or frames were begun.
  [[nodiscard]] std::uint64_t parts() const noexcept { return parts_; }

 protected:
  enum class Said : std::uint8_t { more, part_over, failed };
  [[nodiscard]] virtual Said run(wire::Bytes from, std::uint8_t* to, std::size_t length, Moved& moved) = 0;
  /// What may stand behind the end of a part: another, or nothing that counts.
  [[nodiscard]] virtual bool padding(std::uint8_t octet) const noexcept = 0;

  std::string failure_;

 private:
  bool complete_ = false;
  std::uint64_t parts_ = 0;
};

}  // namespace rpcrdma::reader
