// The group with which a pod starts: pods that name one group get their nodes together, in one
// decision, or none of them does.
//
// Two annotations of a pod give the name of its group and how many pods start together. No object
// describes a group: it is there while a pod names it. Pods of one group are of one namespace and
// one profile.
#pragma once

#include "k8s-client/api/pod.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace sched {

struct PodGroup {
  static constexpr std::size_t kMostPods = 1'000;  // that start together

  std::string name;           // as the value of a label may be
  std::size_t min_count = 1;  // so many start together, or none
};

// nullopt: the pod names no group. Error: what is wrong with its annotations, as a sentence.
[[nodiscard]] tl::expected<std::optional<PodGroup>, std::string> group_of(const k8s::Pod& pod);

}  // namespace sched
