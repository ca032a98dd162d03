// SPDX-License-Identifier: GPL-2.0-or-later
// A capture file of one input: one octet that says how the rest is packed first (packing.hpp), then the file. Whatever
// it is, reading comes to an end, and the facts are those of the frames. A packed file holds what the plain one does.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz_input.hpp"
#include "packing.hpp"
#include "reader/capture.hpp"
#include "reader/content.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace reader = rpcrdma::reader;
namespace trace = rpcrdma::trace;
namespace wire = rpcrdma::wire;

struct Reading {
  bool opened = false;
  bool damaged = false;
  std::uint64_t frames = 0;
  std::uint64_t octets = 0;

  bool operator==(const Reading&) const = default;
};

/// A file without a name.
class Memory {
 public:
  explicit Memory(wire::Bytes octets) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    while (fd_ >= 0 && !octets.empty()) {
      const ssize_t written = ::write(fd_, octets.data(), octets.size());
      require(written > 0);
      octets = octets.subspan(static_cast<std::size_t>(written));
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::close(fd_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

Reading read(wire::Bytes octets) {
  const Memory file(octets);
  Reading out;
  const auto capture = reader::Capture::open(file.path());
  if (!capture) {
    require(!capture.error().empty() && capture.error().find('\n') == std::string::npos);
    return out;
  }
  out.opened = true;
  std::uint64_t sum = 0;
  while (const trace::Frame* frame = (*capture)->next()) {
    ++out.frames;
    out.octets += frame->octets.size();
    for (const std::uint8_t octet : frame->octets) sum += octet;  // all of them are there
    const auto position = (*capture)->position();
    require(!position || (*position >= 0 && *position <= 1));
  }
  require(sum <= 255 * out.octets);
  const reader::InputFacts& facts = (*capture)->facts();
  require(facts.frames == out.frames && facts.bytes == out.octets);
  require(facts.first_time.has_value() == facts.last_time.has_value());
  require(facts.truncated_frames <= facts.frames && !facts.format.empty());
  require(!facts.damaged || !facts.damaged->reason.empty());
  require((*capture)->next() == nullptr);
  out.damaged = facts.damaged.has_value();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const wire::Bytes file(data + 1, size - 1);
  const auto packing = rpcrdma::fuzz::packing_of(data[0]);
  const Reading plain = read(file);
  if (packing == rpcrdma::fuzz::Packing::none || !plain.opened) return 0;
  // Compression is taken off once.
  if (!reader::compression_name(reader::content_of(file)).empty()) return 0;
  require(read(rpcrdma::fuzz::packed(packing, file)) == plain);
  return 0;
}
