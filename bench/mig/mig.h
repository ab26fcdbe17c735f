// bench mig: which rule of MigPlacement refuses the fewest requests, on synthetic loads.
//
// Every policy gets the same requests. Loads and protocol are those with which MIG placement is
// compared in the literature (load.h); the table and its meaning are in README.md.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench::mig {

struct Options {
  std::vector<std::string> policies{};       // empty: all
  std::vector<std::string> distributions{};  // empty: all
  std::vector<double> loads{0.85, 1.00, 1.20};
  std::uint64_t runs = 20;
  std::uint64_t seed = 1;  // of the first run; the others follow
  std::int64_t gpus = 100;
  std::uint64_t slots = 4'000;
  unsigned jobs = 0;   // threads; 0: one per core
  std::string json{};  // file; empty: none
};

// Markdown on `out`. Exit code: 0; 2 with a message if an option is invalid.
[[nodiscard]] int run(const Options& options, const sched::Registry& registry, std::ostream& out,
                      std::ostream& err);

}  // namespace bench::mig
