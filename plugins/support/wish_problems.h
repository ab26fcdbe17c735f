// Why a pod's annotations keep it from being placed.
#pragma once

#include "scheduler/gpu/wishes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace plugins {

// What is wrong with the annotations of these names, which a plugin goes by; nullopt: nothing.
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
