// kubectl gpu plan.
#include "tests/scheduler/kubectl-gpu/said.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace sched::kubectl {
namespace {

TEST_CASE("a pod of a plan replaces the pod of its name") {
  const std::string smaller = written("smaller.yaml", R"(
kind: Pod
metadata: {namespace: demo, name: h100-no-room}
spec:
  schedulerName: gpu-scheduler
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 2}}}]
)");
  CHECK(answer({"plan", "-f", smaller}) ==
        "Would start: demo/h100-no-room → h100-2. Still waiting: 3 (gates 1, never 1, quota 1)\n"
        "Replaced by the files: demo/h100-no-room\n"
        "  -o wide says why each of them waits\n"
        "1 pod would start without the change, too\n");
  // Also a pod on a node that is drained, which then counts once.
  const std::string bound = written("bound.yaml", R"(
kind: Pod
metadata: {namespace: demo, name: one-gpu, uid: u-one, creationTimestamp: "2026-01-01T10:48:00Z"}
status: {phase: Running}
spec:
  nodeName: a100-1
  schedulerName: gpu-scheduler
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]
)");
  const std::string drained = answer({"plan", "-f", bound, "--drain", "a100-1"});
  CHECK_THAT(drained, Catch::Contains("Replaced by the files: demo/one-gpu\n"));
  CHECK_THAT(drained, !Catch::Contains("(evicted)") && !Catch::Contains("Would end"));
}

TEST_CASE("kubectl gpu plan tells what would start, and its exit code whether all would") {
  CHECK(answer({"plan", "--add", "H100x8=2"}) ==
        "Would start: demo/h100-no-room → new-1. Still waiting: 3 (gates 1, never 1, quota 1)\n"
        "  -o wide says why each of them waits\n"
        "1 pod would start without the change, too\n");
  CHECK_THAT(
      answer({"plan", "--add", "H100x8=2", "-o", "wide"}),
      Catch::Contains("\n  STILL WAITING  BLOCKED BY  NEXT\n  vision/v2      quota       H100 "
                      "needs 1, 4 of 4 in use, first in line; 1 more must be freed\n  "
                      "demo/gated     gates       its scheduling gates are removed\n"));
  const std::string job = written("job.yaml", R"(
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  template:
    spec:
      schedulerName: gpu-scheduler
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]
)");
  const Said said = say({"plan", "-f", job, "--from", nodes_file(), "--from", pods_file()});
  CHECK(said.code == kWouldWait);
  CHECK(said.out.starts_with(
      "Would start: default/train-0 → a100-2. Still waiting: 4 (gates 1, never 1, nodes 1, quota "
      "1)\n"
      "Would wait: 1 pod\n"
      "  POD              BECAUSE\n"
      "  default/train-1  nvidia.com/gpu: needs 8 on one node; most free is 5 of 8 "
      "(a100-1); 2 nodes would take the pod but for NodeAffinity\n"));
  const Said in_json = say({"plan", "-f", job, "--add", "a100-1=1", "--drain", "h100-2", "-o",
                            "json", "--from", nodes_file(), "--from", pods_file()});
  CHECK(in_json.code == 0);
  const auto plan = nlohmann::json::parse(in_json.out);
  CHECK(plan["wouldStart"].size() == 2);
  CHECK(plan["wouldEnd"].size() == 2);
  CHECK(plan["startAnyway"] == 1);
}

TEST_CASE("kubectl gpu plan names the pods that would start, but for the drain") {
  const std::vector<std::string> drain = {"plan",       "--drain", "a100-1,a100-2", "--from",
                                          nodes_file(), "--from",  pods_file()};
  const Said said = say(drain);
  CHECK(said.code == kWouldWait);
  CHECK_THAT(said.out, Catch::Contains("Would start: 0 pods. Still waiting: 5 (gates 1, never 1, "
                                       "nodes 2, quota 1)\n"
                                       "Would start, but for the drain: demo/fits-now\n"));
  CHECK_THAT(said.out, !Catch::Contains("without the change"));
  std::vector<std::string> with_another = drain;
  with_another.insert(with_another.end(), {"--add", "a100-1=1"});
  const Said elsewhere = say(with_another);
  CHECK(elsewhere.code == 0);
  CHECK_THAT(elsewhere.out, !Catch::Contains("but for the drain") &&
                                Catch::Contains("1 pod would start without the change, too\n"));
  with_another.insert(with_another.end(), {"-o", "json"});
  CHECK(nlohmann::json::parse(say(with_another).out)["wouldStartButForDrain"].empty());
  std::vector<std::string> json = drain;
  json.insert(json.end(), {"-o", "json"});
  CHECK(nlohmann::json::parse(say(json).out)["wouldStartButForDrain"] ==
        nlohmann::json{{{"namespace", "demo"}, {"name", "fits-now"}}});
}

