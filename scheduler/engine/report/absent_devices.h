// Why nodes have none of a device that a pod asks for, in sentences.
//
// kube-scheduler reports "Insufficient nvidia.com/gpu" for a node with all GPUs taken, for a node
// that never had any, and for a node with a failed device plugin. The reader needs to know which.
// So nodes that offer nothing under the asked name are reported in groups:
//   * nodes that are changing their MIG configuration (the device plugin is paused meanwhile);
//   * nodes with labels that name GPUs, but that offer none under any name: no device plugin runs;
//   * nodes that offer GPUs under other names: shared (nvidia.com/gpu.shared),
//     partitioned (nvidia.com/mig-…), or whole although an instance is asked for.
//     nvidia.com/mig.strategy determines the names.
// Zero and absent are the same: kubelet keeps the names of removed devices, with an amount of zero.
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/framework/node_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class AbsentDevices {
 public:
  // `names` outlives it.
  AbsentDevices(const std::vector<ResourceAmount>& requests, const ResourceNames& names);

  // Adds a node that refused; `rank` is its position among the nodes by name (the first of a group
  // is named). Its facts outlive the report. O(asked devices), a little more on nodes with GPUs.
  void add(const NodeView& node, std::uint64_t rank);

  // One sentence per device that no node offers, or that is absent for a known cause. Nodes without
  // GPUs are not mentioned. Empty: there is no such device.
  [[nodiscard]] std::string text() const;
  // Whether there is an asked device that no node offers.
  [[nodiscard]] bool is_nowhere() const;

 private:
  // What explains the absence, the first that applies.
  enum class Why : std::uint8_t {
    kMigChange,   // nvidia.com/mig.config.state
    kNoPlugin,    // labelled, but offers no NVIDIA resource
    kNotByName,   // mig.strategy none: GPUs in MIG mode count as whole ones
    kSingle,      // mig.strategy single: instances have the name nvidia.com/gpu
    kOtherForms,  // offers other NVIDIA resources
    kNone,        // no such device there, and no known cause
  };
  static constexpr std::size_t kReasons = 5;  // all but kNone
  struct Group {
    std::size_t nodes = 0;
    const NodeFacts* first = nullptr;  // by name
    std::uint64_t rank = 0;            // of that node
  };
  struct Device {
    ResourceId resource{};
    bool is_gpu = false;
    bool is_mig = false;
    std::size_t nodes = 0;  // nodes that have none
    std::array<Group, kReasons> groups{};
  };

  [[nodiscard]] Why why(const Device& device, const NodeFacts& node) const;
  [[nodiscard]] std::string sentence(const Device& device) const;
  [[nodiscard]] std::string clause(Why why, const Group& group) const;
  // "1 node has", "2 nodes have": how many there are, and what they do.
  [[nodiscard]] static std::string nodes(const Group& group, std::string_view if_one = {},
                                         std::string_view if_more = {});
  // The NVIDIA resources that the node offers: {"nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"}.
  [[nodiscard]] std::vector<std::string_view> forms_of(const NodeFacts& node) const;

  const ResourceNames& names_;
  std::vector<Device> devices_;  // asked for, by ascending resource
  std::size_t nodes_ = 0;        // added
};

}  // namespace sched
