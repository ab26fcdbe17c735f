// What a dump of a live cluster becomes.
#include "bench/replay/trace/cluster_dump.h"

#include "tests/support/catch.h"

namespace bench::replay {
namespace {

using std::chrono::seconds;

constexpr const char* kNode =
    R"({"kind": "Node", "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "8", "nvidia.com/gpu": "2"}}})";

// A dump of one pod, in namespace ml, with these further fields of metadata, and spec and status.
std::string pod_text(const std::string& metadata, const std::string& spec,
                     const std::string& status) {
  return R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ml", "uid": "u")" + metadata +
         R"(}, "spec": {)" + spec + R"(}, "status": {)" + status + "}}";
}

// Created eight seconds before the trace's second pod, which is created at 08:00:08.
constexpr const char* kCreated = R"(, "creationTimestamp": "2030-01-31T08:00:00Z")";

TracePod only_pod(const std::string& text) {
  const auto dump = read_cluster_dump({"f", text});
  INFO((dump ? "" : dump.error().message));
  REQUIRE(dump);
  REQUIRE(dump->pods.size() == 1);
  return dump->pods.front();
}

TEST_CASE("the end of a pod is read off its status") {
  struct Case {
    std::string name;
    std::string metadata;
    std::string status;
    std::optional<Moment> want;
  };
  const std::string containers =
      R"("containerStatuses": [
           {"state": {"terminated": {"finishedAt": "2030-01-31T08:01:00Z"}}},
           {"state": {"terminated": {"finishedAt": "2030-01-31T08:02:00Z"}}}])";
  const std::vector<Case> cases = {
      {"running", "", R"("phase": "Running", )" + containers, std::nullopt},
      {"succeeded", "", R"("phase": "Succeeded", )" + containers, seconds(120)},
      {"failed in its init container", "",
       R"("phase": "Failed", "initContainerStatuses": [
            {"state": {"terminated": {"finishedAt": "2030-01-31T08:00:05Z"}}}])",
       seconds(5)},
      {"evicted: only conditions tell", "",
       R"("phase": "Failed", "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": "2030-01-31T08:03:00Z"},
            {"type": "PodScheduled", "status": "True",
             "lastTransitionTime": "2030-01-31T08:00:01Z"}])",
       seconds(180)},
      {"finished, and nothing tells when", "", R"("phase": "Failed")", std::nullopt},
      {"being deleted", R"(, "deletionTimestamp": "2030-01-31T08:04:00Z")", R"("phase": "Running")",
       seconds(240)},
      {"finished, then deleted", R"(, "deletionTimestamp": "2030-01-31T08:04:00Z")",
       R"("phase": "Succeeded", )" + containers, seconds(120)},
      {"ended before it was created, by another clock", "",
       R"("phase": "Failed", "containerStatuses": [
            {"state": {"terminated": {"finishedAt": "2030-01-31T07:59:59Z"}}}])",
       seconds(0)},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const TracePod pod = only_pod(pod_text(kCreated + c.metadata, "", c.status));
      CHECK(pod.created == seconds(0));
      CHECK(pod.deleted == c.want);
    }
  }
}

TEST_CASE("a pod arrives as if it were new") {
  const auto dump = read_cluster_dump(
      {"f", pod_text(R"(, "deletionTimestamp": "2030-01-31T08:04:00Z", "labels": {"a": "b"})",
                     R"("nodeName": "n", "priority": 7, "schedulingGates": [{"name": "g"}],
                        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
                        "containers": [{"name": "c", "resources": {
                            "limits": {"nvidia.com/gpu": "1"}}}])",
                     R"("phase": "Running", "nominatedNodeName": "n")")});
  REQUIRE(dump);
  const TracePod& pod = dump->pods.at(0);
  CHECK_FALSE(pod.bound_to_start_with);
  CHECK(pod.pod.metadata.uid == "u");
  CHECK(*pod.pod.metadata.labels.find("a") == "b");
  CHECK_FALSE(pod.pod.metadata.deletion_timestamp);
  CHECK(pod.pod.spec.node_name.empty());
  CHECK(pod.pod.spec.priority == 7);
  CHECK(pod.pod.spec.scheduling_gates.empty());
  CHECK(pod.pod.spec.volumes.empty());
  CHECK(pod.pod.status == k8s::Pod().status);
  CHECK(pod.pod.spec.containers.at(0).requests == pod.pod.spec.containers.at(0).limits);
  CHECK(dump->left_out ==
        std::map<std::string, std::size_t>{{"pods whose scheduling gates are lifted", 1},
                                           {"pods whose volumes are not considered", 1}});
}

