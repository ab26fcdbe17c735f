// Writes down which mutants each test case reaches, and how long it takes: a line a case in the
// file that GPU_SCHEDULER_MUTANTS_REACHED names, "milliseconds<tab>name<tab>numbers". What is
// reached before the first case is of a case without a name.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "tests/mutants/switch.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace {

class Coverage final : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    TestEventListenerBase::testCaseStarting(test);
    if (first_) write("", {}, 0);
    first_ = false;
    began_ = std::chrono::steady_clock::now();
    clock_ = std::clock();
  }
  void testCaseEnded(const Catch::TestCaseStats& test) override {
    const auto took = std::chrono::steady_clock::now() - began_;
    const std::clock_t ticks = std::clock() - clock_;
    write(test.testInfo.name, std::chrono::duration_cast<std::chrono::milliseconds>(took),
          ticks / (CLOCKS_PER_SEC / 1000));
    TestEventListenerBase::testCaseEnded(test);
  }

 private:
  static void write(const std::string& name, std::chrono::milliseconds took,
                    std::clock_t by_processor) {
    const char* path = std::getenv("GPU_SCHEDULER_MUTANTS_REACHED");
    if (path == nullptr) return;
    std::ofstream out(path, std::ios::app);
    out << took.count() << '\t' << by_processor << '\t' << name << '\t';
    auto& ones = mutants::reached_ones();
    for (std::size_t i = 0; i < ones.size(); ++i) {
      if (ones[i] != 0) out << i << ' ';
    }
    out << '\n';
    std::fill(ones.begin(), ones.end(), 0);
  }

  bool first_ = true;
  std::chrono::steady_clock::time_point began_;
  std::clock_t clock_ = 0;
};

}  // namespace

CATCH_REGISTER_LISTENER(Coverage)
