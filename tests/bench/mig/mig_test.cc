#include "bench/mig/mig.h"

#include "bench/mig/load.h"
#include "bench/mig/run.h"
#include "bench/mig/table.h"
#include "bench/policies/registry.h"
#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace bench::mig;

namespace {

const Policy& policy(std::string_view name) {
  for (const Policy& each : policies()) {
    if (each.name == name) return each;
  }
  FAIL("no policy " << name);
  return policies().front();
}

// Positions in kProfiles.
enum : std::size_t { k7g, k4g, k3g, k2g, k1gDouble, k1g };

}  // namespace

TEST_CASE("The profiles of the load are those of its GPU") {
  const auto* geometry = sched::gpu::geometry_of(kProduct);
  REQUIRE(geometry != nullptr);
  for (const ProfileOfLoad& each : kProfiles) {
    const auto* profile = geometry->find(each.name);
    REQUIRE(profile != nullptr);
    CHECK(profile->memory_slices == each.slices);
    CHECK(profile->max_instances == each.max_instances);
  }
}

TEST_CASE("A load asks for as many slices at once as it says, the same for the same seed") {
  const Protocol protocol{.gpus = 100, .slots = 50'000};
  for (const Distribution& distribution : kDistributions) {
    INFO(distribution.name);
    const auto requests = draw_requests(distribution, 0.9, protocol, 5);
    REQUIRE(requests.size() == protocol.slots);
    double slice_slots = 0;
    for (std::size_t slot = 0; slot < requests.size(); ++slot) {
      const double life = requests[slot].leaves - static_cast<double>(slot);
      CHECK(life > 1);
      slice_slots += life * static_cast<double>(kProfiles[requests[slot].profile].slices);
    }
    const double load = slice_slots / (50'000.0 * 100 * kSlicesPerGpu);
    CHECK(std::abs(load - 0.9) < 0.02);

    const auto again = draw_requests(distribution, 0.9, protocol, 5);
    CHECK(again.back().leaves == requests.back().leaves);
    CHECK(draw_requests(distribution, 0.9, protocol, 6).back().leaves != requests.back().leaves);
  }
}

TEST_CASE("A run counts what is accepted and taken after the warm-up") {
  const Protocol protocol{.gpus = 2, .slots = 8};
  // Slots 0 and 1 are warm-up.
  const std::vector<Request> requests = {
      {k3g, 100},  // GPU 0, slices 0–3 or 4–7
      {k3g, 3},    // the other half, until slot 3
      {k7g, 4.5},  // GPU 1, until slot 5
      {k4g, 5},    // where the 3g was, if that was the lower half
      {k7g, 100},  // no room
      {k7g, 100},  // GPU 1 is free again
      {k1g, 100},  // no room: all taken but what the rule has left
      {k1g, 100},
  };
  const auto figures = run(policy("first-fit"), requests, protocol, bench::registry());
  REQUIRE(figures);
  // First-fit: 3g at 0, 3g at 4; the 4g finds no start at 4, the 1g's do.
  CHECK(figures->accepted == Approx(100.0 * 4 / 6));
  CHECK(figures->accepted_slices == Approx(100.0 * (8 + 8 + 1 + 1) / (8 + 4 + 8 + 8 + 1 + 1)));
  CHECK(figures->active_gpus == Approx(100.0 * (2 + 2 + 2 + 2 + 2 + 2) / 12));
  CHECK(figures->taken_slices == Approx(100.0 * (16 + 12 + 12 + 12 + 13 + 14) / (6 * 16)));

  // The highest start leaves slice 0 to the 4g, as long as nothing else wants the lower half.
  const auto high = run(policy("best-fit-high"), {requests[0], {k4g, 100}}, {.gpus = 1, .slots = 2},
                        bench::registry());
  REQUIRE(high);
  CHECK(high->accepted == 100);
}

TEST_CASE("Every policy runs, and the same arguments give the same figures") {
  const Protocol protocol{.gpus = 5, .slots = 400};
  const auto requests = draw_requests(kDistributions[0], 1.0, protocol, 3);
  for (const Policy& each : policies()) {
    INFO(each.name);
    const auto once = run(each, requests, protocol, bench::registry());
    const auto twice = run(each, requests, protocol, bench::registry());
    REQUIRE(once);
    REQUIRE(twice);
    CHECK(once->accepted == twice->accepted);
    CHECK(once->taken_slices == twice->taken_slices);
    CHECK(once->accepted > 50);
    CHECK(once->accepted <= 100);
  }
  CHECK_FALSE(run({"x", "no-such-rule"}, requests, protocol, bench::registry()));
}

TEST_CASE("The table has a row per policy and a column per distribution") {
  const std::vector<Cell> cells = {
      {"a", "uniform", 1.0, {{90, 80, 100, 70}, {92, 82, 98, 72}}},
      {"a", "uniform", 0.85, {{99, 98, 90, 60}, {99, 98, 90, 60}}},
      {"b", "uniform", 0.85, {{97, 96, 91, 59}, {97, 96, 91, 59}}},
      {"b", "uniform", 1.0, {{80, 70, 100, 65}, {80, 70, 100, 65}}},
  };
  std::ostringstream out;
  write_markdown(out, cells);
  const std::string text = out.str();
  CHECK(text.find("load 0.85 / 1.00 (2 runs; standard error at most 1.00") != std::string::npos);
  CHECK(text.find("| policy | uniform |\n|---|---|\n| a | 99.0 / 91.0 |\n| b | 97.0 / 80.0 |\n") !=
        std::string::npos);
  CHECK(text.find("| a | 90; 60.0 / 99; 71.0 |") != std::string::npos);

  std::ostringstream json;
  write_json(json, cells);
  CHECK(json.str().find("\"rejected\": 9.0") != std::string::npos);
}

TEST_CASE("What makes no sense on the command line is an error that says what would") {
  struct Case {
    const char* name;
    Options options;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"a policy", {.policies = {"round-robin"}}, "first-fit, random-gpu, worst-fit"},
      {"a distribution", {.distributions = {"flat"}}, "uniform, skew-small"},
      {"a load", {.loads = {0.0}}, "--load"},
      {"a file", {.json = "/no/such/folder/x.json"}, "/no/such/folder/x.json"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    std::ostringstream out;
    std::ostringstream err;
    CHECK(run(each.options, bench::registry(), out, err) == 2);
    CHECK(err.str().find(each.want) != std::string::npos);
    CHECK(out.str().empty());
  }
}

TEST_CASE("Figures that could not be written are an error") {
  const Options options{.policies = {"first-fit"},
                        .distributions = {"uniform"},
                        .loads = {1.0},
                        .runs = 1,
                        .gpus = 1,
                        .slots = 10,
                        .jobs = 1,
                        .json = "/dev/full"};
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run(options, bench::registry(), out, err) == 2);
  CHECK(err.str() == "mig: --json: cannot write /dev/full\n");
}

TEST_CASE("The number of threads does not change what is measured") {
  Options options{.policies = {"best-fit", "expected-fill"},
                  .distributions = {"bimodal"},
                  .loads = {1.0},
                  .runs = 3,
                  .seed = 9,
                  .gpus = 4,
                  .slots = 200,
                  .jobs = 1};
  std::ostringstream one;
  std::ostringstream four;
  std::ostringstream err;
  CHECK(run(options, bench::registry(), one, err) == 0);
  options.jobs = 4;
  CHECK(run(options, bench::registry(), four, err) == 0);
  CHECK(one.str() == four.str());
}
