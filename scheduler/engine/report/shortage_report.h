// The numbers behind "no node fits", in sentences: what kube-scheduler does not say.
//
// An ML engineer who reads "Insufficient nvidia.com/gpu" wants to know how much there is, where,
// and whether something else than GPUs stands in the way. So of the nodes that say no, those are
// told apart that say it for one reason alone:
//   * short of an amount, all else being fine: how much was asked, the most that one node has free,
//     how much is free in all;
//   * another single refusal (a taint, the selector, a port) on a node that has room: how many
//     nodes would take the pod but for it.
// Nodes with several things against them are not counted; they are no help to the reader. Nodes
// that have none of an asked device at all are counted besides (absent_devices.h), and what filters
// have to say of all nodes together (Survey) comes last.
#pragma once

#include "scheduler/engine/finder/prepared_shape.h"
#include "scheduler/engine/report/absent_devices.h"

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

  // A node that said no, and its position among the nodes by name (of equals the first is named).
  // Asks the filters that were not asked before. The node's facts must outlive the report.
  void add(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);

  // The sentences, empty when no node was added.
  [[nodiscard]] std::string text() const;

 private:
  // One asked resource over the nodes that lack nothing but amounts.
  struct Amount {
    ResourceId resource{};
    std::int64_t asked = 0;
    std::int64_t most_free = -1;  // on one node
    std::int64_t capacity = 0;    // of that node
    const NodeFacts* node = nullptr;
    std::uint64_t rank = 0;  // of that node
    std::int64_t most_capacity = 0;
    std::int64_t free_in_all = 0;
    bool short_somewhere = false;
  };
  // Nodes that would take the pod but for one refusal.
  struct Refusal {
    std::size_t nodes = 0;
    const NodeFacts* first = nullptr;  // by name
    std::uint64_t rank = 0;            // of that node
    std::string numbers;               // of that node
  };

  bool add_shortage(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);
  void add_refusal(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank);
  Amount& amount(ResourceId resource);
  [[nodiscard]] std::string sentence(const Amount& amount) const;

  const PreparedShape& shape_;
  const ResourceNames& names_;
  AbsentDevices absent_;
  std::vector<Amount> amounts_;  // by ascending resource
  // By filter index and the first reason's index.
  std::map<std::pair<std::uint32_t, unsigned>, Refusal> refusals_;
  std::vector<NodeFilter::Shortage> shortages_;  // of the node that is being added
  std::vector<std::unique_ptr<Survey>> surveys_;
  std::size_t nodes_ = 0;        // added
  std::size_t short_nodes_ = 0;  // that lack nothing but amounts
};

}  // namespace sched
