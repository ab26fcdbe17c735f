#include "scheduler/live/signals.h"

#include "scheduler/live/thread_name.h"

#include <csignal>
#include <cstdlib>
#include <utility>

namespace sched::live {

namespace {

// The destructor also wakes the thread by SIGUSR1.
sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

void wait(const std::function<void(int)>& on_first, const std::function<void()>& on_usr1,
          const std::atomic<bool>& ending) {
  const sigset_t set = waited_for();
  bool asked = false;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || ending) return;
    if (signal == SIGUSR1) {
      on_usr1();
      continue;
    }
    if (asked) std::_Exit(128 + signal);
    asked = true;
    on_first(signal);
  }
}

}  // namespace

void block_signals() {
  const sigset_t set = waited_for();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::Signals(std::function<void(int)> on_first, std::function<void()> on_usr1)
    : thread_([this, first = std::move(on_first), usr1 = std::move(on_usr1)] {
        name_this_thread("signals");
        wait(first, usr1, ending_);
      }) {}

Signals::~Signals() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

}  // namespace sched::live
