#include "scheduler/live/signals.h"

#include <csignal>
#include <cstdlib>
#include <utility>

namespace sched::live {

namespace {

// The destructor wakes the thread by SIGUSR1. From other senders it has no effect.
sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

void wait(const std::function<void(int)>& on_first, const std::atomic<bool>& ending) {
  const sigset_t set = waited_for();
  bool asked = false;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || ending) return;
    if (signal == SIGUSR1) continue;
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

Signals::Signals(std::function<void(int)> on_first)
    : thread_([this, call = std::move(on_first)] { wait(call, ending_); }) {}

Signals::~Signals() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

}  // namespace sched::live
