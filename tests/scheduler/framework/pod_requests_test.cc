#include "scheduler/framework/pod_requests.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <map>
#include <string>

namespace sched {

namespace {

using tests::container;
using tests::pod;
using tests::resources;
using tests::sidecar;
using Named = std::map<std::string, std::int64_t>;

Named named(const Resources& amounts, const ResourceNames& names) {
  Named found;
  amounts.for_each([&](ResourceId id, std::int64_t amount) { found[names.name(id)] = amount; });
  return found;
}

Named pending(const k8s::Pod& pod) {
  ResourceNames names;
  return named(requests_of_pending(pod, names).amounts, names);
}

Named bound(const k8s::Pod& pod) {
  ResourceNames names;
  return named(requests_of_bound(pod, names), names);
}

k8s::ContainerStatus status(std::string_view name, tests::Amounts actual,
                            tests::Amounts allocated) {
  k8s::ContainerStatus made;
  made.name = name;
  made.requests = resources(actual);
  made.allocated_resources = resources(allocated);
  return made;
}

}  // namespace

TEST_CASE("what a pending pod takes") {
  struct Case {
    const char* name;
    k8s::Pod given;
    Named want;
  };
  const std::vector<Case> cases = {
      {"nothing", pod("a"), {}},
      {"the sum of its containers",
       pod("a").cpu("100m").gpus(1).with(container("b", {{"cpu", "250m"}, {"memory", "1Ki"}})),
       {{"cpu", 350}, {"memory", 1024}, {"nvidia.com/gpu", 1}}},
      {"sums are rounded once",
       pod("a").memory("1500m").with(container("b", {{"memory", "1500m"}})),
       {{"memory", 3}}},
      {"the largest init container where that is more",
       pod("a")
           .cpu("1")
           .first_runs(container("i", {{"cpu", "3"}}))
           .first_runs(container("j", {{"cpu", "2"}})),
       {{"cpu", 3000}}},
      {"each resource by itself",
       pod("a").cpu("4").first_runs(container("i", {{"cpu", "1"}, {"nvidia.com/gpu", "2"}})),
       {{"cpu", 4000}, {"nvidia.com/gpu", 2}}},
      {"sidecars run beside the containers",
       pod("a").cpu("1").first_runs(sidecar("s", {{"cpu", "2"}})),
       {{"cpu", 3000}}},
      {"sidecars started before an init container run beside it",
       pod("a")
           .cpu("1")
           .first_runs(sidecar("s", {{"cpu", "2"}}))
           .first_runs(container("i", {{"cpu", "3"}})),
       {{"cpu", 5000}}},
      {"sidecars started after an init container do not",
       pod("a")
           .cpu("1")
           .first_runs(container("i", {{"cpu", "4"}}))
           .first_runs(sidecar("s", {{"cpu", "2"}})),
       {{"cpu", 4000}}},
      {"overhead comes on top",
       pod("a").cpu("1").overhead({{"cpu", "250m"}, {"memory", "8"}}),
       {{"cpu", 1250}, {"memory", 8}}},
      {"pod-level values replace cpu, memory and huge pages, and what they do not name stays",
       pod("a")
           .cpu("4")
           .memory("4Ki")
           .gpus(1)
           .requests("hugepages-2Mi", "4Mi")
           .pod_level({{"cpu", "1"}, {"hugepages-2Mi", "2Mi"}, {"nvidia.com/gpu", "7"}}),
       {{"cpu", 1000}, {"memory", 4096}, {"nvidia.com/gpu", 1}, {"hugepages-2Mi", 2097152}}},
      {"overhead comes on top of pod-level values too",
       pod("a").pod_level({{"cpu", "1"}}).overhead({{"cpu", "1"}}),
       {{"cpu", 2000}}},
      {"zero is nothing", pod("a").cpu("0").gpus(0), {}},
      {"a negative sum is nothing", pod("a").cpu("-1"), {}},
      {"pods and names without a meaning are left out",
       pod("a").requests("pods", "3").requests("made-up", "2"),
       {}},
      {"the status does not count",
       pod("a").cpu("1").status_of(status("main", {{"cpu", "4"}}, {})),
       {{"cpu", 1000}}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(pending(each.given) == each.want);
  }
}

TEST_CASE("pod-level requests that an API server adds for pod-level limits") {
  const auto with_limits = [](k8s::Pod given, tests::Amounts limits) {
    given.spec.resource_limits = resources(limits);
    set_pod_level_requests(given);
    return given.spec.resource_requests.value_or(k8s::ResourceList());
  };
  CHECK(with_limits(pod("no limits").cpu("1"), {}).empty());
  CHECK(with_limits(pod("no requests"), {{"cpu", "2"}, {"hugepages-2Mi", "4Mi"}}) ==
        resources({{"cpu", "2"}, {"hugepages-2Mi", "4Mi"}}));
  // What containers ask for comes first, but for huge pages; other resources have no limit here.
  const auto asks = [] {
    return pod("asks").cpu("1").gpus(1).with(
        container("b", {{"cpu", "1"}, {"hugepages-2Mi", "2Mi"}}));
  };
  CHECK(with_limits(asks(), {{"cpu", "4"}, {"memory", "1Gi"}, {"hugepages-2Mi", "4Mi"}}) ==
        resources({{"cpu", "2"}, {"memory", "1Gi"}, {"hugepages-2Mi", "4Mi"}}));
  CHECK(with_limits(asks().pod_level({{"cpu", "3"}}), {{"cpu", "4"}}) == resources({{"cpu", "3"}}));
  k8s::Pod sums = pod("sums").gpus(1);
  sums.spec.resource_limits = resources({{"memory", "2Ki"}});
  set_pod_level_requests(sums);
  CHECK(pending(sums) == Named{{"memory", 2048}, {"nvidia.com/gpu", 1}});
}

TEST_CASE("what a bound pod takes while it is resized") {
  struct Case {
    const char* name;
    k8s::Pod given;
    Named want;
  };
  const auto infeasible = [](tests::PodBuilder built) {
    return built.condition("PodResizePending", "True", "Infeasible");
  };
  k8s::Pod whole = pod("a").pod_level({{"cpu", "1"}, {"memory", "5"}});
  whole.status.resource_requests = resources({{"cpu", "3"}});
  whole.status.allocated_resources = resources({{"cpu", "2"}});
  k8s::Pod whole_infeasible = whole;
  whole_infeasible.status.conditions.push_back({"PodResizePending", "True", "Infeasible", "", 0});
  k8s::Pod with_sidecar = pod("a").first_runs(sidecar("s", {{"cpu", "1"}}));
  with_sidecar.status.init_container_statuses = {status("s", {{"cpu", "2"}}, {})};
  k8s::Pod with_init = pod("a").first_runs(container("i", {{"cpu", "1"}}));
  with_init.status.init_container_statuses = {status("i", {{"cpu", "2"}}, {})};
  k8s::ContainerStatus no_resources;
  no_resources.name = "main";
  no_resources.allocated_resources = resources({{"cpu", "9"}});

  const std::vector<Case> cases = {
      {"no status", pod("a").cpu("1"), {{"cpu", 1000}}},
      {"a negative sum is nothing", pod("a").cpu("-1").gpus(1), {{"nvidia.com/gpu", 1}}},
      {"growing: the spec",
       pod("a").cpu("4").status_of(status("main", {{"cpu", "1"}}, {{"cpu", "2"}})),
       {{"cpu", 4000}}},
      {"shrinking: what it still has",
       pod("a").cpu("1").status_of(status("main", {{"cpu", "4"}}, {{"cpu", "2"}})),
       {{"cpu", 4000}}},
      {"what the node has set aside",
       pod("a").cpu("1").status_of(status("main", {{"cpu", "2"}}, {{"cpu", "3"}})),
       {{"cpu", 3000}}},
      {"an infeasible resize: not the spec",
       infeasible(pod("a").cpu("8").status_of(status("main", {{"cpu", "1"}}, {{"cpu", "2"}}))),
       {{"cpu", 2000}}},
      {"a container that the spec does not have",
       pod("a").cpu("1").status_of(status("gone", {{"cpu", "4"}}, {{"cpu", "4"}})),
       {{"cpu", 1000}}},
      {"another reason: the spec counts",
       pod("a")
           .cpu("8")
           .status_of(status("main", {{"cpu", "1"}}, {}))
           .condition("PodResizePending", "True", "Deferred"),
       {{"cpu", 8000}}},
      {"a status without resources does not count",
       pod("a").cpu("1").status_of(no_resources),
       {{"cpu", 1000}}},
      {"sidecars too", with_sidecar, {{"cpu", 2000}}},
      {"init containers not", with_init, {{"cpu", 1000}}},
      {"pod-level: the largest", whole, {{"cpu", 3000}, {"memory", 5}}},
      {"pod-level, infeasible: not the spec", whole_infeasible, {{"cpu", 3000}}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(bound(each.given) == each.want);
  }
}

TEST_CASE("scores count containers without requests as if they asked for a little") {
  constexpr std::int64_t kMi = 1024 * 1024;
  struct Case {
    const char* name;
    k8s::Pod given;
    NonZeroRequests pending;
    NonZeroRequests bound;
  };
  const std::vector<Case> cases = {
      {"no requests", pod("a"), {100, 200 * kMi}, {100, 200 * kMi}},
      {"two containers", pod("a").with(container("b", {})), {200, 400 * kMi}, {200, 400 * kMi}},
      {"one named",
       pod("a").cpu("1").with(container("b", {})),
       {1100, 400 * kMi},
       {1100, 400 * kMi}},
      {"zero is named", pod("a").cpu("0"), {0, 200 * kMi}, {0, 200 * kMi}},
      {"pod-level values replace the defaults",
       pod("a").pod_level({{"cpu", "2"}, {"memory", "1Mi"}}),
       {2000, kMi},
       {2000, kMi}},
      {"bound with pod-level values: no defaults for what some container names",
       pod("a").cpu("1").with(container("b", {})).pod_level({{"memory", "1Mi"}}),
       {1100, kMi},
       {1000, kMi}},
      {"pod-level memory only, cpu named nowhere",
       pod("a").pod_level({{"memory", "1Mi"}}),
       {100, kMi},
       {100, kMi}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(nonzero_requests_of(each.given, false) == each.pending);
    CHECK(nonzero_requests_of(each.given, true) == each.bound);
  }
}

TEST_CASE("a pod asks for GPUs by any of its containers") {
  const auto with_limit = [](k8s::Container made, const char* resource) {
    made.limits = resources({{resource, "1"}});
    return made;
  };
  CHECK_FALSE(asks_for_gpus(pod("a").cpu("1")));
  CHECK_FALSE(asks_for_gpus(pod("a").requests("nvidia.com/hostdev", "1")));
  CHECK(asks_for_gpus(pod("a").gpus(1)));
  CHECK(asks_for_gpus(pod("a").with(with_limit(container("b", {}), "nvidia.com/mig-1g.10gb"))));
  CHECK(asks_for_gpus(pod("a").first_runs(with_limit(container("b", {}), "nvidia.com/gpu"))));
  CHECK(asks_for_gpus(pod("a").first_runs(with_limit(sidecar("b", {}), "nvidia.com/gpu"))));
}

TEST_CASE("of a pod with very many resources all count once it is bound, and none is new before") {
  tests::PodBuilder built = pod("a").gpus(2);
  for (std::size_t i = 1; i < kMostResourcesOfPod; ++i) {
    built.requests("example.com/r" + std::to_string(i), "1");
  }
  ResourceNames names;
  CHECK_FALSE(requests_of_pending(built, names).too_many);
  CHECK(asks_as_pending(built));

  built.requests("example.com/one-more", "1");
  ResourceNames none;
  const PendingRequests pending = requests_of_pending(built, none);
  CHECK(pending.too_many);
  CHECK(named(pending.amounts, none) == Named{{"nvidia.com/gpu", 2}});
  CHECK_FALSE(asks_as_pending(built));
  CHECK(bound(built).size() == kMostResourcesOfPod + 1);
}

}  // namespace sched
