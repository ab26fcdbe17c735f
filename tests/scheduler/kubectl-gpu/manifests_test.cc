#include "scheduler/kubectl-gpu/manifests.h"

#include "k8s-client/yaml/value.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sched::kubectl {
namespace {

struct Loaded {
  answers::Change change;
  std::string error;
};

Loaded load(const std::string& yaml, const PriorityClasses& classes = {},
            const std::map<PodName, PodRef>& pods = {}) {
  const std::string file = tests::scratch_dir() + "/manifests.yaml";
  std::ofstream(file) << yaml;
  Loaded loaded;
  const auto result =
      load_manifests({file}, "ml", {.classes = classes, .pods = pods}, loaded.change);
  if (!result) loaded.error = result.error().message;
  return loaded;
}

std::vector<std::string> names_of(const std::vector<k8s::Pod>& pods) {
  std::vector<std::string> names;
  for (const k8s::Pod& pod : pods) {
    names.push_back(pod.metadata.namespace_ + "/" + pod.metadata.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("a Service is one of the namespace that is meant") {
  const Loaded loaded = load("{kind: Service, metadata: {name: s}, spec: {selector: {app: web}}}");
  CHECK(loaded.error.empty());
  REQUIRE(loaded.change.objects.size() == 1);
  const auto& service = std::get<event::Upserted<k8s::Service>>(loaded.change.objects[0]).object;
  CHECK(service.metadata.namespace_ == "ml");
  CHECK(service.selector == k8s::StringMap{{"app", "web"}});
}

TEST_CASE("workloads become the pods that run at a time") {
  struct Case {
    std::string name;
    std::string yaml;
    Names want;
  };
  const std::vector<Case> cases = {
      {"a pod", "{kind: Pod, metadata: {name: p}}", {"ml/p"}},
      {"a pod of a namespace", "{kind: Pod, metadata: {name: p, namespace: a}}", {"a/p"}},
      {"a job", "{kind: Job, metadata: {name: j}, spec: {template: {spec: {}}}}", {"ml/j-0"}},
      {"a parallel job",
       "{kind: Job, metadata: {name: j}, spec: {parallelism: 2, completions: 9}}",
       {"ml/j-0", "ml/j-1"}},
      {"a job with less to complete",
       "{kind: Job, metadata: {name: j}, spec: {parallelism: 3, completions: 1}}",
       {"ml/j-0"}},
      {"a job without a number to complete",
       "{kind: Job, metadata: {name: j}, spec: {parallelism: 2, completions: null}}",
       {"ml/j-0", "ml/j-1"}},
      {"nulls are absent",
       "{kind: Job, metadata: null, spec: {template: null, parallelism: null}}",
       {"ml/-0"}},
      {"nulls within are absent",
       "{kind: Deployment, metadata: {name: d, namespace: null}, spec: {template: {metadata: null, "
       "spec: null}}}",
       {"ml/d-0"}},
      {"nulls in a job set are absent",
       "{kind: JobSet, metadata: {name: s}, spec: {replicatedJobs: [{name: w, replicas: null, "
       "template: {spec: null}}]}}",
       {"ml/s-w-0-0"}},
      {"a quota of nothing", "{kind: GpuQuota, metadata: {name: q}, spec: null}", {}},
      {"a class without a value", "{kind: PriorityClass, metadata: {name: c}, value: null}", {}},
      {"a deployment",
       "{kind: Deployment, metadata: {name: d}, spec: {replicas: 2}}",
       {"ml/d-0", "ml/d-1"}},
      {"an idle one", "{kind: Deployment, metadata: {name: d}, spec: {replicas: 0}}", {}},
      {"a replication controller",
       "{kind: ReplicationController, metadata: {name: r}, spec: {replicas: 1}}",
       {"ml/r-0"}},
      {"a stateful set",
       "{kind: StatefulSet, metadata: {name: s, namespace: a}, spec: {replicas: 1}}",
       {"a/s-0"}},
      {"a job set",
       "{kind: JobSet, metadata: {name: s}, spec: {replicatedJobs: [{name: w, replicas: 2, "
       "template: {spec: {parallelism: 2}}}]}}",
       {"ml/s-w-0-0", "ml/s-w-0-1", "ml/s-w-1-0", "ml/s-w-1-1"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Loaded loaded = load(c.yaml);
      CHECK(loaded.error.empty());
      CHECK(names_of(loaded.change.pods) == c.want);
    }
  }
}

TEST_CASE("a template's pods have what the API server would add") {
  const Loaded loaded = load(R"(
kind: Job
metadata: {name: j}
spec:
  template:
    metadata: {labels: {app: a}, annotations: {gpu-scheduler.io/gpu-type: H100}}
    spec:
      schedulerName: gpu-scheduler
      priorityClassName: high
      resources: {limits: {memory: 4}}
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 2}}}]
---
kind: PriorityClass
metadata: {name: high}
value: 1000
)");
  CHECK(loaded.error.empty());
  REQUIRE(loaded.change.pods.size() == 1);
  const k8s::Pod& pod = loaded.change.pods.front();
  CHECK(pod.metadata.uid == "plan/ml/j-0");
  CHECK(*pod.metadata.labels.find("app") == "a");
  CHECK(*pod.metadata.annotations.find("gpu-scheduler.io/gpu-type") == "H100");
  CHECK(pod.spec.priority == 1000);
  REQUIRE(pod.spec.containers.size() == 1);
  CHECK(pod.spec.containers.front().requests == pod.spec.containers.front().limits);
  CHECK(pod.spec.resource_requests == k8s::ResourceList{{"memory", k8s::Quantity::of(4)}});
}

TEST_CASE("nodes, quotas and storage become events") {
  const Loaded loaded = load(R"(
{kind: Node, metadata: {name: node}}
---
{kind: GpuQuota, metadata: {name: quota}}
---
{kind: PersistentVolumeClaim, metadata: {name: data}}
---
{kind: StorageClass, metadata: {name: fast}}
---
{kind: StorageClass, metadata: {name: late}, volumeBindingMode: WaitForFirstConsumer}
---
{kind: PersistentVolumeClaim, metadata: {name: data, namespace: other}, status: {phase: Bound}}
---
{kind: CSIStorageCapacity, metadata: {name: room}, storageClassName: fast}
---
{kind: PersistentVolume, metadata: {name: disk}}
---
{kind: PersistentVolume, metadata: {name: used}, status: {phase: Released}}
)");
  CHECK(loaded.error.empty());
  CHECK(loaded.change.pods.empty());
  REQUIRE(loaded.change.objects.size() == 9);
  const auto& claim = std::get<event::VolumeClaimUpserted>(loaded.change.objects[2]).object;
  CHECK(claim.metadata.namespace_ == "ml");
  CHECK(claim.phase == "Pending");
  const auto& storage_class =
      std::get<event::Upserted<k8s::StorageClass>>(loaded.change.objects[3]).object;
  CHECK(storage_class.binding_mode == "Immediate");
  const auto& late = std::get<event::Upserted<k8s::StorageClass>>(loaded.change.objects[4]).object;
  CHECK(late.binding_mode == "WaitForFirstConsumer");
  const auto& bound = std::get<event::VolumeClaimUpserted>(loaded.change.objects[5]).object;
  CHECK(bound.metadata.namespace_ == "other");
  CHECK(bound.phase == "Bound");
  const auto& room =
      std::get<event::Upserted<k8s::CsiStorageCapacity>>(loaded.change.objects[6]).object;
  CHECK(room.metadata.namespace_ == "ml");
  const auto& disk = std::get<event::VolumeUpserted>(loaded.change.objects[7]).object;
  CHECK(disk.phase == "Available");
  const auto& used = std::get<event::VolumeUpserted>(loaded.change.objects[8]).object;
  CHECK(used.phase == "Released");
}

TEST_CASE("a quota is new, or as old as the one that has its name") {
  const std::string file = tests::scratch_dir() + "/quotas.yaml";
  std::ofstream(file) << R"(
{kind: GpuQuota, metadata: {name: there}}
---
{kind: GpuQuota, metadata: {name: new}}
---
{kind: GpuQuota, metadata: {name: printed, creationTimestamp: "1970-01-01T00:00:03Z"}}
)";
  const auto at = [](int seconds) { return Time(std::chrono::seconds(seconds)); };
  answers::Change change;
  REQUIRE(load_manifests({file}, "ml",
                         {.quotas = {{"there", at(2)}, {"printed", at(3)}}, .now = at(9)}, change));
  std::vector<Time> created;
  for (const Event& event : change.objects) {
    const auto& quota = std::get<event::QuotaUpserted>(event).object;
    created.push_back(quota.metadata.creation_timestamp.value_or(Time{}));
  }
  CHECK(created == std::vector<Time>{at(2), at(9), at(3)});
}

