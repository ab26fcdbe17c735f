#include "scheduler/engine/report/shortage_report.h"

#include "scheduler/engine/report/amount_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace sched {

namespace {

const char* kind_of(gpu::GpuPiece piece) {
  switch (piece) {
    case gpu::GpuPiece::kWholeGpu:
      break;
    case gpu::GpuPiece::kReplica:
      return " (shared)";
    case gpu::GpuPiece::kMigInstance:
      return " (MIG instances)";
  }
  return "";
}

// A cordoned node as it is after `kubectl uncordon`, if it is also marked with Kubernetes' taint,
// as it soon is in a cluster: two filters refuse it for one reason.
std::optional<NodeFacts> uncordoned(const NodeFacts& facts) {
  constexpr auto kIsMark = [](const k8s::Taint& taint) {
    return taint.key == "node.kubernetes.io/unschedulable";
  };
  if (!facts.unschedulable || std::none_of(facts.taints.begin(), facts.taints.end(), kIsMark)) {
    return std::nullopt;
  }
  std::optional<NodeFacts> open = facts;
  open->unschedulable = false;
  std::erase_if(open->taints, kIsMark);
  return open;
}

}  // namespace

ShortageReport::ShortageReport(const PreparedShape& shape, const ResourceNames& names)
    : shape_(shape), names_(names), absent_(shape.requests(), names) {
  asked_ = shape.requests();
  ask_for(kPods, 1);
  for (const PreparedFilter& prepared : shape.filters()) {
    if (auto survey = prepared.filter->survey()) surveys_.push_back(std::move(survey));
  }
}

void ShortageReport::add(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank) {
  ++nodes_;
  absent_.add(node, rank);
  const bool alone = is_alone(node, verdict);
  for (const auto& survey : surveys_) {
    survey->add(node, {.plugin = shape_.plugin_of(verdict), .alone = alone});
  }
  if (!alone) return;
  if (!add_shortage(node, verdict, rank)) add_refusal(node, verdict, rank);
}

bool ShortageReport::is_alone(const NodeView& node, const NodeVerdict& verdict) {
  const std::uint32_t first = verdict.filter;
  if (first >= shape_.filters().size()) return false;
  auto second = shape_.next_refusal(node, first);
  if (second) {
    const std::optional<NodeFacts> facts = uncordoned(node.facts);
    const NodeView open{facts ? *facts : node.facts, node.usage};
    if (facts && shape_.filters()[first].filter->check(open).is_ok()) {
      second = shape_.next_refusal(open, first);
    }
  }
  if (second) ++nodes_for_two_[{first, *second}];
  return !second;
}

bool ShortageReport::add_shortage(const NodeView& node, const NodeVerdict& verdict,
                                  std::uint64_t rank) {
  const NodeFilter& filter = *shape_.filters()[verdict.filter].filter;
  shortages_.clear();
  bool amounts_alone = true;
  for_each_reason(verdict.reasons, [&](unsigned index) {
    const auto shortage = filter.shortage(node, index);
    amounts_alone = amounts_alone && shortage.has_value();
    if (shortage) shortages_.push_back(*shortage);
  });
  if (!amounts_alone) return false;

  for (const NodeFilter::Shortage& shortage : shortages_) {
    ask_for(shortage.resource, shortage.asked);
  }
  for (const ResourceAmount& request : asked_) {
    const bool is_gpu = request.resource == kNvidiaGpu;
    Amount& of = amounts_[{.resource = request.resource,
                           .piece = is_gpu ? node.facts.gpu.piece : gpu::GpuPiece::kWholeGpu}];
    ++of.nodes;
    std::int64_t free = node.free(request.resource);
    std::int64_t capacity = node.allocatable(request.resource);
    for (const NodeFilter::Shortage& shortage : shortages_) {
      if (shortage.resource != request.resource) continue;
      ++of.short_on;
      of.asked = shortage.asked;
      free = shortage.free;
      capacity = shortage.capacity;
    }
    free = std::max<std::int64_t>(free, 0);
    if (__builtin_add_overflow(of.free_in_all, free, &of.free_in_all)) of.free_in_all = INT64_MAX;
    of.most_capacity = std::max(of.most_capacity, capacity);
    // Of two with nothing free, a node that has such GPUs says more than one that has none.
    const auto less = [&] {
      if (free != of.most_free) return free < of.most_free;
      return capacity != of.capacity ? capacity < of.capacity : of.rank < rank;
    };
    if (less()) continue;
    of.most_free = free;
    of.capacity = capacity;
    of.node = &node.facts;
    of.rank = rank;
  }
  return true;
}

void ShortageReport::add_refusal(const NodeView& node, const NodeVerdict& verdict,
                                 std::uint64_t rank) {
  const auto index = static_cast<unsigned>(std::countr_zero(verdict.reasons));
  Refusal& refusal = refusals_[{verdict.filter, index}];
  ++refusal.nodes;
  if (refusal.nodes > 1 && refusal.rank < rank) return;
  refusal.first = &node.facts;
  refusal.rank = rank;
  refusal.numbers = shape_.filters()[verdict.filter].filter->numbers(node, index);
}

