// kubectl gpu why.
#include "tests/scheduler/kubectl-gpu/said.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sched::kubectl {
namespace {

TEST_CASE("kubectl gpu why names the tolerations that are missing first, to be pasted") {
  const std::string bare = written("bare.yaml", R"(
kind: Pod
metadata: {namespace: demo, name: bare, uid: u-bare}
spec:
  schedulerName: gpu-scheduler
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 2}}}]
)");
  const std::string said = answer({"why", "demo/bare", "--from", bare});
  CHECK_THAT(said, Catch::Contains("Would run if: tolerations: [{key: nvidia.com/gpu, value: "
                                   "\"present\", effect: NoSchedule}] (a100-1)\n"));
  // What the table has is not said once more.
  CHECK(said.find("TaintToleration: node(s)") == std::string::npos);
}

TEST_CASE("kubectl gpu why tells of a pod without room what there is, and what would make some") {
  CHECK(answer({"why", "pod/h100-no-room", "-n", "demo"}) ==
        "WAITS 7m - nvidia.com/gpu: needs 8 on one node; most free is 2 of 8 (h100-2); 3 "
        "nodes would take the pod but for NodeAffinity\n  NODES  REASON                      "
        "                       EXAMPLE\n      6  node(s) didn't match Pod's node "
        "affinity/selector  a100-1\n      2  Insufficient nvidia.com/gpu                     "
        "   h100-1: nvidia.com/gpu: asked 8, free 0 of 8\n  nvidia.com/gpu: 2 free in all on "
        "the 2 nodes left to the pod.\n  NodeAffinity: node(s) didn't match Pod's node "
        "affinity/selector (first a100-2).\nFrees when: h100-2: vision/v1 (4) and "
        "demo/h100-finetune (2) end\nWould run if: +1 node like h100-1 (H100-80GB)\n       "
        "or if: nodeSelector nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB (a100-2)\nNext: "
        "kubectl gpu plan --add h100-1=1 --from …\n");
}

TEST_CASE("kubectl gpu why says where room is being made for a pod") {
  const std::string nominated = written("nominated.yaml", R"(
kind: Pod
metadata: {namespace: demo, name: high, uid: u-high}
spec:
  schedulerName: gpu-scheduler
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 16}}}]
status: {nominatedNodeName: h100-1}
)");
  CHECK_THAT(answer({"why", "demo/high", "--from", nominated}),
             Catch::Contains("The pod is nominated for node h100-1: room is being made for it"));
}

TEST_CASE("kubectl gpu queue has the whole message where there is room for it") {
  const std::string rest = "most free is 2 of 8 (h100-2); 3 nodes would take the pod but for";
  CHECK_THAT(answer({"queue", "-o", "wide"}), Catch::Contains(rest));
  CHECK(answer({"queue"}).find(rest) == std::string::npos);
}

TEST_CASE("kubectl gpu why tells of a pod that has a node which others would do") {
  CHECK(answer({"why", "one-gpu", "-n", "demo"}) ==
        "PLACED a100-1 12m ago; now 5 of 8 nodes fit\n"
        "  RANK  NODE    TOTAL  TaintToleration  GpuSharing  GpuPacking\n"
        "     1  h100-2   5870           100·30      200·10       87·10\n"
        "     2  a100-1   5120           100·30      200·10       12·10  here\n"
        "     3  a100-2   5120           100·30      200·10       12·10  tie with a100-1\n"
        "     4  l4-1     5120           100·30      200·10       12·10  tie with a100-2\n"
        "     5  l4-2     5120           100·30      200·10       12·10  tie with l4-1\n"
        "  NODES  REASON                       EXAMPLE\n"
        "      3  Insufficient nvidia.com/gpu  cpu-1: nvidia.com/gpu: asked 1, free 0 of 0\n");
}

TEST_CASE("kubectl gpu why and queue say for what a group waits") {
  const auto pods = [](int there, int min_count) {
    std::string all;
    for (int i = 0; i < there; ++i) {
      const std::string number = std::to_string(i);
      all += "---\nkind: Pod\nmetadata:\n  namespace: demo\n  name: train-" + number +
             "\n  uid: u-train-" + number +
             "\n  annotations: {gpu-scheduler.io/pod-group: train, "
             "gpu-scheduler.io/pod-group-min-count: \"" +
             std::to_string(min_count) +
             "\"}\nspec:\n  schedulerName: gpu-scheduler\n  tolerations: [{operator: Exists}]\n"
             "  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 2}}}]\n";
    }
    return written("group.yaml", all);
  };
  const std::string missing = "2 of the 3 pods that start together as group train are there";
  std::string said = answer({"why", "demo/train-1", "--from", pods(2, 3)});
  INFO(said);
  CHECK_THAT(said, Catch::Contains(missing) && Catch::Contains("kubectl get pods -n demo"));
  CHECK_THAT(answer({"queue", "-n", "demo", "--from", pods(2, 3)}),
             Catch::Contains(" pods  ") && Catch::Contains(missing));
  said = answer({"why", "demo/train-1", "--from", pods(100, 100)});
  CHECK_THAT(said, Catch::Contains("of the 100 pods that start together as group train"));
  CHECK(said.find("No node would take it") == std::string::npos);
}