TEST_CASE("a pod replaces the one that has its name, unless its name is made up here") {
  const std::map<PodName, PodRef> there = {{{"ml", "a-0"}, {"ml", "a-0", "u-a"}}};
  const auto replaced = [&](const std::string& yaml) {
    Names names;
    const Loaded loaded = load(yaml, {}, there);
    for (const PodRef& pod : loaded.change.replaced) names.push_back(pod.uid);
    return names;
  };
  CHECK(replaced("{kind: Pod, metadata: {name: a-0}}") == Names{"u-a"});
  CHECK(replaced("{kind: Pod, metadata: {name: a-0, namespace: other}}").empty());
  CHECK(replaced("{kind: StatefulSet, metadata: {name: a}, spec: {replicas: 2}}") == Names{"u-a"});
  CHECK(replaced("{kind: Deployment, metadata: {name: a}, spec: {replicas: 2}}").empty());
  CHECK(replaced("{kind: Job, metadata: {name: a}}").empty());
  const Loaded printed = load(R"(
kind: Pod
metadata: {name: a-0, uid: u-a, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {nodeName: there}
status: {phase: Running}
)",
                              {}, there);
  CHECK(printed.error.empty());
  REQUIRE(printed.change.pods.size() == 1);
  const k8s::Pod& pod = printed.change.pods.front();
  CHECK(pod.metadata.uid == "plan/ml/a-0");
  CHECK(pod.spec.node_name.empty());
  CHECK_FALSE(pod.is_terminating());
}

