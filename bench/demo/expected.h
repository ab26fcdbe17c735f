// What a demo must show for it to have succeeded.
#pragma once

#include "bench/demo/outcome.h"
#include "k8s-client/error.h"

#include <string>
#include <vector>

namespace bench {

struct ExpectedPod {
  std::string name;
  std::string node;                // empty: it must wait
  std::vector<std::string> waits;  // texts that its message must contain
};

// Reads bench/demo/expected.yaml.
[[nodiscard]] k8s::Result<std::vector<ExpectedPod>> load_expected(const std::string& file);

// One sentence per difference; empty when everything is as expected. A pod that nobody expected is
// a difference too.
[[nodiscard]] std::vector<std::string> differences(const std::vector<ExpectedPod>& expected,
                                                   const std::vector<Outcome>& outcomes);

}  // namespace bench
