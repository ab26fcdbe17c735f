// A program run beside the event loop: its output as a whole, its end as a call.
//
// Nothing waits: the loop is told when there is output and when the process has ended. It has no
// terminal, no input, none of our files and signals as if we had touched none; it is a process
// group of its own, so that a time limit ends whatever it started too.
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
  int exit_code = 0;        // 128 + the signal, as a shell has it, if one ended it
  std::string output = {};  // standard output
  std::string errors = {};  // the first 4 KiB of standard error
};

// A running process. Destroying it kills it, and nothing is called any more.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  virtual ~ChildProcess() = default;
};

// Runs `command`. `done` is called once, from `loop`: when the process has ended, also with an exit
// code that is not 0; with kConfig when it could not be started; with kTimeout when the time was
// up, and kDecode when there was more output than allowed, and it has been killed. `done` may
// destroy the ChildProcess.
[[nodiscard]] std::unique_ptr<ChildProcess> run_process(EventLoop& loop, const Command& command,
                                                        std::function<void(Result<Finished>)> done);

}  // namespace k8s::auth
