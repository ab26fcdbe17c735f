// Whatever field of a pod changes its shape or its class also tells it from other pods, where
// shapes and classes are found again without making them.
#include "scheduler/framework/pod_class.h"
#include "scheduler/framework/pod_shape.h"
#include "tests/k8s-client/api/random_objects.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// The structured bindings must name all fields: one that is added does not compile before it is
// tried here, too.
auto fields(k8s::Pod::Spec& spec) {
  auto& [scheduler_name, node_name, priority, priority_class_name, preemption_policy,
         init_containers, containers, resource_requests, resource_limits, overhead, node_selector,
         node_affinity, pod_affinity, pod_anti_affinity, tolerations, spread, gates, volumes,
         image_volumes, claims, host_network, user_namespace] = spec;
  return std::tie(scheduler_name, node_name, priority, priority_class_name, preemption_policy,
                  init_containers, containers, resource_requests, resource_limits, overhead,
                  node_selector, node_affinity, pod_affinity, pod_anti_affinity, tolerations,
                  spread, gates, volumes, image_volumes, claims, host_network, user_namespace);
}
auto fields(k8s::Container& container) {
  auto& [name, image, requests, limits, ports, restart_always, restarts_all] = container;
  return std::tie(name, image, requests, limits, ports, restart_always, restarts_all);
}
auto fields(k8s::ObjectMeta& metadata) {
  auto& [name, space, uid, version, generation, labels, annotations, created, deleted, owners] =
      metadata;
  return std::tie(name, space, uid, version, generation, labels, annotations, created, deleted,
                  owners);
}

// Calls `check` while each field of `object` is that of `other`, one at a time.
template <typename Object, typename Check>
void with_each_field_of(Object& other, Object& object, Check check) {
  const auto each = [&](auto& mine, auto& its) {
    std::swap(mine, its);
    check();
    std::swap(mine, its);
  };
  std::apply(
      [&](auto&... mine) {
        std::apply([&](auto&... its) { (each(mine, its), ...); }, fields(other));
      },
      fields(object));
}

template <typename Check>
void with_each_field_of(k8s::Pod& other, k8s::Pod& pod, Check check) {
  with_each_field_of(other.metadata, pod.metadata, check);
  with_each_field_of(other.spec, pod.spec, check);
  for (const auto containers : {&k8s::Pod::Spec::containers, &k8s::Pod::Spec::init_containers}) {
    if ((pod.spec.*containers).empty() || (other.spec.*containers).empty()) continue;
    with_each_field_of((other.spec.*containers).front(), (pod.spec.*containers).front(), check);
  }
}

// Half of the pods wish for a type of GPU.
k8s::Pod random_pod(std::uint64_t seed) {
  k8s::Pod made = k8s::testing::RandomObjects(seed).pod();
  if (seed % 2 == 0) made.metadata.annotations.set(gpu::kTypeAnnotation, std::to_string(seed));
  if (seed % 3 == 0) made.metadata.labels.set(gpu::kMigProfileAnnotation, "1g.10gb");
  return made;
}

// The shape of the pod as if it had no node.
PodShape shape_anywhere(const k8s::Pod& pod, ResourceNames& names) {
  PodShape shape = shape_of(pod, names);
  shape.node_name.clear();
  return shape;
}

TEST_CASE("whatever changes a pod's shape makes its template another one") {
  ResourceNames names;
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const k8s::Pod before = random_pod(seed);
    const PodShape shape = shape_anywhere(before, names);
    const k8s::Pod sample = template_of(before);
    k8s::Pod now = before;
    k8s::Pod other = random_pod(seed + 1'000);
    with_each_field_of(other, now, [&] {
      const PodShape other_shape = shape_anywhere(now, names);
      REQUIRE(shape_of(template_of(now), names) == other_shape);
      REQUIRE((shape_key(other_shape) == shape_key(shape)) == (other_shape == shape));
      const bool same = same_template(sample, now);
      if (same) REQUIRE(template_digest(now) == template_digest(before));
      if (other_shape == shape) return;
      REQUIRE(!same);
      ++changed;
    });
  }
  CHECK(changed > 1'000);
}

TEST_CASE("whatever changes a pod's class shows without making it") {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    k8s::Pod now = random_pod(seed);
    const PodClass before = class_of(now);
    const std::size_t digest = class_digest(now);
    k8s::Pod other = random_pod(seed + 1'000);
    with_each_field_of(other, now, [&] {
      const bool same = is_of_class(now, before);
      REQUIRE(same == (class_of(now) == before));
      if (same) REQUIRE(class_digest(now) == digest);
      if (!same) ++changed;
    });
  }
  CHECK(changed > 500);
}

TEST_CASE("pods that differ in one of their rules alone seldom have one digest") {
  const auto near = [](const std::string& value, const std::string& key) {
    return tests::pods_like({{"app", value}}, key);
  };
  std::set<std::size_t> digests;
  std::size_t pods = 0;
  const auto add = [&](const k8s::Pod& pod) {
    digests.insert(class_digest(pod));
    ++pods;
  };
  for (int i = 0; i < 100; ++i) {
    const std::string own = std::to_string(i);
    k8s::PodAffinityTerm by_namespaces = near("a", "zone");
    by_namespaces.namespace_selector.emplace().match_labels.set("team", own);
    k8s::Pod spread = tests::pod("a");
    spread.spec.topology_spread_constraints.emplace_back().topology_key = own;
    k8s::Pod prefers = tests::pod("a");
    prefers.spec.pod_affinity.emplace().preferred.push_back({.weight = 1, .term = near(own, "a")});
    add(tests::pod("a").near(near(own, "zone")));
    add(tests::pod("a").near(near("a", own)));
    add(tests::pod("a").away_from(near(own, "zone")));
    add(tests::pod("a").near(by_namespaces));
    add(spread);
    add(prefers);
  }
  CHECK(digests.size() == pods);
}

}  // namespace
}  // namespace sched
