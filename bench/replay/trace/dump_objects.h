// The nodes and pods of a file of Kubernetes objects, unchanged.
#pragma once

#include "bench/replay/trace/text_file.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::replay {

struct DumpedPod {
  k8s::Pod pod;
  // For a finished pod: when it ended (see cluster_dump.h), if known.
  std::optional<k8s::Timestamp> ended;
};

struct DumpObjects {
  std::vector<k8s::Node> nodes;
  std::vector<DumpedPod> pods;
  std::map<std::string, std::size_t> others;  // objects of other kinds, by kind
};

// Requests, namespaces and uids that a manifest may leave out are filled in. An error as in
// read_cluster_dump.
[[nodiscard]] k8s::Result<DumpObjects> read_dump_objects(const TextFile& file);

// Adds the text about `others` to a trace's report.
void count_others(const DumpObjects& objects, std::map<std::string, std::size_t>& counts);

}  // namespace bench::replay
