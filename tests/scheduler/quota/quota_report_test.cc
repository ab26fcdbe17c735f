// What people are shown of quotas: their accounts, what is wrong with them, and the loans.
#include "tests/scheduler/quota/books.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using namespace std::chrono_literals;
using tests::Books;
using tests::gpu_quota;
using tests::kThen;

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
