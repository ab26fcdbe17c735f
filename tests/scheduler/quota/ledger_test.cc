#include "scheduler/quota/ledger.h"

#include "scheduler/quota/charged_as.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using namespace std::chrono_literals;
using tests::gpu_quota;

namespace {

constexpr Time kThen{1'000s};

// A ledger with one node of H100 (slot 0) and one of L4 (slot 1).
struct Books {
  ResourceNames names;
  Ledger ledger;
  std::vector<std::unique_ptr<Charge>> charges;

  explicit Books(Options options = {}) : ledger(std::move(options)) {
    for (const auto& [slot, product] :
         {std::pair{NodeSlot{0}, "NVIDIA-H100-80GB-HBM3"}, std::pair{NodeSlot{1}, "NVIDIA-L4"}}) {
      const k8s::Node node = tests::node("n").gpus(8).product(product);
      ledger.node_is(slot, ledger.intern(facts_of(node, names), names), GpuShare::gpus(8));
    }
  }
  Charge& charge(const std::string& uid, std::int64_t gpus, Time created = kThen, NodeSlot node = 0,
                 const std::string& charged_as = {}) {
    charges.push_back(std::make_unique<Charge>(ledger, Charge::Pod{uid, "ml", charged_as, created},
                                               node, Demand{.gpus = gpus}));
    return *charges.back();
  }
  QuotaId id() const { return ledger.quota_of("ml"); }
  std::string used(std::size_t line = 0) const {
    return ledger.report().status(id(), {}).quotas.at(line).use.used.to_string();
  }
};

}  // namespace

TEST_CASE("a charge counts from when it is made until it dies, once") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8));
  books.charge("a", 3);
  books.charge("b", 2);
  CHECK(books.used() == "5");
  static_cast<void>(books.ledger.take_news());
  books.charges.erase(books.charges.begin());
  CHECK(books.used() == "2");
  CHECK(books.ledger.take_news().opened == std::vector{books.id()});
  CHECK_FALSE(books.ledger.has_news());
}

TEST_CASE("a charge stays what it was bound as while its node does not say what it has") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8).line("*", 8));
  books.charge("noted", 2, kThen, 0, "NVIDIA-H100-80GB-HBM3");
  books.charge("not noted", 1);
  const auto used = [&] { return books.used(0) + " " + books.used(1) + " " + books.used(2); };
  const auto node_is = [&](const k8s::Node& node) {
    books.ledger.node_is(0, books.ledger.intern(facts_of(node, books.names), books.names));
  };
  CHECK(used() == "3 0 0");
  node_is(tests::node("n").gpus(8));
  CHECK(used() == "2 0 1");
  node_is(tests::node("n"));
  CHECK(used() == "2 0 1");
  books.ledger.node_is(0, kNoGpuClass);
  CHECK(used() == "2 0 1");
  node_is(tests::node("n").gpus(8).product("NVIDIA-L4"));  // the node speaks, and is right
  CHECK(used() == "0 3 0");
  node_is(tests::node("n").gpus(8).product("NVIDIA-H100-80GB-HBM3"));
  CHECK(used() == "3 0 0");
}

TEST_CASE("a charge that has ended is not counted anew when its node or its namespace changes") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8));
  // The memory of a charge outlives it: a ledger that still knew it would count it.
  std::array<std::optional<Charge>, 4> charges;
  const auto charge = [&](std::size_t i, std::int64_t gpus) {
    charges.at(i).emplace(books.ledger, Charge::Pod{std::to_string(i), "ml", {}, kThen},
                          NodeSlot{0}, Demand{.gpus = gpus});
  };
  const auto used = [&] { return books.used(0) + " " + books.used(1); };
  const auto node_is = [&](const char* product) {
    const k8s::Node node = tests::node("n").gpus(8).product(product);
    books.ledger.node_is(0, books.ledger.intern(facts_of(node, books.names), books.names));
  };
  for (std::size_t i = 0; i < 4; ++i) charge(i, 1 << i);
  CHECK(used() == "15 0");
  charges[1].reset();  // one in the middle, then the one that took its place
  charges[3].reset();
  CHECK(used() == "5 0");
  node_is("NVIDIA-L4");
  CHECK(used() == "0 5");
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 7).generation(2));
  CHECK(used() == "0 5");
  charge(1, 2);
  charges[0].reset();
  node_is("NVIDIA-H100-80GB-HBM3");
  CHECK(used() == "6 0");
  charges[1].reset();
  charges[2].reset();
  node_is("NVIDIA-L4");
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8).generation(3));
  CHECK(used() == "0 0");
  charge(0, 1);
  CHECK(used() == "0 1");
}

