#include "bench/replay/report/published.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace bench::replay {
namespace {

struct Cell {
  double mean;  // unallocated %
  double sd;
};

struct Row {
  std::string trace;
  std::array<Cell, 6> at_130;
};

constexpr double kRounding = 0.0051;  // of the table

constexpr std::array<const char*, 6> kPolicies{"Random",     "DotProd", "GpuClustering",
                                               "GpuPacking", "BestFit", "FGD"};

// Unallocated % at 130 % arrival, over the seeds of the published data.
const std::array<Row, 17> kRows{{
    {"default",
     {{{12.53, 0.30}, {9.15, 0.19}, {8.12, 0.59}, {8.00, 0.52}, {6.92, 0.13}, {4.61, 0.08}}}},
    {"cpu050",
     {{{8.76, 0.20}, {6.73, 0.18}, {6.21, 0.31}, {6.28, 0.28}, {6.21, 0.14}, {4.79, 0.09}}}},
    {"cpu100",
     {{{10.89, 0.28}, {8.05, 0.26}, {7.36, 0.41}, {7.28, 0.43}, {6.56, 0.12}, {4.65, 0.13}}}},
    {"cpu200",
     {{{16.23, 0.32}, {12.30, 0.59}, {10.08, 0.37}, {9.78, 0.47}, {7.60, 0.23}, {4.96, 0.15}}}},
    {"cpu250",
     {{{19.59, 0.28}, {16.20, 0.44}, {12.01, 0.55}, {11.72, 0.62}, {8.55, 0.21}, {6.59, 0.26}}}},
    {"gpushare40",
     {{{14.00, 0.34}, {10.44, 0.13}, {9.98, 0.56}, {9.97, 0.48}, {8.31, 0.20}, {5.85, 0.06}}}},
    {"gpushare60",
     {{{16.35, 0.27}, {12.89, 0.27}, {12.80, 0.40}, {12.55, 0.36}, {10.64, 0.18}, {8.60, 0.11}}}},
    {"gpushare80",
     {{{18.78, 0.28}, {15.51, 0.19}, {15.15, 0.51}, {15.00, 0.47}, {12.99, 0.22}, {10.70, 0.12}}}},
    {"gpushare100",
     {{{20.56, 0.12}, {17.58, 0.30}, {17.35, 0.46}, {17.43, 0.46}, {14.99, 0.19}, {13.10, 0.14}}}},
    {"gpuspec10",
     {{{12.57, 0.26}, {9.61, 0.36}, {7.82, 0.68}, {7.54, 0.63}, {6.70, 0.19}, {5.05, 0.20}}}},
    {"gpuspec20",
     {{{12.76, 0.31}, {10.03, 0.38}, {7.75, 0.58}, {7.06, 0.61}, {6.70, 0.08}, {5.16, 0.12}}}},
    {"gpuspec25",
     {{{13.06, 0.36}, {10.37, 0.34}, {7.92, 0.61}, {7.02, 0.68}, {6.77, 0.08}, {5.26, 0.24}}}},
    {"gpuspec33",
     {{{13.54, 0.13}, {10.86, 0.36}, {7.88, 0.65}, {6.78, 0.59}, {6.91, 0.14}, {5.45, 0.14}}}},
    {"multigpu20",
     {{{11.31, 0.45}, {7.94, 0.30}, {6.44, 0.58}, {6.29, 0.60}, {6.07, 0.22}, {4.35, 0.15}}}},
    {"multigpu30",
     {{{10.73, 0.39}, {6.72, 0.29}, {5.28, 0.30}, {5.13, 0.30}, {5.28, 0.21}, {3.54, 0.08}}}},
    {"multigpu40",
     {{{9.91, 0.41}, {5.81, 0.20}, {4.50, 0.30}, {4.26, 0.29}, {4.77, 0.22}, {3.01, 0.09}}}},
    {"multigpu50",
     {{{9.73, 0.42}, {5.15, 0.20}, {4.19, 0.28}, {3.82, 0.30}, {4.26, 0.18}, {2.82, 0.10}}}},
}};

const PublishedCurve& curve_of(const std::string& trace, std::string_view policy) {
  const auto& curves = published_curves("openb_pod_list_" + trace);
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const PublishedCurve& c) { return c.policy == policy; });
  REQUIRE(found != curves.end());
  return *found;
}

TEST_CASE("published curves end at the published unallocated share") {
  for (const Row& row : kRows) {
    for (std::size_t i = 0; i < kPolicies.size(); ++i) {
      CAPTURE(row.trace, kPolicies[i]);
      const PublishedCurve& curve = curve_of(row.trace, kPolicies[i]);
      REQUIRE(curve.allocated.size() == 131);
      REQUIRE(curve.deviation.size() == 131);
      CHECK(std::abs(100 - curve.allocated.back() - row.at_130[i].mean) < kRounding);
      CHECK(std::abs(curve.deviation.back() - row.at_130[i].sd) < kRounding);
    }
  }
}

TEST_CASE("published curves are of six policies") {
  CHECK(published_curves("openb_pod_list_default").size() == kPolicies.size());
  CHECK(published_curves("openb_pod_list_cpu0").empty());
  CHECK(published_curves("").empty());
  CHECK(curve_of("default", "FGD").allocated.front() < 1);
}

TEST_CASE("policies of ours know their published names") {
  struct Case {
    std::string ours;
    std::string theirs;
  };
  const std::array<Case, 8> cases{{{"fgd", "FGD"},
                                   {"best_fit", "BestFit"},
                                   {"dot_prod", "DotProd"},
                                   {"gpu_clustering", "GpuClustering"},
                                   {"gpu_packing", "GpuPacking"},
                                   {"random", "Random"},
                                   {"usable_gpu", ""},
                                   {"default", ""}}};
  for (const Case& c : cases) {
    CAPTURE(c.ours);
    CHECK(published_name(c.ours) == c.theirs);
    if (!c.theirs.empty()) CHECK_FALSE(curve_of("default", c.theirs).allocated.empty());
  }
}

}  // namespace
}  // namespace bench::replay
