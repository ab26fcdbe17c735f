#include "scheduler/cluster/pod_templates.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

namespace {

using tests::label;
using tests::pod;
using tests::term;

k8s::Pod annotated(k8s::Pod given, std::string_view key, std::string_view value) {
  given.metadata.annotations.set(key, value);
  return given;
}

k8s::Pod status_says(k8s::Pod given, std::string_view gpus) {
  k8s::ContainerStatus status;
  status.name = given.spec.containers.front().name;
  status.requests.emplace().emplace_back("nvidia.com/gpu", *k8s::Quantity::parse(gpus));
  given.status.container_statuses.push_back(status);
  return given;
}

k8s::Container with_port(k8s::Container given, std::int32_t port) {
  given.ports.push_back({.host_port = port, .host_ip = {}, .protocol = {}});
  return given;
}

// Its containers are of another name and image, with limits.
k8s::Pod renamed(k8s::Pod given, const std::string& name) {
  for (auto* containers : {&given.spec.containers, &given.spec.init_containers}) {
    for (k8s::Container& container : *containers) {
      container.name = name;
      container.image = name + ":1";
      container.limits.emplace_back("memory", k8s::Quantity::of(1));
    }
  }
  return given;
}

k8s::Pod kind(int i) {
  return pod("p").gpus(1).requires_nodes({term({label("a").in({std::to_string(i)})})});
}

// Pods that differ in one thing each, most of them in their shape.
std::vector<k8s::Pod> varied() {
  k8s::Pod whole = pod("a").gpus(1);
  whole.spec.resource_requests.emplace().emplace_back("cpu", k8s::Quantity::of(3));
  k8s::Pod overhead = pod("a").gpus(1);
  overhead.spec.overhead.emplace_back("cpu", k8s::Quantity::of(1));
  return {
      pod("a"),
      pod("a").gpus(1),
      pod("a").gpus(2),
      pod("a").gpus(1).cpu("1"),
      pod("a").gpus(1).cpu("0"),
      pod("a").gpus(1).selects("a", "bc"),
      pod("a").gpus(1).requires_nodes({term({label("a").exists()})}),
      pod("a").gpus(1).prefers_nodes(1, term({label("a").exists()})),
      pod("a").gpus(1).tolerates("k"),
      pod("a").gpus(1).host_port(80),
      pod("a").gpus(1).priority(1),
      pod("a").gpus(1).first_runs(tests::sidecar("s", {})),
      pod("a").gpus(1).first_runs(tests::container("i", {})),
      annotated(pod("a").gpus(1), "gpu-scheduler.io/gpu-type", "H100"),
      annotated(pod("a").gpus(1), "gpu-scheduler.io/gpu-type", "A100"),
      annotated(pod("a").gpus(1), "example.com/gpu-type", "A100"),
      pod("a").gpus(1).first_runs(tests::container("i", {{"cpu", "9"}})),
      pod("a").gpus(1).first_runs(tests::sidecar("i", {{"cpu", "9"}})),
      pod("a").gpus(1).first_runs(with_port(tests::container("i", {}), 80)),
      pod("a").gpus(1).first_runs(with_port(tests::sidecar("i", {}), 80)),
      pod("a").gpus(1).first_runs(with_port(tests::sidecar("i", {}), 81)),
      pod("a").gpus(1).tolerates("l"),
      pod("b").gpus(1),
      renamed(pod("a").gpus(1), "b"),
      status_says(renamed(pod("a").gpus(1), "b"), "2"),
      pod("a").gpus(1).labelled("gpu-scheduler.io/mig-profile", "1g.10gb"),
      whole,
      overhead,
      status_says(pod("a").gpus(1), "1"),
      status_says(pod("a").gpus(1), "2"),
  };
}

}  // namespace

TEST_CASE("a template's pods have the shape and the claim that each would have by itself") {
  ResourceNames names;
  Shapes shapes;
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, PodTemplates::kMostTemplates}) {
    PodTemplates templates(shapes, names, most);
    for (int round = 0; round < 2; ++round) {
      for (const k8s::Pod& each : varied()) {
        CHECK(*templates.shape(each) == shape_of(each, names));
        k8s::Pod bound = each;
        bound.spec.node_name = "node";
        CHECK(templates.claim_of_bound(bound) == claim_of_bound(bound, names));
        CHECK(templates.size() <= most);
      }
    }
  }
}

TEST_CASE("what a shape does not read makes no template of its own") {
  ResourceNames names;
  Shapes shapes;
  PodTemplates templates(shapes, names);
  const ShapeRef one = templates.shape(pod("a").gpus(1));
  const ShapeRef two = templates.shape(
      pod("b").in_namespace("ml").labelled("app", "x").mounts_claim("c").gpus(1).on("node"));
  CHECK(one.id() == two.id());
  CHECK(templates.size() == 1);
}

TEST_CASE("pods alike but for their containers' names, images and limits are of one template") {
  ResourceNames names;
  Shapes shapes;
  PodTemplates templates(shapes, names);
  const k8s::Pod given = pod("a").gpus(1).first_runs(tests::container("i", {{"cpu", "9"}}));
  const ShapeRef one = templates.shape(given);
  for (const char* name : {"b", "c"}) {
    CHECK(templates.shape(renamed(given, name)).id() == one.id());
  }
  CHECK(templates.made() == 1);
}

TEST_CASE("pods that differ in what few of a cluster's pods have are told apart at a glance") {
  const std::vector<k8s::Pod> given = {
      pod("a").gpus(1),
      pod("a").gpus(1).tolerates("k"),
      pod("a").gpus(1).tolerates("l"),
      pod("a").gpus(1).requires_nodes({term({label("a").exists()})}),
      pod("a").gpus(1).first_runs(tests::container("i", {})),
      pod("a").gpus(1).first_runs(tests::container("i", {{"cpu", "9"}})),
      annotated(pod("a").gpus(1), "gpu-scheduler.io/gpu-type", "H100"),
      annotated(pod("a").gpus(1), "gpu-scheduler.io/gpu-type", "A100"),
      pod("a").gpus(1).labelled("gpu-scheduler.io/mig-profile", "1g.10gb"),
      pod("a").gpus(1).labelled("gpu-scheduler.io/mig-profile", "2g.20gb"),
  };
  std::set<std::size_t> digests;
  for (const k8s::Pod& each : given) digests.insert(template_digest(each));
  CHECK(digests.size() == given.size());
}

TEST_CASE("of pods that only a close look tells apart few are kept, so that a look stays short") {
  ResourceNames names;
  Shapes shapes;
  PodTemplates templates(shapes, names);
  for (int i = 0; i < 100; ++i) CHECK(*templates.shape(kind(i)) == shape_of(kind(i), names));
  CHECK(templates.size() == 8);
}

TEST_CASE("one kind more than are kept of a digest, in turn, are still found mostly") {
  ResourceNames names;
  Shapes shapes;
  PodTemplates templates(shapes, names);
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 9; ++i) CHECK(*templates.shape(kind(i)) == shape_of(kind(i), names));
  }
  CHECK(templates.made() < 9 * kRounds / 2);
}

TEST_CASE("same_template() and template_digest() agree") {
  const std::vector<k8s::Pod> given = varied();
  for (const k8s::Pod& a : given) {
    CHECK(same_template(a, template_of(a)));
    CHECK(template_digest(a) == template_digest(template_of(a)));
    for (const k8s::Pod& b : given) {
      if (same_template(a, b)) CHECK(template_digest(a) == template_digest(b));
    }
  }
}

}  // namespace sched
