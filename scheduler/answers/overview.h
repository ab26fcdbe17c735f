// How many GPUs there are, on which nodes the free ones are, and how many pods wait for GPUs.
#pragma once

#include "scheduler/engine/engine.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched::answers {

struct Pieces {
  std::int64_t total = 0;
  std::int64_t used = 0;
  std::int64_t held = 0;  // for pods that have waited long
  std::int64_t free = 0;  // on nodes that are open
  friend bool operator==(const Pieces&, const Pieces&) = default;
};

// The nodes of one type of GPU that offer it in one form.
struct TypeRow {
  std::string type;  // "H100-80GB"; empty: the nodes' labels do not name it
  std::string form;  // "mig-1g.10gb", "shared"; empty: whole GPUs
  std::size_t nodes = 0;
  Pieces pieces;
  std::int64_t largest_block = 0;    // free on one open node
  std::string largest_on;            // that node, the first by name; empty: none is free
  std::size_t whole_nodes_free = 0;  // open, with pieces, none of them used or held
  friend bool operator==(const TypeRow&, const TypeRow&) = default;
};

struct ClosedNode {
  std::string node;
  std::string why;
  std::int64_t pieces = 0;  // that no pod gets there, used or not
  bool backed_off = false;
  friend bool operator==(const ClosedNode&, const ClosedNode&) = default;
};

struct Waiting {
  std::size_t pods = 0;
  std::int64_t gpus = 0;       // that they ask for, as PodInLine::gpus
  std::int64_t instances = 0;  // of these
  std::size_t gated = 0;       // of the pods: those with scheduling gates
  std::size_t never = 0;       // of the pods: those that no node can ever take as they are written
  friend bool operator==(const Waiting&, const Waiting&) = default;
};

struct Overview {
  Pieces gpus;                 // whole ones
  Pieces instances;            // of MIG
  Pieces replicas;             // of shared GPUs and instances
  std::vector<TypeRow> types;  // by type and form
  std::vector<ClosedNode> closed;
  Waiting waiting;
  std::vector<std::string> warned_quotas;  // has_warning(), by name
  // Of a scheduler's answer: since when its watches were last known to be current.
  std::optional<std::chrono::seconds> data_age{};
  friend bool operator==(const Overview&, const Overview&) = default;
};

[[nodiscard]] Overview overview_of(const std::vector<GpuNode>& nodes,
                                   const std::vector<PodInLine>& line,
                                   const std::vector<QuotaStatus>& quotas);

}  // namespace sched::answers
