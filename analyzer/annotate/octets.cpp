// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotate/octets.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "reader/source.hpp"

namespace rpcrdma::annotate {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 18U;

class OfSource final : public Octets {
 public:
  explicit OfSource(std::unique_ptr<reader::Source> source) : source_(std::move(source)), buffer_(kPart) {}

  [[nodiscard]] std::size_t read(std::uint8_t* to, std::size_t length) override {
    std::size_t given = 0;
    while (given < length) {
      if (at_ == have_) {
        const ssize_t got = source_->read(buffer_.data(), buffer_.size());
        if (got <= 0) break;
        at_ = 0;
        have_ = static_cast<std::size_t>(got);
      }
      const std::size_t part = std::min(length - given, have_ - at_);
      std::copy_n(buffer_.data() + at_, part, to + given);
      at_ += part;
      given += part;
    }
    return given;
  }

 private:
  std::unique_ptr<reader::Source> source_;
  std::vector<std::uint8_t> buffer_;
  std::size_t at_ = 0;
  std::size_t have_ = 0;
};

}  // namespace

tl::expected<std::unique_ptr<Octets>, std::string> Octets::open(const std::string& path) {
  auto source = reader::Source::open(path);
  if (!source) return tl::unexpected(std::move(source).error());
  return std::unique_ptr<Octets>(std::make_unique<OfSource>(std::move(*source)));
}

}  // namespace rpcrdma::annotate
