// Nodes and pods of a live cluster, as `kubectl get nodes,pods -A -o json` (or -o yaml) prints
// them.
//
// A List, several documents, an array or JSON Lines; objects of other kinds are counted and not
// used. The past is read from each pod:
//
//   created  metadata.creationTimestamp
//   deleted  of finished pods the last time that a container finished, else of a condition's last
//            change; of those being deleted metadata.deletionTimestamp; of all others unknown
//
// Pods arrive as if they were new: without node, status, deletion and scheduling gates. Pods of
// DaemonSets and static pods are part of their nodes: the running ones are bound there at the
// start. Volumes of arriving pods are not considered, because a dump has neither claims nor
// volumes; what was left out is counted.
#pragma once

#include "bench/replay/trace/text_file.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bench::replay {

struct ClusterDump {
  std::vector<k8s::Node> nodes;
  // Times count from the creation of the first arriving pod.
  std::vector<TracePod> pods;
  std::map<std::string, std::size_t> left_out;  // objects and parts of them, for messages
};

// An error is "FILE:LINE: …": text that is neither JSON nor YAML, an object that cannot be read, a
// node without allocatable, a duplicate node or pod.
[[nodiscard]] k8s::Result<ClusterDump> read_cluster_dump(const TextFile& file);

}  // namespace bench::replay
