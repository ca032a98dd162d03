// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/taps.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

#include "cli/progress.hpp"
#include "reader/capture.hpp"
#include "trace/taps.hpp"

namespace rpcrdma::cli {
namespace {

/// What would be gone when it is read again.
[[nodiscard]] bool passes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

report::Taps compared(const Options& options, const std::string& standard_input) {
  report::Taps taps;
  std::vector<std::string> paths = options.captures;
  for (std::string& path : paths) {
    if (path == "-" && !standard_input.empty()) {
      path = standard_input;
    } else if (path == "-" || passes(path)) {
      taps.not_measured = fmt::format("{} can be read only once", path == "-" ? "standard input" : path);
      return taps;
    }
  }
  trace::TapSurvey survey(paths.size());
  Progress progress(options.progress);
  std::uint64_t frames = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto opened = reader::Capture::open(paths[i]);
    if (!opened) continue;  // complained of when it is read
    reader::Capture& capture = **opened;
    while (const trace::Frame* frame = capture.next()) {
      ++frames;
      if (capture.packet()) survey.frame(i, *frame);
      if (progress.due(frames)) progress.show(options.captures[i], frames, capture.position());
    }
  }
  taps.compared = survey.compared();
  return taps;
}

}  // namespace rpcrdma::cli
