// Which types of GPU a pod allows:
//
//   nodeSelector, required node affinity   over the labels that name a type (gpu/labels.h)
//   gpu-scheduler.io/gpu-type              if a plugin of its profile enforces it
//
// The quota is not asked about a type that the pod does not allow; the pod's rank and message leave
// it out. What else a pod asks of its node (a rack, some memory) does not count here; the filters
// check it.
//
// The order of the types in the annotation is a preference. A score applies it to the nodes that
// quota allows. So a pod gets the type that it prefers among those within its quota's guarantee. It
// borrows a type that it prefers more only if no node has room within the guarantee: what is
// borrowed belongs to another quota, and the pod allows the other types, too.
#pragma once

#include "k8s-client/api/selector.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/type_name.h"

#include <vector>

namespace sched::quota {

struct ChargeClass;

struct TypeChoice {
  using Requirements = std::vector<k8s::SelectorRequirement>;  // over labels that name a type

  std::vector<gpu::TypeName> types;        // one of them; empty: any
  Requirements required;                   // all of them
  std::vector<Requirements> alternatives;  // all of one of them; empty: any

  friend bool operator==(const TypeChoice&, const TypeChoice&) = default;
};

// `enforces_types`: the annotation counts. `site`: labels that name a type, too.
[[nodiscard]] TypeChoice choice_of(const PodShape& shape, bool enforces_types,
                                   const gpu::SiteLabels& site = {});

// The types that the pod allows by name, as labels or users write them. Empty: it names none (it
// sets no limit, or uses NotIn or Exists). Other requirements of the pod may allow fewer of them.
[[nodiscard]] std::vector<gpu::TypeName> named_types(const TypeChoice& choice);

// Whether the pod allows GPUs of the class.
[[nodiscard]] bool allows(const TypeChoice& choice, const ChargeClass& gpus);

}  // namespace sched::quota
