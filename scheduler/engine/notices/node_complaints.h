// What is wrong with the GPU labels and amounts of nodes. Each complaint is reported once: when it
// is first seen, when it changes, and when it ends. Each unknown GPU product is reported once, with
// the first node that has it.
//
// Reports leave the engine only when it may decide; for a standby that can take months. So only the
// present state is stored for reports, at most one per node.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/gpu/inventory.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched {

class NodeComplaints {
 public:
  // The node exists and offers this. Calls may repeat.
  void seen(const std::string& node, const gpu::Inventory& inventory);
  void gone(const std::string& node);

  // The next node to report; nullopt: none.
  [[nodiscard]] std::optional<decision::NodeComplaint> next();

 private:
  std::map<std::string, std::vector<std::string>> known_;  // by node; those with complaints
  std::set<std::string> reported_;          // nodes; the end of their complaints must be reported
  std::set<std::string> unreported_;        // nodes to report; known_ has the complaints
  std::set<std::string> unknown_products_;  // seen; kMostProducts at most
  std::deque<decision::NodeComplaint> products_;  // to be reported
};

}  // namespace sched
