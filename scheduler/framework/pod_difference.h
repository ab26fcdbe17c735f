// The difference between the pods on nodes in a trial and the pods that constraints know from their
// events.
#pragma once

#include "k8s-client/api/pod.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

class PodDifference {
 public:
  struct Added {
    const k8s::Pod* pod = nullptr;
    std::string_view node;     // by name, whatever the pod says
    std::size_t of_class = 0;  // equal for pods of one PodClass; 0: unknown
  };

  PodDifference() = default;  // none
  // What they refer to outlives it. `gone`: by uid, in any order.
  PodDifference(std::vector<std::string_view> gone, std::vector<Added> added)
      : gone_(std::move(gone)), added_(std::move(added)) {
    std::sort(gone_.begin(), gone_.end());
  }

  [[nodiscard]] bool none() const { return gone_.empty() && added_.empty(); }
  // By uid, sorted. A constraint may not know all of them.
  [[nodiscard]] const std::vector<std::string_view>& gone() const { return gone_; }
  [[nodiscard]] bool is_gone(std::string_view uid) const {
    return std::binary_search(gone_.begin(), gone_.end(), uid);
  }
  // A pod that is also in gone() has moved to another node.
  [[nodiscard]] const std::vector<Added>& added() const { return added_; }

 private:
  std::vector<std::string_view> gone_;
  std::vector<Added> added_;
};

}  // namespace sched
