// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/targets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/capture_there.hpp"
#include "cli/output.hpp"
#include "reader/source.hpp"

namespace rpcrdma::cli {
namespace {

constexpr std::string_view kPageBegins = "<!doctype html>";

struct Target {
  std::string_view option;
  const std::string& path;
};

/// What is at a path now, links followed.
[[nodiscard]] std::optional<struct stat> at(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

[[nodiscard]] std::optional<struct stat> input_at(const std::string& capture) {
  if (capture != "-") return at(capture);
  struct stat found {};
  if (::fstat(STDIN_FILENO, &found) != 0) return std::nullopt;
  return found;
}

[[nodiscard]] bool is_one_file(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// A file that takes the report: what is renamed over it would leave the report without a name.
[[nodiscard]] bool is_standard_output(const std::string& path) {
  struct stat out {};
  const auto there = at(path);
  return there && ::fstat(STDOUT_FILENO, &out) == 0 && is_one_file(*there, out);
}

[[nodiscard]] bool is_page_or_empty(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPageBegins.size()> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view got(begin.data(), static_cast<std::size_t>(file.gcount()));
  return got.empty() || got == kPageBegins;
}

[[nodiscard]] std::string over_an_input(const Target& target, const Options& options) {
  const auto there = at(target.path);
  if (!there) return {};
  for (const std::string& capture : options.captures) {
    const auto input = input_at(capture);
    if (input && S_ISREG(input->st_mode) && is_one_file(*input, *there)) {
      return fmt::format("{}: {} is an input, and inputs are left as they are", target.option, target.path);
    }
  }
  for (const Target& read : {Target{"--sanitize-key", options.sanitize_key}, Target{"--resume", options.resume}}) {
    const auto other = read.path.empty() ? std::nullopt : at(read.path);
    if (other && S_ISREG(other->st_mode) && is_one_file(*other, *there)) {
      return fmt::format("{}: {} is read for {}, and left as it is", target.option, target.path, read.option);
    }
  }
  return {};
}

[[nodiscard]] bool same_place(const std::string& one, const std::string& other) {
  std::error_code unknown;
  const auto place = [&](const std::string& path) {
    const std::string real = annotate::links_followed(path).value_or(std::string());
    return std::filesystem::weakly_canonical(std::filesystem::absolute(real, unknown), unknown);
  };
  return place(one) == place(other);
}

[[nodiscard]] std::string refused_page(const Options& options) {
  if (std::string why = over_an_input({"--html", options.html}, options); !why.empty()) return why;
  const auto there = at(options.html);
  // An option whose file was forgotten takes the capture behind it for its own.
  if (there && S_ISREG(there->st_mode) && !is_page_or_empty(options.html)) {
    return fmt::format("--html: {} is there and is no HTML page; it is left as it is", options.html);
  }
  return {};
}

/// A copy is made from a second reading.
[[nodiscard]] std::string refused_copy(const Target& target, const Options& options) {
  for (const std::string& capture : options.captures) {
    const auto input = at(capture);
    if (capture != "-" && input && !S_ISREG(input->st_mode) && !S_ISDIR(input->st_mode)) {
      return fmt::format("{}: {} can be read only once; give it as standard input (-)", target.option, capture);
    }
  }
  if (const auto there = at(target.path); there && !S_ISREG(there->st_mode)) {
    return fmt::format("{}: {}: not a file", target.option, target.path);
  }
  if (is_standard_output(target.path)) {
    return fmt::format("{}: {} is standard output, where the report goes", target.option, target.path);
  }
  if (std::string why = over_an_input(target, options); !why.empty()) return why;
  // As with a page: what stands behind the option may be the first of the captures. Of a copy with comments on nothing
  // only that it is pcapng tells.
  std::error_code unknown;
  const bool empty = !at(target.path) || std::filesystem::file_size(target.path, unknown) == 0;
  const CaptureThere there = empty ? CaptureThere::own : capture_there(target.path);
  const bool with_comments = target.path == options.annotate && there == CaptureThere::pcapng;
  if (there == CaptureThere::own || with_comments) return {};
  return fmt::format("{}: {} is there, and nothing in it says that this program wrote it; it is left as it is",
                     target.option, target.path);
}

}  // namespace

std::string refused_target(const Options& options) {
  const std::array<Target, 3> targets{
      {{"--html", options.html}, {"--annotate", options.annotate}, {"--sanitize", options.sanitize}}};
  for (const Target& target : targets) {
    if (target.path.empty()) continue;
    const bool page = &target == targets.data();
    if (std::string why = page ? refused_page(options) : refused_copy(target, options); !why.empty()) return why;
  }
  for (const Target& target : targets) {
    for (const Target* other = &target + 1; other != targets.data() + targets.size(); ++other) {
      if (!target.path.empty() && !other->path.empty() && same_place(target.path, other->path)) {
        return fmt::format("{} and {} name the same file", target.option, other->option);
      }
    }
  }
  return {};
}

tl::expected<PageFile, std::string> PageFile::create(const std::string& path) {
  const auto there = at(path);
  if (there && S_ISDIR(there->st_mode)) {
    return tl::unexpected(fmt::format("--html: {}: {}", path, std::generic_category().message(EISDIR)));
  }
  if (there && (!S_ISREG(there->st_mode) || is_standard_output(path))) return PageFile(path, std::nullopt);
  auto file = annotate::OutputFile::create(path);
  if (!file) return tl::unexpected(fmt::format("--html: {}", file.error()));
  return PageFile(path, std::move(*file));
}

tl::expected<void, std::string> PageFile::write(std::string_view text) {
  if (file_) {
    file_->write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    auto done = file_->commit();
    if (!done) return tl::unexpected(fmt::format("--html: {}", done.error()));
    return {};
  }
  if (is_standard_output(path_)) {
    if (!print(text)) return tl::unexpected(fmt::format("--html: {}: could not be written", path_));
    return {};
  }
  const auto failed = [this](int why) {
    return tl::unexpected(fmt::format("--html: {}: {}", path_, std::generic_category().message(why)));
  };
  const reader::Descriptor device(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  struct stat now {};
  if (!device || ::fstat(device.get(), &now) != 0) return failed(errno);
  if (S_ISREG(now.st_mode)) return failed(EEXIST);  // it was none before
  while (!text.empty()) {
    const ssize_t put = ::write(device.get(), text.data(), text.size());
    if (put < 0 && errno != EINTR) return failed(errno);
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace rpcrdma::cli
