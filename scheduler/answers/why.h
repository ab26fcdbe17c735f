// Why a pod waits, or why it is on its node.
#pragma once

#include "scheduler/answers/outlook.h"
#include "scheduler/answers/pod_names.h"
#include "scheduler/engine/engine.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::answers {

// Nodes that refuse for the same reasons.
struct ReasonRow {
  std::size_t nodes = 0;
  std::string reason;
  std::string example;  // the first of them by name, with its numbers
  friend bool operator==(const ReasonRow&, const ReasonRow&) = default;
};

// What an answer does not name (withhold.h).
struct Withheld {
  bool nodes = false;     // names of nodes
  std::size_t pods = 0;   // of the pods that would have to end
  std::int64_t gpus = 0;  // that these pods have
  friend bool operator==(const Withheld&, const Withheld&) = default;
};

// A change to a pod after which a node would take it.
struct Remedy {
  PodChange change;               // its `node` empty: withheld
  std::vector<std::string> ends;  // names of `change.pods`, with their GPUs
  friend bool operator==(const Remedy&, const Remedy&) = default;
};

// How a pod got its node, as the scheduler that decided it remembers.
struct Chosen {
  struct RunnerUp {
    std::string node;  // empty: withheld
    std::int64_t score = 0;
    friend bool operator==(const RunnerUp&, const RunnerUp&) = default;
  };
  std::uint64_t decision = 0;  // its number, as in log and events
  Time at{};                   // the API server took the bind
  std::int64_t score = 0;      // of the node, over all plugins
  std::size_t fitting_nodes = 0;
  std::size_t all_nodes = 0;
  int attempts = 0;
  std::chrono::seconds waited{0};     // from when it was first seen until it was bound
  std::optional<RunnerUp> runner_up;  // nullopt: no other node took it, or this one was held for it
  friend bool operator==(const Chosen&, const Chosen&) = default;
};

// What the status of a pod would say if the pod were decided on now.
struct Told {
  decision::Unschedulable::Reason reason = decision::Unschedulable::Reason::kUnschedulable;
  std::string message;
  std::int64_t generation = 0;  // metadata.generation of the pod that was judged
  friend bool operator==(const Told&, const Told&) = default;
};

struct Why {
  enum class Verdict : std::uint8_t {
    kPlaced,    // it has a node
    kStarts,    // it waits, and would start now
    kWaits,     // for nodes or for quota
    kGated,     // it has scheduling gates
    kNever,     // no node can ever take it as it is written
    kNotOurs,   // it waits for another scheduler
    kFinished,  // there is nothing to report
  };
  Verdict verdict = Verdict::kWaits;
  PodRef pod;
  std::string scheduler_name;
  std::string asks;      // "8 H100"; empty: no GPU
  std::string quota;     // empty: no quota counts it, or it has a node
  Time since{};          // since its creation, or since it has run
  std::string node;      // kPlaced, kStarts
  std::string headline;  // the reason in one sentence; empty if the verdict is enough

  std::size_t all_nodes = 0;
  std::size_t fitting_nodes = 0;
  std::vector<ReasonRow> reasons;     // those of the most nodes first
  std::string details;                // the engine's sentences
  std::vector<Candidate> candidates;  // kPlaced, kStarts: the best nodes that may take it now
  // kWaits: at most one of these; none: for its turn, or for an object such as a volume claim.
  bool is_for_nodes = false;       // room on nodes would help
  bool is_for_pods = false;        // pods of its group are missing
  bool is_for_quota = false;       // its quota gives it no GPUs now, or it has none
  bool quota_never_gives = false;  // its quota can never give so much, or such GPUs
  RoomFor room;                    // what would make room for it
  std::vector<std::string> ends;   // names of `room.pods`, with their GPUs
  std::vector<Remedy> remedies;    // each would do alone

  // Of a pod that was refused and has not been tried since; not in the JSON.
  std::optional<Told> told;

  // Only in answers of a running scheduler: the nodes that the sentences above name, sorted.
  std::vector<std::string> named_nodes;
  std::optional<Chosen> chosen;  // kPlaced: if the scheduler that answers decided it lately
  std::optional<std::chrono::seconds> data_age;  // of what the scheduler knows of the cluster
  std::optional<Withheld> withheld;              // nullopt: it names all that there is to name
};

// "Placed", "Starts", "Waits", "Gated", "Never", "NotOurs", "Finished".
[[nodiscard]] const char* to_string(Why::Verdict verdict);

// How the pod, which need not exist, would be judged now, as if it waited: kStarts if some node
// would take it now, else kWaits. Turns of other pods before it are not considered. Changes
// nothing, so that it can be asked of a running scheduler. Pods that would have to end have no
// names yet (name_ends). O(nodes · their reasons).
[[nodiscard]] Why why_now(const Engine& engine, const k8s::Pod& pod, Time now);
// The same of a pod that was read, as it is: it may wait, have a node, have finished, or be another
// scheduler's. O(nodes · their reasons).
[[nodiscard]] Why why_seen(const Engine& engine, const k8s::Pod& pod,
                           const std::set<std::string>& served, Time now);
// The same of a pod that waits, with its place in the line.
[[nodiscard]] Why why_waiting(const Engine& engine, const k8s::Pod& pod, const PodInLine& in_line,
                              Time now);
// The pods that would have to end, in `room` or for one of `remedies`.
[[nodiscard]] std::vector<GpuTenant> pods_to_end(const Why& why);
// Gives them names.
void name_ends(Why& why, const PodNames& names);

// Everything about a pod that was read. Runs the engine, to find what becomes of the pod next.
// O(nodes · their reasons).
[[nodiscard]] Why why(Engine& engine, const k8s::Pod& pod, const std::set<std::string>& served,
                      const PodNames& names, Time now);

}  // namespace sched::answers
