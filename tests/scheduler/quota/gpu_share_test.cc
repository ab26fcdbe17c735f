#include "scheduler/quota/gpu_share.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <limits>
#include <string>

using sched::quota::GpuShare;
using tests::quantity;

TEST_CASE("parts of a GPU add up to exactly one") {
  for (const std::int64_t parts :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 48, 1'000}) {
    INFO(parts);
    CHECK(GpuShare::one_of(parts).times(parts) == GpuShare::gpus(1));
  }
}

TEST_CASE("other parts are rounded up, never down") {
  CHECK(GpuShare::one_of(17).times(17) > GpuShare::gpus(1));
  CHECK(GpuShare::one_of(17).units() == GpuShare::kUnitsPerGpu / 17 + 1);
  CHECK(GpuShare::one_of(0) == GpuShare::gpus(1));
}

TEST_CASE("absurd amounts hold at the most") {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(GpuShare::gpus(kMax) == GpuShare::gpus(GpuShare::kMostGpus));
  CHECK(GpuShare::gpus(1).times(kMax) == GpuShare::gpus(GpuShare::kMostGpus));
  CHECK(GpuShare::gpus(-1).is_zero());
  CHECK(GpuShare::of(k8s::Quantity::of(kMax)) == GpuShare::gpus(GpuShare::kMostGpus));
}

TEST_CASE("amounts read as quantities and as text") {
  struct Case {
    std::string quantity;
    std::string text;
    std::string written;
  };
  for (const Case& c :
       {Case{"8", "8", "8"}, Case{"500m", "0.5", "500m"}, Case{"1250m", "1.25", "1250m"},
        Case{"0", "0", "0"}, Case{"1500u", "0.002", "2m"}, Case{"1k", "1000", "1000"}}) {
    INFO(c.quantity);
    const GpuShare share = GpuShare::of(quantity(c.quantity));
    CHECK(to_text(share) == c.text);
    CHECK(to_quantity(share).to_string() == quantity(c.written).to_string());
  }
  CHECK(to_text(GpuShare::one_of(3)) == "0.334");
}