TEST_CASE("charges from before the quota count, and none twice when it changes") {
  Books books;
  books.charge("a", 3);
  CHECK_FALSE(books.ledger.in_force());
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8));
  CHECK(books.ledger.in_force());
  CHECK(books.used() == "3");
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 2).line("*", 1).generation(2));
  CHECK(books.used() == "3");
  CHECK(books.ledger.report().status(books.id(), {}).observed_generation == 2);
  CHECK(books.ledger.erase("q", kThen));
  CHECK_FALSE(books.ledger.erase("q", kThen + 1s));
  CHECK_FALSE(books.ledger.quotas().has(books.ledger.quota_of("ml")));
  CHECK(books.ledger.deleted(books.ledger.quota_of("ml"))->used == GpuShare::gpus(3));
  books.ledger.upsert(gpu_quota("q").of("ml").line("*", 1).generation(3));
  CHECK(books.used() == "3");
}

TEST_CASE(
    "what happens between changes of quotas counts, whether or not it is asked for meanwhile") {
  const bool asks = GENERATE(false, true);
  CAPTURE(asks);
  Books books;
  const auto then = [&] {
    if (asks) static_cast<void>(books.ledger.take_news());
  };
  const auto node_is = [&](const char* product) {
    const k8s::Node node = tests::node("n").gpus(8).product(product);
    books.ledger.node_is(0, books.ledger.intern(facts_of(node, books.names), books.names));
  };
  books.charge("a", 1);
  books.charge("b", 2);
  then();
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8));
  books.charge("c", 4);
  then();
  books.charges.erase(books.charges.begin());
  then();
  books.ledger.upsert(gpu_quota("other").of("other").line("H100", 8));
  then();
  node_is("NVIDIA-L4");
  then();
  books.ledger.erase("q", kThen);
  books.charges.erase(books.charges.begin());
  then();
  CHECK(books.ledger.deleted(books.id())->used == GpuShare::gpus(4));
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8).generation(2));
  books.charge("d", 1);
  then();
  books.ledger.hold(books.id(), Demand{.gpus = 1}, {books.charges[0]->on()});
  CHECK(books.used(0) == "0");
  CHECK(books.used(1) == "5");
  books.ledger.upsert(gpu_quota("q").of("ml").line("*", 8).generation(3));
  books.ledger.release(books.id(), kFirstHold);  // which the change has ended
  CHECK(books.charges[0]->quota() == books.id());
  books.charges.clear();
  CHECK(books.used() == "0");
  CHECK(books.ledger.take_news().terms);
}

TEST_CASE("an update that changes nothing but the status is no news") {
  Books books;
  k8s::GpuQuota quota = gpu_quota("q").of("ml").line("H100", 8);
  books.ledger.upsert(quota);
  const auto version = books.ledger.version();
  quota.status.emplace();
  quota.metadata.resource_version = "7";
  CHECK_FALSE(books.ledger.upsert(quota));
  CHECK(books.ledger.version() == version);
}

TEST_CASE("what is remembered of quotas is news when one comes, takes namespaces or goes") {
  Books books;
  std::uint64_t known = books.ledger.memory_version();
  const auto is_news = [&] {
    const std::uint64_t before = std::exchange(known, books.ledger.memory_version());
    return known != before;
  };
  k8s::GpuQuota quota = gpu_quota("q").of("ml").line("H100", 8);
  books.ledger.upsert(quota);
  CHECK(is_news());
  books.ledger.upsert(quota);
  CHECK_FALSE(is_news());
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 9));
  CHECK_FALSE(is_news());
  books.ledger.upsert(gpu_quota("q").of("ml").of("vision").line("H100", 9));
  CHECK(is_news());
  books.ledger.erase("q", Time{});
  CHECK(is_news());
}

TEST_CASE("the ledger tells classes within the guarantee from those to borrow") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 2).line("L4", 1));
  books.ledger.upsert(gpu_quota("lender").in_cohort("c").line("L4", 8));
  const auto admit = [&](std::int64_t gpus) {
    return books.ledger.answers().admit(books.id(), Demand{.gpus = gpus}, kNoHold);
  };
  CHECK(admit(1).within == std::vector<ChargeClassId>{1, 2});
  CHECK(admit(2).within == std::vector<ChargeClassId>{1});
  CHECK(admit(2).borrowing == std::vector<ChargeClassId>{2});
  CHECK(admit(3).within.empty());
  CHECK(admit(3).borrowing == std::vector<ChargeClassId>{2});
  CHECK(admit(3).refused_some);
  CHECK(admit(10).borrowing.empty());
  CHECK(books.ledger.answers().never_fits(books.id(), Demand{.gpus = 10}));
}

