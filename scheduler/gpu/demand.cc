#include "scheduler/gpu/demand.h"

#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/mig/resource_name.h"
#include "scheduler/gpu/product.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace sched::gpu {
namespace {

using Products = std::vector<std::string>;

Products sorted(Products products) {
  std::sort(products.begin(), products.end());
  products.erase(std::unique(products.begin(), products.end()), products.end());
  return products;
}

Products common(const Products& a, const Products& b) {
  Products both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Products canonical(const Products& labels) {
  Products names;
  for (const std::string& label : labels) names.push_back(parse_product(label).product.name);
  return sorted(std::move(names));
}

// The products that all of a term's requirements allow; nullopt: the term names no products.
std::optional<Products> products_of(const k8s::NodeSelectorTerm& term) {
  std::optional<Products> allowed;
  for (const k8s::SelectorRequirement& requirement : term.match_expressions) {
    if (requirement.key != kProductLabel || requirement.op != k8s::SelectorOperator::kIn) continue;
    Products these = canonical(requirement.values);
    allowed = allowed ? common(*allowed, these) : std::move(these);
  }
  return allowed;
}

// Terms are alternatives: a term that leaves the product open allows all products.
std::optional<Products> products_of(const k8s::NodeSelector& selector) {
  Products all;
  for (const k8s::NodeSelectorTerm& term : selector.terms) {
    const auto allowed = products_of(term);
    if (!allowed) return std::nullopt;
    all.insert(all.end(), allowed->begin(), allowed->end());
  }
  return sorted(std::move(all));
}

Products products_of(const k8s::Pod::Spec& spec) {
  std::optional<Products> allowed;
  if (spec.node_affinity && spec.node_affinity->required) {
    allowed = products_of(*spec.node_affinity->required);
  }
  for (const auto& [key, value] : spec.node_selector) {
    if (key != kProductLabel) continue;
    Products this_one = canonical({value});
    allowed = allowed ? common(*allowed, this_one) : std::move(this_one);
  }
  return allowed.value_or(Products{});
}

}  // namespace

Demand demand_of(const std::vector<ResourceAmount>& requests, const k8s::Pod::Spec& spec,
                 const ResourceNames& names) {
  Demand demand;
  std::int64_t share = 0;
  for (const ResourceAmount& request : requests) {
    if (request.resource == kNvidiaGpu) {
      demand.gpus = request.amount;
      demand.milli = kMilliPerGpu;
      continue;
    }
    const std::string& name = names.name(request.resource);
    if (name == kMilliResource) share = request.amount;
    const auto mig = mig::parse_resource(name);
    if (mig && !mig->shared) demand.instances.push_back({mig->profile, request.amount});
  }
  if (demand.gpus == 0 && share > 0 && share < kMilliPerGpu) {
    demand.gpus = 1;
    demand.milli = share;
  }
  if (!demand.is_none()) demand.products = products_of(spec);
  return demand;
}

std::int64_t pieces_in(const std::vector<ResourceAmount>& requests, const ResourceNames& names) {
  const std::optional<ResourceId> shared = names.find(kSharedResource);
  std::int64_t pieces = 0;
  for (const ResourceAmount& request : requests) {
    if (request.resource != kNvidiaGpu && request.resource != shared) continue;
    pieces = saturating_add(pieces, request.amount);
  }
  return pieces;
}

}  // namespace sched::gpu
