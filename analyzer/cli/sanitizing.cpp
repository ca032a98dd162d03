// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sanitizing.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "annotate/input_copy.hpp"
#include "cli/inputs.hpp"
#include "cli/judging.hpp"
#include "cli/selection.hpp"
#include "reader/source.hpp"
#include "report/version.hpp"
#include "sanitize/frame_copy.hpp"

namespace rpcrdma::cli {
namespace {

constexpr std::size_t kRandomKey = 32;
constexpr std::size_t kLongestKey = std::size_t{1} << 20U;

[[nodiscard]] tl::unexpected<std::string> failed(std::string_view why) {
  return tl::unexpected(fmt::format("--sanitize: {}", why));
}

/// A file or a pipe: of others nobody knows that they end, or that they say the same another time.
[[nodiscard]] tl::expected<sanitize::Key, std::string> key_in(const std::string& path) {
  const auto no_key = [&](std::string_view why) {
    return tl::unexpected(fmt::format("--sanitize-key: {}: {}", path, why));
  };
  const auto unreadable = [&] { return no_key(std::generic_category().message(errno)); };
  const reader::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat kind {};
  if (!file || ::fstat(file.get(), &kind) != 0) return unreadable();
  if (S_ISDIR(kind.st_mode)) return no_key("is a folder");
  if (!S_ISREG(kind.st_mode) && !S_ISFIFO(kind.st_mode)) return no_key("is no file");
  sanitize::Key key(kLongestKey + 1);
  std::size_t size = 0;
  while (size < key.size()) {
    const ssize_t got = ::read(file.get(), key.data() + size, key.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size == 0) return no_key("is empty");
  if (size > kLongestKey) return no_key(fmt::format("is no key: it has more than {} octets", kLongestKey));
  key.resize(size);
  return key;
}

[[nodiscard]] tl::expected<sanitize::Key, std::string> key_of(const Options& options) {
  if (options.sanitize_key.empty()) {
    sanitize::Key key(kRandomKey);
    if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
      return failed(fmt::format("no random key: {}", std::generic_category().message(errno)));
    }
    return key;
  }
  return key_in(options.sanitize_key);
}

/// Letters that addresses are written with.
[[nodiscard]] bool of_address(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
}

/// The report without what the copy cannot have in common with the original: the names and forms of files.
[[nodiscard]] std::string comparable(const report::Run& run, const std::map<std::string, std::string>& addresses) {
  report::Run same{{}, run.report, run.frames, run.not_selected, std::nullopt};
  std::string text = report::json(same);
  if (addresses.empty()) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!of_address(text[at])) {
      out += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && of_address(text[end])) ++end;
    // A sentence may end behind an address, or go on with its port.
    std::string word = text.substr(at, end - at);
    std::string behind;
    while (!word.empty()) {
      const auto found = addresses.find(word);
      if (found != addresses.end()) {
        word = found->second;
        break;
      }
      behind.insert(behind.begin(), word.back());
      word.pop_back();
    }
    out += word + behind;
    at = end;
  }
  return out;
}

/// Frames that were cut, or dropped when they were captured: of several files that count since the capture began, the
/// one that counted most.
struct Lacks {
  std::uint64_t dropped = 0;
  std::uint64_t cut = 0;

  bool operator==(const Lacks&) const = default;
};

[[nodiscard]] Lacks lacks_of(const std::vector<report::Input>& inputs) {
  Lacks lacks;
  for (const report::Input& input : inputs) {
    lacks.dropped = std::max(lacks.dropped, input.dropped);
    lacks.cut += input.truncated_frames;
  }
  return lacks;
}

/// The line in which two texts differ first.
[[nodiscard]] std::string first_difference(const std::string& original, const std::string& copy) {
  const auto [a, b] = std::mismatch(original.begin(), original.end(), copy.begin(), copy.end());
  static_cast<void>(b);
  constexpr std::ptrdiff_t before = 60;
  const auto from = a - std::min(before, a - original.begin());
  const auto at = static_cast<std::size_t>(from - original.begin());
  return fmt::format("{:?} in place of {:?}", copy.substr(std::min(at, copy.size()), 120), original.substr(at, 120));
}

}  // namespace

tl::expected<Sanitizing, std::string> Sanitizing::prepare(const Options& options) {
  auto key = key_of(options);
  if (!key) return tl::unexpected(std::move(key).error());
  auto file = annotate::OutputFile::create(options.sanitize);
  if (!file) return failed(file.error());
  return Sanitizing(std::move(*file), std::move(*key));
}

void Sanitizing::note(const trace::Frame& frame) {
  trace::open_frame(frame, inside_->opened, &inside_->fragments);
  inside_->places.note(frame, inside_->opened);
}

tl::expected<void, std::string> Sanitizing::copy(const Options& options, const report::Run& run,
                                                 const std::string& standard_input) {
  annotate::SharedSection shared;
  file_.write(annotate::section_block(fmt::format("{} {}", report::tool_name, report::tool_version)));
  sanitize::FrameCopy frames(inside_->places, inside_->pseudonyms);
  std::vector<std::unique_ptr<annotate::InputCopy>> copies(options.captures.size());
  Inputs inputs(options.captures, options.merge, standard_input);
  while (const trace::Frame* frame = inputs.next()) {
    if (frame->ref.number > run.frames) break;  // the last file is still being written to
    const std::size_t at = inputs.at();
    if (!copies[at]) {
      const std::string_view format = run.inputs[at].format;
      const bool pcap = format.starts_with("pcap") && !format.starts_with("pcapng");
      const bool microseconds = pcap && !format.starts_with("pcap (ns)");
      copies[at] =
          annotate::converted({run.inputs[at].snap_length, microseconds, run.inputs[at].dropped}, file_, &shared, {});
    }
    trace::Frame out = *frame;
    if (inputs.packet()) {
      out.octets = frames.of(*frame);
    } else {
      out.octets = {};
    }
    losses_ += out.behind_a_loss ? 1 : 0;
    if (auto written = copies[at]->frame(out, inputs.packet(), nullptr); !written) return failed(written.error());
  }
  for (const auto& input : copies) {
    if (!input) continue;
    if (auto done = input->finish(std::nullopt); !done) return failed(done.error());
  }
  return {};
}

tl::expected<void, std::string> Sanitizing::check(const Options& options, const report::Run& run) {
  const auto path = file_.so_far();
  if (!path) return failed(path.error());
  Options again = options;
  again.captures = {*path};
  again.sanitize.clear();
  report::Run of_copy = judged(again);
  of_copy.not_selected = select(of_copy.report, again);
  const std::string original = comparable(run, inside_->pseudonyms.address_texts());
  if (const Lacks lacks = lacks_of(run.inputs);
      !(Lacks{std::max(lacks.dropped, losses_), lacks.cut} == lacks_of(of_copy.inputs))) {
    return failed(fmt::format("the copy would not say what frames lack, so {} is not written", options.sanitize));
  }
  const std::string copy = comparable(of_copy, {});
  if (original == copy) return {};
  return failed(fmt::format("the report of the copy differs from that of the original, so {} is not written: {}",
                            options.sanitize, first_difference(original, copy)));
}

tl::expected<void, std::string> Sanitizing::write(const Options& options, const report::Run& run,
                                                  const std::string& standard_input) {
  inside_->messages.finish();
  inside_->places.settle();
  if (auto written = copy(options, run, standard_input); !written) return written;
  if (auto same = check(options, run); !same) return same;
  if (auto done = file_.commit(); !done) return failed(done.error());
  return {};
}

}  // namespace rpcrdma::cli