TEST_CASE("where a quota would stand is asked of each class of GPUs") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 2).line("L4", 1));
  const auto standing_on = [&](ChargeClassId on, const Demand& demand) {
    return books.ledger.answers().standing_on(on, books.id(), demand, kNoHold);
  };
  const Demand instance{.instances = {{.profile = "1g.10gb", .count = 1}}};
  CHECK(standing_on(1, {.gpus = 2}) == Standing{});
  CHECK(standing_on(2, {.gpus = 1}) == Standing{});
  CHECK(standing_on(1, instance) == Standing{});
  const Standing borrower = standing_on(2, {.gpus = 2});
  CHECK(compare(Standing{}, borrower) < 0);
  // GPUs without MIG are of no use to it: its turn for them comes last.
  CHECK(compare(borrower, standing_on(2, instance)) < 0);
}

TEST_CASE("a pod that asks for MIG instances is not weighed against GPUs without MIG") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 1).line("L4", 8));
  books.charge("a", 1);
  const Demand instance{.instances = {{.profile = "1g.10gb", .count = 1}}};
  const Admission admission = books.ledger.answers().admit(books.id(), instance, kNoHold);
  CHECK(admission.within.empty());
  CHECK(admission.borrowing.empty());
  CHECK(admission.refused_some);
  const auto answers = books.ledger.answers().by_line(books.id(), instance, kNoHold);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].gpu_type == "H100");
}

TEST_CASE("the first GPUs that can be partitioned are weighed against MIG instances") {
  Books books;
  const k8s::Node node = tests::node("a100").gpus(8).product("NVIDIA-A100-SXM4-80GB");
  const ChargeClassId a100 = books.ledger.intern(facts_of(node, books.names), books.names);
  books.ledger.node_is(2, a100);
  books.ledger.upsert(gpu_quota("q").of("ml").line("A100", 1));
  const Demand instance{.instances = {{.profile = "1g.10gb", .count = 1}}};
  CHECK(books.ledger.answers().admit(books.id(), instance, kNoHold).within ==
        std::vector<ChargeClassId>{a100});
}

TEST_CASE("of the GPUs that one line counts a pod is told of those on which it needs least") {
  Books books;
  const k8s::Node shared = tests::node("shared")
                               .gpus(16)
                               .product("NVIDIA-H100-80GB-HBM3-SHARED")
                               .labelled("nvidia.com/gpu.replicas", "2");
  books.ledger.node_is(2, books.ledger.intern(facts_of(shared, books.names), books.names));
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8));
  const auto answers = books.ledger.answers().by_line(books.id(), Demand{.gpus = 1}, kNoHold);
  REQUIRE_FALSE(answers.empty());
  CHECK(answers[0].gpu_type == "H100");
  CHECK(answers[0].needs == GpuShare::one_of(2));
}

TEST_CASE("a quota that is not valid gives nothing, and says why") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).limit(9));
  CHECK(books.ledger.answers().admit(books.id(), Demand{.gpus = 1}, kNoHold).within.empty());
  const auto status = books.ledger.report().status(books.id(), {});
  CHECK(status.conditions.at(0).status == "False");
  CHECK(status.conditions.at(0).reason == "InvalidSpec");
}

TEST_CASE("what is used of types that no line names is in the total, and told of") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8));
  books.charge("a", 3);
  books.charge("b", 2, kThen, 1);
  const auto status = books.ledger.report().status(books.id(), {});
  CHECK(status.quotas.at(0).use.used == k8s::Quantity::of(3));
  CHECK(status.total.used == k8s::Quantity::of(5));
  CHECK(status.conditions.at(3).message ==
        "GPUs of types that no line names: 2 in use (pods that are being deleted included), 0 "
        "allowed; "
        "nothing new starts");
}

TEST_CASE("a type that no node has is named") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 8).line("B200", 8).line("*", 1));
  const auto status = books.ledger.report().status(books.id(), {});
  CHECK(status.conditions.at(2).type == "UnknownGpuType");
  CHECK(status.conditions.at(2).message == "no node has GPUs of type B200");
}

