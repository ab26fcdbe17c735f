// How much GPU a pod counts as.
#include "bench/replay/account/kind_of_pod.h"

#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"

#include <limits>

using bench::replay::KindOfPod;

namespace {

KindOfPod kind_of(const k8s::Pod& pod) {
  sched::ResourceNames names;
  return bench::replay::kind_of(pod, sched::shape_of(pod, names), true);
}

}  // namespace

TEST_CASE("a pod counts as the GPU that it asks for, a senseless number as 10,000 GPUs") {
  struct Case {
    const char* name;
    k8s::Pod pod;
    std::int64_t milli;
    const char* text;
  };
  const std::string instances = "nvidia.com/mig-3g.40gb";
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  const std::vector<Case> cases = {
      {"none", tests::pod("p").cpu("1"), 0, "no GPU, 1 CPU, 0Gi"},
      {"GPUs", tests::gpu_pod("p", 8), 8'000, "8 GPU, 1 CPU, 0Gi"},
      {"a share", tests::share_pod("p", 250), 250, "0.25 GPU, 1 CPU, 0Gi"},
      {"an instance", tests::pod("p").requests(instances, "1").cpu("1"), 500,
       "1 MIG 3g.40gb, 1 CPU, 0Gi"},
      {"more than any node has", tests::gpu_pod("p", 10'001), 10'000'000, "10001 GPU, 1 CPU, 0Gi"},
      {"the most that can be said", tests::gpu_pod("p", std::numeric_limits<std::int64_t>::max()),
       10'000'000, "9.22337e+18 GPU, 1 CPU, 0Gi"},
      {"of instances", tests::pod("p").requests(instances, most).cpu("1"), 5'000'000,
       "9223372036854775807 MIG 3g.40gb, 1 CPU, 0Gi"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const KindOfPod kind = kind_of(c.pod);
    CHECK(kind.gpu_milli == c.milli);
    CHECK(kind.text == c.text);
  }
}
