#include "scheduler/framework/pod_shape.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <set>
#include <string>

namespace sched {

namespace {

using tests::label;
using tests::pod;
using tests::term;

k8s::Pod with_resources(std::size_t count) {
  tests::PodBuilder built = pod("a");
  for (std::size_t i = 0; i < count; ++i) built.requests("example.com/r" + std::to_string(i), "1");
  return built;
}

}  // namespace

TEST_CASE("a shape holds what node-local plugins read") {
  ResourceNames names;
  const k8s::Pod given = pod("a").cpu("500m").gpus(2).host_port(80).selects("zone", "a");
  const PodShape shape = shape_of(given, names);
  CHECK(shape.requests == std::vector<ResourceAmount>{{kCpu, 500}, {kNvidiaGpu, 2}});
  CHECK(shape.request(kNvidiaGpu) == 2);
  CHECK(shape.request(kMemory) == 0);
  CHECK(shape.nonzero == NonZeroRequests{.cpu = 500, .memory = 200L * 1024 * 1024});
  CHECK(shape.node_selector == given.spec.node_selector);
  CHECK(shape.host_ports == std::vector<HostPort>{{"0.0.0.0", "TCP", 80}});
  CHECK(shape.node_name.empty());
}

TEST_CASE("a shape knows the most that one container asks for") {
  ResourceNames names;
  k8s::Pod given = pod("a").gpus(1);
  CHECK(shape_of(given, names).request_of_one_container(kNvidiaGpu) == 1);
  given.spec.containers.push_back(tests::container("b", {{"nvidia.com/gpu", "3"}}));
  given.spec.containers.push_back(tests::container("c", {{"nvidia.com/gpu", "2"}}));
  const PodShape shape = shape_of(given, names);
  CHECK(shape.request(kNvidiaGpu) == 6);
  CHECK(shape.request_of_one_container(kNvidiaGpu) == 3);
}

TEST_CASE("an empty shape holds nothing besides itself") { CHECK(heap_bytes(PodShape{}) == 0); }

TEST_CASE("pods that differ in name, labels, priority or claims have one shape") {
  ResourceNames names;
  const PodShape one = shape_of(pod("a").gpus(1), names);
  const PodShape two = shape_of(
      pod("b").in_namespace("ml").labelled("app", "x").mounts_claim("c").priority(7).gpus(1),
      names);
  CHECK(one == two);
  CHECK(shape_key(one) == shape_key(two));
}

TEST_CASE("shapes and their keys are equal together") {
  const std::vector<k8s::Pod> given = {
      pod("a"),
      pod("a").gpus(1),
      pod("a").gpus(2),
      pod("a").annotated("gpu-scheduler.io/gpu-type", "L4"),
      pod("a").annotated("gpu-scheduler.io/min-gpu-memory", "8Gi"),
      pod("a").annotated("gpu-scheduler.io/min-compute-capability", "8.0"),
      pod("a").annotated("gpu-scheduler.io/min-driver-version", "8.0"),
      pod("a").annotated("gpu-scheduler.io/min-driver-version", "8.0.1"),
      pod("a").annotated("gpu-scheduler.io/min-cuda-version", "8.0"),
      pod("a").annotated("gpu-scheduler.io/sharing", "never"),
      pod("a").annotated("gpu-scheduler.io/mig-profile", "1g.5gb"),
      pod("a").annotated("gpu-scheduler.io/what", "8.0"),
      pod("a").labelled("gpu-scheduler.io/what", "8.0"),
      pod("a").cpu("1"),
      pod("a").cpu("0"),  // no request, and no default for scores either
      pod("a").selects("a", "bc"),
      pod("a").selects("ab", "c"),
      pod("a").requires_nodes({}),
      pod("a").requires_nodes({term({label("a").exists()})}),
      pod("a").requires_nodes({term({}, {label("a").exists()})}),
      pod("a").requires_nodes({term({label("a").exists(), label("b").exists()})}),
      pod("a").requires_nodes({term({label("a").exists()}), term({label("b").exists()})}),
      pod("a").requires_nodes({term({label("a").in({"x", "y"})})}),
      pod("a").requires_nodes({term({label("a").in({"x"})})}),
      pod("a").prefers_nodes(1, term({label("a").exists()})),
      pod("a").prefers_nodes(2, term({label("a").exists()})),
      pod("a").tolerates("k"),
      pod("a").tolerates("k", ""),
      pod("a").tolerates("k", "", k8s::TaintEffect::kNoSchedule),
      pod("a").tolerates("k", "v"),
      pod("a").tolerates("k").tolerates("l"),
      pod("a").host_port(80),
      pod("a").host_port(80, "10.0.0.1"),
      pod("a").host_port(80, "", "UDP"),
      pod("a").on("node-1"),
      with_resources(kMostResourcesOfPod + 1),
  };
  ResourceNames names;
  std::set<std::string> keys;
  for (const k8s::Pod& each : given) {
    keys.insert(shape_key(shape_of(each, names)));
    for (const k8s::Pod& other : given) {
      const PodShape a = shape_of(each, names);
      const PodShape b = shape_of(other, names);
      CHECK((a == b) == (shape_key(a) == shape_key(b)));
    }
  }
  CHECK(keys.size() == given.size());
}

TEST_CASE("host ports of containers and sidecars, in one form") {
  k8s::Container helper = tests::sidecar("s", {});
  helper.ports.push_back({9000, "", ""});
  k8s::Container init = tests::container("i", {});
  init.ports.push_back({9001, "", ""});
  const k8s::Pod given = pod("a")
                             .host_port(80, "10.0.0.1")
                             .host_port(0)
                             .host_port(-1)
                             .host_port(53, "", "UDP")
                             .first_runs(helper)
                             .first_runs(init);
  CHECK(host_ports_of(given) == std::vector<HostPort>{{"0.0.0.0", "TCP", 9000},
                                                      {"0.0.0.0", "UDP", 53},
                                                      {"10.0.0.1", "TCP", 80}});
}

}  // namespace sched
