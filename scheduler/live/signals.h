// Signals as calls. SIGTERM and SIGINT: the first requests a clean end, the second ends the process
// at once. SIGUSR1 requests the recording of the last hour.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace sched::live {

// Blocks the signals for the calling thread and for every thread that it starts afterwards; call it
// before any thread is started.
void block_signals();

class Signals {
 public:
  // Both are called on a thread of its own; `on_first` with SIGTERM or SIGINT.
  explicit Signals(
      std::function<void(int signal)> on_first, std::function<void()> on_usr1 = [] {});
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace sched::live
