// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/batch.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cli/capture_rows.hpp"
#include "cli/output.hpp"
#include "cli/resume.hpp"

namespace rpcrdma::cli {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[nodiscard]] File temporary() { return {std::tmpfile(), &std::fclose}; }

/// The status of a process that had no memory left: another time it may have.
constexpr int kGaveUp = 4;

struct Job {
  std::size_t capture = 0;
  pid_t process = -1;
  bool over = false;
  int status = 0;  ///< as wait() gives it
  File output{nullptr, &std::fclose};
  File errors{nullptr, &std::fclose};
};

/// What the process says of one capture, in the form from which its rows are made.
[[nodiscard]] Options alone(const Options& options, const std::string& path) {
  Options out = options;
  out.captures = {path};
  out.each = false;
  out.threads = 1;  // the others are busy with other captures
  out.progress = false;
  if (options.format == Format::text) out.format = Format::ndjson;
  return out;
}

[[noreturn]] void work(const Options& options, const std::function<ExitStatus(const Options&)>& analyse,
                       const Job& job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(::fileno(job.output.get()), STDOUT_FILENO);
  ::dup2(::fileno(job.errors.get()), STDERR_FILENO);
  ExitStatus status = ExitStatus::trouble;
  try {
    status = analyse(options);
  } catch (const std::bad_alloc&) {
    complain(fmt::format("{}: out of memory", options.captures.front()));
    std::_Exit(kGaveUp);
  } catch (const std::exception& error) {
    complain(error.what());
  }
  std::_Exit(static_cast<int>(status));
}

/// All that was written to the file.
[[nodiscard]] std::string contents(std::FILE* file) {
  std::string out;
  struct stat size {};
  if (::fstat(::fileno(file), &size) != 0) return out;
  out.resize(static_cast<std::size_t>(size.st_size));
  std::size_t got = 0;
  while (got < out.size()) {
    const ssize_t n = ::pread(::fileno(file), out.data() + got, out.size() - got, static_cast<off_t>(got));
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

/// Worse than the other: trouble before findings, findings before nothing.
[[nodiscard]] ExitStatus worse(ExitStatus one, ExitStatus other) noexcept {
  constexpr std::array<int, 4> rank{0, 2, 3, 1};  // by status
  return rank[static_cast<std::size_t>(one)] >= rank[static_cast<std::size_t>(other)] ? one : other;
}

class Batch {
 public:
  Batch(const Options& options, const std::function<ExitStatus(const Options&)>& analyse)
      : options_(options), analyse_(analyse), rows_(options) {}

  [[nodiscard]] ExitStatus run() {
    if (!options_.resume.empty()) {
      auto held = held_in(options_.resume);
      if (!held) {
        complain(held.error());
        return ExitStatus::trouble;
      }
      for (const auto& [path, exit] : held->captures) worst_ = worse(worst_, exit);
      held_ = std::move(*held);
      if (held_.broken_behind) {
        complain(
            fmt::format("--resume: {}: a run was broken off; its rows behind octet {} are said again, and count twice. "
                        "In front of a run: truncate -s {}",
                        options_.resume, *held_.broken_behind, *held_.broken_behind));
      }
    }
    const std::size_t at_once = threads(options_);
    const std::size_t window = 4 * at_once;
    put(rows_.opening(!held_.captures.empty(), held_.torn));
    for (std::size_t next = 0; (next < options_.captures.size() || !jobs_.empty()) && !unread_;) {
      while (next < options_.captures.size() && running_ < at_once && jobs_.size() < window) {
        if (!held_.captures.contains(options_.captures[next])) start(next);
        ++next;
      }
      if (jobs_.empty()) continue;
      while (!jobs_.empty() && jobs_.front().over) {
        tell(jobs_.front());
        jobs_.pop_front();
      }
      if (running_ != 0) wait();
    }
    for (const Job& job : jobs_) {
      if (!job.over) ::kill(job.process, SIGKILL);
    }
    put(rows_.closing());
    return failed_ ? ExitStatus::trouble : worst_;
  }

 private:
  void start(std::size_t capture) {
    Job& job = jobs_.emplace_back();
    job.capture = capture;
    job.output = temporary();
    job.errors = temporary();
    if (job.output && job.errors) job.process = ::fork();
    if (job.process == 0) work(alone(options_, options_.captures[capture]), analyse_, job);
    if (job.process < 0) {
      complain(fmt::format("{}: {}", options_.captures[capture], std::generic_category().message(errno)));
      job.over = true;
      job.status = -1;
      return;
    }
    ++running_;
  }

  void wait() {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0) return;
    for (Job& job : jobs_) {
      if (job.process != ended || job.over) continue;
      job.over = true;
      job.status = status;
      --running_;
    }
  }

  void tell(const Job& job) {
    const std::string& path = options_.captures[job.capture];
    if (job.errors) {
      const std::string said = contents(job.errors.get());
      [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, said.data(), said.size());
    }
    const bool ended = job.process > 0 && WIFEXITED(job.status) && WEXITSTATUS(job.status) < kGaveUp;
    if (!ended) {
      if (job.process > 0 && WIFSIGNALED(job.status)) {
        complain(fmt::format("{}: its analysis was ended by signal {}", path, WTERMSIG(job.status)));
      }
      worst_ = worse(worst_, ExitStatus::trouble);
      put(rows_.broken_off(path));
      return;
    }
    const auto status = static_cast<ExitStatus>(WEXITSTATUS(job.status));
    worst_ = worse(worst_, status);
    put(rows_.of(path, status, contents(job.output.get())));
  }

  void put(std::string_view text) {
    if (unread_ || failed_) return;
    const Printed printed = print_out(text);
    unread_ = printed == Printed::unread;
    failed_ = printed == Printed::failed;
  }

  const Options& options_;
  const std::function<ExitStatus(const Options&)>& analyse_;
  CaptureRows rows_;
  Held held_;
  std::deque<Job> jobs_;  ///< in the order of the captures
  std::size_t running_ = 0;
  ExitStatus worst_ = ExitStatus::clean;
  bool unread_ = false;
  bool failed_ = false;
};

}  // namespace

ExitStatus batch(const Options& options, const std::function<ExitStatus(const Options&)>& analyse) {
  return Batch(options, analyse).run();
}

}  // namespace rpcrdma::cli
