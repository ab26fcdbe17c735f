#include "bench/replay/account/refused_kinds.h"

#include "scheduler/gpu/devices.h"

#include <algorithm>

namespace bench::replay {

void RefusedKinds::told(const KindOfPod& pod, std::string_view message, std::string_view details) {
  RefusedKind& kind = kinds_[pod.text];
  kind.example = pod.namespace_ + '/' + pod.name;
  kind.message = message;
  kind.details = details;
}

void RefusedKinds::not_placed(const KindOfPod& pod) {
  RefusedKind& kind = kinds_[pod.text];
  ++kind.pods;
  kind.gpus += static_cast<double>(pod.gpu_milli) / sched::gpu::kMilliPerGpu;
  if (kind.example.empty()) kind.example = pod.namespace_ + '/' + pod.name;
}

std::vector<RefusedKind> RefusedKinds::sorted() const {
  std::vector<RefusedKind> all;
  for (const auto& [text, kind] : kinds_) {
    if (kind.pods == 0) continue;
    all.push_back(kind);
    all.back().kind = text;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.gpus > b.gpus; });
  return all;
}

}  // namespace bench::replay
