// Steps of a run from which nobody leaves: one for each whole percent of arrived GPU.
//
// x is what the pods so far asked for, in whole percent of the cluster's GPUs; shares are averaged
// over all arrivals with the same x, where there is none over those of x − 1 and x + 1. That is how
// the published curves were made (Weng et al., ATC'23, artefact), but for its rounding of each
// share to 0.01 %.
#pragma once

#include "bench/replay/account/levels.h"
#include "bench/replay/run/result.h"

#include <cstdint>
#include <map>
#include <vector>

namespace bench::replay {

class PercentSteps {
 public:
  // After each arrival has been decided on.
  void add(const Levels& levels);
  // By x, without those that have no arrival near.
  [[nodiscard]] std::vector<Step> steps() const;

 private:
  struct Sums {
    std::size_t count = 0;  // arrivals with this x
    Step sum;               // shares: summed; pods: as they were last
    void add(const Sums& other);
  };
  // Those with an arrival, and beside them, from the first to the last arrival.
  [[nodiscard]] std::vector<std::int64_t> percents() const;

  std::map<std::int64_t, Sums> by_percent_;
};

}  // namespace bench::replay
