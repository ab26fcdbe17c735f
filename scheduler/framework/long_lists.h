// Limits on the length of a pod's lists.
//
// A tenant can write a hundred thousand tolerations or terms of a node affinity into a pod. The API
// server stores some ten bytes for each; decoded, each takes ten times as many, and is copied into
// the shape of the pod and its template. So a few such pods could take all memory. No pod needs so
// many. Longer lists are dropped where the pod comes in, and the pod is refused in words
// (plugins/unsupported_constraints).
#pragma once

#include "k8s-client/api/pod.h"

#include <cstddef>
#include <optional>
#include <string>

namespace sched {

inline constexpr std::size_t kMostTolerations = 1'000;
inline constexpr std::size_t kMostVolumes = 1'000;
// The terms, expressions and values of a pod's node affinity, all together.
inline constexpr std::size_t kMostOfNodeAffinity = 10'000;
// Of pod affinity, of pod anti-affinity, each required or preferred, and of topology spread.
inline constexpr std::size_t kMostTermsAcrossNodes = 1'000;

// What the pod has too many of, in words, as drop_long_lists() left it or before that; nullopt: no
// list is too long. Not said of terms across nodes: far fewer are refused already.
[[nodiscard]] std::optional<std::string> long_list_of(const k8s::Pod& pod);

// Drops tolerations, volumes and node affinity where one of these lists is too long, and leaves a
// node affinity that no node matches, which says which. Cuts terms across nodes.
void drop_long_lists(k8s::Pod& pod);

}  // namespace sched
