// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs4_walker.hpp"

#include <array>
#include <cstddef>

namespace rpcrdma::wire::nfs4 {

namespace {

using Form = PassedItem::Form;

/// What a letter of a shape stands for.
struct Letter {
  enum class Length : std::uint8_t { unknown, fixed, counted, array_of_opaques } length = Length::unknown;
  std::uint8_t octets = 0;  ///< of the item, or of each that is counted
  Form form = Form::words;
  ItemKind kind = ItemKind::other;
};

constexpr auto letters = [] {
  using enum Letter::Length;
  std::array<Letter, 256> all{};
  all['w'] = {fixed, 4, Form::words};
  all['p'] = {fixed, 4, Form::person};
  all['d'] = {fixed, 8, Form::words};
  all['t'] = {fixed, 8, Form::time};
  all['T'] = {fixed, 12, Form::time};
  all['i'] = {fixed, id_octets, Form::stateid};
  all['n'] = {fixed, id_octets, Form::name};
  all['o'] = {counted, 1, Form::opaque};
  all['b'] = {counted, 4, Form::bitmap};
  all['I'] = {counted, id_octets, Form::stateids};
  all['N'] = {counted, id_octets, Form::names};
  all['D'] = {counted, 1, Form::data, ItemKind::eligible};
  all['X'] = {counted, 1, Form::data, ItemKind::bulky};
  all['O'] = {array_of_opaques};
  return all;
}();

[[nodiscard]] const Letter& letter(char of) noexcept { return letters[static_cast<std::uint8_t>(of)]; }

}  // namespace

bool Walker::shape(std::string_view items) {
  char before = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (policy_->watch == nullptr) {
      const std::size_t passed = pass_fixed(items.substr(i));
      i += passed;
      if (i == items.size()) break;
      if (passed != 0) before = 0;
    }
    const Letter& what = letter(items[i]);
    const bool values = items[i] == 'o' && before == 'b';
    bool stepped = false;
    switch (what.length) {
      case Letter::Length::fixed:
        stepped = skip(what.octets) && tell(what.form, what.octets);
        break;
      case Letter::Length::counted:
        stepped = item(what.kind, what.octets, values ? Form::attributes : what.form);
        break;
      case Letter::Length::array_of_opaques:
        stepped = each([this] { return opaque(); });
        break;
      case Letter::Length::unknown:
        break;
    }
    if (!stepped) return false;
    before = items[i];
  }
  return true;
}

/// Steps at once over the items of fixed length that come first, if they are captured; says how many they are.
std::size_t Walker::pass_fixed(std::string_view items) noexcept {
  std::size_t passed = 0;
  std::size_t octets = 0;
  for (; passed < items.size(); ++passed) {
    const Letter& what = letter(items[passed]);
    if (what.length != Letter::Length::fixed) break;
    octets += what.octets;
  }
  if (passed == 0 || octets > cursor_.captured_left()) return 0;
  return skip(octets) ? passed : 0;
}

bool Walker::item(ItemKind kind, std::size_t item_octets, Form form) {
  std::uint32_t count = 0;
  if (!word(count)) return false;
  const std::uint64_t length = std::uint64_t{count} * item_octets;
  const std::uint64_t padded = (length + 3U) & ~std::uint64_t{3};
  switch (policy_->meet({kind, cursor_.offset(), position(), length, length <= cursor_.wire_left()})) {
    case Whereabouts::in_place:
      if (policy_->watch != nullptr && length <= cursor_.wire_left()) [[unlikely]] {
        policy_->watch->passed({form, cursor_.offset(), static_cast<std::size_t>(length)});
      }
      return skip(static_cast<std::size_t>(padded));
    case Whereabouts::moved:
      moved_octets_ += padded;
      return true;
    case Whereabouts::unknown:
      break;
  }
  return false;
}

}  // namespace rpcrdma::wire::nfs4
