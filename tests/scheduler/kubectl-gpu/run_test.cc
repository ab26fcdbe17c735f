// kubectl gpu, command by command; plan and why have files of their own.
#include "tests/scheduler/kubectl-gpu/said.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sched::kubectl {
namespace {

TEST_CASE("kubectl gpu gives an overview of types, and of the pods that wait") {
  CHECK(answer({}) ==
        "48 GPUs  15 used  33 free | 5 pods wait (14 GPUs, 1 gated, 1 never as written)\n"
        "TYPE       NODES  USED   FREE  LARGEST BLOCK  WHOLE NODES FREE\n"
        "A100-80GB      2  1/16     15  8 (a100-2)                    1\n"
        "H100-80GB      2  14/16     2  2 (h100-2)                    0\n"
        "L4-24GB        2  0/16     16  8 (l4-1)                      2\n"
        "Next: kubectl gpu queue --from …\n");
}

TEST_CASE("the process ends with the command's exit code") {
  static std::vector<int> ended;
  const auto end = [](int code) { ended.push_back(code); };
  static_cast<void>(say({"--from", nodes_file()}, end));
  static_cast<void>(say({"why", "unheard-of", "--from", nodes_file()}, end));
  CHECK(ended == std::vector<int>{0, kUnreadable});
}

TEST_CASE("flags of one letter may have their value behind =, as kubectl takes them") {
  CHECK(answer({"queue", "-n=demo"}) == answer({"queue", "-n", "demo"}));
  CHECK(answer({"nodes", "-o=wide"}) == answer({"nodes", "-o", "wide"}));
}

TEST_CASE("kubectl gpu nodes lists the nodes with GPUs, and with -o wide the pods on them") {
  CHECK(answer({"nodes", "-o", "wide"}) ==
        "NODE    TYPE       USED  FREE  PODS  STATE  GPUS OF\n"
        "a100-1  A100-80GB  1/8      7     1  open   demo/one-gpu (1)\n"
        "a100-2  A100-80GB  0/8      8     0  open   -\n"
        "h100-1  H100-80GB  8/8      0     1  open   demo/h100-whole (8)\n"
        "h100-2  H100-80GB  6/8      2     2  open   vision/v1 (4), demo/h100-finetune (2)\n"
        "l4-1    L4-24GB    0/8      8     0  open   -\n"
        "l4-2    L4-24GB    0/8      8     0  open   -\n");
}

TEST_CASE("kubectl gpu queue lists pods by their turn, and those that nothing will come for") {
  CHECK(
      answer({"queue"}) ==
      "#  POD                QUOTA        IN LINE   ASKS    WAITED  BLOCKED BY  NEXT\n"
      "1  vision/v2          team-vision  1st of 1  1 H100      6m  quota       "
      "H100 needs 1, 4 of 4 in use, first in line; 1 more must be freed\n"
      "2  demo/h100-no-room  -            -         8 H100      7m  nodes       "
      "nvidia.com/gpu: needs 8 on one node; most free is 2 of 8 (h100-2); 3 nodes woul…\n"
      "3  demo/fits-now      -            -         2 A100      2m  -           starts on a100-1\n"
      "4  demo/gated         -            -         2 GPU       5m  gates       "
      "its scheduling gates are removed\n"
      "NEVER AS WRITTEN  oops/bad-annot: annotation gpu-scheduler.io/gpu-typ is not known; "
      "gpu-scheduler.io/gpu-type is\n"
      "NOT OURS  oops/typo-name: schedulerName \"gpu-schedular\", is \"gpu-scheduler\" meant?\n"
      "Next: kubectl gpu why pod/v2 -n vision --from …\n");
}

TEST_CASE("of pods of other schedulers without GPUs those with a misspelt name are listed") {
  const std::string file = written("not-ours.yaml", R"(
apiVersion: v1
kind: List
items:
- kind: Node
  metadata: {name: n1}
  status: {allocatable: {cpu: 8, pods: 9}}
- kind: Pod
  metadata: {name: typo, namespace: ml, uid: u1}
  spec: {schedulerName: gpu-schedular, containers: [{name: c}]}
- kind: Pod
  metadata: {name: other, namespace: ml, uid: u2}
  spec: {schedulerName: default-scheduler, containers: [{name: c}]}
)");
  const Said said = say({"queue", "--from", file});
  CHECK(said.err.empty());
  CHECK_THAT(said.out, Catch::Contains("NOT OURS  ml/typo: schedulerName \"gpu-schedular\", is "
                                       "\"gpu-scheduler\" meant?\n"));
  CHECK_THAT(said.out, !Catch::Contains("ml/other"));
}

TEST_CASE("kubectl gpu queue -n keeps the positions of the whole queue") {
  CHECK(answer({"queue", "-n", "demo"})
            .starts_with("#  POD                QUOTA  IN LINE  ASKS    WAITED  BLOCKED BY  NEXT\n"
                         "2  demo/h100-no-room  -      -        8 H100      7m  nodes"));
}

TEST_CASE("kubectl gpu quota tells each line's account") {
  CHECK(answer({"quota"}) ==
        "QUOTA        TYPE  USED  BORROWED  LENT  PENDING\n"
        "team-vision  H100  4/4          0     0        1\n");
}

TEST_CASE("kubectl gpu quota shows which quota is a part of which") {
  const std::string departments =
      tests::source_dir() + "/manifests/examples/quota/departments.yaml";
  const Said said = say({"quota", "--from", nodes_file(), "--from", departments});
  CHECK(said.out ==
        "QUOTA           TYPE  USED  BORROWED  LENT  PENDING\n"
        "biology         *     0/2          0     0        0\n"
        "physics         *     0/6          0     0        0\n"
        "  team-lattice  *     0/3          0     0        0\n"
        "  team-optics   *     0/2          0     0        0\n");
  const std::string circle = written("circle.yaml", R"(
{kind: GpuQuota, metadata: {name: a}, spec: {parent: b, quotas: [{gpuType: "*", guaranteed: 1}]}}
---
{kind: GpuQuota, metadata: {name: b}, spec: {parent: a, quotas: [{gpuType: "*", guaranteed: 1}]}}
)");
  CHECK_THAT(say({"quota", "--from", nodes_file(), "--from", circle}).out,
             Catch::Contains("a: not Ready: spec.parent: quota b is in itself") &&
                 Catch::Contains("b: not Ready: spec.parent: quota a is in itself"));
}

TEST_CASE("kubectl gpu quota -o wide lists the pods that borrow, the latest loan first") {
  std::string objects = R"(
{kind: GpuQuota, metadata: {name: guest}, spec: {namespaces: [ml], cohort: c, quotas: [{gpuType: H100, guaranteed: 1}]}}
---
{kind: GpuQuota, metadata: {name: lender}, spec: {namespaces: [other], cohort: c, quotas: [{gpuType: H100, guaranteed: 4}]}}
)";
  // In another order than they were charged in, and one that claims a time that is yet to come.
  const std::vector<std::pair<const char*, const char*>> pods{
      {"late", "2026-01-01T10:58:00.000002Z"},
      {"first", "2026-01-01T10:57:00.000000Z"},
      {"early", "2026-01-01T10:58:00.000001Z"},
      {"forged", "2027-01-01T10:58:00.000001Z"}};
  for (const auto& [name, at] : pods) {
    objects += fmt::format(R"(---
kind: Pod
metadata:
  name: {0}
  namespace: ml
  uid: uid-{0}
  creationTimestamp: "2026-01-01T10:00:00Z"
  annotations: {{gpu-scheduler.io/charged-as: NVIDIA-H100-80GB-HBM3, gpu-scheduler.io/charged-at: "{1}"}}
spec:
  nodeName: h100-2
  schedulerName: gpu-scheduler
  containers: [{{name: main, resources: {{requests: {{nvidia.com/gpu: "1"}}, limits: {{nvidia.com/gpu: "1"}}}}}}]
)",
                           name, at);
  }
  const std::string file = written("borrowed.yaml", objects);
  const Said wide = say({"quota", "-o", "wide", "--from", nodes_file(), "--from", file});
  CHECK_THAT(wide.out, Catch::EndsWith("Borrowed, the latest loan first:\n"
                                       "POD       QUOTA  TYPE  GPUS  SINCE\n"
                                       "ml/late   guest  H100     1   119s\n"
                                       "ml/early  guest  H100     1   119s\n"
                                       "ml/first  guest  H100     1     3m\n"));
  CHECK_THAT(wide.out, Catch::Contains("\nUsed by:\nQUOTA  TYPE  NAMESPACE  GPUS  PODS\n"
                                       "guest  H100  ml            4     4\n"));
  const Said of_ml =
      say({"quota", "-n", "ml", "-o", "wide", "--from", nodes_file(), "--from", file});
  CHECK_THAT(of_ml.out, Catch::EndsWith("ml/first  guest  H100     1     3m\n"));
  const Said of_other =
      say({"quota", "-n", "other", "-o", "wide", "--from", nodes_file(), "--from", file});
  CHECK_THAT(of_other.out, Catch::Contains("lender") && !Catch::Contains("Borrowed"));
  const Said json = say({"quota", "-o", "json", "--from", nodes_file(), "--from", file});
  CHECK(nlohmann::json::parse(json.out)["usedBy"] == nlohmann::json{{{"quota", "guest"},
                                                                     {"gpuType", "H100"},
                                                                     {"namespace", "ml"},
                                                                     {"pods", 4},
                                                                     {"gpus", "4"}}});
  const auto borrowed = nlohmann::json::parse(json.out)["borrowed"];
  REQUIRE(borrowed.size() == 3);
  CHECK(borrowed[0] == nlohmann::json{{"pod", "ml/late"},
                                      {"quota", "guest"},
                                      {"gpuType", "H100"},
                                      {"gpus", "1"},
                                      {"since", "2026-01-01T10:58:00Z"}});
}

