#include "bench/replay/trace/simple.h"

#include "bench/replay/trace/objects.h"
#include "bench/replay/trace/row_reader.h"
#include "bench/replay/trace/time_columns.h"
#include "scheduler/base/resources.h"
#include "scheduler/gpu/devices.h"

namespace bench::replay {
namespace {

constexpr std::string_view kLabel = "label:";
constexpr std::string_view kResource = "resource:";
// From the lowest value for users to that of system-node-critical, the highest.
constexpr WholeRange kPriorities{-1'000'000'000, 2'000'001'000};

const Columns& simple_node_columns() {
  static const Columns columns{
      .required = {"name", "cpu", "memory", "gpus"},
      .optional = {"gpu_model"},
      .prefixes = {kLabel, kResource},
      .reserved = {"resource:cpu", "resource:memory", "resource:nvidia.com/gpu",
                   "resource:gpu-scheduler.io/gpu-milli", "label:nvidia.com/gpu.product"}};
  return columns;
}

const Columns& simple_pod_columns() {
  static const Columns columns{
      .required = {"name", "cpu", "memory", "gpus"},
      .optional = {"namespace", "gpu_models", "priority", "created", "deleted"},
      .prefixes = {kResource},
      .reserved = {"resource:cpu", "resource:memory", "resource:nvidia.com/gpu",
                   "resource:gpu-scheduler.io/gpu-milli"}};
  return columns;
}

// Opens a table; a resource that no scheduler reads is an error, not left out.
k8s::Result<RowReader> open(const TextFile& file, const Columns& columns) {
  auto rows = RowReader::open(file, columns);
  if (!rows) return rows;
  for (const std::string& name : rows->names_behind(kResource)) {
    if (sched::is_scalar_resource(name) || name == "pods" || name == "ephemeral-storage") continue;
    return rows->header_error(std::string(kResource) + name,
                              "no resource of Kubernetes; others have a domain: example.com/nic");
  }
  return rows;
}

k8s::ResourceList resources(RowReader& rows, const std::vector<std::string>& names) {
  k8s::ResourceList list;
  for (const std::string& name : names) {
    const std::string column = std::string(kResource) + name;
    if (rows.text(column).empty()) continue;
    list.emplace_back(name, rows.quantity(column));
  }
  return list;
}

NodeRow read_node(RowReader& rows) {
  NodeRow row;
  row.name = rows.name("name");
  rows.require_new("name", row.name);
  row.cpu = rows.quantity("cpu");
  row.memory = rows.quantity("memory");
  row.gpus = rows.whole("gpus", {0, sched::gpu::kMaxDevices});
  row.gpu_model = rows.text("gpu_model");
  return row;
}

// "0.46" is a share of one GPU, "2" two whole ones.
void read_simple_gpus(RowReader& rows, PodRow& pod) {
  constexpr std::int64_t kMost = sched::gpu::kMaxDevices * sched::gpu::kMilliPerGpu;
  const auto milli = parse_thousandths(rows.text("gpus"));
  const bool is_share = milli && *milli < sched::gpu::kMilliPerGpu;
  const bool is_whole = milli && *milli % sched::gpu::kMilliPerGpu == 0;
  if (!milli || *milli > kMost || (!is_share && !is_whole)) {
    rows.complain("gpus",
                  "whole GPUs from 0 to 64, or a share of one such as 0.25, to three digits");
    return;
  }
  pod.gpus = is_whole ? *milli / sched::gpu::kMilliPerGpu : 1;
  pod.milli = is_whole ? sched::gpu::kMilliPerGpu : *milli;
}

PodRow read_simple_pod(RowReader& rows) {
  PodRow row;
  row.namespace_ = rows.text("namespace").empty() ? "default" : rows.text("namespace");
  row.name = rows.name("name");
  rows.require_new("name", row.namespace_ + "/" + row.name);
  row.cpu = rows.quantity("cpu");
  row.memory = rows.quantity("memory");
  read_simple_gpus(rows, row);
  row.gpu_models = rows.models("gpu_models");
  if (!rows.text("priority").empty()) {
    row.priority = static_cast<std::int32_t>(rows.whole("priority", kPriorities));
  }
  return row;
}

}  // namespace

k8s::Result<std::vector<k8s::Node>> read_simple_nodes(const TextFile& file) {
  auto rows = open(file, simple_node_columns());
  if (!rows) return tl::unexpected(rows.error());
  const auto labels = rows->names_behind(kLabel);
  const auto further = rows->names_behind(kResource);
  std::vector<k8s::Node> nodes;
  while (rows->next()) {
    NodeRow row = read_node(*rows);
    for (const std::string& key : labels) {
      const std::string_view value = rows->text(std::string(kLabel) + key);
      if (!value.empty()) row.labels.emplace_back(key, value);
    }
    row.resources = resources(*rows, further);
    nodes.push_back(node_object(row));
  }
  if (auto done = rows->finish(); !done) return tl::unexpected(done.error());
  return nodes;
}

k8s::Result<std::vector<TracePod>> read_simple_pods(const TextFile& file) {
  auto rows = open(file, simple_pod_columns());
  if (!rows) return tl::unexpected(rows.error());
  const auto further = rows->names_behind(kResource);
  std::vector<TracePod> pods;
  TimeColumns times;
  while (rows->next()) {
    PodRow row = read_simple_pod(*rows);
    row.resources = resources(*rows, further);
    pods.push_back({.pod = pod_object(row),
                    .created = times.read(*rows, "created"),
                    .deleted = times.read(*rows, "deleted")});
    if (pods.back().created && pods.back().deleted && *pods.back().deleted < *pods.back().created) {
      rows->complain("deleted", "a time that is not before created");
    }
  }
  if (auto done = rows->finish(); !done) return tl::unexpected(done.error());
  for (TracePod& pod : pods) times.count_from_start(pod);
  return pods;
}

}  // namespace bench::replay
