// SPDX-License-Identifier: GPL-2.0-or-later
#include <csignal>
#include <exception>
#include <new>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/run.hpp"

int main(int argc, char** argv) {
  using namespace rpcrdma::cli;
  // A reader of our output that goes away is seen where we write.
  std::signal(SIGPIPE, SIG_IGN);
  ExitStatus status = ExitStatus::trouble;
  try {
    const auto options = parse(argc, argv);
    status = options ? run(*options) : stop(options.error());
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return static_cast<int>(status);
}
