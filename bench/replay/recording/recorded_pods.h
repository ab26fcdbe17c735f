// The pods of a recording: numbered, and which of them are to be decided again.
//
// A pod is decided again if the recorded scheduler served it and it was first seen without a node.
// Pods of other schedulers, and pods that had their node when the recording began, are given: no
// policy could have moved them.
#pragma once

#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/recording/recording.h"
#include "scheduler/framework/cluster_context.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench::replay {

class RecordedPods {
 public:
  struct Pod {
    KindOfPod kind;
    bool ours = false;  // to be decided again
  };

  // `served`: the scheduler names of the recorded configuration.
  RecordedPods(const Recording& recording, const std::vector<std::string>& served);

  // The pod's number; nullopt: no state of it was recorded.
  [[nodiscard]] std::optional<std::size_t> number_of(const std::string& uid) const;
  [[nodiscard]] const Pod& operator[](std::size_t number) const { return pods_[number]; }
  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  // How many are to be decided again.
  [[nodiscard]] std::size_t ours() const { return ours_; }
  // The kinds of those pods, as in the engine's statistics.
  [[nodiscard]] const std::vector<sched::TypicalPod>& kinds() const { return kinds_; }

 private:
  std::deque<Pod> pods_;  // accounts have pointers to their kinds
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t ours_ = 0;
  std::vector<sched::TypicalPod> kinds_;
};

}  // namespace bench::replay
