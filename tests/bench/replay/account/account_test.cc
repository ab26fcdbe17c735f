// Accounts of short stories.
#include "bench/replay/account/account.h"

#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"

using bench::replay::Account;
using bench::replay::KindOfPod;
using bench::replay::Moment;
using bench::replay::Result;
using std::chrono::seconds;

namespace {

KindOfPod gpus(std::int64_t count, const std::string& name_space = "default") {
  KindOfPod kind;
  kind.namespace_ = name_space;
  kind.name = "pod";
  kind.text = std::to_string(count) + " GPU";
  kind.gpu.gpus = count;
  kind.gpu.milli = 1'000;
  kind.gpu_milli = count * 1'000;
  return kind;
}

void add_node(Account& account, const k8s::Node& node) {
  sched::ResourceNames names;
  account.node_upserted(sched::facts_of(node, names));
}

}  // namespace

TEST_CASE("over time shares are averages over the window, and counts are of who came in it") {
  Account account({.over_time = true, .measure_from = seconds(10), .horizon = seconds(30)});
  const KindOfPod one = gpus(1);
  const KindOfPod two = gpus(2, "big");
  add_node(account, tests::gpu_node("n", 2).product("G2"));
  account.came(0, one);
  account.placed(0, "n", {});
  account.advance(seconds(15));
  account.came(1, two);
  account.waits(1, "0/1 nodes are available", "details");
  account.advance(seconds(20));
  account.left(0);
  account.placed(1, "n", {});
  account.advance(seconds(25));
  account.came(2, one);
  account.refused(2, "no", "");
  account.came(3, one);
  account.advance(seconds(30));

  const Result result = account.result();
  // 1 of 2 for ten seconds, 2 of 2 for ten.
  CHECK(result.figures.at("allocated") == Approx(75));
  CHECK(result.figures.at("unallocated") == Approx(25));
  CHECK(result.figures.at("arrived_pods") == 3);
  CHECK(result.figures.at("placed_pods") == 1);
  CHECK(result.figures.at("refused_pods") == 1);
  CHECK(result.figures.at("waiting_pods") == 1);
  CHECK(result.figures.at("refused") == Approx(25));  // 1 of 4 GPUs
  CHECK(result.figures.at("waiting") == Approx(25));
  CHECK(result.figures.at("gpus") == 2);
  CHECK(result.waits ==
        std::vector<double>{5, 5});  // of one that was placed, and one that still waits
  CHECK(result.figures.at("wait_p99") == 5);

  CHECK(result.by_namespace.at("default").allocated == Approx(0.5));
  CHECK(result.by_namespace.at("big").allocated == Approx(1));
  CHECK(result.by_namespace.at("big").asked == 2);
  CHECK(result.by_product.at("G2").capacity == 2);
  CHECK(result.by_product.at("G2").allocated == Approx(1.5));

  // Turned away, or still waiting.
  REQUIRE(result.refused.size() == 1);
  CHECK(result.refused[0].kind == "1 GPU");
  CHECK(result.refused[0].pods == 2);
  CHECK(result.refused[0].message == "no");
}

TEST_CASE("who was there from the start holds GPUs and did not wait") {
  Account account({.over_time = true, .horizon = seconds(10)});
  const KindOfPod one = gpus(1);
  add_node(account, tests::gpu_node("n", 2));
  account.came(0, one);
  account.was_there(0, "n");
  account.advance(seconds(10));
  const Result result = account.result();
  CHECK(result.figures.at("allocated") == Approx(50));
  CHECK(result.waits.empty());
}

