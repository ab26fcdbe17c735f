#include "scheduler/kubectl-gpu/manifests.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/kubectl-gpu/manifest_fields.h"
#include "scheduler/kubectl-gpu/read_files.h"
#include "scheduler/quota/spec_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace sched::kubectl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostPods = 100'000;

// A count of a workload's spec; absent: one.
std::size_t count_of(const Json& spec, const char* field) {
  const auto found = spec.find(field);
  if (found == spec.end()) return 1;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, std::int64_t{kMostPods} + 1));
}

Json at(const Json& object, const char* key) {
  return object.is_object() ? object.value(key, Json::object()) : Json::object();
}

// A misspelt amount would be read as none. The text is JSON, in one line: YAML, too.
k8s::Result<void> check_fields(std::string_view quota) {
  const auto documents = k8s::yaml::parse(quota, "");
  if (!documents) return tl::unexpected(documents.error());
  auto error = quota::unknown_field(documents->front(), "");
  return error ? tl::unexpected(*std::move(error)) : k8s::Result<void>();
}

class Reader {
 public:
  Reader(const std::string& default_namespace, Known known, answers::Change& into)
      : namespace_(default_namespace), known_(std::move(known)), into_(into) {}

  k8s::Result<void> read(const FoundObject& found) try {
    if (found.is("Pod", "")) return add_pod(found.json, Name::kOwn);
    if (found.is("PriorityClass", "scheduling.k8s.io")) {
      Json object = Json::parse(found.json);
      if (auto settled = settle_class(object); !settled) {
        return settled;
      }
      known_.classes[at(object, "metadata").value("name", "")] = object.value("value", 0);
      return {};
    }
    if (is_workload(found)) {
      Json object = Json::parse(found.json);
      auto settled = settle_workload(object, std::string(found.kind));
      return settled ? add_workload(found.kind, object) : settled;
    }
    if (found.is("GpuQuota", "gpu-scheduler.io")) {
      if (auto read = check_fields(found.json); !read) return read;
    }
    auto event = event_of(found);
    if (!event) return tl::unexpected(std::move(event.error()));
    if (!*event) {
      return k8s::decode_error(
          "want pods (Pod, Job, JobSet, Deployment, ReplicaSet, ReplicationController, "
          "StatefulSet), a Node, a GpuQuota, a PriorityClass, a Namespace, a Service, or something "
          "of storage; found a " +
          std::string(found.kind) +
          (found.api_version.empty() ? "" : " of " + std::string(found.api_version)));
    }
    complete(**event, namespace_);
    if (auto* quota = std::get_if<event::QuotaUpserted>(&**event)) date(quota->object);
    into_.objects.push_back(**std::move(event));
    return {};
  } catch (const Json::exception& error) {
    return k8s::decode_error(std::string("a manifest is not what its kind has: ") + error.what());
  }

  // After everything is read: a class may come after the pods that name it.
  k8s::Result<void> finish() {
    leave_out_replaced();
    std::set<std::string> uids;
    for (k8s::Pod& pod : into_.pods) {
      const std::string name = pod.metadata.namespace_ + "/" + pod.metadata.name;
      if (!names_.insert(name).second) {
        return k8s::config_error("pod \"" + name + "\" is given twice");
      }
      if (pod.metadata.uid.empty()) pod.metadata.uid = "plan/" + name;
      if (!uids.insert(pod.metadata.uid).second) {
        return k8s::config_error("pod \"" + name +
                                 "\" has the uid of another: " + pod.metadata.uid);
      }
      if (pod.spec.priority != 0 || pod.spec.priority_class_name.empty()) continue;
      const auto found = known_.classes.find(pod.spec.priority_class_name);
      if (found == known_.classes.end()) {
        return k8s::config_error("pod \"" + name + "\": priorityClassName \"" +
                                 pod.spec.priority_class_name +
                                 "\": no pod of the cluster has it; add its PriorityClass with -f");
      }
      pod.spec.priority = found->second;
    }
    return {};
  }

 private:
  // Of several quotas that select a namespace the oldest has it. One that is applied again stays as
  // old as it is.
  void date(k8s::GpuQuota& quota) const {
    if (quota.metadata.creation_timestamp) return;
    const auto there = known_.quotas.find(quota.metadata.name);
    quota.metadata.creation_timestamp = there == known_.quotas.end() ? known_.now : there->second;
  }

