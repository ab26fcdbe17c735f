#include "scheduler/quota/type_choice.h"

#include "scheduler/gpu/labels.h"
#include "scheduler/quota/charge_class.h"

#include <algorithm>

namespace sched::quota {
namespace {

using Requirements = TypeChoice::Requirements;

Requirements about_types(const std::vector<k8s::SelectorRequirement>& all,
                         const gpu::SiteLabels& site) {
  Requirements some;
  std::copy_if(
      all.begin(), all.end(), std::back_inserter(some),
      [&](const k8s::SelectorRequirement& each) { return gpu::names_type(each.key, site); });
  return some;
}

// Terms are alternatives: a term that leaves the type open allows all types.
std::vector<Requirements> about_types(const k8s::NodeSelector& selector,
                                      const gpu::SiteLabels& site) {
  std::vector<Requirements> all;
  for (const k8s::NodeSelectorTerm& term : selector.terms) {
    all.push_back(about_types(term.match_expressions, site));
    if (all.back().empty()) return {};
  }
  return all;
}

bool hold(const Requirements& requirements, const k8s::StringMap& labels) {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& each) { return each.matches(labels); });
}

bool is(const gpu::TypeName& type, const ChargeClass& gpus) {
  return gpu::matches(type, gpus.product) &&
         (type.mig_profile.empty() || type.mig_profile == gpus.single_profile);
}

}  // namespace

TypeChoice choice_of(const PodShape& shape, bool enforces_types, const gpu::SiteLabels& site) {
  TypeChoice choice;
  if (enforces_types) choice.types = shape.wishes.types;
  for (const auto& [key, value] : shape.node_selector) {
    if (!gpu::names_type(key, site)) continue;
    choice.required.push_back({.key = key, .op = k8s::SelectorOperator::kIn, .values = {value}});
  }
  if (shape.node_affinity && shape.node_affinity->required) {
    choice.alternatives = about_types(*shape.node_affinity->required, site);
  }
  return choice;
}

std::vector<gpu::TypeName> named_types(const TypeChoice& choice) {
  const auto names_product = [](const k8s::SelectorRequirement& each) {
    return each.op == k8s::SelectorOperator::kIn && each.key == gpu::kProductLabel;
  };
  const auto named_in = [&](const Requirements& requirements) {
    std::vector<gpu::TypeName> named;
    const auto found = std::find_if(requirements.begin(), requirements.end(), names_product);
    if (found == requirements.end()) return named;
    for (const std::string& value : found->values) named.push_back(gpu::parse_type_name(value));
    return named;
  };
  if (auto required = named_in(choice.required); !required.empty()) return required;
  std::vector<gpu::TypeName> named;
  for (const Requirements& alternative : choice.alternatives) {
    std::vector<gpu::TypeName> in_this = named_in(alternative);
    if (in_this.empty()) return choice.types;
    named.insert(named.end(), in_this.begin(), in_this.end());
  }
  return named.empty() ? choice.types : named;
}

bool allows(const TypeChoice& choice, const ChargeClass& gpus) {
  const auto& [types, required, alternatives] = choice;
  if (!types.empty() &&
      std::none_of(types.begin(), types.end(), [&](const auto& type) { return is(type, gpus); })) {
    return false;
  }
  if (!hold(required, gpus.type_labels)) return false;
  return alternatives.empty() ||
         std::any_of(alternatives.begin(), alternatives.end(),
                     [&](const auto& each) { return hold(each, gpus.type_labels); });
}

}  // namespace sched::quota
