// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/pages.hpp"

#include <fmt/format.h>

#include <array>

namespace rpcrdma::report {
namespace {

struct Subject {
  std::string_view part;  ///< of the rule's name
  std::string_view lesson;
};

constexpr std::string_view private_data = "docs/learn/01-private-data.md";
constexpr std::string_view inline_ = "docs/learn/02-inline.md";
constexpr std::string_view read_chunk = "docs/learn/03-read-chunk.md";
constexpr std::string_view write_chunk = "docs/learn/04-write-chunk.md";
constexpr std::string_view reply_chunk = "docs/learn/05-reply-chunk.md";
constexpr std::string_view long_call = "docs/learn/06-long-call.md";
constexpr std::string_view credits = "docs/learn/07-credits.md";
constexpr std::string_view invalidation = "docs/learn/08-remote-invalidation.md";
constexpr std::string_view pull_completion = "docs/learn/09-pull-completion.md";
constexpr std::string_view version_2 = "docs/learn/10-version-2.md";

/// Of groups with several subjects; the first that fits.
constexpr std::array<Subject, 13> subjects{{{"reply-chunk", reply_chunk},
                                            {"reply-resource", reply_chunk},
                                            {"long-call", long_call},
                                            {"nomsg", long_call},
                                            {"call-chunk", long_call},
                                            {"position-zero", long_call},
                                            {"rdma-done", pull_completion},
                                            {"write", write_chunk},
                                            {"unknown-handle", write_chunk},
                                            {"access", write_chunk},
                                            {"eligible", write_chunk},
                                            {"read", read_chunk},
                                            {"payload", inline_}}};

}  // namespace

std::string rule_page(const referee::Rule& rule) { return fmt::format("docs/rules/{}.md", rule.name); }

std::string_view lesson(const referee::Rule& rule) noexcept {
  if (rule.versions == referee::Versions::v2) return version_2;
  switch (rule.group) {
    case 'A':
    case 'L':
      return private_data;
    case 'C':
      return credits;
    case 'G':
      return invalidation;
    case 'H':
      return pull_completion;
    case 'J':
      return credits;
    case 'M':
      return "docs/guide/capturing.md";
    case 'N':
      return "docs/guide/mount-hangs.md";
    default:
      break;
  }
  for (const Subject& subject : subjects) {
    if (rule.name.find(subject.part) != std::string_view::npos) return subject.lesson;
  }
  return rule.group == 'E' || rule.group == 'F' ? read_chunk : inline_;
}

}  // namespace rpcrdma::report
