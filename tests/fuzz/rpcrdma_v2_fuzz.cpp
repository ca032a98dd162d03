// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpcrdma_v2.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;
namespace wire = rpcrdma::wire;

namespace {

/// Items come in the order of the octets, leave nothing out and stay inside the message.
class Ruler final : public wire::ItemVisitor {
 public:
  explicit Ruler(std::size_t wire_length) : wire_length_(wire_length) {}
  void on(const wire::Item& item) override {
    require(item.offset == at_ && item.length > 0);
    at_ += item.length;
    require(at_ <= wire_length_);
  }
  void on(const wire::Property& property) override {
    require(property.data_offset == property.offset + 8);
    require(property.data_offset + property.length == at_);
    ++properties;
  }
  [[nodiscard]] std::size_t reached() const { return at_; }
  std::size_t properties = 0;

 private:
  std::size_t wire_length_;
  std::size_t at_ = 0;
};

std::size_t segments(const wire::HeaderV2& header) {
  std::size_t sum = header.call_chunk.size() + header.lists.reads.size();
  for (const auto& chunk : header.lists.writes) sum += chunk.size();
  return sum + (header.lists.reply ? header.lists.reply->size() : 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  for (const wire::Draft draft : {wire::Draft::newest, wire::Draft::earlier}) {
    wire::HeaderV2 header;
    const auto decoded = wire::decode_header_v2(input.octets, input.wire_length, header, draft);
    Ruler ruler(input.wire_length);
    const auto walked = wire::walk_v2(input.octets, input.wire_length, ruler, draft);
    require(decoded.has_value() == walked.has_value());
    require(ruler.properties == header.properties.size());
    require(segments(header) * 16 <= input.octets.size());
    if (decoded) {
      require(header.length <= input.octets.size());
      require(ruler.reached() == input.wire_length);
    } else {
      require(decoded.error().fault != wire::Fault::truncated || input.wire_length > input.octets.size());
      require(decoded.error().offset <= input.octets.size() && !decoded.error().field.empty());
    }
    // An instance that served before must give what a new one gives.
    wire::HeaderV2 again;
    const auto earlier =
        wire::decode_header_v2(input.octets.subspan(input.octets.size() / 2), input.wire_length, again);
    static_cast<void>(earlier);
    require(wire::decode_header_v2(input.octets, input.wire_length, again, draft).has_value() == decoded.has_value());
    require(again.length == header.length && again.lists.writes == header.lists.writes &&
            again.lists.reply == header.lists.reply && segments(again) == segments(header));
  }
  if (wire::earlier_draft(input.octets, input.wire_length)) {
    wire::HeaderV2 header;
    require(wire::decode_header_v2(input.octets, input.wire_length, header, wire::Draft::earlier).has_value());
    require(header.fixed.version == 2);
  }
  return 0;
}