TEST_CASE("kubectl gpu quota -n is about the quotas of that namespace") {
  const std::string departments =
      tests::source_dir() + "/manifests/examples/quota/departments.yaml";
  const Said said = say({"quota", "-n", "optics", "--from", nodes_file(), "--from", departments});
  CHECK(said.out ==
        "QUOTA          TYPE  USED  BORROWED  LENT  PENDING\n"
        "physics        *     0/6          0     0        0\n"
        "  team-optics  *     0/2          0     0        0\n");
  CHECK(answer({"quota", "-n", "demo"}) == "No GpuQuota counts namespace demo\n");
}

TEST_CASE("a quota that borrows from nobody has no loans, and parts of GPUs are told as such") {
  const std::string file = written("alone.yaml", R"(
{kind: Namespace, metadata: {name: ml}}
---
{kind: GpuQuota, metadata: {name: alone}, spec: {namespaces: [ml], quotas: [{gpuType: H100, guaranteed: "1500m"}]}}
---
{kind: GpuQuota, metadata: {name: second}, spec: {namespaces: [ml], quotas: [{gpuType: H100, guaranteed: 1}]}}
---
kind: Pod
metadata: {name: large, namespace: ml, uid: u-large, creationTimestamp: "2026-01-01T10:00:00Z"}
spec:
  nodeName: h100-2
  schedulerName: gpu-scheduler
  containers: [{name: main, resources: {requests: {nvidia.com/gpu: "2"}, limits: {nvidia.com/gpu: "2"}}}]
---
kind: Pod
metadata: {name: instance, namespace: ml, uid: u-instance, creationTimestamp: "2026-01-01T10:00:00Z"}
spec:
  schedulerName: gpu-scheduler
  containers: [{name: main, resources: {requests: {nvidia.com/mig-1g.10gb: "1"}, limits: {nvidia.com/mig-1g.10gb: "1"}}}]
)");
  const Said quota = say({"quota", "-o", "wide", "--from", nodes_file(), "--from", file});
  INFO(quota.out);
  CHECK_THAT(quota.out, Catch::Contains("alone   H100  2/1.5"));
  CHECK(quota.out.find("Borrowed") == std::string::npos);
  const Said overview = say({"--from", nodes_file(), "--from", file});
  CHECK_THAT(overview.out,
             Catch::Contains(" | 2 quotas have warnings | 1 pod waits (1 MIG instance)\n"));
  CHECK_THAT(overview.out, Catch::Contains("\nNext: kubectl gpu quota --from "));
}