TEST_CASE("a namespace that is labelled takes its charges to its quota, and no other moves") {
  Books books;
  books.ledger.upsert(gpu_quota("q").selects(tests::selector({{"team", "x"}})).line("H100", 8));
  books.charge("a", 3);
  CHECK(books.id() == kUndecidedQuota);
  CHECK(books.ledger.upsert(tests::name_space("other")));  // no quota counts it
  CHECK_FALSE(books.ledger.upsert(tests::name_space("other", {{"more", ""}})));
  CHECK(books.ledger.upsert(tests::name_space("ml", {{"team", "x"}})));
  CHECK(books.used() == "3");
  CHECK_FALSE(books.ledger.upsert(tests::name_space("ml", {{"team", "x"}, {"more", ""}})));
  CHECK(books.used() == "3");
  const QuotaId q = books.id();
  CHECK(books.ledger.erase_namespace("ml"));
  CHECK(books.id() == kUndecidedQuota);
  CHECK(books.ledger.report().status(q, {}).quotas.at(0).use.used.is_zero());
}

TEST_CASE("a charge is news of one quota, whatever its cohort") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 2).lendable(1));
  const auto quotas = 100;
  for (int i = 0; i < quotas; ++i) {
    books.ledger.upsert(gpu_quota("q" + std::to_string(i)).in_cohort("c").line("H100", 1));
  }
  CHECK(books.ledger.take_news().terms);
  const QuotaId q = books.id();
  Charge& first = books.charge("first", 1);
  books.charge("second", 1);
  const News charged = books.ledger.take_news();
  CHECK_FALSE(charged.terms);
  CHECK(charged.accounts == std::vector{q});
  CHECK(charged.opened.empty());
  CHECK(charged.pools.empty());
  // What it keeps for itself is no more to lend; of what is freed then it lends one.
  CHECK(books.charges.front().get() == &first);
  books.charges.pop_back();
  const auto pools = books.ledger.answers().in_pools(q);
  REQUIRE(pools.size() == 1);
  CHECK(books.ledger.take_news().pools == std::vector{pools[0].pool});
  books.charges.clear();
  const News refunded = books.ledger.take_news();
  CHECK(refunded.opened == std::vector{q});
  CHECK(refunded.pools.empty());
}

TEST_CASE("a pool lends until all that is idle is lent") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 0).limit(1));
  books.ledger.upsert(gpu_quota("lender").in_cohort("c").line("H100", 2));
  const auto pools = books.ledger.answers().in_pools(books.id());
  REQUIRE(pools.size() == 1);
  CHECK(books.ledger.answers().lends(pools[0].pool));
  books.charge("a", 1);
  CHECK(books.ledger.answers().in_pools(books.id()).empty());  // at its limit
  CHECK(books.ledger.answers().lends(pools[0].pool));
  books.charge("b", 1);
  CHECK_FALSE(books.ledger.answers().lends(pools[0].pool));
}

TEST_CASE("another spec, cohort or type of GPU is news to all") {
  Books books;
  const auto news_after = [&](auto&& what) {
    static_cast<void>(books.ledger.take_news());
    what();
    return books.ledger.take_news().terms;
  };
  const auto upsert = [&](const tests::GpuQuotaBuilder& quota) {
    return news_after([&] { books.ledger.upsert(quota); });
  };
  CHECK(upsert(gpu_quota("q").of("ml").in_cohort("one").line("H100", 8)));
  CHECK(upsert(gpu_quota("q").of("ml").in_cohort("two").line("H100", 8)));
  CHECK_FALSE(upsert(gpu_quota("q").of("ml").in_cohort("two").line("H100", 8)));
  CHECK(news_after([&] { books.ledger.erase("q", kThen); }));
  CHECK(news_after([&] { books.ledger.node_is(1, kNoGpuClass); }));
}

