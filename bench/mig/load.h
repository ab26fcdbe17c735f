// A synthetic load of MIG requests on a cluster of A100-80GB GPUs.
//
// One request comes per slot. Its profile is drawn by the weights of a distribution, and its life
// is uniform in (1, L) slots. L is chosen so that the mean of the slices asked for at the same time
// is `load` of all slices: L = 2 · load · slices of the cluster / mean size. The first quarter of
// the slots is warm-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bench::mig {

inline constexpr std::string_view kProduct = "NVIDIA-A100-SXM4-80GB";
inline constexpr std::int64_t kSlicesPerGpu = 8;

struct ProfileOfLoad {
  std::string_view name;
  std::int64_t slices = 0;  // memory slices
  std::int64_t max_instances = 0;
};
inline constexpr std::array<ProfileOfLoad, 6> kProfiles{{{"7g.80gb", 8, 1},
                                                         {"4g.40gb", 4, 1},
                                                         {"3g.40gb", 4, 2},
                                                         {"2g.20gb", 2, 3},
                                                         {"1g.20gb", 2, 4},
                                                         {"1g.10gb", 1, 7}}};

struct Distribution {
  std::string_view name;
  std::array<std::uint64_t, kProfiles.size()> weights;  // in the order of kProfiles
};
// Published work uses these names with other weights.
inline constexpr std::array<Distribution, 4> kDistributions{{
    {"uniform", {1, 1, 1, 1, 1, 1}},
    {"skew-small", {5, 10, 10, 20, 25, 30}},
    {"skew-big", {30, 25, 20, 10, 10, 5}},
    {"bimodal", {30, 15, 5, 5, 15, 30}},
}};

struct Protocol {
  std::int64_t gpus = 100;
  std::size_t slots = 4'000;
  [[nodiscard]] std::size_t warm_up() const { return slots / 4; }
};

// The request of slot i is the i-th.
struct Request {
  std::size_t profile = 0;  // in kProfiles
  double leaves = 0;        // in slots since the start, later than its arrival
};

// The same arguments give the same requests everywhere.
[[nodiscard]] std::vector<Request> draw_requests(const Distribution& distribution, double load,
                                                 const Protocol& protocol, std::uint64_t seed);

}  // namespace bench::mig
