// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/annotation.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "annotate/input_copy.hpp"
#include "cli/inputs.hpp"
#include "report/tally.hpp"
#include "report/version.hpp"

namespace rpcrdma::cli {
namespace {

using annotate::Comments;
using annotate::InputCopy;
using annotate::Octets;
using annotate::SharedSection;

[[nodiscard]] std::string application() { return fmt::format("{} {}", report::tool_name, report::tool_version); }

[[nodiscard]] std::map<std::uint64_t, Comments> comments_of(const report::Run& run) {
  std::map<std::uint64_t, Comments> out;
  for (const std::size_t index : report::by_place(run.report.findings)) {
    const referee::Finding finding = run.report.findings.at(index);
    if (!finding.frames.empty()) out[finding.frames.front()].push_back(report::packet_comment(finding));
  }
  return out;
}

constexpr std::string_view kChanged = "it changed while it was read";

/// How much of one input has been copied.
struct Extent {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Extent&) const = default;
};

struct Copies {
  const Options& options;
  const report::Run& run;
  std::string standard_input;
  annotate::OutputFile& out;
  SharedSection shared;
  bool interleaved = false;
  std::vector<std::unique_ptr<InputCopy>> of;  ///< null: not begun
  std::vector<Extent> extents;

  [[nodiscard]] std::string failed(std::size_t input, std::string_view why) const {
    const std::string& path = options.captures[input];
    return fmt::format("--annotate: {}: {}; {} is not written", path == "-" ? "standard input" : path, why,
                       options.annotate);
  }

  [[nodiscard]] annotate::Result begin(std::size_t input) {
    if (of[input]) return {};
    SharedSection* section = interleaved ? &shared : nullptr;
    const std::string_view format = run.inputs[input].format;
    const std::string& path = options.captures[input];
    if (format.starts_with("pcapng")) {
      auto octets = Octets::open(path == "-" ? standard_input : path);
      if (!octets) return tl::unexpected(failed(input, octets.error()));
      of[input] = annotate::copy_of_pcapng(std::move(*octets), out, section);
      return {};
    }
    const bool pcap = format.starts_with("pcap");
    const bool microseconds = pcap && !format.starts_with("pcap (ns)");
    of[input] = annotate::converted({run.inputs[input].snap_length, microseconds, run.inputs[input].dropped}, out,
                                    section, application());
    return {};
  }

  /// All frames of it that were judged have been copied. (An input that was replaced or written over in between may
  /// well have as many frames.)
  [[nodiscard]] bool whole(std::size_t input) const {
    return extents[input] == Extent{run.inputs[input].frames, run.inputs[input].bytes};
  }

  [[nodiscard]] annotate::Result finish(std::size_t input) {
    if (run.inputs[input].unreadable()) return {};
    if (!whole(input)) return tl::unexpected(failed(input, kChanged));
    if (auto begun = begin(input); !begun) return begun;
    const auto& damaged = run.inputs[input].damaged;
    const bool ended = damaged && !damaged->read_on;
    auto done = of[input]->finish(ended ? std::optional(damaged->offset) : std::nullopt);
    if (!done) return tl::unexpected(failed(input, done.error()));
    return {};
  }
};

}  // namespace

tl::expected<Annotation, std::string> Annotation::prepare(const Options& options) {
  auto file = annotate::OutputFile::create(options.annotate);
  if (!file) return tl::unexpected(fmt::format("--annotate: {}", file.error()));
  return Annotation(std::move(*file));
}

tl::expected<void, std::string> Annotation::write(const Options& options, const report::Run& run,
                                                  const std::string& standard_input) {
  const std::map<std::uint64_t, Comments> comments = comments_of(run);
  const std::size_t count = options.captures.size();
  Copies copies{options, run, standard_input, file_, {}, options.merge && count > 1, {}, {}};
  copies.of.resize(count);
  copies.extents.resize(count);
  if (copies.interleaved) file_.write(annotate::section_block(application()));
  Inputs inputs(options.captures, options.merge, standard_input);
  if (run.taps) inputs.correct(run.taps->compared);
  std::size_t finished = 0;
  while (const trace::Frame* frame = inputs.next()) {
    const std::size_t at = inputs.at();
    for (; !copies.interleaved && finished < at; ++finished) {
      if (auto done = copies.finish(finished); !done) return done;
    }
    Extent& extent = copies.extents[at];
    if (extent.frames == run.inputs[at].frames) {
      // The last file may still be written to: what came later was not judged and is left out. Behind any other, or
      // between those of others, frames would bear other numbers than in the report.
      if (at + 1 == count && !copies.interleaved) break;
      return tl::unexpected(copies.failed(at, kChanged));
    }
    ++extent.frames;
    extent.bytes += frame->octets.size();
    if (auto begun = copies.begin(at); !begun) return begun;
    const auto said = comments.find(frame->ref.number);
    auto written = copies.of[at]->frame(*frame, inputs.packet(), said == comments.end() ? nullptr : &said->second);
    if (!written) return tl::unexpected(copies.failed(at, written.error()));
  }
  for (; finished < count; ++finished) {
    if (auto done = copies.finish(finished); !done) return done;
  }
  if (auto done = file_.commit(); !done) return tl::unexpected(fmt::format("--annotate: {}", done.error()));
  return {};
}

}  // namespace rpcrdma::cli
