// Why a pod is not placed because of its annotations.
#pragma once

#include "scheduler/gpu/wishes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace plugins {

// What is wrong with the annotations of these names, which a plugin reads; nullopt: nothing.
[[nodiscard]] inline std::optional<std::string> problem_with(
    std::initializer_list<std::string_view> annotations, const sched::gpu::Wishes& wishes) {
  for (const sched::gpu::WishProblem& problem : wishes.problems) {
    if (std::find(annotations.begin(), annotations.end(), problem.key) != annotations.end()) {
      return problem.text;
    }
  }
  return std::nullopt;
}

}  // namespace plugins
