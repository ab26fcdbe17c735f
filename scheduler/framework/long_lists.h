// Limits on the length of the lists that tenants write.
//
// A tenant can write a hundred thousand tolerations, or values of a selector, into an object. The
// API server stores some two to ten bytes for each; decoded, each takes ten times as many, and of a
// pod it is copied into its shape and its class. Or a tenant writes few texts, but one of a
// megabyte. So a few such objects could take all memory. No object needs so much. Longer lists, and
// more text, are dropped when the object arrives. A pod is then refused with a message
// (plugins/unsupported_constraints).
#pragma once

#include "k8s-client/api/controllers.h"
#include "k8s-client/api/disruption_budget.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"
#include "k8s-client/api/storage.h"

#include <cstddef>
#include <optional>
#include <string>

namespace sched {

inline constexpr std::size_t kMostTolerations = 1'000;
inline constexpr std::size_t kMostVolumes = 1'000;
// Of these, persistent volume claims: for each all nodes, and their storage, are looked at. Those
// of a bound pod are not dropped, because it uses them.
inline constexpr std::size_t kMostClaims = 50;
inline constexpr std::size_t kMostLabels = 1'000;
// The terms, expressions and values of a pod's node affinity, all together with its node selector.
inline constexpr std::size_t kMostOfNodeAffinity = 2'000;
// The terms, expressions, values, namespaces and label keys of pod affinity, pod anti-affinity and
// topology spread, all together.
inline constexpr std::size_t kMostOfTermsAcrossNodes = 2'000;
// The terms of each of these lists: pod affinity and pod anti-affinity, required and preferred, and
// topology spread. A pod with half as many is refused already.
inline constexpr std::size_t kMostTermsAcrossNodes = 64;
// The text of a pod that waits, in bytes (pod_text.h). Large pods have some thousands.
inline constexpr std::size_t kMostTextOfPod = 64 * 1024;
// The name of an object, in bytes, as the API server takes it.
inline constexpr std::size_t kMostOfName = 253;
// The labels, expressions and values of another object's selector.
inline constexpr std::size_t kMostOfSelector = 10'000;
// The same of a claim or a budget: it is compared with each volume of a node, or each pod.
inline constexpr std::size_t kMostOfComparedSelector = 200;

// The labels, expressions and values of a selector: the most steps that matches() takes.
[[nodiscard]] std::size_t parts_of(const k8s::LabelSelector& selector);

// What the pod has too many of, in words, as drop_long_lists() left it or before that; nullopt: no
// list is too long. The number of terms across nodes is not reported here.
[[nodiscard]] std::optional<std::string> long_list_of(const k8s::Pod& pod);

// Drops each list of the pod that is too long, but not the claims of a bound pod, and all text of a
// waiting pod that has too much. Leaves a node affinity that no node matches, which names the first
// of them. Cuts terms across nodes.
void drop_long_lists(k8s::Pod& pod);

// Replaces a selector that is too long: a claim's then matches no volume, that of a budget all pods
// of its namespace, and one of a controller or a Service no pods. Of a claim what is too long to
// name another object is cut, and names none; if that is its selected node, none is selected.
void drop_long_lists(k8s::PersistentVolumeClaim& claim);
void drop_long_lists(k8s::PodDisruptionBudget& budget);
void drop_long_lists(k8s::Service& service);
void drop_long_lists(k8s::ReplicationController& controller);
void drop_long_lists(k8s::ReplicaSet& set);
void drop_long_lists(k8s::StatefulSet& set);

}  // namespace sched
