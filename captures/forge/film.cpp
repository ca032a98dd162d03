// SPDX-License-Identifier: GPL-2.0-or-later
#include "film.hpp"

#include <utility>

namespace forge {

std::size_t Film::find(const std::string& name) const {
  for (std::size_t i = 0; i < shots.size(); ++i) {
    if (shots[i].step == name || shots[i].step + "/" + shots[i].part == name) return i;
  }
  throw Mistake("no frame belongs to '" + name + "'");
}

void Film::swap_last() {
  if (shots.size() < 2) throw Mistake("there are no two frames to change places");
  Shot& first = shots[shots.size() - 2];
  std::swap(first, shots.back());
  std::swap(first.time, shots.back().time);
}

void Film::swap(const std::string& a, const std::string& b) {
  Shot& first = shots[find(a)];
  Shot& second = shots[find(b)];
  std::swap(first, second);
  std::swap(first.time, second.time);
}

}  // namespace forge
