// SPDX-License-Identifier: GPL-2.0-or-later
// peak COMMAND...: runs it without its output and prints its peak of resident memory in KiB, the processor time that it
// took (user and system), and its exit status. The kernel counts what the parent had in use at the moment of the start
// as the child's: the parent has to be small.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: peak COMMAND...\n", stderr);
    return 2;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    ::execv(arguments[1], arguments + 1);
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) return 2;
  const long milliseconds =
      (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
  std::printf("%ld KiB, %ld ms of processor time, exit status %d\n", usage.ru_maxrss, milliseconds,
              WEXITSTATUS(status));
  return 0;
}
