// The names of pods, for answers of the engine that have only their uids.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

namespace sched::answers {

class PodNames {
 public:
  // `pod`: "ml/train-0"
  void add(const std::string& uid, std::string pod) {
    names_.insert_or_assign(uid, std::move(pod));
  }
  // "ml/train-0"; the uid if the pod is not known.
  [[nodiscard]] std::string of(const std::string& uid) const {
    const auto found = names_.find(uid);
    return found == names_.end() ? "uid " + uid : found->second;
  }

 private:
  std::unordered_map<std::string, std::string> names_;
};

}  // namespace sched::answers