TEST_CASE("a namespace that is not there is told of, and one with pods is there") {
  const Said nope = say({"queue", "-n", "nope", "--from", nodes_file(), "--from", pods_file()});
  CHECK(nope.out == "No pod of the namespace waits\n");
  CHECK(nope.err == "kubectl gpu: there is no namespace \"nope\"\n");
  CHECK(nope.code == 0);
}

TEST_CASE("kubectl gpu names what was probably meant") {
  struct Case {
    std::vector<std::string> arguments;
    std::string err;
  };
  const std::string finished = "\" that has not finished";
  for (Case& each : std::vector<Case>{
           {{"why", "v1"},
            "there is no pod \"v1\" in namespace \"default" + finished + "; there is vision/v1\n"},
           {{"why", "h100-no-rom", "-n", "demo"},
            "there is no pod \"h100-no-rom\" in namespace \"demo" + finished +
                "; is \"h100-no-room\" meant?\n"},
           {{"why", "h100-2"},
            "there is no pod \"h100-2\" in namespace \"default" + finished +
                "; it is a node: kubectl gpu nodes\n"},
           {{"queue", "-n", "visoin"}, "there is no namespace \"visoin\"; is \"vision\" meant?\n"},
           {{"why", "job/train"},
            "there is no namespace \"job\"\nkubectl gpu: there is no pod \"train\" in namespace "
            "\"job" +
                finished + "; why is about one pod; kubectl gpu queue lists those that wait\n"},
           {{"--foo"}, "there is no flag --foo; kubectl gpu --help says more\n"},
           {{"nodes", "h100-2"},
            "nodes takes no argument h100-2; kubectl gpu --help says more\n"}}) {
    each.arguments.insert(each.arguments.end(), {"--from", nodes_file(), "--from", pods_file()});
    CHECK(say(each.arguments).err == "kubectl gpu: " + each.err);
  }
}

