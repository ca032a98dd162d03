// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <csignal>
#include <exception>
#include <new>

#include "annotate/output_file.hpp"
#include "cli/large_pages.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/run.hpp"
#include "reader/open_pipe.hpp"

namespace {

/// What is half written does not stay behind; then the signal does what it does. With Ctrl-C one ends what writes into
/// a pipe: what came out of it is still to be told. The next one ends this program.
void leave(int signal) {
  if (signal == SIGINT && rpcrdma::reader::end_of_pipes()) return;
  rpcrdma::annotate::remove_unfinished();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rpcrdma::cli;
  prefer_large_pages();
  // A reader of our output that goes away is seen where we write.
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, leave) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup's, and the shell's with &
  }
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