// The fields that the CRD of GpuQuotas has at a place, sorted.
std::string quota_fields(const std::string& pointer) {
  const std::string file = tests::source_dir() + "/manifests/base/crds/gpuquotas.yaml";
  std::string text;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("<<:") == std::string::npos) text += line + '\n';  // merges are not read here
  }
  const auto documents = k8s::yaml::parse(text, file);
  REQUIRE(documents);
  const auto crd = nlohmann::json::parse(k8s::yaml::to_json(documents->front()));
  std::string fields;
  for (const auto& [name, schema] : crd.at(nlohmann::json::json_pointer(pointer)).items()) {
    fields += (fields.empty() ? "" : ", ") + name;
  }
  return fields;
}

TEST_CASE("of a GpuQuota a field that its CRD does not have is refused") {
  const std::string spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
  const std::string line = spec + "/quotas/items/properties";
  CHECK(load("{kind: GpuQuota, metadata: {name: q}, spec: {namespaces: [a], bananas: 3}}").error ==
        tests::scratch_dir() +
            "/manifests.yaml:1: spec.bananas: unknown field; known here: " + quota_fields(spec));
  CHECK(load("{kind: GpuQuota, metadata: {name: q}, spec: {quotas: [{gpuType: L4}, "
             "{gpuType: H100, gpus: 4}]}}")
            .error == tests::scratch_dir() +
                          "/manifests.yaml:1: spec.quotas[1].gpus: unknown field; known here: " +
                          quota_fields(line));
  CHECK(load("{kind: GpuQuota, metadata: {name: q}, specs: {}}").error ==
        tests::scratch_dir() +
            "/manifests.yaml:1: specs: unknown field; known here: apiVersion, kind, metadata, "
            "spec, status");
  CHECK(load("{apiVersion: gpu-scheduler.io/v1alpha1, kind: GpuQuota, metadata: {name: q}, spec: "
             "{quotas: [{gpuType: H100, guaranteed: 4}]}}")
            .error.empty());
}