TEST_CASE("kubectl gpu nodes -n lists the nodes on which pods of the namespace have GPUs") {
  CHECK(answer({"nodes", "-n", "vision", "-o", "wide"}) ==
        "NODE    TYPE       USED  FREE  PODS  STATE  GPUS OF\n"
        "h100-2  H100-80GB  6/8      2     2  open   vision/v1 (4), demo/h100-finetune (2)\n");
}

TEST_CASE("kubectl gpu tells that another quota selects the namespace, and does not count it") {
  const std::string late = written("late.yaml", R"(
apiVersion: gpu-scheduler.io/v1alpha1
kind: GpuQuota
metadata: {name: team-late, uid: q-late, creationTimestamp: "2026-01-01T10:00:00Z"}
spec:
  namespaces: [vision]
  quotas: [{gpuType: L4, guaranteed: 4}]
---
kind: Pod
metadata: {namespace: vision, name: l4, uid: u-l4}
spec:
  schedulerName: gpu-scheduler
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]
)");
  CHECK_THAT(answer({"quota", "-n", "vision", "--from", late}),
             Catch::Contains("\nQuota team-late selects vision, too, and would count it if "
                             "team-vision did not\n"));
  CHECK_THAT(answer({"why", "vision/l4", "--from", late}),
             Catch::Contains("WAITS 0s - quota team-vision: NVIDIA-L4 is not in it, so it gives "
                             "none; quota team-late selects vision, too, and would count it if "
                             "team-vision did not\n"));
}

TEST_CASE("the next step repeats what the shell needs to read as one word") {
  const std::string file = written("my nodes'.yaml", "{kind: Namespace, metadata: {name: a}}");
  const Said said = say({"nodes", "--from", nodes_file(), "--from", file});
  CHECK_THAT(said.out, Catch::Contains("/my nodes'\\''.yaml'   # whose pods have the GPUs\n"));
  CHECK_THAT(said.out, Catch::Contains("Next: kubectl gpu nodes -o wide --from "));
}

TEST_CASE("kubectl gpu -o json says the same in numbers") {
  const auto overview = nlohmann::json::parse(answer({"-o", "json"}));
  CHECK(overview["gpus"] == nlohmann::json{{"total", 48}, {"used", 15}, {"held", 0}, {"free", 33}});
  CHECK(overview["waiting"] ==
        nlohmann::json{{"pods", 5}, {"gpus", 14}, {"migInstances", 0}, {"gated", 1}, {"never", 1}});
  const auto nodes = nlohmann::json::parse(answer({"nodes", "-o", "json"}))["nodes"];
  REQUIRE(nodes.size() == 6);
  CHECK(nodes[3]["pods"][0] == nlohmann::json{{"pod", "vision/v1"}, {"gpus", 4}});
  const auto queue = nlohmann::json::parse(answer({"queue", "-o", "json"}));
  CHECK(queue["pods"][0]["created"] == "2026-01-01T10:54:00Z");
  CHECK(queue["notOurs"][0]["meant"] == "gpu-scheduler");
  const auto quotas = nlohmann::json::parse(answer({"quota", "-o", "json"}))["quotas"];
  CHECK(quotas[0]["lines"][0]["use"]["pending"] == "1");
}

TEST_CASE("an answer that cannot be written is a failure") {
  std::ostringstream out;
  out.setstate(std::ios::badbit);  // as of a disk that is full
  std::ostringstream err;
  CHECK(run({"--from", nodes_file(), "--from", pods_file()}, "1.2.3",
            {.out = out, .err = err, .style = {}, .now = [] { return kNow; }}) == kUnreadable);
  CHECK(err.str() == "kubectl gpu: the answer could not be written\n");
}

