// The start of a group of which some pods must be prepared before they can be bound: their volumes,
// for example.
//
// All its pods have their nodes. None is bound before all of them are ready. If one fails without
// which there are too few, none is bound: each gives its node back, and waits with its group again.
// So a volume that is never provided costs a group no GPU for longer than it is waited for. Further
// pods of the group that come meanwhile are bound together with the others if they find room, and
// evict none. plans.h carries that out.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sched {

class GroupStart {
 public:
  // Fewer than min_count with nodes do not start.
  explicit GroupStart(std::size_t min_count) : min_count_(min_count) {}

  // The pod, by uid, is one of them from now on: ready to be bound, or not yet.
  void set_ready(const std::string& uid, bool ready);
  // It is not one of them any more.
  void leave(const std::string& uid);
  // The pod is of the group, has no node, and had its turn meanwhile.
  void came_late(const std::string& uid) { late_.insert(uid); }
  [[nodiscard]] const std::set<std::string>& late() const { return late_; }

  [[nodiscard]] std::size_t min_count() const { return min_count_; }
  [[nodiscard]] bool is_empty() const { return is_ready_.empty(); }
  [[nodiscard]] bool all_ready() const { return unready_ == 0; }
  [[nodiscard]] std::vector<std::string> pods() const;  // by uid, ascending

 private:
  std::size_t min_count_;
  std::map<std::string, bool> is_ready_;  // by uid
  std::size_t unready_ = 0;
  std::set<std::string> late_;  // by uid
};

}  // namespace sched
