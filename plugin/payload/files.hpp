// SPDX-License-Identifier: GPL-2.0-or-later
// Which octets of which file each RPC message carries: told by the handles, and the names that led to them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/nfs_files.hpp"

namespace rpcrdma::payload {

/// Octets of a file, as a READ returned them or as a server took them from a WRITE. The span is good until the next
/// call.
struct FilePiece {
  std::uint32_t file = 0;    ///< index for Files::file()
  std::uint64_t offset = 0;  ///< into the file
  wire::Bytes octets;
  bool written = false;
};

/// Memory is bounded: what is beyond the bounds is not told.
class Files {
 public:
  static constexpr std::size_t most_files = 65'536;
  static constexpr std::size_t most_open = 4096;  ///< Calls whose Reply may still come; the oldest go first
  static constexpr std::size_t most_octets = std::size_t{256} << 20U;  ///< of their WRITEs

  struct File {
    std::string handle;  ///< as on the wire; empty: never told
    std::string name;    ///< the last part of its path; empty: never told
  };

  /// A Call and the Reply to it have the same `exchange`, a number that no other exchange has; a server's handles mean
  /// nothing to another `server`. Messages are whole, and begin with the XID. `out` is replaced.
  void call(std::uint64_t exchange, std::string_view server, wire::Bytes message);
  void reply(std::uint64_t exchange, wire::Bytes message, std::vector<FilePiece>& out);

  [[nodiscard]] const File& file(std::uint32_t index) const noexcept { return files_[index]; }
  /// Files that the newest Reply gave a name.
  [[nodiscard]] const std::vector<std::uint32_t>& named() const noexcept { return named_; }

 private:
  struct Step {
    wire::FileStep::Kind kind = wire::FileStep::Kind::other;
    std::string text;
    std::uint64_t offset = 0;
    std::vector<std::uint8_t> data;  ///< of a WRITE
  };
  struct Open {
    std::string server;
    wire::Asked asked;
    std::vector<Step> steps;
    std::size_t octets = 0;
  };
  struct Place;
  void go(const Open& open, const wire::FileAnswers& answers, std::vector<FilePiece>& out);
  void drop(std::uint64_t exchange);
  void learn(const Open& open, Place& place, wire::Bytes handle);
  [[nodiscard]] std::optional<std::uint32_t> file_at(const Place& place);

  std::vector<File> files_;
  std::map<std::string, std::uint32_t, std::less<>> by_key_;  ///< server and handle, or server and path
  std::vector<std::uint32_t> named_;
  std::unordered_map<std::uint64_t, Open> open_;
  std::deque<std::uint64_t> order_;  ///< of open_, the oldest first; may hold what is answered
  std::size_t octets_ = 0;           ///< of all open WRITEs
  Open answered_;                    ///< what the newest pieces point into
};

}  // namespace rpcrdma::payload