TEST_CASE("kubectl gpu says which nodes give their GPUs to nobody, and why") {
  const std::string file = written("closed.yaml", R"(
apiVersion: v1
kind: List
items:
- kind: Node
  metadata: {name: cordoned, labels: {nvidia.com/gpu.product: NVIDIA-L4}}
  spec: {unschedulable: true}
  status: {allocatable: {cpu: 8, pods: 10, nvidia.com/gpu: 4}}
- kind: Node
  metadata: {name: no-plugin, labels: {nvidia.com/gpu.present: "true"}}
  status: {allocatable: {cpu: 8, pods: 10}}
- kind: Node
  metadata: {name: open, labels: {nvidia.com/gpu.product: NVIDIA-L4}}
  status: {allocatable: {cpu: 8, pods: 10, nvidia.com/gpu: 4}}
- kind: Node
  metadata: {name: unreachable, labels: {nvidia.com/gpu.product: NVIDIA-L4}}
  spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}
  status: {allocatable: {cpu: 8, pods: 10, nvidia.com/gpu: 4}}
)");
  CHECK(say({"-f", file}).out ==
        "12 GPUs  0 used  4 free | 3 nodes closed | no pod waits\n"
        "TYPE     NODES  USED  FREE  LARGEST BLOCK  WHOLE NODES FREE\n"
        "L4-24GB      3  0/12     4  4 (open)                      1\n"
        "CLOSED       GPUS  WHY\n"
        "cordoned        4  cordoned\n"
        "no-plugin       0  offers no GPU\n"
        "unreachable     4  unreachable\n");
}

