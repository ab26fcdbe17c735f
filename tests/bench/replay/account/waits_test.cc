#include "bench/replay/account/waits.h"

#include "tests/support/catch.h"

using namespace bench::replay;

namespace {

KindOfPod kind(std::int64_t gpu_milli, std::vector<std::string> products = {}) {
  KindOfPod kind;
  kind.namespace_ = products.empty() ? "any" : "named";
  kind.gpu_milli = gpu_milli;
  kind.gpu.products = std::move(products);
  return kind;
}

}  // namespace

TEST_CASE("waits are kept by how much GPU pods ask for, and whether they name types") {
  Waits waits;
  waits.add(kind(8'000), 7'200);
  waits.add(kind(8'000, {"H100"}), 3'600);
  waits.add(kind(2'000), 10);
  waits.add(kind(7'999), 20);
  waits.add(kind(1'000), 3);
  waits.add(kind(500), 0);
  waits.add(kind(0), 1);
  std::string sizes;
  for (const WaitOfSize& size : waits.by_size()) {
    sizes += size.size + ": " + std::to_string(size.pods) + "; ";
  }
  CHECK(sizes ==
        "no GPU: 1; part of a GPU: 1; 1 GPU: 1; 2 to 7 GPUs: 2; 8 GPUs or more: 1; "
        "8 GPUs or more, types named: 1; ");
  CHECK(waits.by_size()[4].gpu_hours == Approx(16));
  CHECK(waits.by_size()[3].p50 == 10);
  CHECK(waits.by_size()[3].p99 == 20);
  CHECK(waits.sorted() == std::vector<double>{0, 1, 3, 10, 20, 3'600, 7'200});
  CHECK(waits.mean_of("named") == 3'600);
  CHECK(waits.mean_of("nobody") == 0);
  CHECK(Waits{}.by_size().empty());
}

TEST_CASE("a quantile is the smallest value that so large a share does not exceed") {
  CHECK(quantile({}, 0.5) == 0);
  CHECK(quantile({1, 2, 3, 4}, 0.5) == 2);
  CHECK(quantile({1, 2, 3, 4}, 0.51) == 3);
  CHECK(quantile({1, 2, 3, 4}, 0) == 1);
  CHECK(quantile({1, 2, 3, 4}, 1) == 4);
}
