// A trial of the accounts answers what the ledger answers when the same is really done.
#include "scheduler/quota/ledger_trial.h"

#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/gpu_quotas.h"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::gpu_quota;

namespace {

constexpr std::array<const char*, 5> kNamespaces{"a", "b", "c", "d", "nobody's"};
constexpr std::array<const char*, 2> kProducts{"NVIDIA-H100-80GB-HBM3", "NVIDIA-L4"};

// Everything that the ledger answers about one pod.
struct Answers {
  std::vector<ChargeClassId> within;
  std::vector<ChargeClassId> borrowing;
  bool refused_some = false;
  std::vector<LineAnswer> lines;
  Standing standing;
  std::vector<Standing> standings_on;  // by class
  friend bool operator==(const Answers&, const Answers&) = default;
};

// Accounts of four quotas, three of which lend to each other, and the same changes tried and done.
class TriedAndDone {
 public:
  explicit TriedAndDone(unsigned seed) : random_(seed) {
    for (NodeSlot slot = 0; slot < kProducts.size(); ++slot) {
      const k8s::Node node = tests::node("n").gpus(8).product(kProducts[slot]);
      classes_[slot] = ledger_.intern(facts_of(node, names_), names_);
      ledger_.node_is(slot, classes_[slot]);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      auto quota = gpu_quota("of-" + std::string(kNamespaces[i])).of(kNamespaces[i]);
      if (i < 3) quota.in_cohort("all");
      quota.line("H100", up_to(8));
      if (draw(2)) quota.limit(up_to(20));
      if (draw(2)) quota.line("L4", up_to(8));
      if (draw(3)) quota.most_per_pod(3);
      ledger_.upsert(quota);
    }
    for (int i = 0; i < 12; ++i) charge();
  }

  // Returns how many questions were compared.
  int round() {
    if (draw(3)) ledger_.release(some_quota(), HoldRank{static_cast<std::uint32_t>(up_to(2))});
    if (draw(3)) ledger_.hold(some_quota(), some_demand(), {classes_.begin(), classes_.end()});
    const auto version = ledger_.version();
    const std::vector<Demand> demands{some_demand(), some_demand()};
    const std::vector<Answers> before = answers(demands, nullptr);

    LedgerTrial trial(ledger_);
    std::vector<std::unique_ptr<Charge>> gone;
    if (draw(2))
      static_cast<void>(answers(demands, &trial));  // what is asked first changes nothing
    for (auto i = random_() % 5; i > 0 && !charges_.empty(); --i) {
      std::swap(charges_[random_() % charges_.size()], charges_.back());
      trial.take_away(*charges_.back());
      gone.push_back(std::move(charges_.back()));
      charges_.pop_back();
    }
    if (!gone.empty() && draw(2)) {
      trial.put_back(*gone.back());
      charges_.push_back(std::move(gone.back()));
      gone.pop_back();
    }
    std::vector<std::tuple<std::string, Demand, NodeSlot>> come;
    for (auto i = random_() % 3; i > 0; --i) {
      come.emplace_back(kNamespaces[random_() % kNamespaces.size()], some_demand(), some_node());
      const auto& [namespace_, demand, node] = come.back();
      trial.add(namespace_, demand, classes_[node]);
    }
    const std::vector<Answers> tried = answers(demands, &trial);
    CHECK(answers(demands, nullptr) == before);
    CHECK(ledger_.version() == version);

    gone.clear();
    for (auto& [namespace_, demand, node] : come) charge(namespace_, std::move(demand), node);
    REQUIRE(tried == answers(demands, nullptr));
    while (charges_.size() < 12) charge();
    return static_cast<int>(tried.size());
  }

 private:
  bool draw(unsigned one_in) { return random_() % one_in == 0; }
  std::int64_t up_to(unsigned most) { return static_cast<std::int64_t>(random_() % (most + 1)); }
  NodeSlot some_node() { return static_cast<NodeSlot>(random_() % kProducts.size()); }
  QuotaId some_quota() { return ledger_.quota_of(kNamespaces[random_() % 4]); }
  Demand some_demand() { return {.gpus = 1 + static_cast<std::int64_t>(random_() % 4)}; }
  void charge() { charge(kNamespaces[random_() % kNamespaces.size()], some_demand(), some_node()); }
  void charge(const std::string& namespace_, Demand demand, NodeSlot node) {
    charges_.push_back(
        std::make_unique<Charge>(ledger_, Charge::Pod{std::to_string(++uids_), namespace_, {}, {}},
                                 node, std::move(demand)));
  }

  // Of each quota, for each demand, as one of those that the quota keeps something for and as
  // another.
  std::vector<Answers> answers(const std::vector<Demand>& demands, const LedgerTrial* in) const {
    std::vector<Answers> all;
    for (const QuotaId quota : ledger_.quotas().by_name()) {
      for (const Demand& demand : demands) {
        for (const HoldRank rank : {kNoHold, kFirstHold, HoldRank{1}}) {
          Admission admission = ledger_.answers().admit(quota, demand, rank, in);
          std::vector<Standing> standings_on;
          for (const ChargeClassId on : classes_) {
            standings_on.push_back(ledger_.answers().standing_on(on, quota, demand, rank, in));
          }
          all.push_back({.within = std::move(admission.within),
                         .borrowing = std::move(admission.borrowing),
                         .refused_some = admission.refused_some,
                         .lines = ledger_.answers().by_line(quota, demand, rank, in),
                         .standing = ledger_.answers().standing(quota, demand, rank, in),
                         .standings_on = std::move(standings_on)});
        }
      }
    }
    return all;
  }

  std::mt19937 random_;
  ResourceNames names_;
  Ledger ledger_{Options{}};
  std::array<ChargeClassId, kProducts.size()> classes_{};
  std::vector<std::unique_ptr<Charge>> charges_;
  std::uint64_t uids_ = 0;
};

}  // namespace

TEST_CASE("a trial of the accounts answers what the ledger answers when it is really done") {
  const int questions = static_cast<int>(tests::amount(40'000, 1'000'000));
  int asked = 0;
  for (unsigned seed = 1; asked < questions; ++seed) {
    TriedAndDone accounts(seed);
    for (int round = 0; round < 100; ++round) asked += accounts.round();
  }
}