TEST_CASE("pods of DaemonSets and static pods stay on their nodes") {
  struct Case {
    std::string name;
    std::string owner;
    std::string spec;
    std::string phase;
    std::string want;  // "stays", "arrives", "left out"
  };
  const std::string bound = R"("nodeName": "n")";
  const std::vector<Case> cases = {
      {"of a DaemonSet", R"("kind": "DaemonSet", "controller": true)", bound, "Running", "stays"},
      {"static", R"("kind": "Node", "controller": true)", bound, "Running", "stays"},
      {"of a ReplicaSet", R"("kind": "ReplicaSet", "controller": true)", bound, "Running",
       "arrives"},
      {"owned, not controlled", R"("kind": "DaemonSet", "controller": false)", bound, "Running",
       "arrives"},
      {"waiting for its node", R"("kind": "DaemonSet", "controller": true)", "", "Pending",
       "arrives"},
      {"finished", R"("kind": "DaemonSet", "controller": true)", bound, "Failed", "left out"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto dump = read_cluster_dump(
          {"f", pod_text(R"(, "ownerReferences": [{"name": "o", "apiVersion": "v1", "uid": "o", )" +
                             c.owner + "}]",
                         c.spec, R"("phase": ")" + c.phase + '"')});
      REQUIRE(dump);
      if (c.want == "left out") {
        CHECK(dump->pods.empty());
        CHECK(dump->left_out.at("finished pods of DaemonSets and static pods, left out") == 1);
        return;
      }
      CHECK(dump->pods.at(0).bound_to_start_with == (c.want == "stays"));
      CHECK(dump->pods.at(0).pod.spec.node_name == (c.want == "stays" ? "n" : ""));
    }
  }
}

TEST_CASE("the same objects are read from every way of writing them") {
  const std::string pod = pod_text(kCreated, R"("priority": 7)", "");
  const std::string yaml_pod =
      "kind: Pod\nmetadata: {name: p, namespace: ml, uid: u, creationTimestamp: "
      "'2030-01-31T08:00:00Z'}\nspec: {priority: 7}\n";
  const std::string yaml_node =
      "kind: Node\nmetadata: {name: 'n'}\n"
      "status: {allocatable: {cpu: 8, nvidia.com/gpu: '2'}}\n";
  const auto want = read_cluster_dump({"f", std::string(kNode) + "\n" + pod});
  REQUIRE(want);
  REQUIRE(want->nodes.size() == 1);
  REQUIRE(want->pods.size() == 1);
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"a List", R"({"kind": "List", "items": [)" + std::string(kNode) + ", " + pod + "]}"},
      {"an array", "[" + std::string(kNode) + ", " + pod + "]"},
      {"YAML documents", yaml_node + "---\n" + yaml_pod},
      {"YAML after a comment", "# of a cluster\n" + yaml_pod + "---\n" + yaml_node},
      {"a YAML List", "kind: List\nitems: [" + std::string(kNode) + ", " + pod + "]\n"},
  };
  for (const auto& [name, text] : texts) {
    DYNAMIC_SECTION(name) {
      const auto dump = read_cluster_dump({"f", text});
      INFO((dump ? "" : dump.error().message));
      REQUIRE(dump);
      CHECK(dump->nodes == want->nodes);
      REQUIRE(dump->pods.size() == 1);
      CHECK(dump->pods[0].pod == want->pods[0].pod);
      CHECK(dump->pods[0].created == want->pods[0].created);
    }
  }
}

TEST_CASE("what cannot be read is an error with its place, what is not used is counted") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"broken JSON", "{\"kind\": \"Pod\",\n \"a\": [}", "f:2:9: not JSON: want '}'"},
      {"broken JSON inside an object", "\n{\"kind\": \"Pod\", \"a\": nil}", "f:2: not JSON: "},
      {"a wrong type", "\n" + pod_text("", R"("priority": "high")", ""),
       "f:2: Pod \"ml/p\": spec.priority"},
      {"no kind", "{\"a\": 1}", "f:1: want an object with its kind, such as Node or Pod"},
      {"a node that offers nothing", R"({"kind": "Node", "metadata": {"name": "n"}})",
       "f:1: Node \"n\": status.allocatable is missing"},
      {"a node twice", std::string(kNode) + "\n" + kNode,
       "f:3: Node \"n\" is there twice, first in line 1"},
      {"a pod twice", pod_text("", "", "") + "\n" + pod_text("", "", ""),
       "f:2: Pod \"ml/p\" is there twice, first in line 1"},
      {"neither JSON nor YAML", "kind: [Pod\n", "f:"},
      {"a YAML text", "kind: Service\n---\n\nhello\n", "f:4: "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto dump = read_cluster_dump({"f", c.text});
      REQUIRE_FALSE(dump);
      INFO(dump.error().message);
      CHECK(dump.error().message.find(c.want) != std::string::npos);
    }
  }
  const auto dump = read_cluster_dump(
      {"f", R"({"kind": "Service", "metadata": {"name": "s"}} {"kind": "Service"})"});
  REQUIRE(dump);
  CHECK(dump->left_out.at("objects of kind Service, not used") == 2);
}

}  // namespace
}  // namespace bench::replay
