// Prints outcomes for people: a line as each one happens, and a closing table.
#pragma once

#include "bench/demo/outcome.h"

#include <iosfwd>
#include <vector>

namespace bench {

// "  one-gpu          → a100-1   1730 = …" or "  sixteen-gpus     waits: 0/8 nodes …".
void print_outcome(std::ostream& out, const Outcome& outcome);

// All outcomes: the bound ones with node and scores, then the waiting ones with their message,
// wrapped at `width` columns.
void print_table(std::ostream& out, const std::vector<Outcome>& outcomes, std::size_t width = 110);

}  // namespace bench
