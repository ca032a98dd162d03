// SPDX-License-Identifier: GPL-2.0-or-later
// One input on its way into the annotated file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "annotate/blocks.hpp"
#include "annotate/octets.hpp"
#include "annotate/output_file.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::annotate {

/// The section that all inputs share when they are interleaved.
struct SharedSection {
  std::uint32_t interfaces = 0;
};

/// Errors are the reason alone, for a person.
using Result = tl::expected<void, std::string>;

class InputCopy {
 public:
  InputCopy(const InputCopy&) = delete;
  InputCopy& operator=(const InputCopy&) = delete;
  virtual ~InputCopy() = default;

  /// The next frame of this input, as the reader gave it, and all that stands before it. `packet`: it is one, and not a
  /// record of another kind that has a number.
  [[nodiscard]] virtual Result frame(const trace::Frame& frame, bool packet, const Comments* comments) = 0;
  /// What stands behind the last frame. `damage`: where reading had to end, octets from the start of the (decompressed)
  /// input; empty: it was read to its end.
  [[nodiscard]] virtual Result finish(std::optional<std::uint64_t> damage) = 0;

 protected:
  InputCopy() = default;
};

/// pcapng, block by block. `shared`: where it goes into one section with others; null: it keeps its own.
[[nodiscard]] std::unique_ptr<InputCopy> copy_of_pcapng(std::unique_ptr<Octets> octets, OutputFile& out,
                                                        SharedSection* shared);
/// What is known of an input beside its frames.
struct Original {
  std::uint32_t snap_length = 0;  ///< 0: none, or not known
  bool microseconds = false;      ///< finer times are not in it
  std::uint64_t dropped = 0;      ///< packets that had no room when it was captured
};
/// Any other format, from its frames.
[[nodiscard]] std::unique_ptr<InputCopy> converted(const Original& original, OutputFile& out, SharedSection* shared,
                                                   std::string_view application);

}  // namespace rpcrdma::annotate
