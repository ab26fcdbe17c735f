#include "tests/mutants/switch.h"

#include "tests/mutants/mutants.h"

#include <cstdlib>

namespace mutants {
namespace {

int from_environment() {
  const char* named = std::getenv("GPU_SCHEDULER_MUTANT");
  return named == nullptr ? -1 : std::atoi(named);
}

}  // namespace

const int active = from_environment();

std::vector<unsigned char>& reached_ones() {
  static std::vector<unsigned char> ones(kMostMutants);
  return ones;
}

void reached(int mutant) { reached_ones()[static_cast<std::size_t>(mutant)] = 1; }

}  // namespace mutants
