// What a user is told of nodes that have none of the devices that a pod asks for. Each line of the
// table of gotchas in manifests/gpu-clusters.md that ends in words of this scheduler is tried here.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

constexpr const char* kPresent = "nvidia.com/gpu.present";
constexpr const char* kStrategy = "nvidia.com/mig.strategy";

// The sentence about absence, of a pod that fits nowhere.
// Where the sentences behind those about devices that no node offers begin.
std::size_t behind_absent(const std::string& details) {
  if (!details.starts_with("No node of ")) return std::string::npos;
  const std::size_t amounts = details.find(": needs ");
  if (amounts == std::string::npos) return details.find(" No node would take the pod");
  std::size_t end = amounts;
  while (details.compare(end, 2, ". ") != 0 && details.compare(end, 2, "? ") != 0) --end;
  return end + 1;
}

std::string said(const std::vector<k8s::Node>& nodes, const k8s::Pod& pod) {
  Scheduler s;
  s.synced();
  for (const k8s::Node& node : nodes) s.has(node);
  s.has(pod);
  const auto decisions = s.decisions();
  REQUIRE_FALSE(decisions.empty());
  REQUIRE(std::holds_alternative<decision::Unschedulable>(decisions[0]));
  const auto& refusal = std::get<decision::Unschedulable>(decisions[0]);
  // kube-scheduler's words stay what they are.
  CHECK(refusal.message.find("offer") == std::string::npos);
  // Without what is said of the amounts, which comes behind a device that no node offers.
  const std::string details = refusal.details.substr(0, behind_absent(refusal.details));
  const std::size_t none = details.find("No node of ");
  if (none != std::string::npos) return details.substr(none);
  const std::size_t some = details.find(": device plugin absent");
  if (some == std::string::npos) return "";
  const std::size_t begin = details.rfind(' ', some);
  return details.substr(begin == std::string::npos ? 0 : begin + 1);
}

NodeBuilder gpu_node(std::string_view name) {
  return node(name).labelled(kPresent, "true").product("NVIDIA-H100-80GB-HBM3");
}

const k8s::Pod kOneGpu = our_pod("a").gpus(1);
const k8s::Pod kInstance = our_pod("a").requests("nvidia.com/mig-1g.10gb", "1");

struct AbsenceCase {
  const char* name;
  std::vector<k8s::Node> nodes;
  k8s::Pod pod;
  std::string want;
};

