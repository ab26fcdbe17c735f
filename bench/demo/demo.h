// Watches the outcomes of the demo's pods: prints each as it happens, ends with a table, and
// compares them with the expected ones.
//
// The outcome is read from the API server (the pod's node, its condition); only the scores are read
// from the scheduler's record, because no other source has them.
#pragma once

#include <chrono>
#include <string>

namespace bench {

struct DemoOptions {
  std::string kubeconfig;
  std::string namespace_;
  std::string record;
  std::string expected;
  std::chrono::seconds limit{60};  // the longest time until all outcomes are there
};

// The process's exit code: 0 if everything is as expected, 1 if not, 2 for bad input.
[[nodiscard]] int run_demo(const DemoOptions& options);

}  // namespace bench
