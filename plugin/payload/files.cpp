// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/files.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::payload {

namespace {

using Kind = wire::FileStep::Kind;

constexpr std::size_t longest_text = 1024;  // of a handle (128 octets) or a name

[[nodiscard]] std::string text_of(wire::Bytes octets) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(std::min(octets.size(), longest_text))};
}

/// The key of what has this name in a directory; no key where the way is too long or not known.
[[nodiscard]] std::string below(const std::string& directory, const std::string& name) {
  if (directory.empty() || directory.size() > longest_text) return {};
  return directory + "/" + std::to_string(name.size()) + ":" + name;
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
    if (file.name.empty() && !place.name.empty()) {
      file.name = place.name;
      named_.push_back(known->second);
    }
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
  if (by_path != by_key_.end() && by_path->first != key) {
    const std::string& before = files_[by_path->second].handle;
    if (!before.empty() && before != text) {
      by_key_.erase(by_path);  // another file has come in that one's place
    } else if (by_key_.find(key) == by_key_.end()) {
      by_key_.emplace(key, by_path->second);
    }
  }
  place.key = std::move(key);
  place.handle = text;
  const auto file = file_at(place);
  if (file && files_[*file].handle.empty()) files_[*file].handle = text;
}

void Files::go(const Open& open, const wire::FileAnswers& answers, std::vector<FilePiece>& out) {
  Place current;
  Place saved;
  std::size_t next = 0;  // answer
  for (std::size_t i = 0; i < open.steps.size(); ++i) {
    const Step& step = open.steps[i];
    while (next < answers.size() && answers[next].step < i) ++next;
    const bool answered = next < answers.size() && answers[next].step == i;
    switch (step.kind) {
      case Kind::root:
        current = {open.server + "/", {}, {}};
        break;
      case Kind::handle:
        current = {open.server + "=" + step.text, step.text, {}};
        break;
      case Kind::name:
      case Kind::open:
        if (!step.text.empty()) current = {below(current.key, step.text), {}, step.text};
        break;
      case Kind::get_handle:
        if (answered) learn(open, current, answers[next].handle);
        break;
      case Kind::read:
        for (; next < answers.size() && answers[next].step == i; ++next) {
          const auto file = file_at(current);
          if (file) out.push_back({*file, answers[next].offset.value_or(step.offset), answers[next].data, false});
        }
        break;
      case Kind::write:
        if (!answered) break;
        if (const auto file = file_at(current); file) {
          const std::size_t taken = std::min<std::size_t>(answers[next].written, step.data.size());
          out.push_back({*file, step.offset, wire::Bytes(step.data).first(taken), true});
        }
        break;
      case Kind::save:
        saved = current;
        break;
      case Kind::restore:
        current = saved;
        break;
      case Kind::elsewhere:
        current = {};
        break;
      case Kind::other:
        break;
    }
  }
}

void Files::drop(std::uint64_t exchange) {
  const auto at = open_.find(exchange);
  if (at == open_.end()) return;
  octets_ -= at->second.octets;
  open_.erase(at);
}

void Files::call(std::uint64_t exchange, std::string_view server, wire::Bytes message) {
  wire::FileCall asked;
  wire::read_file_steps(message, asked);
  if (asked.steps.empty()) return;
  Open open;
  open.server = server;
  open.asked = asked.asked;
  for (const wire::FileStep& step : asked.steps) {
    open.steps.push_back({step.kind, text_of(step.text), step.offset, {step.data.begin(), step.data.end()}});
    open.octets += step.data.size();
  }
  drop(exchange);
  while (!order_.empty() &&
         (open_.count(order_.front()) == 0 || open_.size() >= most_open || octets_ + open.octets > most_octets)) {
    drop(order_.front());
    order_.pop_front();
  }
  octets_ += open.octets;
  order_.push_back(exchange);
  open_.emplace(exchange, std::move(open));
}

void Files::reply(std::uint64_t exchange, wire::Bytes message, std::vector<FilePiece>& out) {
  out.clear();
  named_.clear();
  const auto asked = open_.find(exchange);
  if (asked == open_.end()) return;
  answered_ = std::move(asked->second);
  octets_ -= answered_.octets;
  open_.erase(asked);
  wire::FileAnswers answers;
  wire::read_file_answers(message, answered_.asked, answers);
  go(answered_, answers, out);
}

}  // namespace rpcrdma::payload
