#include "scheduler/kubectl-gpu/read_files.h"

#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sched::kubectl {
namespace {

std::string written(const std::string& name, const std::string& text) {
  std::string file = tests::scratch_dir() + "/" + name;
  std::ofstream(file) << text;
  return file;
}

std::vector<Event> events_of(const std::string& file) {
  std::vector<Event> events;
  const auto read = read_files({file}, [&](Event event) { events.push_back(std::move(event)); });
  REQUIRE(read);
  return events;
}

TEST_CASE("objects are read from a list of one kind, of several, alone, and from YAML") {
  constexpr const char* kNode = R"({"kind":"Node","metadata":{"name":"node"}})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"alone.json", kNode},
      {"mixed.json", std::string(R"({"kind":"List","items":[{"kind":"Secret"},)") + kNode + "]}"},
      {"one-kind.json", R"({"kind":"NodeList","items":[{"metadata":{"name":"node"}}]})"},
      {"two.yaml", "kind: Secret\n---\nkind: Node\nmetadata: {name: node}\n"},
  };
  for (const auto& [name, text] : cases) {
    DYNAMIC_SECTION(name) {
      const auto events = events_of(written(name, text));
      REQUIRE(events.size() == 1);
      CHECK(std::get<event::NodeUpserted>(events.front()).object.metadata.name == "node");
    }
  }
}

TEST_CASE("manifests are as the API server would have made them") {
  const auto events = events_of(written("manifests.yaml", R"(
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 2}}}]}
---
kind: Pod
metadata: {name: b, namespace: ml}
spec: {resources: {limits: {cpu: 2}}, containers: [{name: c}]}
---
kind: Pod
metadata: {name: c, namespace: ml, uid: of-one-that-runs}
---
kind: Node
metadata: {name: n1}
)"));
  REQUIRE(events.size() == 4);
  const auto& a = std::get<event::PodUpserted>(events[0]).object;
  CHECK(a.metadata.namespace_ == "default");
  CHECK(a.spec.containers[0].requests == a.spec.containers[0].limits);
  CHECK(a.metadata.uid != std::get<event::PodUpserted>(events[1]).object.metadata.uid);
  CHECK(std::get<event::PodUpserted>(events[1]).object.spec.resource_requests ==
        k8s::ResourceList{{"cpu", k8s::Quantity::of(2)}});
  CHECK(std::get<event::PodUpserted>(events[2]).object.metadata.uid == "of-one-that-runs");
  CHECK(std::get<event::NodeUpserted>(events[3]).object.metadata.namespace_.empty());
}

TEST_CASE("label keys of pod affinity are requirements, as since the pod's creation") {
  const auto events = events_of(written("label-keys.json", R"({"kind": "PodList", "items": [
    {"metadata": {"name": "new", "labels": {"app": "web", "tenant": "a"}},
     "spec": {"affinity": {"podAntiAffinity": {
       "requiredDuringSchedulingIgnoredDuringExecution": [
         {"labelSelector": {}, "matchLabelKeys": ["app", "other"], "mismatchLabelKeys": ["tenant"]},
         {"matchLabelKeys": ["app"]}]}, "podAffinity": {
       "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm":
         {"labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["app"]}}]}}}},
    {"metadata": {"name": "created", "labels": {"app": "changed"},
                  "creationTimestamp": "2026-01-01T00:00:00Z"},
     "spec": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
       {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
        "matchLabelKeys": ["app"]}]}}}}]})"));
  REQUIRE(events.size() == 2);
  using Op = k8s::SelectorOperator;
  using Requirements = std::vector<k8s::SelectorRequirement>;
  const auto& fresh = std::get<event::PodUpserted>(events[0]).object.spec;
  const auto& apart = fresh.pod_anti_affinity->required;
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].label_selector->match_expressions ==
        Requirements{{"app", Op::kIn, {"web"}}, {"tenant", Op::kNotIn, {"a"}}});
  CHECK_FALSE(apart[1].label_selector);  // which still matches no pod
  CHECK(fresh.pod_affinity->preferred.at(0).term.label_selector->match_expressions ==
        Requirements{{"app", Op::kIn, {"web"}}});
  const auto& created = std::get<event::PodUpserted>(events[1]).object.spec;
  CHECK(created.pod_affinity->required.at(0).label_selector->match_expressions ==
        Requirements{{"app", Op::kIn, {"web"}}});
}

TEST_CASE("of pods that have finished only those matter that speak against their node") {
  const std::string file = written("finished.json", R"({"kind": "PodList", "items": [
    {"metadata": {"name": "done", "uid": "1"}, "spec": {"nodeName": "n"}, "status": {"phase": "Succeeded"}},
    {"metadata": {"name": "rejected", "uid": "2"}, "spec": {"nodeName": "n", "containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}]},
     "status": {"phase": "Failed", "reason": "UnexpectedAdmissionError"}}]})");
  const auto events = events_of(file);
  REQUIRE(events.size() == 1);
  CHECK(std::get<event::PodRejected>(events.front()).pod.name == "rejected");
}

}  // namespace
}  // namespace sched::kubectl