TEST_CASE("kubectl gpu plan adds nodes like one that is there") {
  struct Case {
    std::string wish;
    std::string err;  // a part of it; "": it is well
  };
  const std::vector<Case> cases = {
      {"H100x8=2", ""},
      {"h100-80gbx8", ""},
      {"cpu-1=1", ""},
      {"H100=1", ""},
      {"h100-80gb=1", ""},
      {"H100x4=1", "there is no such node to copy; there are A100-80GBx8, H100-80GBx8, L4-24GBx8"},
      {"H100x8=0", "want a number from 1 to 10000"},
      {"H100x8=1x", "want a number from 1 to 10000"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.wish) {
      const Said said = say({"plan", "--add", c.wish, "--from", nodes_file()});
      INFO(said.err);
      CHECK(said.code == (c.err.empty() ? 0 : kBadUsage));
      CHECK(said.err.find(c.err) != std::string::npos);
    }
  }
  // Names that the cluster has are left out, and none is given twice.
  const std::string taken = written("taken.yaml", "{kind: Node, metadata: {name: new-2}}");
  const std::string pods = written("four.yaml", R"(
kind: Deployment
metadata: {name: four}
spec:
  replicas: 4
  template:
    spec:
      schedulerName: gpu-scheduler
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]
)");
  const Said four = say({"plan", "--add", "H100x8=3", "--add", "h100-1", "-f", pods, "-o", "json",
                         "--from", nodes_file(), "--from", taken, "--from", pods_file()});
  const auto planned = nlohmann::json::parse(four.out);
  std::set<std::string> added;
  for (const auto& row : planned["wouldStart"]) {
    added.insert(row["node"].get<std::string>());
  }
  CHECK(added == std::set<std::string>{"new-1", "new-3", "new-4", "new-5"});
  const Said nowhere = say({"plan", "--drain", "nowhere", "--from", nodes_file()});
  CHECK(nowhere.code == kBadUsage);
  CHECK(nowhere.err == "kubectl gpu: --drain nowhere: there is no such node\n");
}

TEST_CASE("kubectl gpu plan adds nodes like one that takes pods, if there is one") {
  const std::string nodes = written("one-broken.yaml", R"(
kind: Node
metadata: {name: broken, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
status:
  allocatable: {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "8"}
  conditions: [{type: XIDErrors, status: "True"}]
---
kind: Node
metadata: {name: well, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
status: {allocatable: {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "8"}}
)");
  const std::string pods = written("two.yaml", R"(
kind: Deployment
metadata: {name: two}
spec:
  replicas: 2
  template:
    spec:
      schedulerName: gpu-scheduler
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]
)");
  for (const char* wish : {"H100x8", "H100"}) {
    const Said said = say({"plan", "--add", wish, "-f", pods, "--from", nodes});
    INFO(said.out << said.err);
    CHECK(said.code == 0);
    CHECK_THAT(said.out, Catch::Contains("Would start: 2 pods"));
  }
}

TEST_CASE("a quota of a plan is new, or as old as the one that it replaces") {
  // The older of two quotas has the namespace.
  const std::string there = written("there.yaml", R"(
{kind: GpuQuota, metadata: {name: older, creationTimestamp: "2025-01-01T00:00:00Z"}, spec: {namespaces: [demo], quotas: [{gpuType: A100, guaranteed: 1}]}}
---
{kind: GpuQuota, metadata: {name: later, creationTimestamp: "2025-02-01T00:00:00Z"}, spec: {namespaces: [demo], quotas: [{gpuType: A100, guaranteed: 1}]}}
)");
  const auto first_line = [&](const std::string& name) {
    const std::string planned =
        written("planned.yaml",
                "{kind: GpuQuota, metadata: {name: " + name +
                    "}, spec: {namespaces: [demo], quotas: [{gpuType: A100, guaranteed: 9}]}}");
    const Said said = say({"plan", "--quota", planned, "--from", nodes_file(), "--from",
                           pods_file(), "--from", there});
    return said.out.substr(0, said.out.find('.'));
  };
  CHECK(first_line("older") == "Would start: demo/fits-now → a100-1");
  CHECK(first_line("later") == "Would start: 0 pods");
  CHECK(first_line("new") == "Would start: 0 pods");
}

}  // namespace
}  // namespace sched::kubectl
