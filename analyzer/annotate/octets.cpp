// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotate/octets.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reader/content.hpp"
#include "reader/source.hpp"

namespace rpcrdma::annotate {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 18U;

class Plain final : public Octets {
 public:
  explicit Plain(std::unique_ptr<reader::Source> source) : source_(std::move(source)), buffer_(kPart) {}

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

class Gunzipped final : public Octets {
 public:
  explicit Gunzipped(std::unique_ptr<reader::Source> source) : packed_(std::move(source)), buffer_(kPart) {}
  Gunzipped(const Gunzipped&) = delete;
  Gunzipped& operator=(const Gunzipped&) = delete;
  ~Gunzipped() override {
    if (ready_) (void)::inflateEnd(&stream_);
  }

  [[nodiscard]] bool start() {
    constexpr int gzip_only = 15 + 16;
    ready_ = ::inflateInit2(&stream_, gzip_only) == Z_OK;
    return ready_;
  }

  [[nodiscard]] std::size_t read(std::uint8_t* to, std::size_t length) override {
    std::size_t given = 0;
    while (given < length && !over_) {
      if (stream_.avail_in == 0) {
        stream_.next_in = buffer_.data();
        stream_.avail_in = static_cast<uInt>(packed_.read(buffer_.data(), buffer_.size()));
        if (stream_.avail_in == 0) break;
      }
      const std::size_t part = std::min<std::size_t>(length - given, std::size_t{1} << 30U);
      stream_.next_out = to + given;
      stream_.avail_out = static_cast<uInt>(part);
      const int said = ::inflate(&stream_, Z_NO_FLUSH);
      given += part - stream_.avail_out;
      if (said == Z_STREAM_END) {
        over_ = ::inflateReset(&stream_) != Z_OK;  // another member may follow
      } else if (said != Z_OK && said != Z_BUF_ERROR) {
        over_ = true;
      }
    }
    return given;
  }

 private:
  Plain packed_;
  std::vector<std::uint8_t> buffer_;
  z_stream stream_{};
  bool ready_ = false;
  bool over_ = false;
};

}  // namespace

tl::expected<std::unique_ptr<Octets>, std::string> Octets::open(const std::string& path) {
  auto source = reader::Source::open(path);
  if (!source) return tl::unexpected(std::move(source).error());
  if (reader::content_of((*source)->head()) != reader::Content::gzip) {
    return std::unique_ptr<Octets>(std::make_unique<Plain>(std::move(*source)));
  }
  auto unpacked = std::make_unique<Gunzipped>(std::move(*source));
  if (!unpacked->start()) return tl::unexpected(std::string("out of memory"));
  return std::unique_ptr<Octets>(std::move(unpacked));
}

}  // namespace rpcrdma::annotate
