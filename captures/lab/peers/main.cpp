// SPDX-License-Identifier: GPL-2.0-or-later
// peer server PORT STORY | peer client HOST PORT STORY | peer stories
// A peer of the lab: what it sends is what it says on standard output, and that is the truth about a capture.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "stories1.hpp"
#include "stories2.hpp"
#include "version1.hpp"
#include "version2.hpp"

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  try {
    if (arguments == std::vector<std::string>{"stories"}) {
      for (const lab::Story1& story : lab::kStories1) std::puts(std::string(story.name).c_str());
      for (const std::string_view story : lab::kStories2) std::puts(std::string(story).c_str());
      return 0;
    }
    const bool second = !arguments.empty() && arguments.back().starts_with("v2-");
    if (arguments.size() == 3 && arguments[0] == "server") {
      return (second ? lab::server2 : lab::server1)(arguments[1], arguments[2]);
    }
    if (arguments.size() == 4 && arguments[0] == "client") {
      return (second ? lab::client2 : lab::client1)(arguments[1], arguments[2], arguments[3]);
    }
  } catch (const std::exception& error) {
    lab::say(std::string("giving up: ") + error.what());
    return 1;
  }
  std::fputs("peer server PORT STORY | peer client HOST PORT STORY | peer stories\n", stderr);
  return 2;
}
