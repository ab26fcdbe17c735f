#include "scheduler/engine/finder/tie_order.h"

#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <random>
#include <string>

using namespace sched;
using namespace tests;

// Among them nodes with more GPUs than a hint holds, and ranks that are close to each other.
TEST_CASE("a hint is lower only for a node that comes first, and nearly always differs") {
  std::mt19937 random(5);
  ResourceNames names;
  Nodes nodes;
  for (int i = 0; i < 200; ++i) {
    const int gpus =
        i % 40 == 0 ? 250 + static_cast<int>(random() % 20) : static_cast<int>(random() % 3);
    nodes.upsert(facts_of(node("n" + std::to_string(random() % 1'000)).gpus(gpus), names));
  }
  for (const auto order : {TieBreak::Order::kFirstNode, TieBreak::Order::kShuffledNodes,
                           TieBreak::Order::kFewestGpusFirst, TieBreak::Order::kRandom}) {
    const TieOrder ties({order, 7}, nodes);
    int pairs = 0;
    int equal = 0;
    for (NodeSlot a = 0; a < nodes.slots(); ++a) {
      for (NodeSlot b = 0; b < nodes.slots(); ++b) {
        if (a == b) continue;
        ++pairs;
        if (ties.hint(a) == ties.hint(b)) ++equal;
        if (ties.hint(a) < ties.hint(b)) REQUIRE(ties.before(a, b));
      }
    }
    CAPTURE(static_cast<int>(order), equal, pairs);
    // Names that came between two others since all were ranked may have the hint of the first.
    CHECK(equal < pairs / 10);
  }
}
