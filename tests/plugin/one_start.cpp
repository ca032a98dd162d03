// SPDX-License-Identifier: GPL-2.0-or-later
// A library that is loaded before tshark's own: one start of tshark reads many captures, each in a process of its own.
//
// Most of what tshark does for a small capture is to start: it registers two thousand protocols. When it is about to
// open the file to be read, everything is set up and nothing has been read. There it stops, and forks at each line of
// standard input,
//     CAPTURE<tab>OUTPUT<tab>ERRORS
// The child goes on as if tshark had been started with that capture, its output and errors in those files; how it ended
// is answered by a line on standard output: the exit status, or minus the signal.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

struct wtap;
// As in Wireshark's wiretap/wtap.h, which has a gboolean (an int) or a bool at the end, by its version.
using OpenOffline = wtap*(const char* name, unsigned type, int* error, char** error_text, int random);

namespace {

void redirect(int descriptor, const std::string& path, int how) {
  const int opened = open(path.c_str(), how, 0644);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
  close(opened);
}

int ended_with(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 127;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// Comes back in a child, with the capture that it is to read. In the parent it does not come back.
std::string next_capture() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) _exit(125);
    std::cout.flush();
    std::fflush(nullptr);  // what is held back would be written by each child
    const pid_t child = fork();
    if (child < 0) _exit(124);
    if (child == 0) {
      redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
      redirect(STDOUT_FILENO, line.substr(first + 1, second - first - 1), O_WRONLY | O_CREAT | O_TRUNC);
      redirect(STDERR_FILENO, line.substr(second + 1), O_WRONLY | O_CREAT | O_TRUNC);
      return line.substr(0, first);
    }
    std::cout << ended_with(child) << std::endl;
  }
  _exit(0);
}

}  // namespace

extern "C" wtap* wtap_open_offline(const char* /*name*/, unsigned type, int* error, char** error_text, int random) {
  static const std::string capture = next_capture();
  auto* const real = reinterpret_cast<OpenOffline*>(dlsym(RTLD_NEXT, "wtap_open_offline"));
  return real(capture.c_str(), type, error, error_text, random);
}

#ifndef ONE_START_CLEANS_UP
// Half of what a child costs is to give back, object by object, memory that it shares with its parent until it touches
// it.
extern "C" void epan_cleanup() {}
#endif
