// Which types of GPU a pod allows, by its own words:
//
//   nodeSelector, required node affinity   over the labels that name a type (gpu/labels.h)
//   gpu-scheduler.io/gpu-type              where a plugin of its profile enforces it
//
// A type that the pod does not allow is none of its choices: its quota is not asked about it, the
// pod's rank and message leave it out. Whatever else a pod asks of its node (a rack, some memory)
// says nothing of types, and is for the filters to judge.
//
// The annotation's order is one of preference, and the score that knows it chooses among the nodes
// that quota allows. So a pod gets the type that it would rather have of those within its quota's
// guarantee, and borrows its favourite only when none of those has a node for it: what is borrowed
// is another's, and the pod has said that it can do without.
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

// The types by whose names the pod limits itself, as labels or people write them; empty: not at
// all, or in other words (NotIn, Exists). A pod's other words may leave fewer.
[[nodiscard]] std::vector<gpu::TypeName> named_types(const TypeChoice& choice);

// Whether GPUs of the class are among what the pod allows.
[[nodiscard]] bool allows(const TypeChoice& choice, const ChargeClass& gpus);

}  // namespace sched::quota
