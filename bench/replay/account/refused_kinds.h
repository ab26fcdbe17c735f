// Which kinds of pods found no node, and the last message for each.
#pragma once

#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

class RefusedKinds {
 public:
  // A pod's message why it finds no node. `details` may be empty.
  void told(const KindOfPod& pod, std::string_view message, std::string_view details);
  // It was refused for good, or the run ended while it waited.
  void not_placed(const KindOfPod& pod);

  // Kinds with pods that were not placed; most GPUs first, then by name.
  [[nodiscard]] std::vector<RefusedKind> sorted() const;

 private:
  std::map<std::string, RefusedKind> kinds_;
};

}  // namespace bench::replay
