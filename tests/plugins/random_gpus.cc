#include "tests/plugins/random_gpus.h"

#include <algorithm>
#include <array>

namespace tests {

using sched::ClusterContext;
using sched::TypicalPod;

namespace {

const std::vector<std::string> kProducts = {"", "A", "B", "C"};

}  // namespace

std::ostream& operator<<(std::ostream& out, const NaivePod& pod) {
  return out << "pod of " << pod.cpu << " CPU, " << pod.memory << " MiB, " << pod.gpus << " x "
             << pod.milli;
}

std::ostream& operator<<(std::ostream& out, const NaiveNode& node) {
  out << "node " << node.product << " with " << node.cpu << " CPU, " << node.memory << " MiB, GPU";
  for (const std::int64_t free : node.devices) out << ' ' << free;
  return out;
}

bool NaiveNode::allows(const TypicalPod& pod) const {
  return pod.products.empty() || std::count(pod.products.begin(), pod.products.end(), product) != 0;
}

NaiveNode NaiveNode::with(const NaivePod& pod, std::size_t device) const {
  NaiveNode after = *this;
  after.cpu -= pod.cpu;
  after.memory -= pod.memory;
  if (pod.is_share()) {
    after.devices[device] -= pod.milli;
    return after;
  }
  std::int64_t left = pod.gpus;
  for (std::int64_t& free : after.devices) {
    if (left == 0 || free < 1'000) continue;
    free = 0;
    --left;
  }
  return after;
}

Scored NaiveNode::ask(const sched::ScorePlugin& plugin, const NaivePod& pod,
                      const ClusterContext& context) const {
  PodBuilder made = tests::pod("a").cpu(std::to_string(pod.cpu) + "m");
  made.memory(std::to_string(pod.memory) + "Mi");
  if (pod.is_share()) {
    made.requests(sched::gpu::kMilliResource, std::to_string(pod.milli));
  } else if (pod.gpus > 0) {
    made.gpus(pod.gpus);
  }
  return GpuNode(cpu, {devices.begin(), devices.end()})
      .memory(memory)
      .product(product)
      .ask(plugin, made, context);
}

Scored best_of(const NaiveNode& node, const NaivePod& pod,
               const std::function<std::int64_t(const NaiveNode& after)>& rating) {
  if (!pod.is_share()) return {.score = rating(node.with(pod, 0)), .device = -1};
  Scored best;
  for (std::size_t device = 0; device < node.devices.size(); ++device) {
    if (node.devices[device] < pod.milli) continue;
    const std::int64_t score = rating(node.with(pod, device));
    if (best.device < 0 || score > best.score) best = {score, static_cast<int>(device)};
  }
  return best;
}

std::int64_t RandomGpus::size() {
  constexpr std::array<std::int64_t, 6> kSizes{1'000, 500, 460, 200, 50, 1};
  return below(2) == 0 ? kSizes.at(static_cast<std::size_t>(below(kSizes.size())))
                       : 1 + below(1'000);
}

ClusterContext RandomGpus::workload() {
  ClusterContext context;
  for (std::int64_t kinds = 1 + below(30); kinds > 0; --kinds) {
    TypicalPod pod;
    pod.cpu = below(32'000);
    pod.gpus = std::max<std::int64_t>(0, below(10) - 1);
    if (pod.gpus > 0) pod.milli = 1'000;
    if (pod.gpus == 1) pod.milli = size();
    for (const std::string& product : kProducts) {
      if (pod.gpus > 0 && !product.empty() && below(4) == 0) pod.products.push_back(product);
    }
    pod.count = static_cast<std::uint64_t>(1 + below(below(3) == 0 ? 1'000 : 10));
    if (below(2) == 0) pod.memory = below(64 * 1'024);
    context.pods.push_back(std::move(pod));
  }
  std::sort(context.pods.begin(), context.pods.end(),
            [](const TypicalPod& a, const TypicalPod& b) { return a.count > b.count; });
  for (const TypicalPod& pod : context.pods) context.pods_seen += pod.count;
  for (const std::string& product : kProducts) {
    if (below(4) == 0) continue;
    for (std::int64_t sizes = 1 + below(3); sizes > 0; --sizes) {
      const std::int64_t nodes = 1 + below(100);
      const sched::GpuNodeKind kind{.product = product,
                                    .gpus = 1 + below(8),
                                    .cpu = below(128) * 1'000,
                                    .memory = below(256) * 1'024};
      if (context.gpu_nodes.emplace(kind, nodes).second) context.gpus += kind.gpus * nodes;
    }
  }
  return context;
}

NaiveNode RandomGpus::node() {
  NaiveNode node;
  node.product = kProducts[static_cast<std::size_t>(below(4))];
  node.cpu = below(128'000);
  node.memory = below(256 * 1'024);
  for (std::int64_t devices = below(9); devices > 0; --devices) {
    const std::int64_t used = below(3) == 0 ? size() : (below(2) == 0 ? 1'000 : 0);
    node.devices.push_back(1'000 - used);
  }
  return node;
}

NaivePod RandomGpus::pod_for(const NaiveNode& node) {
  NaivePod pod{.cpu = below(node.cpu + 1), .memory = 0, .gpus = 0, .milli = 0};
  if (below(2) == 0) pod.memory = below(node.memory + 1);
  const auto free = std::count(node.devices.begin(), node.devices.end(), 1'000);
  if (free > 0 && below(3) == 0) {
    pod.gpus = 1 + below(free);
    pod.milli = 1'000;
  } else if (!node.devices.empty()) {
    const std::int64_t most = *std::max_element(node.devices.begin(), node.devices.end());
    if (most > 1 && below(4) != 0) {
      pod.gpus = 1;
      pod.milli = std::min<std::int64_t>(999, 1 + below(most));
    }
  }
  return pod;
}

}  // namespace tests
