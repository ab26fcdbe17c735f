// SIGTERM and SIGINT as calls: the first one requests a clean end, the second ends the process at
// once.
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
  // `on_first` is called on a thread of its own.
  explicit Signals(std::function<void(int signal)> on_first);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace sched::live
