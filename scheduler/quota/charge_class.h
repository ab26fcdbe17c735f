// Charge classes: the kinds of nodes that the quota ledger distinguishes.
//
// How many GPUs a pod's demand counts depends on its node. Two pieces of nvidia.com/gpu are two
// GPUs on one node, half a GPU on a node that shares each GPU between four pods, and for example
// two sevenths on a node whose GPUs are partitioned into MIG instances. Nodes on which every demand
// counts alike and against the same quota lines are one charge class. A cluster has few classes,
// and a node carries the number of its class (NodeFacts::charge_class), so a question about quota
// is asked once per class, not once per node.
//
//   a whole GPU        1
//   a shared replica   1 / replicas per GPU, rounded up to a unit
//   a MIG instance     its memory slices / the slices of its GPU model
//   what is not known  a whole GPU a piece: never too little
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/product.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/gpu_share.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sched::quota {

// Index of a class in ChargeClasses; as in NodeFacts::charge_class.
using ChargeClassId = std::uint32_t;
// Nodes without GPUs, and nodes that do not exist. What a pod holds on such a node counts by
// ChargeClass{}.
inline constexpr ChargeClassId kNoGpuClass = 0;

struct ChargeClass {
  gpu::Product product{};  // without a name: GPUs without a label
  // The nodes' labels that name their GPU type (gpu/labels.h); pods select by them.
  k8s::StringMap type_labels{};
  // MIG strategy single: the profile that a piece of nvidia.com/gpu is an instance of; empty: a
  // piece is a GPU.
  std::string single_profile{};
  // How many pieces of nvidia.com/gpu, and of nvidia.com/gpu.shared, are one GPU.
  std::int64_t replicas = 1;
  std::int64_t shared_replicas = 1;
  // The same for MIG profiles, where it is not 1; the profile as the resource's name writes it.
  std::vector<std::pair<std::string, std::int64_t>> instance_replicas{};

  friend bool operator==(const ChargeClass&, const ChargeClass&) = default;
};

// How many GPUs the demand counts on a node of the class.
[[nodiscard]] GpuShare charge_of(const Demand& demand, const ChargeClass& on);

// The class of a node with GPUs; ChargeClass{} and `false` for one without.
[[nodiscard]] std::pair<ChargeClass, bool> charge_class_of(const NodeFacts& node,
                                                           const ResourceNames& names,
                                                           const gpu::SiteLabels& site = {});

// The classes that were ever seen, and how many nodes each has now. Ids are dense, in the order in
// which the classes were first seen, and never reused.
class ChargeClasses {
 public:
  ChargeClasses() : classes_(1), nodes_(1, 0) {}

  // The number of the node's class.
  ChargeClassId intern(const NodeFacts& node, const ResourceNames& names,
                       const gpu::SiteLabels& site);
  [[nodiscard]] const ChargeClass& operator[](ChargeClassId id) const { return classes_[id]; }

  // A node of the class came / went.
  void add_node(ChargeClassId id);
  void remove_node(ChargeClassId id);
  // One past the largest id.
  [[nodiscard]] std::size_t size() const { return classes_.size(); }
  [[nodiscard]] bool present(ChargeClassId id) const { return nodes_[id] > 0; }
  // Grows when a class gets its first node or loses its last.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  std::vector<ChargeClass> classes_;  // the first is that of nodes without GPUs
  std::vector<std::size_t> nodes_;    // by class
  std::uint64_t version_ = 0;
};

}  // namespace sched::quota
