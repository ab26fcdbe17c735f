// Takes names out of an answer that its reader may not know.
//
// A pod is named only to a reader who may get the pods of its namespace, a node only to one who may
// list nodes. What is not a name stays: amounts, GPU types, reasons, the names of quotas. Pods are
// replaced by how many they are, nodes by counts or by "a node". The engine's sentences name no pod
// of another namespace (engine/report/quota_words.h), but they name nodes; so the names of nodes in
// an answer are found while the nodes are at hand, and are taken out later, when the rights of the
// reader are known.
#pragma once

#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"

#include <set>
#include <string>
#include <vector>

namespace sched::answers {

// What a reader may see.
struct Visible {
  bool nodes = false;
  bool all_pods = false;
  std::set<std::string> namespaces = {};  // those whose pods may be named
  [[nodiscard]] bool shows_pods_of(const std::string& namespace_) const {
    return all_pods || namespaces.contains(namespace_);
  }
};

// The nodes that the engine knows and the sentences name, sorted.
[[nodiscard]] std::vector<std::string> nodes_named_in(const Engine& engine, const Why& why);
[[nodiscard]] std::vector<std::string> nodes_named_in(const Engine& engine, const Queue& queue);

// The namespaces of the pods in `why.ends`.
[[nodiscard]] std::set<std::string> namespaces_named_in(const Why& why);

// The pod itself, and the node that it has, stay. Sets `why.withheld` if anything was taken out.
// `why` is of why_now, why_waiting or why_seen, with its ends named (name_ends).
void withhold(Why& why, const Visible& visible);

// Takes out the names of nodes. The queue names pods of the reader's own namespace alone.
void withhold(Queue& queue, const Visible& visible);

// Takes out the head in line, and the namespaces in conditions; amounts and the names of quotas
// stay.
void withhold(QuotasSeen& quotas, const Visible& visible);

}  // namespace sched::answers
