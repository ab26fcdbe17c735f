// The waiting pods: in which order they have their turns, what each waits for, and which of them
// can never be placed.
#pragma once

#include "scheduler/answers/outlook.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sched::answers {

struct QueueRow {
  std::size_t position = 0;  // from 1
  PodRef pod;
  std::string quota;  // empty: no quota counts it
  std::string asks;   // as in PodInLine
  std::int64_t gpus = 0;
  Time created{};
  std::string blocked_by;  // "quota", "nodes", "gates"; empty: nothing
  std::string next;        // what happens next, or must happen
  std::string message;     // the engine's whole message
};

// A pod that can run nowhere as it is written.
struct NeverRow {
  PodRef pod;
  std::string why;
};

// A pod that waits for another scheduler.
struct StrangerRow {
  PodRef pod;
  std::string scheduler_name;
  std::string meant;  // the name that was probably meant; empty: none
};

struct Queue {
  std::vector<QueueRow> rows;
  std::vector<NeverRow> never;
  std::vector<StrangerRow> strangers;
};

// Whether a pod that waits for a scheduler that is none of `served` gets a row: its scheduler name
// seems to be a misspelling of one of them, or it asks for GPUs.
[[nodiscard]] bool is_stranger(const k8s::Pod& pod, const std::set<std::string>& served);

// `line`: before the engine made its decisions; `outlook`: these decisions.
[[nodiscard]] Queue queue_of(const std::vector<PodInLine>& line, const Outlook& outlook,
                             const std::vector<k8s::Pod>& strangers,
                             const std::set<std::string>& served);

// The part of a refusal's message for one line: without "0/8 nodes are available: ", or "quota
// NAME: ".
[[nodiscard]] std::string short_reason(const Refusal& refusal);

// Why a pod waits in one sentence: its quota's words, or the shortage in numbers where there is
// one.
[[nodiscard]] std::string headline_of(const Refusal& refusal, const std::string& quota);

}  // namespace sched::answers
