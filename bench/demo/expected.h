// The outcomes that a demo must have to succeed.
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

// One sentence per difference; empty if everything is as expected. A pod that is not expected is a
// difference, too.
[[nodiscard]] std::vector<std::string> differences(const std::vector<ExpectedPod>& expected,
                                                   const std::vector<Outcome>& outcomes);

}  // namespace bench