void ShortageReport::ask_for(ResourceId resource, std::int64_t amount) {
  const bool is_known = std::any_of(asked_.begin(), asked_.end(), [&](const ResourceAmount& each) {
    return each.resource == resource;
  });
  if (!is_known) asked_.push_back({resource, amount});
}

std::string ShortageReport::text() const {
  std::vector<std::string> sentences;
  std::string lead;  // what is short, and how many nodes refuse for one thing else
  std::vector<std::string> rest;
  for (const bool everywhere : {true, false}) {
    for (const auto& [what, of] : amounts_) {
      if (of.short_on == 0 || of.is_short_everywhere() != everywhere) continue;
      std::string shortage = shortage_of(what, of);
      if (lead.empty()) {
        lead = std::move(shortage);
      } else {
        rest.push_back(std::move(shortage) + '.');
      }
      if (everywhere && of.asked <= of.most_capacity) rest.push_back(free_in_all(what, of));
    }
  }
  const bool is_short = !lead.empty();
  if (!refusals_.empty()) lead += (is_short ? "; " : "") + but_for_text();
  for (const auto& [key, refusal] : refusals_) {
    const PreparedFilter& by = shape_.filters()[key.first];
    rest.push_back(fmt::format("{}: {} (first {}{}{}).", by.plugin->name(),
                               by.filter->reasons()[key.second], refusal.first->name,
                               refusal.numbers.empty() ? "" : ": ", refusal.numbers));
  }
  if (lead.empty() && nodes_ > 0) lead = for_two_text();
  if (!lead.empty()) sentences.push_back(lead + '.');
  sentences.insert(sentences.end(), rest.begin(), rest.end());
  if (nodes_ == 0 || some_pass_) return fmt::format("{}", fmt::join(sentences, " "));
  const std::string absent = absent_.text();
  const std::string surveyed = surveys_text();
  // The likely cause first.
  std::vector<std::string> all;
  const auto add = [&](const std::string& text, bool is_here) {
    if (is_here && !text.empty()) all.push_back(text);
  };
  add(absent, absent_.is_nowhere());
  add(surveyed, !is_short);
  all.insert(all.end(), sentences.begin(), sentences.end());
  add(absent, !absent_.is_nowhere());
  add(surveyed, is_short);
  return fmt::format("{}", fmt::join(all, " "));
}

std::string ShortageReport::surveys_text() const {
  std::vector<std::string> texts;
  for (const auto& survey : surveys_) {
    if (std::string text = survey->text(); !text.empty()) texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string ShortageReport::but_for_text() const {
  std::map<std::uint32_t, std::size_t> nodes_by_filter;
  for (const auto& [key, refusal] : refusals_) nodes_by_filter[key.first] += refusal.nodes;
  std::vector<std::pair<std::uint32_t, std::size_t>> most_first(nodes_by_filter.begin(),
                                                                nodes_by_filter.end());
  std::stable_sort(most_first.begin(), most_first.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [filter, nodes] : most_first) {
    text += text.empty()
                ? fmt::format("{} {} would take the pod", nodes, nodes == 1 ? "node" : "nodes")
                : fmt::format(", {}", nodes);
    text += fmt::format(" but for {}", shape_.filters()[filter].plugin->name());
  }
  return text;
}

std::string ShortageReport::for_two_text() const {
  constexpr std::size_t kMost = 2;
  std::vector<std::pair<Two, std::size_t>> most_first(nodes_for_two_.begin(), nodes_for_two_.end());
  std::stable_sort(most_first.begin(), most_first.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (most_first.size() > kMost) most_first.resize(kMost);
  std::string text = "No node would take the pod if only one thing were different";
  const auto name = [&](std::uint32_t filter) { return shape_.filters()[filter].plugin->name(); };
  for (const auto& [two, nodes] : most_first) {
    text += two == most_first.front().first
                ? fmt::format(": {} for ",
                              nodes == 1 ? "1 node refuses" : fmt::format("{} nodes refuse", nodes))
                : fmt::format(", {} for ", nodes);
    text += fmt::format("{} and {}", name(two.first), name(two.second));
  }
  return text;
}

std::string ShortageReport::shortage_of(const What& what, const Amount& of) const {
  const std::string& resource = names_.name(what.resource);
  const auto text = [&](std::int64_t amount) { return amount_text(resource, amount); };
  std::string needs =
      fmt::format("{}{}: needs {} on one node; ", resource, kind_of(what.piece), text(of.asked));
  if (of.asked > of.most_capacity) {
    return needs + "no node left to the pod has " +
           (of.most_capacity <= 0 ? "any" : "more than " + text(of.most_capacity));
  }
  if (!of.is_short_everywhere()) {
    return needs + fmt::format("{} of the {} nodes left to the pod {} less free", of.short_on,
                               of.nodes, of.short_on == 1 ? "has" : "have");
  }
  return needs + fmt::format("most free is {} of {} ({})", text(of.most_free), text(of.capacity),
                             of.node->name);
}

std::string ShortageReport::free_in_all(const What& what, const Amount& of) const {
  const std::string& resource = names_.name(what.resource);
  return fmt::format("{}{}: {} free in all on {} left to the pod.", resource, kind_of(what.piece),
                     amount_text(resource, of.free_in_all),
                     of.nodes == 1 ? "the one node" : fmt::format("the {} nodes", of.nodes));
}

}  // namespace sched