TEST_CASE("of many namespaces that another quota has, some are named") {
  Books books;
  books.ledger.upsert(gpu_quota("a").selects({}).line("*", 1));
  books.ledger.upsert(gpu_quota("b").selects({}).line("*", 1));
  for (int i = 0; i < 2'000; ++i) {
    books.ledger.upsert(tests::name_space("n" + std::to_string(i)));
  }
  const auto quotas = books.ledger.quotas().by_name();
  const auto status = books.ledger.report().status(quotas.at(1), {});
  CHECK(status.conditions.at(1).message.ends_with("; and 1980 more"));
  CHECK(status.conditions.at(1).message.size() < 32'768);
}

TEST_CASE("what one of a thousand quotas uses changes its status and those of its lenders alone") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 1));
  constexpr int kOthers = 1'000;
  for (int i = 0; i < kOthers; ++i) {
    const std::string name = "lender" + std::to_string(1'000 + i);
    books.ledger.upsert(gpu_quota(name).of("ns-" + name).in_cohort("c").line("H100", 2));
  }
  const auto changes = [&] {
    std::vector<std::string> names;
    for (const QuotaId id : books.ledger.take_status_changes()) {
      names.push_back(books.ledger.name_of(id));
    }
    return names;
  };
  CHECK(changes().size() == kOthers + 1);
  CHECK(changes().empty());
  books.charge("own", 1);
  CHECK(changes() == std::vector<std::string>{"q"});
  books.charge("borrowed", 3);
  CHECK(changes() == std::vector<std::string>{"q", "lender1000", "lender1001", "lender1002"});
  books.charges.pop_back();
  CHECK(changes() == std::vector<std::string>{"q", "lender1000", "lender1001", "lender1002"});
  // An overlap is reported to the quota that does not get the namespace.
  books.ledger.upsert(gpu_quota("z").of("ml").line("H100", 1));
  static_cast<void>(changes());
  books.ledger.upsert(tests::name_space("ml"));
  books.ledger.upsert(tests::name_space("elsewhere"));
  CHECK(changes().empty());
}

namespace {

// What the conditions of the quota say is wrong: "CohortOverlent: H100: more is …".
std::vector<std::string> problems(Ledger& ledger, const std::string& namespace_) {
  std::vector<std::string> found;
  for (const k8s::Condition& each :
       ledger.report().status(ledger.quota_of(namespace_), {}).conditions) {
    if (each.type == "Ready" && each.status == "False") {
      found.push_back("not ready, " + each.reason + ": " + each.message);
    }
    if (each.type == "Ready" || each.status == "False") continue;
    CHECK(each.reason == each.type);
    found.push_back(each.type + ": " + each.message);
  }
  return found;
}

using Problems = std::vector<std::string>;

}  // namespace

TEST_CASE("a quota without effect is not ready") {
  Books books;
  SECTION("since others have its namespaces") {
    books.ledger.upsert(gpu_quota("a").of("ml").line("H100", 1));
    books.ledger.upsert(gpu_quota("b").of("ml").line("H100", 1));
    const QuotaId b = books.ledger.quotas().by_name().at(1);
    static_cast<void>(books.ledger.take_status_changes());
    CHECK(books.ledger.report().status(b, {}).conditions.at(0).reason == "NoNamespace");
    books.ledger.erase("a", kThen);
    CHECK(books.ledger.take_status_changes().contains(b));
    CHECK(books.ledger.report().status(b, {}).conditions.at(0).status == "True");
  }
  SECTION("since no namespace is as it selects") {
    books.ledger.upsert(gpu_quota("a")
                            .selects({.match_labels = {{"team", "a"}}, .match_expressions = {}})
                            .line("H100", 1));
    const QuotaId a = books.ledger.quotas().by_name().at(0);
    const k8s::Condition ready = books.ledger.report().status(a, {}).conditions.at(0);
    CHECK(ready.reason == "NoNamespace");
    CHECK(ready.message == "no namespace belongs to it, and no quota has it as its parent");
    static_cast<void>(books.ledger.take_status_changes());
    k8s::Namespace made;
    made.metadata.name = "new";
    made.metadata.labels = {{"team", "a"}};
    books.ledger.upsert(made);
    CHECK(books.ledger.take_status_changes().contains(a));
    CHECK(books.ledger.report().status(a, {}).conditions.at(0).status == "True");
    books.ledger.erase_namespace("new");
    CHECK(books.ledger.report().status(a, {}).conditions.at(0).reason == "NoNamespace");
  }
  SECTION("since no node has its types") {
    books.ledger.upsert(gpu_quota("a").of("ml").line("B200", 0));
    CHECK(problems(books.ledger, "ml") ==
          Problems{"not ready, NoGpus: no node has GPUs of its types",
                   "UnknownGpuType: no node has GPUs of type B200"});
  }
}

