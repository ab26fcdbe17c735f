#include "scheduler/quota/ledger.h"

#include "scheduler/quota/charged_as.h"
#include "tests/scheduler/quota/books.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using namespace std::chrono_literals;
using tests::Books;
using tests::gpu_quota;
using tests::kThen;

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
