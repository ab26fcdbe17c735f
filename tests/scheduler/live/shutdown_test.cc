// How long a scheduler that ends waits for what.
#include "scheduler/live/shell/shutdown.h"

#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::Shutdown;
using std::chrono::milliseconds;

struct ShutdownBench {
  explicit ShutdownBench(bool elects = true)
      : shutdown(loop, {},
                 {.writes_open = [this] { return writes_open; },
                  .statuses_open = [this] { return statuses_open; },
                  .go_on = [] {},
                  .release = elects ? [this](milliseconds limit, std::function<void()> then) {
                    told("release", limit);
                    done = std::move(then);
                  } : std::function<void(milliseconds, std::function<void()>)>(),
                  .flush_events =
                      [this](milliseconds limit, std::function<void()> then) {
                        told("flush", limit);
                        done = std::move(then);
                      },
                  .on_done = [this] { steps.emplace_back("done"); }}) {}

  void told(const std::string& what, milliseconds limit) {
    const auto at = std::chrono::duration_cast<milliseconds>(loop.now() - begin);
    steps.push_back(what + " at " + std::to_string(at.count()) + " for " +
                    std::to_string(limit.count()));
  }

  tests::ManualLoop loop;
  const k8s::EventLoop::Clock::time_point begin = loop.now();
  bool writes_open = false;
  bool statuses_open = false;
  std::vector<std::string> steps;  // "STEP at MILLISECONDS for LIMIT"
  std::function<void()> done;      // ends the present step
  Shutdown shutdown;
};

using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("with nothing under way the lease is given back and the events are written at once") {
  ShutdownBench bench;
  bench.shutdown.begin();
  CHECK(bench.steps == Steps{"release at 0 for 22000"});
  bench.loop.advance(100ms);
  bench.done();
  bench.done();
  CHECK(bench.steps == Steps{"release at 0 for 22000", "flush at 100 for 22400", "done"});
}

TEST_CASE("without election there is no lease to give back") {
  ShutdownBench bench(false);
  bench.shutdown.begin();
  CHECK(bench.steps == Steps{"flush at 0 for 22500"});
}

TEST_CASE("statuses that cannot be written leave seconds for the lease") {
  ShutdownBench bench;
  bench.statuses_open = true;
  bench.shutdown.begin();
  bench.loop.advance(1h);
  CHECK(bench.steps == Steps{"release at 20000 for 2000"});
}

TEST_CASE("a write is waited for as long as it takes to be settled; then the lease goes back") {
  ShutdownBench bench;
  bench.writes_open = true;
  bench.shutdown.begin();
  bench.loop.advance(19'900ms);
  CHECK(bench.steps.empty());
  bench.writes_open = false;
  bench.loop.advance(20ms);
  CHECK(bench.steps == Steps{"release at 19920 for 2080"});
}

TEST_CASE("a write that may still land keeps the lease") {
  ShutdownBench bench;
  bench.writes_open = true;
  bench.shutdown.begin();
  bench.loop.advance(1h);
  CHECK(bench.steps == Steps{"flush at 20000 for 2500"});
}
