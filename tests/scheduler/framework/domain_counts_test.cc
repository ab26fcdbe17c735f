#include "scheduler/framework/domain_counts.h"

#include "tests/support/catch.h"

#include <cstdint>
#include <optional>

namespace sched {
namespace {

using Least = std::optional<std::int64_t>;

TEST_CASE("the amounts of domains follow their nodes") {
  DomainCounts counts;
  CHECK(counts.size() == 0);
  CHECK(counts.total() == 0);
  CHECK(counts.least() == Least());
  CHECK(counts.of(3) == 0);
  CHECK(counts.memory() == 0);

  counts.add_node(2, 5);
  counts.add_node(0, 1);
  CHECK(counts.size() == 2);
  CHECK(counts.total() == 6);
  CHECK(counts.least() == 1);
  CHECK(counts.of(2) == 5);
  CHECK(counts.of(1) == 0);  // a domain without a node is none of those
  CHECK(counts.of(3) == 0);
  CHECK(counts.memory() >= 3 * sizeof(std::int64_t));

  counts.add_node(0, 3);
  CHECK(counts.size() == 2);
  CHECK(counts.of(0) == 4);
  CHECK(counts.least() == 4);
  counts.add(0, 2);
  CHECK(counts.of(0) == 6);
  CHECK(counts.least() == 5);
  CHECK(counts.total() == 11);

  counts.remove_node(2, 5);
  CHECK(counts.size() == 1);
  CHECK(counts.of(2) == 0);
  CHECK(counts.least() == 6);
  counts.remove_node(0, 2);
  CHECK(counts.size() == 1);
  CHECK(counts.least() == 4);
  counts.remove_node(0, 4);
  CHECK(counts.size() == 0);
  CHECK(counts.least() == Least());
  CHECK(counts.total() == 0);
}

TEST_CASE("the least amount stays as long as one of its domains does") {
  DomainCounts counts;
  for (DomainId domain : {0U, 1U, 2U}) counts.add_node(domain, domain == 2 ? 7 : 1);
  counts.remove_node(0, 1);
  CHECK(counts.least() == 1);
  counts.add(1, 1);
  CHECK(counts.least() == 2);
  counts.add(1, -2);
  CHECK(counts.least() == 0);
  counts.remove_node(1, 0);  // a node on which nothing is counts nevertheless
  CHECK(counts.least() == 7);
  CHECK(counts.size() == 1);
}

}  // namespace
}  // namespace sched
