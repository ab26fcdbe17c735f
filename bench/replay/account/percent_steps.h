// Steps of a run in which no pod leaves: one for each whole percent of arrived GPU.
//
// x is what the pods so far asked for, in whole percent of the cluster's GPUs; shares are averaged
// over all arrivals with the same x, or, if there is none, over those of x − 1 and x + 1. The
// published curves were made in this way (Weng et al., ATC'23, artefact), except for their rounding
// of each share to 0.01 %.
#pragma once

#include "bench/replay/account/levels.h"
#include "bench/replay/result.h"

#include <cstdint>
#include <map>
#include <vector>

namespace bench::replay {

class PercentSteps {
 public:
  // Call it after each arrival has been decided on.
  void add(const Levels& levels);
  // By x, without those that have no arrival near.
  [[nodiscard]] std::vector<Step> steps() const;

 private:
  struct Sums {
    std::size_t count = 0;  // arrivals with this x
    Step sum;               // shares: summed; pods: the last values
    void add(const Sums& other);
  };
  // The x with an arrival, and their neighbours, from the first to the last arrival.
  [[nodiscard]] std::vector<std::int64_t> percents() const;

  std::map<std::int64_t, Sums> by_percent_;
};

}  // namespace bench::replay
