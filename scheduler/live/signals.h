// Signals as calls. SIGTERM and SIGINT: the first asks for a clean end, the second ends the process
// at once. SIGUSR1 asks for what was recorded last.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace sched::live {

// Keeps the signals from the calling thread and from every thread started by it afterwards; to be
// called before any is.
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
