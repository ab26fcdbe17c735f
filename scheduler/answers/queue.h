// The pods that wait: in which order they have their turn, what each waits for, and those that wait
// for nothing that will ever come.
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
  std::string quota;  // empty: none counts it
  std::string asks;   // as PodInLine
  std::int64_t gpus = 0;
  Time created{};
  std::string blocked_by;  // "quota", "nodes", "gates"; empty: nothing
  std::string next;        // what happens next, or has to
  std::string message;     // the engine's words in full
};

// A pod that can run nowhere as it is written.
struct NeverRow {
  PodRef pod;
  std::string why;
};

// A pod that waits for a scheduler that is not this one.
struct StrangerRow {
  PodRef pod;
  std::string scheduler_name;
  std::string meant;  // the name that it seems to mean; empty: it may mean what it says
};

struct Queue {
  std::vector<QueueRow> rows;
  std::vector<NeverRow> never;
  std::vector<StrangerRow> strangers;
};

// Whether a pod, which waits for a scheduler that is none of `served`, is worth a row: it seems to
// mean one of them, or asks for GPUs.
[[nodiscard]] bool is_stranger(const k8s::Pod& pod, const std::set<std::string>& served);

// `line` as it was before the engine was let decide, `outlook` what it decided.
[[nodiscard]] Queue queue_of(const std::vector<PodInLine>& line, const Outlook& outlook,
                             const std::vector<k8s::Pod>& strangers,
                             const std::set<std::string>& served);

// What of a refusal's message matters in one line: without "0/8 nodes are available: ", or "quota
// NAME: ".
[[nodiscard]] std::string short_reason(const Refusal& refusal);

// Why a pod waits in one sentence: its quota's words, or the shortage in numbers where there is
// one.
[[nodiscard]] std::string headline_of(const Refusal& refusal, const std::string& quota);

}  // namespace sched::answers
