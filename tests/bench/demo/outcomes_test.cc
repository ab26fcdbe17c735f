// What the demo tells, what it takes for success, and the manifests that what-if reads.
#include "bench/demo/expected.h"
#include "bench/demo/outcome_table.h"
#include "bench/demo/scores_text.h"
#include "bench/what_if/manifests.h"
#include "scheduler/live/record/record.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bench {
namespace {

std::string written(const std::string& name, const std::string& text) {
  std::string file = tests::scratch_dir() + "/" + name;
  std::ofstream(file) << text;
  return file;
}

Outcome bound(const std::string& pod, const std::string& node) {
  return {.pod = pod, .node = node, .scores = "1 = A 1·1", .message = {}};
}

Outcome waiting(const std::string& pod, const std::string& message) {
  return {.pod = pod, .node = {}, .scores = {}, .message = message};
}

TEST_CASE("differences name each pod that is not where it should be") {
  const std::vector<ExpectedPod> expected = {
      {.name = "a", .node = "n1", .waits = {}},
      {.name = "b", .node = {}, .waits = {"2 Insufficient cpu", "asked 4"}}};
  struct Case {
    std::string name;
    std::vector<Outcome> outcomes;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"as it should be", {bound("a", "n1"), waiting("b", "2 Insufficient cpu. asked 4 of 2")}, {}},
      {"wrong node",
       {bound("a", "n2"), waiting("b", "2 Insufficient cpu. asked 4")},
       {"a is on n2 and should be on n1"}},
      {"bound instead of waiting",
       {bound("a", "n1"), bound("b", "n1")},
       {"b is on n1 and should be waiting"}},
      {"another reason",
       {bound("a", "n1"), waiting("b", "2 Insufficient cpu")},
       {"b waits with \"2 Insufficient cpu\", which lacks \"asked 4\""}},
      {"missing and unexpected",
       {bound("a", "n1"), bound("c", "n1")},
       {"b was never decided", "c was not expected"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) { CHECK(differences(expected, c.outcomes) == c.want); }
  }
}

TEST_CASE("the shipped expectations can be read and name every example") {
  const std::string root = tests::source_dir();
  const auto expected = load_expected(root + "/bench/demo/expected.yaml");
  REQUIRE(expected.has_value());
  CHECK(expected->size() == 13);
}

TEST_CASE("bad expectations are refused with their line") {
  const auto both =
      load_expected(written("both.yaml", "pods:\n  - {name: a, node: n1, waits: [x]}\n"));
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().message.find("both.yaml:2: ") != std::string::npos);
  const auto unknown = load_expected(written("unknown.yaml", "pods: []\nextra: 1\n"));
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message.find("extra") != std::string::npos);
}

TEST_CASE("the closing table lists bound pods before waiting ones, wrapped") {
  std::ostringstream out;
  print_table(out, {waiting("late", "one two three four five six seven eight"), bound("a", "n1")},
              30);
  CHECK(out.str() ==
        "\nPOD   NODE  SCORE\n"
        "a     n1    1 = A 1·1\n"
        "\nPOD   WAITS BECAUSE\n"
        "late  one two three four five\n"
        "      six seven eight\n");
}

TEST_CASE("scores name what each plugin gave") {
  sched::decision::Bind bind;
  bind.total_score = 260;
  bind.scores = {{"GpuPacking", 25, 10}, {"NodeAffinity", 0, 20}, {"NodeResourcesFit", 10, 1}};
  bind.feasible_nodes = 2;
  bind.all_nodes = 8;
  CHECK(scores_text(bind) == "260 = GpuPacking 25·10 + NodeResourcesFit 10·1; 2 of 8 nodes fit");
}

TEST_CASE("manifests are read as the API server would take them") {
  const auto read = load_manifests(written("pods.yaml",
                                           "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
                                           "spec:\n  containers:\n    - name: c\n      resources:\n"
                                           "        limits: {nvidia.com/gpu: 2, cpu: 1500m}\n"
                                           "        requests: {cpu: 1}\n"),
                                   "team");
  REQUIRE(read.has_value());
  CHECK(read->storage.empty());
  REQUIRE(read->pods.size() == 1);
  const k8s::Pod& pod = read->pods.front();
  CHECK(pod.metadata.namespace_ == "team");
  CHECK(pod.spec.scheduler_name == "default-scheduler");
  CHECK(pod.spec.containers.front().requests ==
        k8s::ResourceList{{"cpu", k8s::Quantity::of(1)}, {"nvidia.com/gpu", k8s::Quantity::of(2)}});
}

