#include "bench/mig/load.h"

#include "bench/replay/arrivals/random.h"

#include <numeric>

namespace bench::mig {

namespace {

std::uint64_t sum_of_weights(const Distribution& distribution) {
  return std::accumulate(distribution.weights.begin(), distribution.weights.end(),
                         std::uint64_t{0});
}

double mean_slices(const Distribution& distribution) {
  double sum = 0;
  for (std::size_t i = 0; i < kProfiles.size(); ++i) {
    sum += static_cast<double>(distribution.weights[i]) * static_cast<double>(kProfiles[i].slices);
  }
  return sum / static_cast<double>(sum_of_weights(distribution));
}

std::size_t draw_profile(const Distribution& distribution, replay::Random& random) {
  std::uint64_t drawn = random.below(sum_of_weights(distribution));
  std::size_t profile = 0;
  while (drawn >= distribution.weights[profile]) drawn -= distribution.weights[profile++];
  return profile;
}

}  // namespace

std::vector<Request> draw_requests(const Distribution& distribution, double load,
                                   const Protocol& protocol, std::uint64_t seed) {
  const auto slices = static_cast<double>(protocol.gpus * kSlicesPerGpu);
  const double longest = 2 * load * slices / mean_slices(distribution);
  replay::Random random(seed);
  std::vector<Request> requests;
  requests.reserve(protocol.slots);
  for (std::size_t slot = 0; slot < protocol.slots; ++slot) {
    const std::size_t profile = draw_profile(distribution, random);
    const double life = 1 + (longest - 1) * random.unit();
    requests.push_back({.profile = profile, .leaves = static_cast<double>(slot) + life});
  }
  return requests;
}

}  // namespace bench::mig
