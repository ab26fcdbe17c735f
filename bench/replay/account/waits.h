// How long pods waited: of all, of each namespace's, and by how much GPU they ask for.
#pragma once

#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/result.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace bench::replay {

class Waits {
 public:
  // Of a pod that was placed after so many seconds, or that still waits after them.
  void add(const KindOfPod& pod, double seconds);

  // Seconds, sorted.
  [[nodiscard]] std::vector<double> sorted() const;
  // Seconds, the mean of the namespace's pods; 0 if none was added.
  [[nodiscard]] double mean_of(const std::string& namespace_) const;
  // Without sizes that no pod has; from small to large.
  [[nodiscard]] std::vector<WaitOfSize> by_size() const;

 private:
  // Without GPU, a part of one, one, several, eight and more: those of any type, then those that
  // name types.
  static constexpr std::size_t kSizes = 10;
  [[nodiscard]] static std::size_t size_of(const KindOfPod& pod);

  struct Sum {
    std::size_t pods = 0;
    double seconds = 0;
  };
  struct Size {
    std::vector<double> waits;
    double gpu_seconds = 0;
  };
  std::array<Size, kSizes> sizes_;
  std::map<std::string, Sum> namespaces_;
};

// The smallest of `sorted` that so large a share of them (0 … 1) does not exceed; 0 if it is empty.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share);

}  // namespace bench::replay
