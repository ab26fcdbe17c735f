// A constraint that is asked by itself which nodes it rules out.
#pragma once

#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tests {

using namespace sched;
using Reason = std::optional<std::string>;
using Names = std::vector<std::string>;

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

// One constraint, and the nodes it is asked about.
struct Asked {
  explicit Asked(const char* name, const char* args = "") {
    auto made = make_plugin(name, args);
    REQUIRE(made);
    constraint = std::move(made->constraint);
    REQUIRE(constraint);
    CHECK(constraint->name() == name);
  }
  template <typename Object>
  void has(const Object& object) {
    constraint->apply(ObjectUpserted<Object>{object});
  }
  template <typename Object>
  void lacks(const std::string& name, const std::string& name_space = "") {
    constraint->apply(ObjectGone<Object>{name, name_space});
  }
  void bound(const k8s::Pod& it) { constraint->apply(BoundPodUpserted{it}); }
  void gone(const k8s::Pod& it) { constraint->apply(BoundPodGone{it.metadata.uid}); }
  [[nodiscard]] Reason refuses(const k8s::Pod& it) const {
    const auto refusal = constraint->refuses(it);
    if (!refusal) return std::nullopt;
    return refusal->reason;
  }
  // The objects of which a change may lift its refusal, as "namespace/name" or "name".
  [[nodiscard]] Names awaits(const k8s::Pod& it) const {
    Names all;
    const auto refusal = constraint->refuses(it);
    REQUIRE(refusal);
    for (const ObjectKey& object : refusal->awaits) {
      CHECK(object.kind == kStorageChanged);
      CHECK_FALSE(object.name.empty());  // any of the kind
      all.push_back(object.namespace_.empty() ? object.name
                                              : object.namespace_ + "/" + object.name);
    }
    return all;
  }

  NodeFacts& on(const std::string& name, const k8s::StringMap& labels = {}) {
    NodeFacts& facts = nodes[name];
    facts.name = name;
    facts.labels = labels;
    facts.labels.set(kHost, name);
    return facts;
  }
  // Of each node that is excluded, now or in a trial: the reasons that are told. Of what is
  // counted, that of nodes alone.
  [[nodiscard]] std::map<std::string, Names> excluded(const k8s::Pod& it,
                                                      const PodDifference& trial = {}) const {
    std::map<std::string, Names> all;
    for (const Exclusion& rule : constraint->excludes(it, trial)) {
      CHECK(rule.plugin == constraint->name());
      codes[std::string(rule.reason)] = rule.code;
      for (const auto& [name, facts] : nodes) {
        if (allows(rule, facts)) continue;
        if (all.contains(name) && !rule.also_told) continue;
        Names& told = all[name];
        if (std::find(told.begin(), told.end(), rule.reason) == told.end()) {
          told.emplace_back(rule.reason);
        }
      }
    }
    if (!constraint->is_ruled(it)) return all;
    const auto rule = constraint->rule_for(it, trial);
    if (rule == nullptr) return all;
    for (const DomainBound& bound : rule->bounds({})) {
      const DomainCount& count = rule->counts()[bound.count];
      REQUIRE((count.by_node && count.key.empty()));
      codes[std::string(bound.reason)] = bound.code;
      for (const auto& [name, facts] : nodes) {
        const std::int64_t amount = count.what->amount_of_node(facts);
        const bool is_out = amount < bound.at_least || amount > bound.at_most;
        if (is_out && !all.contains(name)) all[name] = {std::string(bound.reason)};
      }
    }
    return all;
  }
  static bool allows(const Exclusion& rule, const NodeFacts& facts) {
    struct Allows {
      const NodeFacts& facts;
      bool operator()(const k8s::NodeSelector* selector) const {
        return selector->matches({}, facts.labels);
      }
      bool operator()(const NamedNodes& named) const {
        const bool is_named =
            std::find(named.names.begin(), named.names.end(), facts.name) != named.names.end();
        return is_named != named.all_others;
      }
      bool operator()(const std::function<bool(const NodeFacts&)>& holds) const {
        return holds(facts);
      }
    };
    return std::visit(Allows{facts}, rule.allowed);
  }

  std::unique_ptr<ClusterConstraint> constraint;
  std::map<std::string, NodeFacts> nodes;
  mutable std::map<std::string, Code> codes;  // of reasons that were given
};

inline k8s::StorageClass storage_class(const char* name, const char* provisioner,
                                       const char* mode = "WaitForFirstConsumer") {
  k8s::StorageClass made;
  made.metadata.name = name;
  made.provisioner = provisioner;
  made.binding_mode = mode;
  return made;
}

// An unbound claim of the class.
inline k8s::PersistentVolumeClaim wanted(const char* name, const char* of, std::int64_t gi = 1) {
  k8s::PersistentVolumeClaim made = claim(name, "");
  made.metadata.uid = std::string("uid of ") + name;
  made.metadata.resource_version = "1";
  made.storage_class = of;
  made.requested_bytes = gi * kGi;
  return made;
}

template <typename Object, typename Change>
Object with(Object made, Change change) {
  change(made);
  return made;
}

}  // namespace tests
