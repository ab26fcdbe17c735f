#include "scheduler/answers/queue.h"

#include "scheduler/answers/withhold.h"
#include "scheduler/base/nearest_names.h"
#include "scheduler/engine/sentences.h"
#include "scheduler/framework/pod_requests.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sched::answers {
namespace {

constexpr const char* kAfterBackOff = "tried again after a back-off";

void tell(QueueRow& row, const PodInLine& pod, const Outlook::Outcome* outcome,
          const Outlook& outlook) {
  if (pod.place == PodInLine::Place::kGated) {
    row.blocked_by = "gates";
    row.next = "its scheduling gates are removed";
    return;
  }
  if (outcome == nullptr) {
    row.next = pod.place == PodInLine::Place::kBackoff ? kAfterBackOff : "";
    return;
  }
  if (outcome->starts()) {
    row.next = "starts on " + outcome->node;
    if (outcome->after_writes) row.next += " once its volumes are bound";
    return;
  }
  const Refusal& refusal = outlook.refusal(*outcome);
  row.blocked_by = blocked_by(refusal.reason);
  row.next = short_reason(refusal);
  row.message = joined(refusal.message, refusal.details);
}

// The same without an outlook: from the last refusal, if there was one.
void tell(QueueRow& row, const PodInLine& pod, std::optional<LastRefusal> refusal) {
  if (pod.place == PodInLine::Place::kGated) return tell(row, pod, nullptr, Outlook());
  if (refusal) {
    row.blocked_by = blocked_by(refusal->reason);
    row.next = std::move(refusal->next);
    row.message = std::move(refusal->headline);
    return;
  }
  row.next = pod.place == PodInLine::Place::kBackoff ? kAfterBackOff : "its turn comes";
  if (!pod.group_waits.empty()) row.next = pod.group_waits;
}

QueueRow row_of(const PodInLine& pod, std::size_t position) {
  QueueRow row;
  row.position = position;
  row.pod = pod.pod;
  row.place_in_line = pod.place_in_line;
  row.line_length = pod.line_length;
  row.quota = pod.quota;
  row.asks = pod.asks;
  row.gpus = pod.gpus;
  row.created = pod.created;
  return row;
}

void sort_by_name(std::vector<NeverRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const NeverRow& a, const NeverRow& b) {
    return std::tie(a.pod.namespace_, a.pod.name) < std::tie(b.pod.namespace_, b.pod.name);
  });
}

}  // namespace

bool is_earlier(const PodInLine& a, const PodInLine& b) {
  const auto rank = [](const PodInLine& pod) {
    return pod.place_in_line == 0 ? std::numeric_limits<std::size_t>::max() : pod.place_in_line;
  };
  return std::tuple(b.priority, a.created, rank(a), a.pod.uid) <
         std::tuple(a.priority, b.created, rank(b), b.pod.uid);
}

const char* blocked_by(decision::Unschedulable::Reason reason) {
  using Reason = decision::Unschedulable::Reason;
  switch (reason) {
    case Reason::kGpuQuotaExceeded:
      return "quota";
    case Reason::kWaitingForPods:
      return "pods";
    case Reason::kUnschedulable:
      break;
  }
  return "nodes";
}

std::string short_reason(const Refusal& refusal) {
  constexpr std::string_view kAvailable = "nodes are available: ";
  std::string_view text = refusal.message;
  if (is_by_quota(refusal)) {
    if (const auto end = text.find(": "); end != std::string_view::npos)
      text.remove_prefix(end + 2);
  } else if (!refusal.details.empty()) {
    text = refusal.details;
    text = text.substr(0, text.find(". "));
  } else if (const auto at = text.find(kAvailable); at != std::string_view::npos) {
    text.remove_prefix(at + kAvailable.size());
  }
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

std::string headline_of(const Refusal& refusal) {
  return is_by_quota(refusal) ? refusal.message : short_reason(refusal);
}

std::string meant_by(const std::string& scheduler_name, const std::set<std::string>& served) {
  const std::vector<std::string_view> names(served.begin(), served.end());
  return std::string(nearest_name(scheduler_name, names).value_or(""));
}

bool gets_unserved_row(const k8s::Pod& pod, const std::set<std::string>& served) {
  return asks_for_gpus(pod) || !meant_by(pod.spec.scheduler_name, served).empty();
}

Queue queue_of(const std::vector<PodInLine>& line, const Outlook& outlook,
               const std::vector<k8s::Pod>& unserved, const std::set<std::string>& served) {
  Queue queue;
  std::unordered_map<std::string_view, std::size_t> turns;  // by uid
  for (const Outlook::Outcome& outcome : outlook.outcomes()) {
    turns.emplace(outcome.pod.uid, turns.size());
  }
  const auto turn = [&](const PodInLine& pod) {
    const auto found = turns.find(pod.pod.uid);
    return found == turns.end() ? std::numeric_limits<std::size_t>::max() : found->second;
  };
  std::vector<const PodInLine*> in_order;
  for (const PodInLine& pod : line) {
    if (pod.never.empty()) {
      in_order.push_back(&pod);
    } else {
      queue.never.push_back({pod.pod, pod.never});
    }
  }
  std::sort(in_order.begin(), in_order.end(), [&](const PodInLine* a, const PodInLine* b) {
    return std::tuple(turn(*a), a->created, a->pod.uid) <
           std::tuple(turn(*b), b->created, b->pod.uid);
  });
  for (const PodInLine* pod : in_order) {
    QueueRow& row = queue.rows.emplace_back(row_of(*pod, queue.rows.size() + 1));
    tell(row, *pod, outlook.find(pod->pod.uid), outlook);
  }
  sort_by_name(queue.never);
  for (const k8s::Pod& pod : unserved) {
    queue.unserved.push_back({.pod = ref_of(pod),
                              .scheduler_name = pod.spec.scheduler_name,
                              .meant = meant_by(pod.spec.scheduler_name, served)});
  }
  return queue;
}

Queue queue_seen(
    const Engine& engine, const std::string& namespace_,
    const std::function<std::optional<LastRefusal>(const std::string& uid)>& refusal_of,
    std::size_t at_most) {
  Queue queue;
  std::vector<PodInLine> line = engine.in_line(namespace_);
  std::sort(line.begin(), line.end(), is_earlier);
  for (const PodInLine& pod : line) {
    if (queue.rows.size() + queue.never.size() == at_most) {
      ++queue.left_out;
    } else if (!pod.never.empty()) {
      queue.never.push_back({pod.pod, pod.never});
    } else {
      QueueRow& row = queue.rows.emplace_back(row_of(pod, queue.rows.size() + 1));
      tell(row, pod, refusal_of(pod.pod.uid));
    }
  }
  for (const decision::MisnamedScheduler& one : engine.misnamed(namespace_)) {
    if (queue.rows.size() + queue.never.size() + queue.unserved.size() == at_most) {
      ++queue.left_out;
    } else {
      queue.unserved.push_back(
          {.pod = one.pod, .scheduler_name = one.scheduler_name, .meant = one.meant});
    }
  }
  sort_by_name(queue.never);
  queue.named_nodes = nodes_named_in(engine, queue);
  return queue;
}

}  // namespace sched::answers
