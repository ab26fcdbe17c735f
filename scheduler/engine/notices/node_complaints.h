// What is wrong with the GPU labels and amounts of nodes, told once: when it is first seen, when it
// is something else, and when it is over. GPU products that are not known are told of once each,
// with the first node that has them.
//
// Nobody listens before the engine may decide, which for a standby is months: so what is kept to be
// told is what holds now, at most one thing of each node.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/gpu/inventory.h"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched {

class NodeComplaints {
 public:
  // The node is there and offers this. Repeating it is harmless.
  void seen(const std::string& node, const gpu::Inventory& inventory);
  void gone(const std::string& node);

  // The next node to tell of; nullopt: none.
  [[nodiscard]] std::optional<decision::NodeComplaint> next();
  // How much there is to tell.
  [[nodiscard]] std::size_t untold() const { return products_.size() + untold_.size(); }

 private:
  std::map<std::string, std::vector<std::string>> known_;  // by node; those with complaints
  std::set<std::string> told_;                             // nodes; of these it is to tell the end
  std::set<std::string> untold_;                           // nodes; what, known_ says
  std::set<std::string> unknown_products_;                 // seen; kMostProducts at most
  std::deque<decision::NodeComplaint> products_;           // to be told of
};

}  // namespace sched