  // Whether the pod will have the name that it has here.
  enum class Name : std::uint8_t { kOwn, kMadeUp };

  // Pods that the files replace are not evicted by a drain of their node.
  void leave_out_replaced() {
    std::set<std::string> uids;
    for (const PodRef& pod : into_.replaced) uids.insert(pod.uid);
    std::erase_if(into_.evicted,
                  [&](const k8s::Pod& pod) { return uids.contains(pod.metadata.uid); });
  }

  static bool is_workload(const FoundObject& found) {
    return found.is("Job", "batch") || found.is("JobSet", "jobset.x-k8s.io") ||
           found.is("Deployment", "apps") || found.is("ReplicaSet", "apps") ||
           found.is("StatefulSet", "apps") || found.is("ReplicationController", "");
  }

  k8s::Result<void> add_pod(std::string_view json, Name name) {
    auto pod = decoder_.object<k8s::Pod>(json);
    if (!pod) return tl::unexpected(std::move(pod.error()));
    k8s::set_defaults(*pod, namespace_);
    set_pod_level_requests(*pod);
    const auto there = known_.pods.find({pod->metadata.namespace_, pod->metadata.name});
    if (name == Name::kOwn && there != known_.pods.end()) {
      into_.replaced.push_back(there->second);
      pod->metadata.uid.clear();
      pod->metadata.creation_timestamp.reset();
      pod->metadata.deletion_timestamp.reset();
      pod->spec.node_name.clear();
      pod->status = {};
    }
    into_.pods.push_back(*std::move(pod));
    return {};
  }

  k8s::Result<void> add_workload(std::string_view kind, const Json& object) {
    const Json metadata = at(object, "metadata");
    const Json spec = at(object, "spec");
    const std::string name = metadata.value("name", "");
    const std::string namespace_of_it = metadata.value("namespace", namespace_);
    if (kind != "JobSet") {
      const std::size_t pods = kind == "Job" ? pods_of_job(spec) : count_of(spec, "replicas");
      return add_pods(at(spec, "template"), namespace_of_it, name, pods,
                      kind == "StatefulSet" ? Name::kOwn : Name::kMadeUp);
    }
    for (const Json& replicated : spec.value("replicatedJobs", Json::array())) {
      const Json job = at(at(replicated, "template"), "spec");
      const std::string prefix = name + "-" + replicated.value("name", "") + "-";
      for (std::size_t i = 0; i < count_of(replicated, "replicas"); ++i) {
        auto added = add_pods(at(job, "template"), namespace_of_it, prefix + std::to_string(i),
                              pods_of_job(job), Name::kMadeUp);
        if (!added) return added;
      }
    }
    return {};
  }

  // How many run at a time.
  static std::size_t pods_of_job(const Json& spec) {
    const std::size_t parallel = count_of(spec, "parallelism");
    return spec.contains("completions") ? std::min(parallel, count_of(spec, "completions"))
                                        : parallel;
  }

  k8s::Result<void> add_pods(const Json& pod_template, const std::string& namespace_of_it,
                             const std::string& name, std::size_t count, Name names) {
    Json pod = {{"metadata", at(pod_template, "metadata")}, {"spec", at(pod_template, "spec")}};
    pod["metadata"]["namespace"] = namespace_of_it;
    for (std::size_t i = 0; i < count; ++i) {
      if (into_.pods.size() == kMostPods) {
        return k8s::config_error("the files ask for more than 100000 pods");
      }
      pod["metadata"]["name"] = name + "-" + std::to_string(i);
      if (auto added = add_pod(pod.dump(), names); !added) return added;
    }
    return {};
  }

  const std::string& namespace_;
  Known known_;
  answers::Change& into_;
  k8s::Decoder decoder_;
  std::set<std::string> names_;
};

}  // namespace

k8s::Result<void> load_manifests(const std::vector<std::string>& files,
                                 const std::string& namespace_, Known known,
                                 answers::Change& change) {
  Reader reader(namespace_, std::move(known), change);
  for (const std::string& file : files) {
    const auto read =
        for_each_object(file, [&](const FoundObject& found) { return reader.read(found); });
    if (!read) return read;
  }
  return reader.finish();
}

}  // namespace sched::kubectl