std::vector<AbsenceCase> absence_cases() {
  return {
      {"all have some", {gpu_node("n").gpus(8)}, our_pod("a").gpus(9), ""},
      {"nothing asked for", {node("n").cpu("1")}, our_pod("a").cpu("2"), ""},
      {"nodes without GPUs",
       {node("c1"), node("c2"), gpu_node("n").gpus(1)},
       our_pod("a").gpus(2),
       ""},
      {"device plugin not running on some of the nodes",
       {node("c"), gpu_node("n2"), gpu_node("n1").gpus(1)},
       our_pod("a").gpus(2),
       "nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels (first n2)."},
      {"device plugin not running: the name is gone",
       {node("c"), gpu_node("n2"), gpu_node("n1")},
       kOneGpu,
       "No node of 3 offers nvidia.com/gpu: device plugin absent on 2 nodes that carry GPU labels "
       "(first "
       "n1)."},
      {"device plugin not running: kubelet keeps the name at zero",
       {gpu_node("n").gpus(0)},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels "
       "(first "
       "n)."},
      {"a cloud's label instead of NVIDIA's",
       {node("n").labelled("cloud.google.com/gke-accelerator", "nvidia-l4")},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels "
       "(first "
       "n)."},
      {"the MIG configuration is being changed",
       {gpu_node("n")
            .labelled("nvidia.com/mig.config", "all-1g.10gb")
            .labelled("nvidia.com/mig.config.state", "pending")},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: a change of the MIG configuration on 1 node (first n: "
       "all-1g.10gb is pending)."},
      {"shared GPUs have a name of their own (renameByDefault)",
       {gpu_node("n").offers("nvidia.com/gpu.shared", "40")},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: 1 node offers GPUs in another form (first n: "
       "nvidia.com/gpu.shared)."},
      {"renameByDefault off: shares go by the name of whole GPUs",
       {gpu_node("n").gpus(40)},
       our_pod("a").requests("nvidia.com/gpu.shared", "1"),
       "No node of 1 offers nvidia.com/gpu.shared: 1 node offers GPUs in another form (first n: "
       "nvidia.com/gpu)."},
      {"partitioned GPUs",
       {gpu_node("n")
            .gpus(0)
            .offers("nvidia.com/mig-2g.20gb", "3")
            .offers("nvidia.com/mig-1g.20gb", "1")},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: 1 node offers GPUs in another form (first n: "
       "nvidia.com/mig-1g.20gb, nvidia.com/mig-2g.20gb)."},
      {"MIG mode on, strategy none",
       {gpu_node("n").gpus(8).labelled(kStrategy, "none")},
       kInstance,
       "No node of 1 offers nvidia.com/mig-1g.10gb: 1 node has MIG strategy none, which offers no "
       "instances by profile (first n)."},
      {"strategy none says nothing about names other than those of instances",
       {gpu_node("n").gpus(8).labelled(kStrategy, "none")},
       our_pod("a").requests("nvidia.com/gpu.shared", "1"),
       "No node of 1 offers nvidia.com/gpu.shared: 1 node offers GPUs in another form (first n: "
       "nvidia.com/gpu)."},
      {"strategy none, and instances of another profile all the same",
       {gpu_node("n").labelled(kStrategy, "none").offers("nvidia.com/mig-2g.20gb", "3")},
       kInstance,
       "No node of 1 offers nvidia.com/mig-1g.10gb: 1 node offers GPUs in another form (first n: "
       "nvidia.com/mig-2g.20gb)."},
      {"strategy single",
       {node("n")
            .gpus(56)
            .labelled(kStrategy, "single")
            .product("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb")},
       kInstance,
       "No node of 1 offers nvidia.com/mig-1g.10gb: 1 node has MIG strategy single, where "
       "instances "
       "are called nvidia.com/gpu (first n: NVIDIA-H100-80GB-HBM3-MIG-1g.10gb)."},
      {"strategy single over GPUs that are partitioned unequally: the plugin offers nothing",
       {node("n")
            .gpus(0)
            .labelled(kStrategy, "single")
            .product("NVIDIA-H100-80GB-HBM3-MIG-INVALID")},
       kOneGpu,
       "No node of 1 offers nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels "
       "(first "
       "n)."},
      {"another vendor's",
       {node("n"), gpu_node("m").gpus(8)},
       our_pod("a").requests("amd.com/gpu", "1"),
       "No node of 2 offers amd.com/gpu: is its device plugin running?"},
      {"network devices of NVIDIA's are no GPUs",
       {gpu_node("n").offers("nvidia.com/hostdev", "4")},
       our_pod("a").gpus(1).requests("nvidia.com/rdma_ib", "1"),
       "No node of 1 offers nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels "
       "(first "
       "n). No node of 1 offers nvidia.com/rdma_ib: is its device plugin running?"},
      {"two devices",
       {node("n")},
       our_pod("a").gpus(1).requests("rdma/hca", "1"),
       "No node of 1 offers nvidia.com/gpu: is its device plugin running? No node of 1 offers "
       "rdma/hca: is its device plugin running?"},
  };
}

}  // namespace

TEST_CASE("why devices are absent is added to kube-scheduler's words") {
  for (const AbsenceCase& each : absence_cases()) {
    INFO(each.name);
    CHECK(said(each.nodes, each.pod) == each.want);
  }
}

TEST_CASE("a device plugin that comes back takes the words away and the pod") {
  Scheduler s;
  s.synced();
  s.has(gpu_node("n").gpus(0));
  s.has(our_pod("a").gpus(1));
  REQUIRE(s.decide().size() == 1);
  s.has(gpu_node("n").gpus(8));
  CHECK(s.decide() == Texts{"a → n"});
}
