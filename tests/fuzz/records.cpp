// SPDX-License-Identifier: GPL-2.0-or-later
#include "records.hpp"

#include <algorithm>

#include "wire/bytes.hpp"

namespace rpcrdma::fuzz {
namespace {

constexpr std::size_t most_octets = 0xFFFF;

void store_be16(std::uint8_t* p, std::size_t value) noexcept {
  p[0] = static_cast<std::uint8_t>(value >> 8U);
  p[1] = static_cast<std::uint8_t>(value);
}

}  // namespace

Input read_input(const Form& form, std::span<const std::uint8_t> octets) {
  Input out;
  if (octets.empty()) return out;
  out.settings = octets[0];
  octets = octets.subspan(1);
  if (form.header == 0) {
    out.records.push_back({{}, {octets.begin(), octets.end()}, out.settings & 0xF0U});
    return out;
  }
  while (octets.size() >= form.header) {
    Record& record = out.records.emplace_back();
    std::copy_n(octets.begin(), form.header, record.header.begin());
    octets = octets.subspan(form.header);
    if (form.content == Content::nothing) continue;
    const std::uint8_t* lengths = record.header.data() + form.length_at;
    const std::size_t captured = std::min<std::size_t>(wire::load_be16(lengths), octets.size());
    record.missing = wire::load_be16(lengths + 2);
    record.octets.assign(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(captured));
    octets = octets.subspan(captured);
  }
  return out;
}

Octets write_input(const Form& form, const Input& input, std::size_t most) {
  Octets out;
  if (most == 0) return out;
  out.push_back(input.settings);
  for (const Record& record : input.records) {
    const std::size_t captured = std::min(record.octets.size(), most_octets);
    if (form.header + captured > most - out.size()) continue;
    if (form.header == 0) {
      out[0] =
          static_cast<std::uint8_t>((out[0] & form.link_mask) | (std::min<std::size_t>(record.missing, 0xF0) & 0xF0U));
    }
    std::array<std::uint8_t, 8> header = record.header;
    if (form.header != 0 && form.content != Content::nothing) {
      store_be16(header.data() + form.length_at, captured);
      store_be16(header.data() + form.length_at + 2, std::min(record.missing, most_octets));
    }
    out.insert(out.end(), header.begin(), header.begin() + static_cast<std::ptrdiff_t>(form.header));
    out.insert(out.end(), record.octets.begin(), record.octets.begin() + static_cast<std::ptrdiff_t>(captured));
    if (form.header == 0) break;
  }
  return out;
}

}  // namespace rpcrdma::fuzz
