// SPDX-License-Identifier: GPL-2.0-or-later
// A requester and a responder of version 2.
#pragma once

#include <string>

namespace lab {

// Both throw std::runtime_error for a story that they do not know. The status is that of the program.
int client2(const std::string& host, const std::string& port, const std::string& story);
int server2(const std::string& port, const std::string& story);

}  // namespace lab
