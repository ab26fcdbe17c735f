#include "scheduler/framework/long_lists.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace sched {

namespace {

using tests::label;
using tests::pod;
using tests::PodBuilder;
using tests::term;

k8s::Pod tolerating(std::size_t number) {
  PodBuilder made = pod("a");
  for (std::size_t i = 0; i < number; ++i) made.tolerates("key-" + std::to_string(i));
  return made;
}

k8s::Pod mounting(std::size_t number) {
  k8s::Pod made = pod("a");
  made.spec.volumes.resize(number);
  return made;
}

// One term of an expression that has so many values.
k8s::Pod with_values(std::size_t number) {
  return pod("a").requires_nodes({term({label("zone").in(std::vector<std::string>(number, "z"))})});
}

}  // namespace

TEST_CASE("of lists that are too long nothing is kept but which they were") {
  struct Case {
    k8s::Pod most;
    k8s::Pod more;
    std::string want;
  };
  k8s::Pod preferring = with_values(5'000);
  for (int i = 0; i < 2'000; ++i) {
    preferring.spec.node_affinity->preferred.push_back({1, term({label("a").exists()})});
  }
  k8s::Pod preferring_more = preferring;
  for (int i = 0; i < 2'000; ++i) {
    preferring_more.spec.node_affinity->preferred.push_back({1, term({label("a").exists()})});
  }
  const std::string affinity = "a node affinity of more than 10000 terms, expressions and values";
  const Case cases[] = {
      {tolerating(1'000), tolerating(1'001), "more than 1000 tolerations"},
      {mounting(1'000), mounting(1'001), "more than 1000 volumes"},
      {with_values(9'998), with_values(9'999), affinity},
      {preferring, preferring_more, affinity},
  };
  for (const Case& each : cases) {
    INFO(each.want);
    CHECK_FALSE(long_list_of(each.most));
    k8s::Pod kept = each.most;
    drop_long_lists(kept);
    CHECK(kept == each.most);
    CHECK(long_list_of(each.more) == each.want);
    kept = each.more;
    drop_long_lists(kept);
    CHECK(long_list_of(kept) == each.want);
    CHECK(kept.spec.tolerations.empty());
    CHECK(kept.spec.volumes.empty());
    // Whatever is asked of it, no node takes it.
    REQUIRE(kept.spec.node_affinity);
    CHECK(kept.spec.node_affinity->preferred.empty());
    CHECK_FALSE(kept.spec.node_affinity->required->matches("n", {{"zone", "z"}, {"a", "a"}}));
    drop_long_lists(kept);
    CHECK(long_list_of(kept) == each.want);
  }
}

TEST_CASE("of very many terms across nodes the first thousand are kept") {
  k8s::Pod made = pod("a");
  made.spec.pod_affinity.emplace().required.resize(1'001);
  made.spec.pod_anti_affinity.emplace().preferred.resize(2'000);
  made.spec.topology_spread_constraints.resize(1'000);
  drop_long_lists(made);
  CHECK(made.spec.pod_affinity->required.size() == 1'000);
  CHECK(made.spec.pod_anti_affinity->preferred.size() == 1'000);
  CHECK(made.spec.topology_spread_constraints.size() == 1'000);
  CHECK_FALSE(long_list_of(made));
}

}  // namespace sched
