// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/fields.hpp"

#include <algorithm>

#include "wire/private_data.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::report::page {

namespace {

/// Passes over the RPC message.
class Placer {
 public:
  Placer(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out)
      : cursor_(octets, wire_length), out_(out) {}

  /// The word's value; the walk ends when it is not at hand.
  [[nodiscard]] std::uint32_t word(Field field) {
    const std::size_t at = cursor_.offset();
    const auto value = ok_ ? cursor_.be32("") : wire::Decoded<std::uint32_t>(tl::make_unexpected(wire::DecodeError{}));
    ok_ = value.has_value();
    if (!ok_) return 0;
    put(field, at, 4);
    return *value;
  }
  void skip(Field field, std::size_t length) {
    const std::size_t at = cursor_.offset();
    const std::size_t there = std::min(length, cursor_.captured_left());
    if (!ok_ || there == 0) return;
    ok_ = cursor_.take(there, "").has_value() && there == length;
    put(field, at, there);
  }
  void rest(Field field) { skip(field, cursor_.captured_left()); }
  void put(Field field, std::size_t at, std::size_t length) {
    if (length != 0) out_.push_back({field, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)});
  }
  [[nodiscard]] bool ok() const noexcept { return ok_ && cursor_.captured_left() > 0; }
  void auth(Field flavor, Field length, Field body) {
    (void)word(flavor);
    const std::uint32_t octets = word(length);
    if (octets > wire::most_auth_octets) {
      ok_ = false;
      return;
    }
    skip(body, (octets + 3U) & ~3U);
  }
  void rpc() {
    if (!ok()) return;
    (void)word(Field::rpc_xid);
    const std::uint32_t type = word(Field::rpc_type);
    if (type == static_cast<std::uint32_t>(wire::MessageType::call)) {
      (void)word(Field::rpc_version);
      (void)word(Field::program);
      (void)word(Field::program_version);
      (void)word(Field::procedure);
      auth(Field::credential_flavor, Field::credential_length, Field::credential);
      auth(Field::verifier_flavor, Field::verifier_length, Field::verifier);
      rest(Field::arguments);
    } else if (type == static_cast<std::uint32_t>(wire::MessageType::reply)) {
      if (word(Field::reply_state) == wire::reply_stat::accepted) {
        auth(Field::verifier_flavor, Field::verifier_length, Field::verifier);
        (void)word(Field::accept_state);
      } else {
        (void)word(Field::reject_state);
      }
      rest(Field::results);
    } else {
      rest(Field::rpc_rest);
    }
  }

 private:
  wire::Cursor cursor_;
  std::vector<Placed>& out_;
  bool ok_ = true;
};

/// The fields of the header, and where the RPC message begins.
class Header final : public wire::FieldVisitor {
 public:
  explicit Header(std::vector<Placed>& out) : out_(out) {}
  void on(const wire::FieldAt& at) override {
    out_.push_back({at.field, static_cast<std::uint32_t>(at.offset), static_cast<std::uint32_t>(at.length)});
  }
  void payload(std::size_t offset) override { rpc = offset; }

  std::size_t rpc = 0;

 private:
  std::vector<Placed>& out_;
};

}  // namespace

Form form(Field field) noexcept {
  switch (field) {
    case Field::xid:
    case Field::handle:
    case Field::offset:
    case Field::flags2:
    case Field::inv_handle:
    case Field::rpc_xid:
    case Field::identifier:
      return Form::hex;
    case Field::read_item:
    case Field::read_end:
    case Field::write_item:
    case Field::write_end:
    case Field::reply_present:
    case Field::reply_absent:
    case Field::call_item:
    case Field::call_end:
      return Form::flag;
    case Field::unexpected:
    case Field::property_pad:
    case Field::credential:
    case Field::verifier:
    case Field::arguments:
    case Field::results:
    case Field::rpc_rest:
    case Field::private_other:
      return Form::opaque;
    case Field::private_flags:
      return Form::bits;
    case Field::send_size:
    case Field::receive_size:
      return Form::size;
    default:
      return Form::number;
  }
}

void place_message(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out) {
  out.clear();
  Header header(out);
  wire::walk_fields(octets, wire_length, header);
  if (header.rpc == 0 || header.rpc >= octets.size()) return;
  const std::size_t first = out.size();
  Placer placer(octets.subspan(header.rpc), std::max(wire_length, octets.size()) - header.rpc, out);
  placer.rpc();
  for (std::size_t i = first; i < out.size(); ++i) out[i].offset += static_cast<std::uint32_t>(header.rpc);
}

void place_private_data(wire::Bytes octets, std::size_t wire_length, std::vector<Placed>& out) {
  out.clear();
  const auto search = wire::find_private_data(octets, std::max(wire_length, octets.size()));
  Placer placer(octets, wire_length, out);
  if (!search.found || search.found->offset + 8 > octets.size()) {
    placer.put(Field::private_other, 0, octets.size());
    return;
  }
  const std::size_t at = search.found->offset;
  placer.put(Field::private_other, 0, at);
  placer.put(Field::identifier, at, 4);
  placer.put(Field::private_version, at + 4, 1);
  placer.put(Field::private_flags, at + 5, 1);
  placer.put(Field::send_size, at + 6, 1);
  placer.put(Field::receive_size, at + 7, 1);
  placer.put(Field::private_other, at + 8, octets.size() - at - 8);
}

}  // namespace rpcrdma::report::page