TEST_CASE("guarantees beyond what nodes have are told of, and when that ends") {
  Books books;
  const auto offers = [&](NodeSlot slot, int gpus, const char* product) {
    k8s::Node node = tests::node("n").gpus(gpus).product(product);
    NodeFacts facts = facts_of(node, books.names);
    facts.charge_class = books.ledger.intern(facts, books.names);
    books.ledger.node_is(slot, facts.charge_class, books.ledger.offer_of(facts, books.names));
  };
  offers(0, 8, "NVIDIA-H100-80GB-HBM3");
  offers(1, 8, "NVIDIA-L4");
  books.ledger.upsert(gpu_quota("a").of("ml").line("H100", 6).line("L4", 8));
  books.ledger.upsert(gpu_quota("b").of("b").line("NVIDIA-H100-80GB-HBM3", 2));
  CHECK(problems(books.ledger, "ml").empty());
  static_cast<void>(books.ledger.take_status_changes());

  books.ledger.upsert(gpu_quota("c").of("c").line("H100", 1));
  CHECK(problems(books.ledger, "ml") ==
        Problems{"GuaranteesExceedGpus: H100: all quotas guarantee 9, nodes have 8"});
  CHECK(problems(books.ledger, "b").empty());  // its product alone is covered
  static_cast<void>(books.ledger.take_status_changes());
  offers(2, 4, "NVIDIA-H100-80GB-HBM3");
  const std::set<QuotaId> changed = books.ledger.take_status_changes();
  CHECK(changed.contains(books.ledger.quota_of("ml")));
  CHECK(changed.contains(books.ledger.quota_of("c")));
  CHECK_FALSE(changed.contains(books.ledger.quota_of("b")));
  CHECK(problems(books.ledger, "ml").empty());
  offers(2, 0, "NVIDIA-H100-80GB-HBM3");
  books.ledger.node_is(2, kNoGpuClass);
  CHECK(problems(books.ledger, "ml").size() == 1);
}

TEST_CASE("a quota's status changes when more or less is missing to its guarantee") {
  Books books;
  const auto offers = [&](NodeSlot slot, int gpus, const char* product) {
    NodeFacts facts = facts_of(tests::node("n").gpus(gpus).product(product), books.names);
    facts.charge_class = books.ledger.intern(facts, books.names);
    books.ledger.node_is(slot, facts.charge_class, books.ledger.offer_of(facts, books.names));
  };
  offers(0, 8, "NVIDIA-H100-80GB-HBM3");
  offers(1, 8, "NVIDIA-L4");
  books.ledger.upsert(gpu_quota("a").of("ml").line("H100", 20));
  const QuotaId a = books.id();
  static_cast<void>(books.ledger.take_status_changes());
  offers(2, 4, "NVIDIA-L4");
  CHECK_FALSE(books.ledger.take_status_changes().contains(a));
  offers(3, 4, "NVIDIA-H100-80GB-HBM3");
  CHECK(books.ledger.take_status_changes().contains(a));
  CHECK(problems(books.ledger, "ml") ==
        Problems{"GuaranteesExceedGpus: H100: all quotas guarantee 20, nodes have 12"});
}

TEST_CASE("answers may change when a namespace comes or goes") {
  Books books;
  books.ledger.upsert(gpu_quota("a").of("ml").line("H100", 8));
  std::uint64_t last = books.ledger.version();
  const auto is_new = [&] {
    return std::exchange(last, books.ledger.version()) != books.ledger.version();
  };
  books.ledger.upsert(tests::name_space("other"));
  CHECK(is_new());
  books.ledger.erase_namespace("other");
  CHECK(is_new());
}

TEST_CASE("lines of one cohort that mean the same GPUs under several names are told of") {
  Books books;
  const auto apart = [&](const char* namespace_) {
    Problems all = problems(books.ledger, namespace_);
    std::erase_if(all, [](const std::string& each) { return !each.starts_with("LentApart"); });
    return all;
  };
  books.ledger.upsert(gpu_quota("a").of("ml").in_cohort("c").line("H100", 4));
  books.ledger.upsert(gpu_quota("b").of("b").in_cohort("c").line("*", 4));
  books.ledger.upsert(gpu_quota("d").of("d").in_cohort("other").line("*", 4));
  CHECK(apart("ml") ==
        Problems{"LentApart: H100 here and * of quota b are of the same GPUs, and lend each other "
                 "nothing: only lines of one gpuType do"});
  CHECK(apart("b").size() == 1);
  CHECK(apart("d").empty());
  // All have both: what is H100 is charged to H100 by all.
  books.ledger.upsert(
      gpu_quota("a").of("ml").in_cohort("c").line("H100", 4).line("*", 1).generation(2));
  CHECK(apart("ml").size() == 1);  // b has no line of H100 still
  books.ledger.upsert(
      gpu_quota("b").of("b").in_cohort("c").line("*", 4).line("H100", 0).generation(2));
  CHECK(apart("ml").empty());
  CHECK(apart("b").empty());
}

