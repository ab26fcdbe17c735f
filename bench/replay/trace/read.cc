#include "bench/replay/trace/read.h"

#include "bench/replay/trace/check_gpus.h"
#include "bench/replay/trace/cluster_dump.h"
#include "bench/replay/trace/counts.h"
#include "bench/replay/trace/devices_apart.h"
#include "bench/replay/trace/dump_objects.h"
#include "bench/replay/trace/openb.h"
#include "bench/replay/trace/simple.h"
#include "bench/replay/trace/text_file.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace bench::replay {
namespace {

enum class Format { kOpenb, kSimple, kObjects };

// By the first line: a table's header has several columns, unlike JSON and YAML.
Format format_of(const TextFile& file) {
  const auto begin = std::min(file.text.find_first_not_of(" \t\r\n"), file.text.size());
  const auto end = std::min(file.text.find('\n', begin), file.text.size());
  const std::string_view line = std::string_view(file.text).substr(begin, end - begin);
  const bool is_markup = line.empty() || std::string_view("{[#-%").find(line.front()) != line.npos;
  if (is_markup || line.find(',') == line.npos) return Format::kObjects;
  const bool is_openb = line.find("cpu_milli") != line.npos || line.find("num_gpu") != line.npos ||
                        line.starts_with("sn,");
  return is_openb ? Format::kOpenb : Format::kSimple;
}

void add_counts(Trace& trace, const std::map<std::string, std::size_t>& counts) {
  for (const auto& [what, number] : counts) trace.counts[what] += number;
}

k8s::Result<void> add_nodes(Trace& trace, const TextFile& file) {
  k8s::Result<std::vector<k8s::Node>> nodes;
  switch (format_of(file)) {
    case Format::kOpenb:
      nodes = read_openb_nodes(file);
      break;
    case Format::kSimple:
      nodes = read_simple_nodes(file);
      break;
    case Format::kObjects: {
      auto objects = read_dump_objects(file);
      if (!objects) return tl::unexpected(objects.error());
      count_others(*objects, trace.counts);
      if (!objects->pods.empty()) {
        trace.counts["pods in the nodes' file, not used"] = objects->pods.size();
      }
      nodes = std::move(objects->nodes);
    }
  }
  if (!nodes) return tl::unexpected(nodes.error());
  trace.nodes = std::move(*nodes);
  return {};
}

k8s::Result<void> add_pods(Trace& trace, const TextFile& file) {
  k8s::Result<std::vector<TracePod>> pods;
  switch (format_of(file)) {
    case Format::kOpenb:
      pods = read_openb_pods(file);
      break;
    case Format::kSimple:
      pods = read_simple_pods(file);
      break;
    case Format::kObjects: {
      auto dump = read_cluster_dump(file);
      if (!dump) return tl::unexpected(dump.error());
      if (!dump->nodes.empty()) {
        trace.counts["nodes in the pods' file, not used"] = dump->nodes.size();
      }
      add_counts(trace, dump->left_out);
      pods = std::move(dump->pods);
    }
  }
  if (!pods) return tl::unexpected(pods.error());
  trace.pods = std::move(*pods);
  return {};
}

// One dump with both.
k8s::Result<void> add_both(Trace& trace, const TextFile& file) {
  auto dump = read_cluster_dump(file);
  if (!dump) return tl::unexpected(dump.error());
  add_counts(trace, dump->left_out);
  trace.nodes = std::move(dump->nodes);
  trace.pods = std::move(dump->pods);
  return {};
}

k8s::Result<void> add_files(Trace& trace, const TraceFiles& files) {
  const auto nodes = read_text_file(files.nodes);
  if (!nodes) return tl::unexpected(nodes.error());
  if (files.nodes == files.pods && format_of(*nodes) == Format::kObjects) {
    return add_both(trace, *nodes);
  }
  if (auto added = add_nodes(trace, *nodes); !added) return added;
  const auto pods = read_text_file(files.pods);
  if (!pods) return tl::unexpected(pods.error());
  return add_pods(trace, *pods);
}

// A bound pod without its node in the trace would hold nothing.
void leave_out_pods_elsewhere(Trace& trace) {
  std::unordered_set<std::string> names;
  for (const k8s::Node& node : trace.nodes) names.insert(node.metadata.name);
  const auto left_out = std::erase_if(trace.pods, [&](const TracePod& pod) {
    return pod.bound_to_start_with && names.count(pod.pod.spec.node_name) == 0;
  });
  if (left_out > 0)
    trace.counts["pods bound to nodes that are not in the trace, left out"] = left_out;
}

// For messages.
std::string trace_files(const TraceFiles& files) {
  return files.nodes == files.pods ? files.pods : files.nodes + ", " + files.pods;
}

}  // namespace

k8s::Result<Trace> read_trace(const TraceFiles& files) {
  Trace trace;
  trace.name = stem_of(files.pods);
  if (auto added = add_files(trace, files); !added) return tl::unexpected(added.error());
  if (trace.nodes.empty()) return k8s::decode_error(files.nodes + ": there is no node in it");
  if (trace.pods.empty()) return k8s::decode_error(files.pods + ": there is no pod in it");
  leave_out_pods_elsewhere(trace);
  if (trace.pods.empty()) {
    return k8s::decode_error(files.pods + ": all pods in it are bound to nodes that are not in " +
                             files.nodes);
  }
  keep_devices_apart_if_asked(trace);
  if (auto checked = check_gpus(trace); !checked) {
    return tl::unexpected(k8s::with_context(std::move(checked.error()), trace_files(files)));
  }
  count(trace);
  return trace;
}

}  // namespace bench::replay
