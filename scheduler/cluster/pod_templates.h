// What pods of one template have in common, computed once for all of them.
//
// A controller creates a thousand pods from one template: the pods differ in name and uid, and in
// nothing that a shape reads. To compute a pod's shape (sum up its containers, read its
// annotations, make the key under which shapes are interned) takes some microseconds; to find that
// it equals an earlier pod takes a fraction of one. So one pod of each template is stored, as far
// as a shape reads it, with its shape.
//
// This saves time and changes no answer: a pod without a stored template gets the same one. The
// number of templates and their bytes are limited, because pods may be large and tenants choose how
// many differ. At a limit all templates are dropped; those in use come back with the next pods.
// Only kMostOfADigest templates of one digest are stored; a further one replaces one of them.
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
  // Of templates and their shapes; a single larger one is stored nevertheless. Ordinary pods take 2
  // to 3 KiB.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  // `shapes` and `names` outlive it.
  PodTemplates(Shapes& shapes, ResourceNames& names, std::size_t most = kMostTemplates)
      : shapes_(shapes), names_(names), most_(most) {}

  // The shape of the pod as if it had no node: interned shape_of().
  [[nodiscard]] ShapeRef shape(const k8s::Pod& pod);
  // claim_of_bound() of a pod that has a node.
  [[nodiscard]] Claim claim_of_bound(const k8s::Pod& pod);

  // Drops all templates, and with them the names of resources that only they use.
  void clear();

  [[nodiscard]] std::size_t size() const { return templates_.size(); }
  // How many templates were computed so far: for tests, because answers do not show it.
  [[nodiscard]] std::uint64_t made() const { return made_; }

 private:
  struct Template {
    k8s::Pod sample;  // only what same_template() reads
    ShapeRef shape;
    std::size_t bytes = 0;  // of both
  };
  using Templates = std::unordered_multimap<std::size_t, Template>;  // by template_digest()

  [[nodiscard]] const ShapeRef& known_shape(const k8s::Pod& pod);
  void erase(Templates::iterator known);

  Shapes& shapes_;
  ResourceNames& names_;
  std::size_t most_;
  std::uint64_t made_ = 0;
  std::size_t bytes_ = 0;  // of all
  Templates templates_;
};

}  // namespace sched