TEST_CASE("the storage beside pods is told to the engine as the API server would have it") {
  const auto read = load_manifests(
      written("storage.yaml",
              "kind: PersistentVolumeClaim\nmetadata: {name: c}\n"
              "spec: {storageClassName: s, resources: {requests: {storage: 1Gi}}}\n---\n"
              "kind: PersistentVolumeClaim\nmetadata: {name: bound, namespace: other}\n"
              "spec: {volumeName: v}\nstatus: {phase: Bound}\n---\n"
              "kind: PersistentVolume\nmetadata: {name: v}\n---\n"
              "kind: StorageClass\nmetadata: {name: s}\nprovisioner: p\n---\n"
              "kind: StorageClass\nmetadata: {name: late}\nprovisioner: p\n"
              "volumeBindingMode: WaitForFirstConsumer\n---\n"
              "kind: CSINode\nmetadata: {name: node}\n---\n"
              "kind: CSIDriver\nmetadata: {name: p}\n---\n"
              "kind: CSIStorageCapacity\nmetadata: {name: x}\nstorageClassName: s\n---\n"
              "kind: VolumeAttachment\nmetadata: {name: a}\n"),
      "team");
  REQUIRE(read.has_value());
  CHECK(read->pods.empty());
  std::vector<std::string> got;
  for (const sched::Event& event : read->storage) {
    got.push_back(sched::live::encode(sched::live::EngineCall{
        sched::live::AppliedCall{event, sched::Time(std::chrono::microseconds(1))}}));
  }
  const std::string core = R"(","object":{"apiVersion":"v1","kind":")";
  const std::string storage = R"(","object":{"apiVersion":"storage.k8s.io/v1","kind":")";
  const auto told = [](const std::string& event, const std::string& rest) {
    return R"({"at":1,"event":")" + event + rest + "}}";
  };
  CHECK(got ==
        std::vector<std::string>{
            told("ClaimUpserted",
                 core + R"(PersistentVolumeClaim","metadata":{"name":"c","namespace":"team"},)"
                        R"("spec":{"storageClassName":"s","resources":{"requests":)"
                        R"({"storage":"1073741824"}}},"status":{"phase":"Pending"})"),
            told("ClaimUpserted",
                 core + R"(PersistentVolumeClaim","metadata":{"name":"bound","namespace":"other"},)"
                        R"("spec":{"volumeName":"v"},"status":{"phase":"Bound"})"),
            told("VolumeUpserted",
                 core + R"(PersistentVolume","metadata":{"name":"v"},"spec":{},"status":{})"),
            told("StorageClassUpserted",
                 storage + R"(StorageClass","metadata":{"name":"s"},"provisioner":"p",)"
                           R"("volumeBindingMode":"Immediate")"),
            told("StorageClassUpserted",
                 storage + R"(StorageClass","metadata":{"name":"late"},"provisioner":"p",)"
                           R"("volumeBindingMode":"WaitForFirstConsumer")"),
            told("CSINodeUpserted",
                 storage + R"(CSINode","metadata":{"name":"node"},"spec":{"drivers":[]})"),
            told("CSIDriverUpserted", storage + R"(CSIDriver","metadata":{"name":"p"},"spec":{})"),
            told("CSIStorageCapacityUpserted",
                 storage + R"(CSIStorageCapacity","metadata":{"name":"x","namespace":"team"},)"
                           R"("storageClassName":"s")"),
            told("VolumeAttachmentUpserted",
                 storage + R"(VolumeAttachment","metadata":{"name":"a"},"spec":{"attacher":"",)"
                           R"("nodeName":"","source":{}})")});
}

TEST_CASE("manifests of other kinds, and damaged ones, are refused with file and line") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"deployment", "kind: Pod\nmetadata: {name: a}\n---\nkind: Deployment\n",
       ":4: want an object of kind Pod"},
      {"wrong type", "kind: Pod\nspec: {containers: 3}\n", "spec.containers"},
      {"bad size",
       "kind: PersistentVolume\nmetadata: {name: v}\nspec: {capacity: {storage: much}}\n",
       ":1: PersistentVolume \"v\": spec.capacity.storage: 'much'"},
      {"bad quantity",
       "kind: Pod\nspec: {containers: [{name: c, resources: {limits: {cpu: many}}}]}\n", "many"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto read = load_manifests(written("bad.yaml", c.text), "default");
      REQUIRE_FALSE(read.has_value());
      CAPTURE(read.error().message);
      CHECK(read.error().message.find("bad.yaml") != std::string::npos);
      CHECK(read.error().message.find(c.want) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace bench
