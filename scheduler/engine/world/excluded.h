// The nodes that rules across nodes rule out for one pod, and why.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/framework/verdict.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace sched {

class Excluded {
 public:
  struct Why {
    std::string_view plugin;
    std::string_view reason;
    Code code = Code::kUnschedulable;
  };

  // A rule more: the nodes `out` (each once or more) and, where `only` is there, all nodes but
  // these, which ascend.
  void add(Why why, std::vector<NodeSlot> out, std::optional<std::vector<NodeSlot>> only);

  [[nodiscard]] bool none() const { return out_.empty() && !only_; }
  // The first rule that excludes the node; null: none does.
  [[nodiscard]] const Why* find(NodeSlot slot) const;

  // Ascending: those that are out one by one; and of the others all but those of only(), if any.
  [[nodiscard]] const std::vector<NodeSlot>& out() const { return out_; }
  [[nodiscard]] const std::optional<std::vector<NodeSlot>>& only() const { return only_; }

  // Whom it holds for, besides pods of the same shape: the class, or that pod alone.
  bool of_class = false;
  bool of_pod = false;

 private:
  struct Rule {
    Why why;
    std::vector<NodeSlot> out;
    std::optional<std::vector<NodeSlot>> only;
  };
  std::vector<Rule> rules_;
  std::vector<NodeSlot> out_;                  // of any rule
  std::optional<std::vector<NodeSlot>> only_;  // of every rule that has them
};

}  // namespace sched
