// The numbers behind "no node fits", in sentences that kube-scheduler does not give.
//
// An ML engineer who reads "Insufficient nvidia.com/gpu" needs to know how much there is, where,
// and whether the obstacle is something other than GPUs. So the report covers nodes that refuse for
// one reason alone:
//   * an amount is too small, and all else fits: how much was asked, the most that one node has
//     free, how much is free in all;
//   * one other refusal (a taint, the selector, a port) on a node that has room: how many nodes
//     would take the pod without it.
// If there is none, the report counts by which two filters the nodes refuse. Nodes that have
// none of an asked device are counted separately (absent_devices.h), and filters report about all
// nodes together (Survey).
//
// Where there is room for one sentence, the first is shown alone: it gives the likely cause. A
// device that no node offers comes first of all. Then what is short, with the number of nodes that
// refuse for one thing else: a user who named a product needs to know how much of it is free, and
// that other nodes have room. What no node has enough of comes before what only some nodes lack.
// Where nothing is short, what a survey found (a label that no node has) is likely to be the cause.
#pragma once

#include "scheduler/engine/finder/prepared_shape.h"
#include "scheduler/engine/report/absent_devices.h"
#include "scheduler/gpu/inventory.h"

#include <boost/container/flat_map.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sched {

class ShortageReport {
 public:
  // Borrowed things outlive the report.
  ShortageReport(const PreparedShape& shape, const ResourceNames& names);

  // Adds a node that refused; `rank` is its position among the nodes by name (among equals the
  // first is named). Asks the filters that were not asked before. The node's facts must outlive the
  // report.
  void add(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);
  // There is a node that every filter passes, and a rule across nodes excludes. What no node has or
  // offers is not said then, since only those that refused were looked at.
  void add_passing() { some_pass_ = true; }

  // The sentences, the most telling one first; empty if no node was added.
  [[nodiscard]] std::string text() const;

 private:
  // What an amount is of. Whole GPUs, replicas and MIG instances that nodes offer under one name
  // are never added up.
  struct What {
    ResourceId resource{};
    gpu::GpuPiece piece = gpu::GpuPiece::kWholeGpu;  // for nvidia.com/gpu only
    friend auto operator<=>(const What&, const What&) = default;
  };
  // One asked resource, over the nodes on which only amounts are too small.
  struct Amount {
    std::int64_t asked = 0;
    std::int64_t most_free = -1;  // on one node; among equals that with the largest capacity
    std::int64_t capacity = 0;    // of that node
    const NodeFacts* node = nullptr;
    std::uint64_t rank = 0;  // of that node
    std::int64_t most_capacity = 0;
    std::int64_t free_in_all = 0;
    std::size_t nodes = 0;
    std::size_t short_on = 0;  // how many of these have less free

    [[nodiscard]] bool is_short_everywhere() const { return asked > most_free; }
  };
  // Nodes that would take the pod without one refusal.
  struct Refusal {
    std::size_t nodes = 0;
    const NodeFacts* first = nullptr;  // by name
    std::uint64_t rank = 0;            // of that node
    std::string numbers;               // of that node
  };

  // Filters by index: that of the verdict, and the next one that would refuse the node.
  using Two = std::pair<std::uint32_t, std::uint32_t>;

  // Whether nothing else keeps the pod off the node; counts it where something does.
  [[nodiscard]] bool is_alone(const NodeView& node, const NodeVerdict& verdict);
  bool add_shortage(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);
  void add_refusal(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);
  void ask_for(ResourceId resource, std::int64_t amount);
  // "nvidia.com/gpu: needs 8 on one node; most free is 2 of 8 (h100-2)". Where some node has
  // enough, and lacks something else: "cpu: needs 8 on one node; 2 of the 3 nodes left to the pod
  // have less free".
  [[nodiscard]] std::string shortage_of(const What& what, const Amount& amount) const;
  // "nvidia.com/gpu: 18 free in all on the 3 nodes left to the pod."
  [[nodiscard]] std::string free_in_all(const What& what, const Amount& amount) const;
  // "3 nodes would take the pod but for NodeAffinity, 1 but for TaintToleration".
  [[nodiscard]] std::string but_for_text() const;
  // "No node would take the pod if only one thing were different: 3 nodes refuse for NodeAffinity
  // and NodeResourcesFit, 1 for …", the two that most nodes refuse for.
  [[nodiscard]] std::string for_two_text() const;
  [[nodiscard]] std::string surveys_text() const;

  const PreparedShape& shape_;
  const ResourceNames& names_;
  AbsentDevices absent_;
  std::vector<ResourceAmount> asked_;
  boost::container::flat_map<What, Amount> amounts_;
  // By filter index and the first reason's index.
  std::map<std::pair<std::uint32_t, unsigned>, Refusal> refusals_;
  std::map<Two, std::size_t> nodes_for_two_;
  std::vector<NodeFilter::Shortage> shortages_;  // of the node that is being added
  std::vector<std::unique_ptr<Survey>> surveys_;
  std::size_t nodes_ = 0;  // added
  bool some_pass_ = false;
};

}  // namespace sched
