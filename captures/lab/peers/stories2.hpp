// SPDX-License-Identifier: GPL-2.0-or-later
// What the stories of version 2 set; what happens in them is in requester2.cpp. stories.txt says of each in words what
// is true in it.
#pragma once

#include <array>
#include <string_view>

#include "session2.hpp"

namespace lab {

inline constexpr std::array<std::string_view, 9> kStories2 = {
    "v2-lab-hello",          "v2-lab-continued",    "v2-lab-two-credits", "v2-lab-chunks",    "v2-lab-external",
    "v2-lab-write-resource", "v2-lab-unknown-type", "v2-lab-linux",       "v2-lab-linux-call"};

struct Settings2 {
  std::uint32_t advertised = 8;
  Properties client;
  Properties server;
};

inline Settings2 settings2(std::string_view story) {
  Settings2 settings;
  if (story == "v2-lab-two-credits") settings.advertised = 2;
  if (story == "v2-lab-hello") {
    settings.client = {.send_size = 6144, .receive_size = 2048};
    settings.server = {.send_size = 4096, .receive_size = 8192};
  }
  return settings;
}

}  // namespace lab
