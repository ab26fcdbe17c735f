// The start of a group of which some pods must be prepared before they can be bound: their volumes,
// for example.
//
// All its pods have their nodes. None is bound before all of them are ready. If one fails, and too
// few are left, none is bound: each gives its node back, and waits with its group again. So a
// volume that is never provided costs a group no GPU for longer than it is waited for.
//
// Further pods of the group that come meanwhile *follow*: they are prepared, too, and bound when
// the others are. They do not delay the others, and no pod is evicted for them. If one of the
// others fails or goes, they take its place, except followers that have failed themselves. plans.h
// carries this out. At most PodGroup::kMostPods pods follow, because each change of a volume is a
// look at all of them; the next ones wait until the start is over.
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

  // The pod, by uid, has to be ready for the start: it is, or not yet.
  void set_ready(const std::string& uid, bool ready);
  // The pod follows.
  void follow(const std::string& uid) { followers_.insert(uid); }
  [[nodiscard]] bool follows(const std::string& uid) const { return followers_.contains(uid); }
  // The pod has failed, or is gone. Those that follow and have not failed have to be ready, too.
  void failed(const std::string& uid);
  void gone(const std::string& uid);
  [[nodiscard]] bool has_failed(const std::string& uid) const { return failed_.contains(uid); }
  // The pod is of the group, has no node, and had its turn meanwhile.
  void came_late(const std::string& uid) { late_.insert(uid); }
  [[nodiscard]] const std::set<std::string>& late() const { return late_; }

  [[nodiscard]] std::size_t min_count() const { return min_count_; }
  // Whether none has to be ready / all that have to be are.
  [[nodiscard]] bool is_empty() const { return is_ready_.empty(); }
  [[nodiscard]] bool all_ready() const { return unready_ == 0; }
  // Those that have to be ready, and those that follow, by uid; ascending.
  [[nodiscard]] std::vector<std::string> pods() const;
  [[nodiscard]] const std::set<std::string>& followers() const { return followers_; }
  // How many these are in all.
  [[nodiscard]] std::size_t size() const { return is_ready_.size() + followers_.size(); }

 private:
  void leave(const std::string& uid);

  std::size_t min_count_;
  std::map<std::string, bool> is_ready_;  // by uid
  std::size_t unready_ = 0;
  std::set<std::string> followers_;
  std::set<std::string> failed_;
  std::set<std::string> late_;
};

}  // namespace sched