TEST_CASE("what cannot be planned with is an error that says so") {
  struct Case {
    std::string name;
    std::string yaml;
    std::string want;  // a part of it
  };
  const std::vector<Case> cases = {
      {"another kind", "{kind: Secret, metadata: {name: s}}", "manifests.yaml:1: want pods"},
      {"another project's kind of the same name",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}}",
       "found a Job of batch.volcano.sh/v1alpha1"},
      {"another project's quota", "{apiVersion: banana/v9, kind: GpuQuota, metadata: {name: q}}",
       "found a GpuQuota of banana/v9"},
      {"one pod twice", "{kind: Pod, metadata: {name: p}}\n---\n{kind: Pod, metadata: {name: p}}",
       "pod \"ml/p\" is given twice"},
      {"one uid twice",
       "{kind: Pod, metadata: {name: p, uid: u}}\n---\n{kind: Pod, metadata: {name: q, uid: u}}",
       "pod \"ml/q\" has the uid of another: u"},
      {"a class that nobody knows",
       "{kind: Pod, metadata: {name: p}, spec: {priorityClassName: x}}", "priorityClassName \"x\""},
      {"too many pods", "{kind: Deployment, metadata: {name: d}, spec: {replicas: 1000000}}",
       "more than 100000 pods"},
      {"a name that is none", "{kind: Deployment, metadata: {name: 7}}",
       "manifests.yaml:1: Deployment: metadata.name: must be a text, found 7"},
      {"a count that is none",
       "{kind: Pod, metadata: {name: p}}\n---\n{kind: Deployment, metadata: {name: d}, spec: "
       "{replicas: two}}",
       "manifests.yaml:3: Deployment: spec.replicas: must be a whole number, found a text"},
      {"a job of a set that is none",
       "{kind: JobSet, metadata: {name: s}, spec: {replicatedJobs: [{}, 3]}}",
       "manifests.yaml:1: JobSet: spec.replicatedJobs[1]: must be an object, found 3"},
      {"a template within a set that is none",
       "{kind: JobSet, metadata: {name: s}, spec: {replicatedJobs: [{template: {spec: "
       "{template: []}}}]}}",
       "manifests.yaml:1: JobSet: spec.replicatedJobs[0].template.spec.template: must be an "
       "object, found a list"},
      {"a priority that is none", "{kind: PriorityClass, metadata: {name: c}, value: high}",
       "manifests.yaml:1: PriorityClass: value: must be a whole number, found a text"},
      {"no quotas of a quota", "{kind: GpuQuota, metadata: {name: q}, spec: {quotas: 3}}",
       "manifests.yaml:1: spec.quotas: must be a list, found an integer"},
      {"no field of a pod", "{kind: Pod, metadata: {name: p}, spec: {containers: 3}}",
       "manifests.yaml:1: Pod \"p\": spec.containers"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string error = load(c.yaml).error;
      INFO(error);
      CHECK(error.find(c.want) != std::string::npos);
    }
  }
  CHECK(load("{kind: Pod, metadata: {name: p}, spec: {priorityClassName: x}}", {{"x", 5}})
            .change.pods.front()
            .spec.priority == 5);
}

}  // namespace
}  // namespace sched::kubectl
