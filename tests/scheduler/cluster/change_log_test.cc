#include "scheduler/cluster/change_log.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace sched;

namespace {

std::vector<NodeSlot> seen_since(const ChangeLog& log, ChangeLog::Position position) {
  std::vector<NodeSlot> slots;
  log.since(position, [&](NodeSlot slot) { slots.push_back(slot); });
  return slots;
}

}  // namespace

TEST_CASE("a reader of the change log meets what changed since, the latest first") {
  ChangeLog log;
  CHECK(seen_since(log, 0).empty());
  log.append(3);
  log.append(1);
  const auto position = log.end();
  CHECK(seen_since(log, 0) == std::vector<NodeSlot>{1, 3});
  CHECK(seen_since(log, position).empty());
  log.append(3);
  log.append(3);
  log.append(0);
  CHECK(seen_since(log, position) == std::vector<NodeSlot>{0, 3});
  CHECK(seen_since(log, 0) == std::vector<NodeSlot>{0, 3, 1});
}

TEST_CASE("readers of the change log miss nothing and meet nothing twice") {
  std::mt19937 random(7);
  ChangeLog log;
  std::vector<std::pair<ChangeLog::Position, NodeSlot>> history;
  for (int i = 0; i < 2000; ++i) {
    const auto slot = static_cast<NodeSlot>(random() % 20);
    log.append(slot);
    history.emplace_back(log.end(), slot);
    const ChangeLog::Position from = log.end() - std::min<std::uint64_t>(log.end(), random() % 60);
    std::vector<NodeSlot> want;
    for (auto entry = history.rbegin(); entry != history.rend() && entry->first > from; ++entry) {
      if (std::find(want.begin(), want.end(), entry->second) == want.end()) {
        want.push_back(entry->second);
      }
    }
    REQUIRE(seen_since(log, from) == want);
  }
}
