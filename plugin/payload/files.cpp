// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/files.hpp"

#include <utility>

namespace rpcrdma::payload {

namespace {

using Kind = wire::FileStep::Kind;

constexpr std::size_t longest_text = 1024;  // of a handle (128 octets) or a name

[[nodiscard]] std::string text_of(wire::Bytes octets) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(std::min(octets.size(), longest_text))};
}

}  // namespace

/// What NFSv4 calls the current filehandle: told by its handle, or by the way that led to it.
struct Files::Place {
  std::string key;     // empty: not known
  std::string handle;  // empty: not told
  std::string name;
};

std::optional<std::uint32_t> Files::file_at(const Place& place) {
  if (place.key.empty()) return std::nullopt;
  const auto known = by_key_.find(place.key);
  if (known != by_key_.end()) {
    File& file = files_[known->second];
    if (file.name.empty()) file.name = place.name;
    return known->second;
  }
  if (files_.size() >= most_files) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(files_.size());
  files_.push_back({place.handle, place.name});
  by_key_.emplace(place.key, index);
  return index;
}

/// The place has this handle: whatever was known of it by its path holds for the handle.
void Files::learn(const Open& open, Place& place, wire::Bytes handle) {
  const std::string text = text_of(handle);
  std::string key = open.server + "=" + text;
  const auto by_path = by_key_.find(place.key);
  if (by_path != by_key_.end() && by_key_.find(key) == by_key_.end()) by_key_.emplace(key, by_path->second);
  place.key = std::move(key);
  place.handle = text;
  const auto file = file_at(place);
  if (file && files_[*file].handle.empty()) files_[*file].handle = text;
}

void Files::go(const Open& open, const wire::FileCall* call, const wire::FileAnswers* answers,
               std::vector<FilePiece>& out) {
  Place current;
  Place saved;
  std::size_t next = 0;  // answer
  for (std::size_t i = 0; i < open.steps.size(); ++i) {
    const Step& step = open.steps[i];
    const wire::FileAnswer* answer = nullptr;
    if (answers != nullptr) {
      while (next < answers->size() && (*answers)[next].step < i) ++next;
      if (next < answers->size() && (*answers)[next].step == i) answer = &(*answers)[next];
    }
    switch (step.kind) {
      case Kind::root:
        current = {open.server + "/", {}, {}};
        break;
      case Kind::handle:
        current = {open.server + "=" + step.text, step.text, {}};
        break;
      case Kind::name:
      case Kind::open:
        if (step.text.empty()) break;
        current = {
            current.key.empty() || current.key.size() > longest_text ? std::string{} : current.key + "/" + step.text,
            {},
            step.text};
        break;
      case Kind::get_handle:
        if (answer != nullptr) learn(open, current, answer->handle);
        break;
      case Kind::read:
        for (; answer != nullptr; answer = next < answers->size() ? &(*answers)[next] : nullptr) {
          if (answer->step != i) break;
          const auto file = file_at(current);
          if (file) out.push_back({*file, answer->offset.value_or(step.offset), answer->data, false});
          ++next;
        }
        break;
      case Kind::write:
        if (call == nullptr) break;
        if (const auto file = file_at(current); file) out.push_back({*file, step.offset, call->steps[i].data, true});
        break;
      case Kind::save:
        saved = current;
        break;
      case Kind::restore:
        current = saved;
        break;
      case Kind::other:
        break;
    }
  }
}

void Files::call(std::uint64_t exchange, std::string_view server, wire::Bytes message, std::vector<FilePiece>& out) {
  out.clear();
  wire::FileCall asked;
  wire::read_file_steps(message, asked);
  if (asked.steps.empty()) return;
  Open open;
  open.server = server;
  open.asked = asked.asked;
  for (const wire::FileStep& step : asked.steps) open.steps.push_back({step.kind, text_of(step.text), step.offset});
  go(open, &asked, nullptr, out);
  if (open_.size() < most_open || open_.count(exchange) != 0) open_.insert_or_assign(exchange, std::move(open));
}

void Files::reply(std::uint64_t exchange, wire::Bytes message, std::vector<FilePiece>& out) {
  out.clear();
  const auto asked = open_.find(exchange);
  if (asked == open_.end()) return;
  wire::FileAnswers answers;
  wire::read_file_answers(message, asked->second.asked, answers);
  go(asked->second, nullptr, &answers, out);
  open_.erase(asked);
}

}  // namespace rpcrdma::payload
