#include "scheduler/kubectl-gpu/added_nodes.h"

#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"

#include <set>
#include <string_view>

namespace sched::kubectl {
namespace {

constexpr int kMostAdded = 10'000;

struct Wish {
  std::string of;  // "H100x8", or a node's name
  int count = 1;
};

k8s::Result<Wish> parse(const std::string& text) {
  const auto equals = text.find('=');
  Wish wish{text.substr(0, equals), 1};
  if (equals == std::string::npos) return wish;
  wish.count = k8s::parse_number<int>(std::string_view(text).substr(equals + 1)).value_or(0);
  if (wish.count < 1 || wish.count > kMostAdded) {
    return k8s::config_error("--add " + text + ": want a number from 1 to 10000 behind \"=\"");
  }
  return wish;
}

std::int64_t gpus_of(const GpuNode& node) {
  std::int64_t sum = 0;
  for (const GpuPieces& pieces : node.pieces) sum += pieces.total;
  return sum;
}

std::string kind_of(const GpuNode& node) { return node.type + "x" + std::to_string(gpus_of(node)); }

// "H100x8" and "H100-80GBx8" both mean a node of kind "H100-80GBx8"; so do "H100" and "H100-80GB",
// if there are no others of that type.
bool means(const std::string& wanted, const GpuNode& node, bool with_count) {
  if (node.type.empty()) return false;
  const std::string count = with_count ? "x" + std::to_string(gpus_of(node)) : "";
  const std::string of_class = node.type.substr(0, node.type.find('-'));
  return k8s::equal_without_case(wanted, node.type + count) ||
         k8s::equal_without_case(wanted, of_class + count);
}

const k8s::Node* model_of(const Wish& wish, const std::vector<GpuNode>& gpu_nodes,
                          const std::map<std::string, k8s::Node>& nodes) {
  if (const auto named = nodes.find(wish.of); named != nodes.end()) return &named->second;
  const k8s::Node* model = nullptr;
  std::set<std::string> kinds;  // of those that the type alone means
  // Closed ones last: their copies would have what closes them.
  for (const bool closed : {false, true}) {
    for (const GpuNode& node : gpu_nodes) {
      const auto found = nodes.find(node.node);
      if (found == nodes.end() || node.closed.empty() == closed) continue;
      if (means(wish.of, node, true)) return &found->second;
      if (!means(wish.of, node, false)) continue;
      if (model == nullptr) model = &found->second;
      kinds.insert(kind_of(node));
    }
  }
  return kinds.size() == 1 ? model : nullptr;
}

}  // namespace

k8s::Result<void> add_nodes(const std::string& wish, const std::vector<GpuNode>& gpu_nodes,
                            const std::map<std::string, k8s::Node>& nodes,
                            std::vector<k8s::Node>& so_far) {
  const auto parsed = parse(wish);
  if (!parsed) return tl::unexpected(parsed.error());
  const k8s::Node* model = model_of(*parsed, gpu_nodes, nodes);
  if (model == nullptr) {
    std::set<std::string> kinds;
    for (const GpuNode& node : gpu_nodes) {
      if (!node.type.empty()) kinds.insert(kind_of(node));
    }
    std::string known;
    for (const std::string& kind : kinds) known += (known.empty() ? "" : ", ") + kind;
    return k8s::config_error("--add " + wish + ": there is no such node to copy; there are " +
                             (known.empty() ? "none with GPUs" : known) +
                             ". Give another as a manifest, with -f");
  }
  k8s::Node node = *model;
  node.metadata.uid.clear();
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints, [](const k8s::Taint& taint) {
    return taint.key.starts_with("node.kubernetes.io/");
  });
  std::set<std::string> added;
  for (const k8s::Node& one : so_far) added.insert(one.metadata.name);
  std::size_t number = 0;
  for (int i = 0; i < parsed->count; ++i) {
    std::string name;
    do {
      name = "new-" + std::to_string(++number);
    } while (nodes.contains(name) || added.contains(name));
    node.metadata.name = name;
    node.metadata.labels.set("kubernetes.io/hostname", name);
    so_far.push_back(node);
  }
  return {};
}

}  // namespace sched::kubectl
