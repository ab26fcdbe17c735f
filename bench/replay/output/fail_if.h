// --fail-if: a condition on a figure that no policy's mean may meet, for CI.
//
//   unallocated>5.0    refused >= 1    wait_p99>3600
#pragma once

#include "bench/replay/output/means.h"
#include "k8s-client/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct Condition {
  enum class Relation : std::uint8_t { kLess, kLessOrEqual, kGreater, kGreaterOrEqual };
  std::string text;  // as given
  std::string figure;
  Relation relation = Relation::kGreater;
  double limit = 0;

  [[nodiscard]] bool holds_for(double value) const;
};

// The error says what is wrong with the text, and names the figures.
[[nodiscard]] k8s::Result<Condition> parse_condition(std::string_view text);

// A line for each mean that meets a condition; an error if a figure does not exist in a run,
// because the run did not get so far.
[[nodiscard]] k8s::Result<std::vector<std::string>> failures(
    const std::vector<Condition>& conditions, const std::vector<PolicyMeans>& means);

}  // namespace bench::replay
