#include "bench/replay/trace/openb.h"

#include "bench/replay/trace/objects.h"
#include "bench/replay/trace/row_reader.h"
#include "scheduler/gpu/devices.h"

namespace bench::replay {
namespace {

// Beyond any machine, and far from overflowing when summed up.
constexpr WholeRange kMilliCpus{0, 1'000'000'000};
constexpr WholeRange kMebibytes{0, 1'000'000'000};
constexpr WholeRange kGpus{0, sched::gpu::kMaxDevices};
constexpr WholeRange kMilliGpus{0, sched::gpu::kMilliPerGpu};

const Columns& openb_node_columns() {
  static const Columns columns{.required = {"sn", "cpu_milli", "memory_mib", "gpu", "model"},
                               .optional = {},
                               .prefixes = {}};
  return columns;
}

const Columns& openb_pod_columns() {
  static const Columns columns{
      .required = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"},
      .optional = {"gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time",
                   "scheduled_time"},
      .prefixes = {}};
  return columns;
}

k8s::Quantity cpu(RowReader& rows) {
  return k8s::Quantity::of_milli(rows.whole("cpu_milli", kMilliCpus));
}

k8s::Quantity memory(RowReader& rows) {
  return k8s::Quantity::of(rows.whole("memory_mib", kMebibytes) * 1'048'576);
}

void read_openb_gpus(RowReader& rows, PodRow& pod) {
  pod.gpus = rows.whole("num_gpu", kGpus);
  pod.milli = rows.whole("gpu_milli", kMilliGpus);
  if (pod.gpus == 0 && pod.milli != 0) {
    rows.complain("gpu_milli", "0, since num_gpu is 0");
  } else if (pod.gpus == 1 && pod.milli == 0) {
    rows.complain("gpu_milli", "1 to 1000, since num_gpu is 1");
  } else if (pod.gpus > 1 && pod.milli != sched::gpu::kMilliPerGpu) {
    rows.complain("gpu_milli",
                  "1000, since num_gpu is above 1: shares of several GPUs are unknown");
  }
}

TracePod read_openb_pod(RowReader& rows) {
  PodRow row;
  row.namespace_ = "default";
  row.name = rows.name("name");
  rows.require_new("name", row.name);
  row.cpu = cpu(rows);
  row.memory = memory(rows);
  read_openb_gpus(rows, row);
  row.gpu_models = rows.models("gpu_spec");
  TracePod pod;
  pod.pod = pod_object(row);
  pod.created = rows.seconds("creation_time");
  pod.deleted = rows.seconds("deletion_time");
  if (pod.created && pod.deleted && *pod.deleted < *pod.created) {
    rows.complain("deletion_time", "a time that is not before creation_time");
  }
  return pod;
}

}  // namespace

k8s::Result<std::vector<k8s::Node>> read_openb_nodes(const TextFile& file) {
  auto rows = RowReader::open(file, openb_node_columns());
  if (!rows) return tl::unexpected(rows.error());
  std::vector<k8s::Node> nodes;
  while (rows->next()) {
    NodeRow row;
    row.name = rows->name("sn");
    rows->require_new("sn", row.name);
    row.cpu = cpu(*rows);
    row.memory = memory(*rows);
    row.gpus = rows->whole("gpu", kGpus);
    row.gpu_model = rows->text("model");
    nodes.push_back(node_object(row));
  }
  if (auto done = rows->finish(); !done) return tl::unexpected(done.error());
  return nodes;
}

k8s::Result<std::vector<TracePod>> read_openb_pods(const TextFile& file) {
  auto rows = RowReader::open(file, openb_pod_columns());
  if (!rows) return tl::unexpected(rows.error());
  std::vector<TracePod> pods;
  while (rows->next()) pods.push_back(read_openb_pod(*rows));
  if (auto done = rows->finish(); !done) return tl::unexpected(done.error());
  return pods;
}

}  // namespace bench::replay
