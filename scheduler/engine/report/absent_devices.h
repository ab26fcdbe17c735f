// Why nodes have none of a device that a pod asks for, in sentences.
//
// "Insufficient nvidia.com/gpu" is what kube-scheduler says of a node whose GPUs are taken, of one
// that never had any, and of one whose device plugin has died. The reader wants to know which; so
// of the nodes that offer nothing under the asked name those are told apart
//   * that are changing their MIG configuration (the device plugin is paused meanwhile);
//   * whose labels say they have GPUs while they offer none under any name: no device plugin runs;
//   * that offer GPUs under other names: shared (nvidia.com/gpu.shared), cut (nvidia.com/mig-…), or
//     whole where an instance is asked for. nvidia.com/mig.strategy says what names to expect.
// Zero and absent are the same: kubelet keeps names of devices that are gone, at zero.
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

  // A node that said no, and its position among the nodes by name (of equals the first is named).
  // Its facts outlive the report. O(asked devices), a little more on nodes with GPUs.
  void add(const NodeView& node, std::uint64_t rank);

  // One sentence per device that no node offers, or that is absent where something tells why: that
  // nodes without GPUs have none is no news. Empty: there is no such device.
  [[nodiscard]] std::string text() const;

 private:
  // What explains the absence, the first that applies.
  enum class Why : std::uint8_t {
    kMigChange,   // nvidia.com/mig.config.state
    kNoPlugin,    // labelled, and offers nothing of NVIDIA's
    kNotByName,   // mig.strategy none: GPUs in MIG mode count as whole ones
    kSingle,      // mig.strategy single: instances go by the name nvidia.com/gpu
    kOtherForms,  // offers other names of NVIDIA's
    kNone,        // no such device there, and nothing that would tell why
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
    std::size_t nodes = 0;  // that have none
    std::array<Group, kReasons> groups{};
  };

  [[nodiscard]] Why why(const Device& device, const NodeFacts& node) const;
  [[nodiscard]] std::string sentence(const Device& device) const;
  [[nodiscard]] std::string clause(Why why, const Group& group) const;
  // What the node offers of NVIDIA's: {"nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"}.
  [[nodiscard]] std::vector<std::string_view> forms_of(const NodeFacts& node) const;

  const ResourceNames& names_;
  std::vector<Device> devices_;  // asked for, by ascending resource
  std::size_t nodes_ = 0;        // added
};

}  // namespace sched