TEST_CASE("what a tenant wrote reaches no terminal as it is, and forges no line") {
  const std::string file = written("hostile.json", R"({"kind": "List", "items": [
    {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 8, "pods": 9, "nvidia.com/gpu": 4}}},
    {"kind": "Pod", "metadata": {"name": "type", "namespace": "ml", "uid": "u1", "annotations":
        {"gpu-scheduler.io/gpu-type": "X\u001b[31mRED\nline2\u009b2J"}},
     "spec": {"schedulerName": "gpu-scheduler", "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}},
    {"kind": "Pod", "metadata": {"name": "other", "namespace": "ml", "uid": "u2"},
     "spec": {"schedulerName": "evil\u001b[31mRED\n\u001b]0;owned\u0007",
              "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}]})");
  const std::string as_new = written("hostile-plan.json", R"({"kind": "Pod",
    "metadata": {"name": "planned", "namespace": "ml", "annotations": {"gpu-scheduler.io/gpu-type": "Y\u001b[2J\nline2"}},
    "spec": {"schedulerName": "gpu-scheduler", "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}})");
  struct Case {
    std::vector<std::string> arguments;
    std::ptrdiff_t lines;
  };
  for (Case& each : std::vector<Case>{{{}, 4},
                                      {{"nodes", "-o", "wide"}, 2},
                                      {{"queue"}, 4},
                                      {{"queue", "-o", "wide"}, 4},
                                      {{"why", "ml/type"}, 7},
                                      {{"why", "ml/other"}, 2},
                                      {{"plan", "-f", as_new, "-o", "wide"}, 6}}) {
    each.arguments.insert(each.arguments.end(), {"--from", file});
    const Said said = say(each.arguments);
    INFO(said.out);
    CHECK(said.err.empty());
    CHECK(std::count(said.out.begin(), said.out.end(), '\n') == each.lines);
    CHECK(std::none_of(said.out.begin(), said.out.end(), [](char c) {
      return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
    }));
    CHECK_THAT(said.out, !Catch::Contains("\u009b"));
  }
  CHECK_THAT(say({"queue", "--from", file}).out,
             Catch::Contains("1 X\\x1b[31mRED\\x0aline2\\x9b2J") &&
                 Catch::Contains("schedulerName \"evil\\x1b[31mRED\\x0a\\x1b]0;owned\\x07\""));
}

TEST_CASE("a flag that would have no effect is refused") {
  const std::string first =
      "--ask is for kubectl gpu and kubectl gpu why; no other command asks the scheduler first\n";
  const std::string none = "nodes and plan ask no scheduler: leave out ";
  const std::string files = "no scheduler is asked about the files of --from: leave out ";
  const std::string page =
      "ui: the page shows all there is: leave out -n, -A, -o, -w and --config\n";
  const std::string place =
      "the files of --from are read in place of a cluster: leave out --kubeconfig and --context\n";
  struct Case {
    std::vector<std::string> arguments;
    std::string err;
  };
  for (const Case& each : std::vector<Case>{
           {{"queue", "--ask"}, first},
           {{"quota", "--ask"}, first},
           {{"nodes", "--ask"}, first},
           {{"plan", "--add", "n=1", "--ask"}, first},
           {{"ui", "--ask"}, first},
           {{"nodes", "--server", "https://h:1"}, none + "--server https://h:1\n"},
           {{"plan", "--lease", "pool a"}, none + "--lease 'pool a'\n"},
           {{"nodes", "--lease-namespace", "kube-system"},
            none + "--lease-namespace kube-system\n"},
           {{"--from", "f", "--ask"}, files + "--ask\n"},
           {{"why", "p", "-f", "f", "--server", "https://h:1"}, files + "--server https://h:1\n"},
           {{"queue", "-f", "f", "--token-file", "t"}, files + "--token-file t\n"},
           {{"ui", "-n", "gpu-scheduler"}, page},
           {{"ui", "-A"}, page},
           {{"ui", "-o", "json"}, page},
           {{"ui", "-w"}, page},
           {{"ui", "--config", "c"}, page},
           {{"-f", "f", "--context", "prod"}, place},
           {{"queue", "-f", "f", "--kubeconfig", "k"}, place},
           {{"why", "p", "--ask", "--config", "c"},
            "the scheduler has a configuration of its own: leave out --ask, or --config\n"}}) {
    const Said said = say(each.arguments);
    CHECK(said.code == kBadUsage);
    CHECK(said.out.empty());
    CHECK(said.err == "kubectl gpu: " + each.err);
  }
}

TEST_CASE("kubectl gpu takes what it knows, and says what is wrong with the rest") {
  struct Case {
    std::string name;
    std::vector<std::string> arguments;
    int code;
    std::string err;  // a part of it
  };
  const std::vector<Case> cases = {
      {"another command", {"frobnicate"}, kBadUsage, "frobnicate"},
      {"another format", {"-o", "yaml", "-f", nodes_file()}, kBadUsage, "--output"},
      {"a file that is not there", {"-f", "/nowhere"}, kBadUsage, "/nowhere: cannot be read"},
      {"a kubeconfig that is not there", {"--kubeconfig", "/nowhere"}, kBadUsage, "/nowhere"},
      {"a configuration that is not there",
       {"--config", "/nowhere", "-f", nodes_file()},
       kBadUsage,
       "/nowhere"},
      {"a file of nothing",
       {"-f", written("empty.json", " \n")},
       kBadUsage,
       "empty.json: is empty"},
      {"another format",
       {"-o", "yaml", "-f", nodes_file()},
       kBadUsage,
       "kubectl gpu: --output: want json or wide, not yaml"},
      {"another command",
       {"nodez"},
       kBadUsage,
       "nodez; there are why, nodes, queue, quota, plan and ui; "},
      {"a plan of nothing",
       {"plan", "--from", nodes_file()},
       kBadUsage,
       "plan: nothing is different; say what would be with --add, --drain, --quota or -f"},
      {"the same, again and again",
       {"plan", "--from", nodes_file(), "--watch"},
       kBadUsage,
       "plan: nothing is different"},
      {"a file of something else",
       {"-f", written("else.json", "{\"a\": 1}")},
       kUnreadable,
       "want a Kubernetes object"},
      {"an object that cannot be read",
       {"-f", written("bad.json", R"({"kind": "NodeList", "items": [{"metadata": {"name": 1}}]})")},
       kUnreadable,
       "bad.json: items[0]: "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Said said = say(c.arguments);
      CHECK(said.code == c.code);
      CHECK(said.out.empty());
      INFO(said.err);
      CHECK(said.err.find(c.err) != std::string::npos);
    }
  }
  const Said nobody = say({"why", "pod/nobody", "-f", nodes_file()});
  CHECK(nobody.code == kUnreadable);
  CHECK(nobody.err ==
        "kubectl gpu: there are no pods in the files; is one missing?\n"
        "kubectl gpu: there is no pod \"nobody\" in namespace \"default\" that has not finished\n");
  CHECK(say({"--version"}).out == "kubectl-gpu 1.2.3\n");
  CHECK(say({"--help"}).code == 0);
}

}  // namespace
}  // namespace sched::kubectl
