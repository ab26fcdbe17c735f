// What pods hold of quotas: a charge each.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/gpu_share.h"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::quota {

class Ledger;

// What a pod takes of its namespace's quota, from construction to destruction. Has a fixed address.
class Charge {
 public:
  struct Pod {
    std::string uid;
    std::string namespace_;
    std::string charged_as;  // charged_as.h; empty: there is no note
    Time at{};               // when it was charged (charged_as.h): what orders loans
  };
  // `ledger` outlives the charge.
  Charge(Ledger& ledger, Pod pod, NodeSlot node, Demand demand);
  ~Charge();
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  [[nodiscard]] const Pod& pod() const { return pod_; }
  [[nodiscard]] NodeSlot node() const { return node_; }
  [[nodiscard]] const Demand& demand() const { return demand_; }
  [[nodiscard]] const std::string& charged_as() const { return pod_.charged_as; }
  [[nodiscard]] Time at() const { return pod_.at; }

  // The quota that counts it; nullopt: none.
  [[nodiscard]] std::optional<QuotaId> quota() const;
  // Where a quota counts it: on which of its lines, how much, and the class of its node. To be
  // asked after quota().
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] GpuShare amount() const { return amount_; }
  [[nodiscard]] ChargeClassId on() const { return on_; }

 private:
  friend class Ledger;
  friend class Charges;
  Ledger& ledger_;
  Pod pod_;
  NodeSlot node_;
  Demand demand_;
  std::size_t in_namespace_ = 0;  // index in Charges::in_namespace()
  std::size_t on_node_ = 0;       // index in Charges::on_node()
  // Written by the ledger.
  std::optional<QuotaId> quota_;
  std::size_t line_ = 0;
  GpuShare amount_;
  ChargeClassId on_ = kNoGpuClass;
};

// The charges that exist, by namespace and by node.
class Charges {
 public:
  using ByNamespace = std::unordered_map<std::string, std::vector<Charge*>>;

  // Until remove(). O(1).
  void add(Charge& charge);
  void remove(Charge& charge);
  // In no order. No namespace has an empty list.
  [[nodiscard]] const ByNamespace& by_namespace() const { return in_namespace_; }
  [[nodiscard]] const std::vector<Charge*>& in_namespace(const std::string& namespace_) const;
  [[nodiscard]] const std::vector<Charge*>& on_node(NodeSlot node) const;

 private:
  ByNamespace in_namespace_;
  std::vector<std::vector<Charge*>> on_node_;  // by slot
};

}  // namespace sched::quota
