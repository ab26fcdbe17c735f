#include "scheduler/live/signals.h"

#include "tests/support/catch.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>

namespace {

using sched::live::Signals;

// Gives the test's thread its signals back.
class BlockedSignals {
 public:
  BlockedSignals() {
    pthread_sigmask(SIG_SETMASK, nullptr, &before_);
    sched::live::block_signals();
  }
  ~BlockedSignals() {
    // A signal that was not taken must not end the test's process.
    sigset_t left;
    sigemptyset(&left);
    sigaddset(&left, SIGUSR1);
    const timespec at_once{};
    while (sigtimedwait(&left, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

TEST_CASE("SIGTERM and SIGINT ask for an end, also after a SIGUSR1 from somewhere") {
  for (const int wanted : {SIGTERM, SIGINT}) {
    const BlockedSignals blocked;
    std::promise<int> asked;
    const Signals signals([&](int signal) { asked.set_value(signal); });
    auto answer = asked.get_future();
    kill(getpid(), SIGUSR1);
    kill(getpid(), wanted);
    REQUIRE(answer.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    CHECK(answer.get() == wanted);
  }
}

TEST_CASE("nothing is asked for when no signal comes") {
  const BlockedSignals blocked;
  bool asked = false;
  {
    const Signals signals([&](int) { asked = true; }, [&] { asked = true; });
  }
  CHECK_FALSE(asked);
}

TEST_CASE("each SIGUSR1 is told") {
  const BlockedSignals blocked;
  std::promise<void> first;
  std::promise<void> second;
  int count = 0;
  const Signals signals([](int) {},
                        [&] {
                          ++count;
                          (count == 1 ? first : second).set_value();
                        });
  kill(getpid(), SIGUSR1);
  REQUIRE(first.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  kill(getpid(), SIGUSR1);
  CHECK(second.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
}