TEST_CASE("of a group that waits for its quota, why also says how many of its pods have room") {
  std::string all;
  for (const char* name : {"both-0", "both-1"}) {
    all += std::string("---\nkind: Pod\nmetadata:\n  namespace: vision\n  name: ") + name +
           "\n  uid: u-" + name +
           "\n  annotations: {gpu-scheduler.io/pod-group: both, "
           "gpu-scheduler.io/pod-group-min-count: \"2\"}\nspec:\n"
           "  schedulerName: gpu-scheduler\n  tolerations: [{operator: Exists}]\n"
           "  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n"
           "  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
  }
  const std::string said = answer({"why", "vision/both-0", "--from", written("both.yaml", all)});
  INFO(said);
  CHECK_THAT(said, Catch::StartsWith("WAITS 0s - quota team-vision: H100 needs 2, 4 of 4 in use"));
  CHECK_THAT(said, Catch::Contains("There is room for 0 of the 2 pods that start together as group "
                                   "both."));
}

TEST_CASE("kubectl gpu why begins with the verdict") {
  struct Case {
    std::string pod;
    std::string namespace_;
    std::string begin;
    std::string next;
  };
  const std::vector<Case> cases = {
      {"v2", "vision", "WAITS 6m - quota team-vision: H100 needs 1, 4 of 4 in use",
       "kubectl gpu quota -n vision --from …"},
      {"fits-now", "demo", "STARTS on a100-1 after 2m, 2 of 8 nodes fit\n", "kubectl get lease"},
      {"gated", "demo", "GATED 5m - scheduling gates example.com/wait\n",
       "kubectl get pod/gated -n demo"},
      {"bad-annot", "oops", "NEVER AS WRITTEN - annotation gpu-scheduler.io/gpu-typ is not known",
       "kubectl get pod/bad-annot -n oops"},
      {"typo-name", "oops",
       "NOT OURS - it waits for schedulerName \"gpu-schedular\", is \"gpu-scheduler\" meant?\n",
       "kubectl get pod/typo-name -n oops"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.pod) {
      const std::string said = answer({"why", "pod/" + c.pod, "-n", c.namespace_});
      INFO(said);
      CHECK(said.starts_with(c.begin));
      CHECK(said.find("\nNext: " + c.next) != std::string::npos);
      CHECK(said.find("Frees when") == std::string::npos);
    }
  }
}

TEST_CASE("a namespace without a quota is named in place of a quota") {
  const std::string config = written("no-quota.yaml", R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
gpuQuota: {defaultQuota: None}
)");
  const std::string want = "namespace demo has no GPU quota, and pods without quota get no GPUs";
  CHECK_THAT(answer({"why", "demo/fits-now", "--config", config}),
             Catch::StartsWith("WAITS 2m - " + want + "\n"));
  const auto why =
      nlohmann::json::parse(answer({"why", "demo/fits-now", "--config", config, "-o", "json"}));
  CHECK(why["headline"] == want);
  CHECK(why["quota"] == "");
}

TEST_CASE("a pod whose claim is missing is not said to need another node") {
  const std::string claims = written("claims.yaml", R"(
kind: Pod
metadata: {namespace: demo, name: claims, uid: u-claims}
spec:
  schedulerName: gpu-scheduler
  containers: [{name: main}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: nope}}]
)");
  const std::string said = answer({"why", "demo/claims", "--from", claims});
  CHECK_THAT(said, Catch::StartsWith("WAITS 0s - persistentvolumeclaim \"nope\" not found\n"));
  CHECK_THAT(said, !Catch::Contains("No node would take it"));
  CHECK_THAT(said, Catch::Contains("\nNext: kubectl get pod/claims -n demo -o yaml\n"));
}

TEST_CASE("the pod may stand before the files, between them or behind them") {
  const std::string want = answer({"why", "pod/v2", "-n", "vision"});
  const std::vector<std::string> files = {"--from", nodes_file(), "--from", pods_file()};
  for (const std::size_t at : {0U, 2U, 4U}) {
    std::vector<std::string> arguments = files;
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(at), "pod/v2");
    arguments.insert(arguments.begin(), "why");
    arguments.insert(arguments.end(), {"-n", "vision"});
    const Said said = say(arguments);
    CHECK(said.err.empty());
    CHECK(said.out.substr(0, said.out.find("Next")) == want.substr(0, want.find("Next")));
  }
  for (const std::string flag : {"-f", "--filename", "--from"}) {
    const Said said =
        say({"--from", nodes_file(), "why", flag, pods_file(), "pod/v2", "-n", "vision"});
    CHECK(said.err.empty());
    CHECK(said.code == 0);
  }
}

TEST_CASE("a pod is named as tables have it, too") {
  CHECK(answer({"why", "demo/gated"}) == answer({"why", "pod/gated", "-n", "demo"}));
  CHECK(answer({"why", "pod/demo/gated"}) == answer({"why", "pod/gated", "-n", "demo"}));
}

TEST_CASE("kubectl gpu why -o json has the same in numbers") {
  const auto why =
      nlohmann::json::parse(answer({"why", "h100-no-room", "-n", "demo", "-o", "json"}));
  CHECK(why["verdict"] == "Waits");
  CHECK(why["allNodes"] == 8);
  CHECK(why["fittingNodes"] == 0);
  CHECK(why["freesWhen"]["node"] == "h100-2");
  CHECK(why["wouldRunOnOneMore"] == "h100-1");
}

}  // namespace
}  // namespace sched::kubectl
