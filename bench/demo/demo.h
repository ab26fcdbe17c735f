// Watches what becomes of the demo's pods: tells it as it happens, closes with a table, and judges
// it against what should be.
//
// The outcome is taken from the API server (where is the pod bound, what does its condition say);
// only the scores come from the scheduler's record, for nobody else knows them.
#pragma once

#include <chrono>
#include <string>

namespace bench {

struct DemoOptions {
  std::string kubeconfig;
  std::string namespace_;
  std::string record;
  std::string expected;
  std::chrono::seconds limit{60};  // how long outcomes may take
};

// The process's exit code: 0 if everything is as expected, 1 if not, 2 for bad input.
[[nodiscard]] int run_demo(const DemoOptions& options);

}  // namespace bench