TEST_CASE("a pod that is seen before its node holds GPUs there when the node is seen") {
  Account account({.over_time = true, .horizon = seconds(10)});
  const KindOfPod one = gpus(1);
  account.came(0, one);
  account.was_there(0, "n");
  account.came(1, one);
  account.was_there(1, "n");
  account.left(1);
  account.came(2, one);
  account.was_there(2, "never seen");
  add_node(account, tests::gpu_node("n", 2).product("G2"));
  add_node(account, tests::gpu_node("n", 2).product("G2"));  // again: nothing is counted twice
  account.advance(seconds(10));
  const Result result = account.result();
  CHECK(result.figures.at("allocated") == Approx(50));
  CHECK(result.figures.at("placed_pods") == 3);
  CHECK(result.by_namespace.at("default").allocated == Approx(1));
  CHECK(result.by_product.at("G2").allocated == Approx(1));
  CHECK(result.waits.empty());
}

TEST_CASE("GPUs that pods hold are of the model that their node's label names at the time") {
  Account account({.over_time = true, .horizon = seconds(40)});
  const KindOfPod one = gpus(1);
  const k8s::Node labelled = tests::gpu_node("n", 2).product("G2");
  add_node(account, labelled);
  account.came(0, one);
  account.placed(0, "n", {});
  account.came(1, one);
  account.placed(1, "n", {});
  account.advance(seconds(10));
  add_node(account, tests::gpu_node("n", 2));  // GPU feature discovery restarts
  account.advance(seconds(20));
  account.left(0);
  add_node(account, labelled);
  account.advance(seconds(40));
  const Result result = account.result();
  // Two for ten seconds, and one for twenty.
  CHECK(result.by_product.at("G2").allocated == Approx(1));
  CHECK(result.by_product.at("").allocated == Approx(0.5));
}

TEST_CASE("snapshots show the devices at their moment") {
  SECTION("by arrival") {
    Account account({.snapshots_at = {50, 100, 150}});
    const KindOfPod one = gpus(1);
    add_node(account, tests::gpu_node("n", 2));
    account.came(0, one);
    account.placed(0, "n", {{.device = 1, .milli = 1'000}});
    account.came(1, one);
    account.placed(1, "n", {{.device = 0, .milli = 1'000}});
    const Result result = account.result();
    REQUIRE(result.snapshots.size() == 2);  // 150 % never came, and 100 % was the end
    CHECK(result.snapshots[0].title == "at 50 % arrival");
    CHECK(result.snapshots[0].nodes[0].devices == std::vector<std::int32_t>{0, 1'000});
    CHECK(result.snapshots[1].nodes[0].devices == std::vector<std::int32_t>{1'000, 1'000});
  }
  SECTION("the end stands for moments that never came") {
    Account account({.snapshots_at = {50, 130, 150}});
    const KindOfPod one = gpus(1);
    add_node(account, tests::gpu_node("n", 2));
    for (std::size_t i = 0; i < 2; ++i) {
      account.came(i, one);
      account.placed(i, "n", {});
    }
    const Result result = account.result();
    REQUIRE(result.snapshots.size() == 2);
    CHECK(result.snapshots[1].title == "at 100 % arrival");
    CHECK(result.snapshots[1].nodes[0].devices == std::vector<std::int32_t>{1'000, 1'000});
  }
  SECTION("the end of a time that was cut short") {
    Account account({.over_time = true, .horizon = seconds(36'000), .snapshots_at = {50, 100}});
    add_node(account, tests::gpu_node("n", 1));
    account.advance(seconds(27'000));
    const Result result = account.result();
    REQUIRE(result.snapshots.size() == 2);
    CHECK(result.snapshots[1].title == "after 7.5 h (75 % of the time)");
  }
  SECTION("by time") {
    Account account({.over_time = true, .horizon = seconds(36'000), .snapshots_at = {50}});
    const KindOfPod one = gpus(1);
    add_node(account, tests::gpu_node("n", 1));
    account.advance(seconds(17'000));
    account.came(0, one);
    account.placed(0, "n", {});
    account.advance(seconds(30'000));
    account.left(0);
    account.advance(seconds(36'000));
    const Result result = account.result();
    REQUIRE(result.snapshots.size() == 1);
    CHECK(result.snapshots[0].title == "after 5 h (50 % of the time)");
    CHECK(result.snapshots[0].nodes[0].devices == std::vector<std::int32_t>{1'000});
  }
}
