#include "scheduler/engine/report/absent_devices.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/resource_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace sched {
namespace {

constexpr std::string_view kStrategyLabel = "nvidia.com/mig.strategy";

}  // namespace

AbsentDevices::AbsentDevices(const std::vector<ResourceAmount>& requests,
                             const ResourceNames& names)
    : names_(names) {
  for (const ResourceAmount& request : requests) {
    const std::string& name = names.name(request.resource);
    if (!is_extended_resource(name)) continue;
    Device device;
    device.resource = request.resource;
    device.is_gpu = gpu::is_gpu_resource(name);
    device.is_mig = name.starts_with(gpu::kMigResourcePrefix);
    devices_.push_back(device);
  }
}

void AbsentDevices::add(const NodeView& node, std::uint64_t rank) {
  ++nodes_;
  for (Device& device : devices_) {
    if (node.allocatable(device.resource) > 0) continue;
    ++device.nodes;
    const Why reason = why(device, node.facts);
    if (reason == Why::kNone) continue;
    Group& group = device.groups[static_cast<std::size_t>(reason)];
    if (group.nodes++ > 0 && group.rank < rank) continue;
    group.first = &node.facts;
    group.rank = rank;
  }
}

AbsentDevices::Why AbsentDevices::why(const Device& device, const NodeFacts& node) const {
  if (!device.is_gpu) return Why::kNone;
  if (node.health.mig_change != gpu::MigChange::kNone) return Why::kMigChange;
  if (forms_of(node).empty()) return node.health.labelled_gpus ? Why::kNoPlugin : Why::kNone;
  if (device.is_mig && node.allocatable.get(kNvidiaGpu) > 0) {
    if (gpu::label_of(node.labels, kStrategyLabel) == "none") return Why::kNotByName;
    if (gpu::label_of(node.labels, kStrategyLabel) == "single" &&
        gpu::label_of(node.labels, gpu::kProductLabel).find("-MIG-") != std::string_view::npos) {
      return Why::kSingle;
    }
  }
  return Why::kOtherForms;
}

std::string AbsentDevices::text() const {
  std::vector<std::string> sentences;
  for (const Device& device : devices_) {
    if (std::string text = sentence(device); !text.empty()) sentences.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

bool AbsentDevices::is_nowhere() const {
  return nodes_ > 0 && std::any_of(devices_.begin(), devices_.end(),
                                   [&](const Device& device) { return device.nodes == nodes_; });
}

std::string AbsentDevices::sentence(const Device& device) const {
  const std::string& name = names_.name(device.resource);
  std::vector<std::string> clauses;
  for (std::size_t i = 0; i < kReasons; ++i) {
    const Group& group = device.groups[i];
    if (group.nodes > 0) clauses.push_back(clause(static_cast<Why>(i), group));
  }
  if (device.nodes == 0) return "";
  if (device.nodes < nodes_) {
    return clauses.empty() ? "" : fmt::format("{}: {}.", name, fmt::join(clauses, "; "));
  }
  const std::string absent = fmt::format("No node of {} offers {}", nodes_, name);
  if (clauses.empty()) return absent + ": is its device plugin running?";
  return fmt::format("{}: {}.", absent, fmt::join(clauses, "; "));
}

std::string AbsentDevices::nodes(const Group& group, std::string_view if_one,
                                 std::string_view if_more) {
  const bool is_one = group.nodes == 1;
  const std::string_view does = is_one ? if_one : if_more;
  return fmt::format("{} {}{}{}", group.nodes, is_one ? "node" : "nodes", does.empty() ? "" : " ",
                     does);
}

std::string AbsentDevices::clause(Why why, const Group& group) const {
  const NodeFacts& first = *group.first;
  switch (why) {
    case Why::kMigChange:
      return fmt::format("a change of the MIG configuration on {} (first {}: {} is {})",
                         nodes(group), first.name,
                         first.health.mig_config.empty() ? "unnamed" : first.health.mig_config,
                         gpu::to_string(first.health.mig_change));
    case Why::kNoPlugin:
      return fmt::format("device plugin absent on {} GPU labels (first {})",
                         nodes(group, "that carries", "that carry"), first.name);
    case Why::kNotByName:
      return fmt::format("{} MIG strategy none, which offers no instances by profile (first {})",
                         nodes(group, "has", "have"), first.name);
    case Why::kSingle:
      return fmt::format(
          "{} MIG strategy single, where instances are called nvidia.com/gpu (first {}: {})",
          nodes(group, "has", "have"), first.name, gpu::label_of(first.labels, gpu::kProductLabel));
    case Why::kOtherForms:
      return fmt::format("{} GPUs in another form (first {}: {})", nodes(group, "offers", "offer"),
                         first.name, fmt::join(forms_of(first), ", "));
    case Why::kNone:
      break;
  }
  return "";
}

std::vector<std::string_view> AbsentDevices::forms_of(const NodeFacts& node) const {
  std::vector<std::string_view> forms;
  node.allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (id < kNvidiaGpu || amount <= 0) return;
    const std::string& name = names_.name(id);
    if (gpu::is_gpu_resource(name)) forms.push_back(name);
  });
  std::sort(forms.begin(), forms.end());
  return forms;
}

}  // namespace sched