TEST_CASE("a cohort that has lent more than it has says so, unless it is bounded") {
  const bool bounded = GENERATE(false, true);
  Options options;
  options.bound_cohorts = bounded;
  Books books(options);
  books.ledger.upsert(gpu_quota("a").of("ml").in_cohort("c").line("H100", 2));
  books.ledger.upsert(gpu_quota("b").of("b").in_cohort("c").line("H100", 2));
  books.charge("1", 2);
  Charge& borrowed = books.charge("2", 2);
  static_cast<void>(borrowed);
  const QuotaId b = books.ledger.quota_of("b");
  const Demand one{.gpus = 1};
  CHECK(books.ledger.answers().admit(b, one, kNoHold).within.size() == (bounded ? 0 : 1));
  static_cast<void>(books.ledger.take_status_changes());
  if (!bounded) {
    const Charge own(books.ledger, {"3", "b", {}, kThen}, 0, one);
    CHECK(books.ledger.take_status_changes().contains(books.id()));
    for (const char* each : {"ml", "b"}) {
      CHECK(problems(books.ledger, each) ==
            Problems{"CohortOverlent: H100: more is borrowed in cohort c than it has to lend; "
                     "nothing more is lent until some of it is freed"});
    }
  }
  CHECK(problems(books.ledger, "ml").empty());
  if (bounded) {
    const auto answers = books.ledger.answers().by_line(b, one, kNoHold);
    REQUIRE_FALSE(answers.empty());
    CHECK((answers[0].why == LineAnswer::Why::kBound));
    CHECK(answers[0].missing == GpuShare::gpus(1));
    books.charges.pop_back();
    CHECK(books.ledger.answers().admit(b, one, kNoHold).within.size() == 1);
  }
}

TEST_CASE("what is held for others is the reason beyond the limit, too") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").line("H100", 4));
  const QuotaAnswers& answers = books.ledger.answers();
  const auto classes = answers.admit(books.id(), Demand{.gpus = 4}, kNoHold).within;
  books.charge("a", 4);
  const auto told = [&](HoldRank rank) {
    const LineAnswer line = answers.by_line(books.id(), Demand{.gpus = 1}, rank).at(0);
    return std::pair(line.why, line.missing);
  };
  CHECK((told(kNoHold) == std::pair(LineAnswer::Why::kLimit, GpuShare::gpus(1))));
  REQUIRE(books.ledger.hold(books.id(), Demand{.gpus = 4}, classes));
  // More than the pods have that run: some of it will be the pod's for which it is held.
  CHECK((told(kNoHold) == std::pair(LineAnswer::Why::kKept, GpuShare::gpus(5))));
  CHECK((told(kFirstHold) == std::pair(LineAnswer::Why::kLimit, GpuShare::gpus(1))));
}

TEST_CASE("what is lent is told in proportion to what each lender has idle") {
  Books books;
  books.ledger.upsert(gpu_quota("guest").of("ml").in_cohort("c").line("H100", 0));
  const std::array<std::pair<const char*, int>, 3> lenders{{{"a", 2}, {"b", 8}, {"c", 6}}};
  for (const auto& [name, gpus] : lenders) {
    books.ledger.upsert(gpu_quota(name).of(name).in_cohort("c").line("H100", gpus));
  }
  // By the number of GPUs that are borrowed: 2, 8 and 6 parts of 16.
  const std::array<std::array<int, 3>, 17> want{{{0, 0, 0},
                                                 {0, 1, 0},
                                                 {0, 1, 1},
                                                 {0, 2, 1},
                                                 {0, 2, 2},
                                                 {0, 3, 2},
                                                 {1, 3, 2},
                                                 {1, 4, 2},
                                                 {1, 4, 3},
                                                 {1, 5, 3},
                                                 {1, 5, 4},
                                                 {1, 6, 4},
                                                 {1, 6, 5},
                                                 {1, 7, 5},
                                                 {2, 7, 5},
                                                 {2, 8, 5},
                                                 {2, 8, 6}}};
  for (std::size_t borrowed = 0; borrowed < want.size(); ++borrowed) {
    if (borrowed > 0) books.charge(std::to_string(borrowed), 1);
    INFO(borrowed << " borrowed");
    std::array<int, 3> lent{};
    for (std::size_t i = 0; i < lenders.size(); ++i) {
      const QuotaId id = books.ledger.quota_of(lenders[i].first);
      lent[i] = std::stoi(books.ledger.report().status(id, {}).total.lent.to_string());
    }
    CHECK(lent == want[borrowed]);
  }
}

