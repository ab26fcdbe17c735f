// What pods of one template have in common, worked out once for all of them.
//
// Whoever creates a thousand pods writes one template: the pods differ in name and uid, and in
// nothing that a shape reads. To work out a pod's shape (to sum up its containers, to read its
// annotations, to write the key under which shapes are interned) takes some microseconds; to see
// that it equals a pod that has been seen before takes a fraction of one. So one pod of each
// template is kept, as far as a shape reads it, with the shape that came out.
//
// Nothing depends on it but time: a pod whose template is not known, or known no more, gets the
// same answers. Templates are kept up to a number and then all dropped, since those in use are back
// with the next pods; of those with one digest few are kept, and one makes way for the next.
#pragma once

#include "scheduler/base/resources.h"
#include "scheduler/cluster/claim.h"
#include "scheduler/cluster/shapes.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace sched {

class PodTemplates {
 public:
  static constexpr std::size_t kMostTemplates = 1'024;

  // `shapes` and `names` outlive it.
  PodTemplates(Shapes& shapes, ResourceNames& names, std::size_t most = kMostTemplates)
      : shapes_(shapes), names_(names), most_(most) {}

  // The shape of the pod as if it had no node: interned shape_of().
  [[nodiscard]] ShapeRef shape(const k8s::Pod& pod);
  // claim_of_bound(), of a pod that has a node.
  [[nodiscard]] Claim claim_of_bound(const k8s::Pod& pod);

  // Forgets all templates, and so the names of resources that only they know.
  void clear() { templates_.clear(); }

  [[nodiscard]] std::size_t size() const { return templates_.size(); }
  // How many templates were worked out so far: for tests, since no answer shows what was saved.
  [[nodiscard]] std::uint64_t made() const { return made_; }

 private:
  struct Template {
    k8s::Pod sample;  // only what same_template() reads
    ShapeRef shape;
  };

  [[nodiscard]] const ShapeRef& known_shape(const k8s::Pod& pod);

  Shapes& shapes_;
  ResourceNames& names_;
  std::size_t most_;
  std::uint64_t made_ = 0;
  std::unordered_multimap<std::size_t, Template> templates_;  // by template_digest()
};

}  // namespace sched
