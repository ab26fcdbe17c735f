#include "bench/replay/trace/cluster_dump.h"

#include "bench/replay/trace/dump_objects.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace bench::replay {
namespace {

using Counts = std::map<std::string, std::size_t>;

// A pod that belongs to its node: of a DaemonSet, or a static one, which kubelet runs itself and
// shows as a pod owned by the node.
bool is_part_of_node(const k8s::Pod& pod) {
  const k8s::OwnerReference* controller = k8s::controller_of(pod.metadata);
  return controller != nullptr && (controller->kind == "DaemonSet" || controller->kind == "Node");
}

std::optional<k8s::Timestamp> deletion_of(const DumpedPod& dumped) {
  if (dumped.ended) return dumped.ended;
  return dumped.pod.metadata.deletion_timestamp;
}

TracePod bound(DumpedPod dumped) {
  TracePod pod;
  pod.bound_to_start_with = true;
  pod.pod = std::move(dumped.pod);
  pod.pod.metadata.deletion_timestamp.reset();
  return pod;
}

// The pod as it was before anything happened to it.
k8s::Pod as_new(k8s::Pod pod, Counts& left_out) {
  pod.metadata.deletion_timestamp.reset();
  pod.spec.node_name.clear();
  pod.status = {};
  if (!pod.spec.scheduling_gates.empty()) ++left_out["pods whose scheduling gates are lifted"];
  pod.spec.scheduling_gates.clear();
  if (!pod.spec.volumes.empty()) ++left_out["pods whose volumes are not considered"];
  pod.spec.volumes.clear();
  return pod;
}

TracePod arriving(DumpedPod dumped, k8s::Timestamp begin, Counts& left_out) {
  const auto since = [&](k8s::Timestamp time) {
    return std::max(std::chrono::floor<Moment>(time - begin), Moment(0));
  };
  TracePod pod;
  if (const auto created = dumped.pod.metadata.creation_timestamp) pod.created = since(*created);
  if (const auto deleted = deletion_of(dumped)) {
    // Clocks of nodes differ from the API server's.
    pod.deleted = std::max(since(*deleted), pod.created.value_or(Moment(0)));
  }
  pod.pod = as_new(std::move(dumped.pod), left_out);
  return pod;
}

k8s::Timestamp first_creation(const std::vector<DumpedPod>& pods) {
  std::optional<k8s::Timestamp> first;
  for (const DumpedPod& dumped : pods) {
    const auto created = dumped.pod.metadata.creation_timestamp;
    if (created && !is_part_of_node(dumped.pod) && (!first || *created < *first)) first = created;
  }
  return first.value_or(k8s::Timestamp());
}

}  // namespace

k8s::Result<ClusterDump> read_cluster_dump(const TextFile& file) {
  auto objects = read_dump_objects(file);
  if (!objects) return tl::unexpected(objects.error());
  ClusterDump dump;
  count_others(*objects, dump.left_out);
  const k8s::Timestamp begin = first_creation(objects->pods);
  for (DumpedPod& dumped : objects->pods) {
    const k8s::Pod& pod = dumped.pod;
    if (!is_part_of_node(pod) || pod.spec.node_name.empty()) {
      dump.pods.push_back(arriving(std::move(dumped), begin, dump.left_out));
    } else if (pod.is_finished()) {
      ++dump.left_out["finished pods of DaemonSets and static pods, left out"];
    } else {
      dump.pods.push_back(bound(std::move(dumped)));
    }
  }
  dump.nodes = std::move(objects->nodes);
  return dump;
}

}  // namespace bench::replay
