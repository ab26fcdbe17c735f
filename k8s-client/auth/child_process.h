// Runs a program beside the event loop: its output comes as a whole, its end as a call.
//
// Nothing blocks: the loop is notified of output and of the end of the process. The process has no
// terminal, no input, none of this process's open files, and default signal handling. It is a
// process group of its own, so that a time limit also ends the processes that it started.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s::auth {

struct Command {
  std::string program;  // path of the executable
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=VALUE", all of it
  std::chrono::milliseconds time_limit{60'000};
  std::size_t output_limit = 1024 * 1024;
};

struct Finished {
  int exit_code = 0;        // 128 + the signal, as in a shell, if one ended it
  std::string output = {};  // standard output
  std::string errors = {};  // the first 4 KiB of standard error
};

// A running process. Its destructor kills it; then nothing is called any more.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  virtual ~ChildProcess() = default;
};

// Runs `command`. `done` is called once, from `loop`: when the process has ended, also with an exit
// code that is not 0; with kConfig if it could not be started; with kTimeout if the time was up, or
// kDecode if there was more output than allowed, or 16 MiB of errors, after it was killed. `done`
// may destroy the ChildProcess.
[[nodiscard]] std::unique_ptr<ChildProcess> run_process(EventLoop& loop, const Command& command,
                                                        std::function<void(Result<Finished>)> done);

}  // namespace k8s::auth
