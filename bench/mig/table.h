// The figures of many runs, as tables for people and as JSON.
#pragma once

#include "bench/mig/run.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::mig {

// All runs of one policy on one distribution at one load.
struct Cell {
  std::string policy;
  std::string distribution;
  double load = 0;
  std::vector<Figures> runs;  // by seed, ascending; at least one
};

// Over the runs of a cell.
struct Summary {
  Figures mean;
  double accepted_error = 0;  // standard error of mean.accepted; 0 for a single run
};
[[nodiscard]] Summary summarise(const std::vector<Figures>& runs);

// Markdown: accepted requests, accepted slices, then active GPUs and taken slices; a row per
// policy, a column per distribution, the loads of a cell one after the other. Cells in any order.
void write_markdown(std::ostream& out, const std::vector<Cell>& cells);

// One object per cell, with its means and errors.
void write_json(std::ostream& out, const std::vector<Cell>& cells);

}  // namespace bench::mig