TEST_CASE("parts of GPUs are lent to the last, and never more than a lender has idle") {
  Books books;
  books.ledger.upsert(gpu_quota("guest").of("ml").in_cohort("c").line("*", 0));
  const std::array<const char*, 3> lenders{"a", "b", "c"};
  const std::array<const char*, 3> idle{"500m", "1500m", "1"};
  for (std::size_t i = 0; i < lenders.size(); ++i) {
    tests::GpuQuotaBuilder quota = gpu_quota(lenders[i]).of(lenders[i]).in_cohort("c");
    books.ledger.upsert(quota.line("*", std::string(idle[i])));
  }
  for (int borrowed = 1; borrowed <= 3; ++borrowed) {
    books.charge(std::to_string(borrowed), 1);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < lenders.size(); ++i) {
      const QuotaId id = books.ledger.quota_of(lenders[i]);
      const std::int64_t lent = books.ledger.report().status(id, {}).total.lent.milli_value();
      CHECK(lent <= k8s::Quantity::parse(idle[i])->milli_value());
      sum += lent;
    }
    CHECK(sum == 1000 * borrowed);
  }
}

TEST_CASE("of the pods of a line that borrows, those that were charged last are the loans") {
  Books books;
  books.ledger.upsert(gpu_quota("q").of("ml").in_cohort("c").line("H100", 4).line("L4", 0));
  books.ledger.upsert(
      gpu_quota("lender").of("lender").in_cohort("c").line("H100", 8).line("L4", 8));
  const auto loans = [&] {
    std::vector<std::tuple<std::string, std::string, std::string>> all;
    for (const Loan& loan : books.ledger.report().loans()) {
      all.emplace_back(loan.uid, books.ledger.quotas().type_of(loan.quota, loan.line),
                       to_text(loan.amount));
    }
    return all;
  };
  using All = decltype(loans());
  // In whatever order they are read.
  books.charge("third", 2, kThen + 3s);
  books.charge("first", 3, kThen + 1s);
  CHECK(loans() == All{{"third", "H100", "1"}});
  books.charge("fourth", 1, kThen + 3s + std::chrono::microseconds(1));
  books.charge("second", 1, kThen + 2s);
  books.charge("other", 1, kThen + 2s, 1);
  CHECK(loans() == All{{"fourth", "H100", "1"}, {"third", "H100", "2"}, {"other", "L4", "1"}});
  // When the guarantee is larger again, the earliest loan ends first.
  books.ledger.upsert(
      gpu_quota("q").of("ml").in_cohort("c").line("H100", 6).line("L4", 0).generation(2));
  CHECK(loans() == All{{"fourth", "H100", "1"}, {"other", "L4", "1"}});
  books.charges.clear();
  CHECK(loans().empty());
}

TEST_CASE("a charge is noted with its time, and a time that cannot be true is not believed") {
  const Time now = kThen + 100s;
  struct Case {
    const char* name;
    const char* text;
    Time want;
  };
  const Case cases[] = {
      {"as it was written", "1970-01-01T00:17:30.000005Z",
       kThen + 50s + std::chrono::microseconds(5)},
      {"before the pod", "1970-01-01T00:00:00Z", kThen},
      {"by a clock that is ahead", "1970-01-01T00:19:00Z", kThen + 140s},
      {"to come", "1970-01-01T00:20:00Z", kThen},
      {"no time", "yesterday", kThen},
      {"empty", "", kThen},
      {"the end of all times", "9999-12-31T23:59:59Z", kThen},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const k8s::Pod pod = tests::pod("p").created_at(kThen).annotated(kChargedAtAnnotation, c.text);
    CHECK(note_on(pod, now).at == c.want);
    CHECK(no_note(pod).at == kThen);
    CHECK(has_note(pod));
  }
  const Time at = kThen + std::chrono::microseconds(7);
  CHECK(text_of(at) == "1970-01-01T00:16:40.000007Z");
  const k8s::Pod noted = tests::pod("p")
                             .annotated(kChargedAtAnnotation, text_of(at))
                             .annotated(kChargedAsAnnotation, "NVIDIA-L4");
  CHECK(note_on(noted, now) == ChargeNote{.product = "NVIDIA-L4", .at = at});
}
