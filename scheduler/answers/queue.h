// The waiting pods: in which order they have their turns, what each waits for, and which of them
// can never be placed.
#pragma once

#include "scheduler/answers/outlook.h"
#include "scheduler/engine/engine.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::answers {

struct QueueRow {
  std::size_t position = 0;  // from 1
  // As in PodInLine.
  std::size_t place_in_line = 0;
  std::size_t line_length = 0;
  PodRef pod;
  std::string quota;  // empty: no quota counts it
  std::string asks;   // as in PodInLine
  std::int64_t gpus = 0;
  Time created{};
  std::string blocked_by;  // "quota", "nodes", "pods", "gates"; empty: nothing
  std::string next;        // what happens next, or must happen
  std::string message;     // the engine's whole message
};

// A pod that can run nowhere as it is written.
struct NeverRow {
  PodRef pod;
  std::string why;
};

// A pod that waits for another scheduler.
struct UnservedRow {
  PodRef pod;
  std::string scheduler_name;
  std::string meant;  // the name that was probably meant; empty: none
};

struct Queue {
  std::vector<QueueRow> rows;
  std::vector<NeverRow> never;
  std::vector<UnservedRow> unserved;

  // Only in answers of a running scheduler (queue_seen).
  std::size_t left_out = 0;                      // rows that are too many
  std::vector<std::string> named_nodes;          // by the sentences above, sorted
  std::optional<std::chrono::seconds> data_age;  // as Why::data_age
  bool nodes_withheld = false;                   // what is said names no nodes (withhold.h)
};

// Why a pod waits, as it was decided last.
struct LastRefusal {
  std::string next;      // as QueueRow::next
  std::string headline;  // in one sentence, with numbers
  decision::Unschedulable::Reason reason = decision::Unschedulable::Reason::kUnschedulable;
};

// As QueueRow::blocked_by.
[[nodiscard]] const char* blocked_by(decision::Unschedulable::Reason reason);

// Whether a pod that waits for a scheduler that is none of `served` gets a row: its scheduler name
// seems to be a misspelling of one of them, or it asks for GPUs.
[[nodiscard]] bool gets_unserved_row(const k8s::Pod& pod, const std::set<std::string>& served);

// The served name that a scheduler's name nearly is; empty: none.
[[nodiscard]] std::string meant_by(const std::string& scheduler_name,
                                   const std::set<std::string>& served);

// `line`: before the engine made its decisions; `outlook`: these decisions.
[[nodiscard]] Queue queue_of(const std::vector<PodInLine>& line, const Outlook& outlook,
                             const std::vector<k8s::Pod>& unserved,
                             const std::set<std::string>& served);

// As turns are within a quota: by priority, then age. Many pods are created in the same second: of
// these the place in line decides, and those that are in no line come last.
[[nodiscard]] bool is_earlier(const PodInLine& a, const PodInLine& b);

// The waiting pods of one namespace, as a running scheduler has them: by priority, then age, as
// turns are within a quota. Pods of other namespaces have turns in between, so the answer does not
// say which pods start. `unserved` are the pods of Engine::misnamed(). At most `at_most` rows in
// all. Changes nothing. O(pods that wait).
[[nodiscard]] Queue queue_seen(
    const Engine& engine, const std::string& namespace_,
    const std::function<std::optional<LastRefusal>(const std::string& uid)>& refusal_of,
    std::size_t at_most);

// Why a pod waits, for one line: for a shortage its numbers, otherwise kube-scheduler's reasons;
// for a quota its text without its name.
[[nodiscard]] std::string short_reason(const Refusal& refusal);

// The same, but a quota's message is whole: it names the quota, or says that there is none.
[[nodiscard]] std::string headline_of(const Refusal& refusal);

}  // namespace sched::answers
