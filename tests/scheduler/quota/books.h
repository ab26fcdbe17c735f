// A ledger with two nodes, and what is charged to the quota of one namespace.
#pragma once

#include "scheduler/quota/ledger.h"
#include "tests/support/builders.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tests {

inline constexpr sched::Time kThen{std::chrono::seconds(1'000)};

// A ledger with one node of H100 (slot 0) and one of L4 (slot 1).
struct Books {
  sched::ResourceNames names;
  sched::quota::Ledger ledger;
  std::vector<std::unique_ptr<sched::quota::Charge>> charges;

  explicit Books(sched::quota::Options options = {}) : ledger(std::move(options)) {
    for (const auto& [slot, product] : {std::pair{sched::NodeSlot{0}, "NVIDIA-H100-80GB-HBM3"},
                                        std::pair{sched::NodeSlot{1}, "NVIDIA-L4"}}) {
      const k8s::Node node = tests::node("n").gpus(8).product(product);
      ledger.node_is(slot, ledger.intern(sched::facts_of(node, names), names),
                     sched::quota::GpuShare::gpus(8));
    }
  }
  sched::quota::Charge& charge(const std::string& uid, std::int64_t gpus,
                               sched::Time created = kThen, sched::NodeSlot node = 0,
                               const std::string& charged_as = {}) {
    charges.push_back(std::make_unique<sched::quota::Charge>(
        ledger, sched::quota::Charge::Pod{uid, "ml", charged_as, created}, node,
        sched::quota::Demand{.gpus = gpus}));
    return *charges.back();
  }
  sched::quota::QuotaId id() const { return ledger.quota_of("ml"); }
  std::string used(std::size_t line = 0) const {
    return ledger.report().status(id(), {}).quotas.at(line).use.used.to_string();
  }
};

}  // namespace tests
