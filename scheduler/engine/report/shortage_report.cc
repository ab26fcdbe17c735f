#include "scheduler/engine/report/shortage_report.h"

#include "scheduler/engine/report/amount_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace sched {

ShortageReport::ShortageReport(const PreparedShape& shape, const ResourceNames& names)
    : shape_(shape), names_(names), absent_(shape.requests(), names) {
  for (const ResourceAmount& request : shape.requests()) {
    amount(request.resource).asked = request.amount;
  }
  amount(kPods).asked = 1;
  for (const PreparedFilter& prepared : shape.filters()) {
    if (auto survey = prepared.filter->survey()) surveys_.push_back(std::move(survey));
  }
}

void ShortageReport::add(const NodeView& node, const NodeVerdict& verdict, std::uint64_t rank) {
  ++nodes_;
  absent_.add(node, rank);
  const bool alone = shape_.passes_rest(node, verdict);
  for (const auto& survey : surveys_) {
    survey->add(node, {.plugin = shape_.plugin_of(verdict), .alone = alone});
  }
  if (!alone) return;
  if (!add_shortage(node, verdict, rank)) add_refusal(node, verdict, rank);
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

  ++short_nodes_;
  for (const NodeFilter::Shortage& shortage : shortages_) {
    amount(shortage.resource).short_somewhere = true;
    amount(shortage.resource).asked = shortage.asked;
  }
  for (Amount& of : amounts_) {
    std::int64_t free = node.free(of.resource);
    std::int64_t capacity = node.allocatable(of.resource);
    for (const NodeFilter::Shortage& shortage : shortages_) {
      if (shortage.resource != of.resource) continue;
      free = shortage.free;
      capacity = shortage.capacity;
    }
    free = std::max<std::int64_t>(free, 0);
    if (__builtin_add_overflow(of.free_in_all, free, &of.free_in_all)) of.free_in_all = INT64_MAX;
    of.most_capacity = std::max(of.most_capacity, capacity);
    if (free < of.most_free || (free == of.most_free && of.rank < rank)) continue;
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

ShortageReport::Amount& ShortageReport::amount(ResourceId resource) {
  const auto at = std::lower_bound(amounts_.begin(), amounts_.end(), resource,
                                   [](const Amount& a, ResourceId id) { return a.resource < id; });
  if (at != amounts_.end() && at->resource == resource) return *at;
  Amount fresh;
  fresh.resource = resource;
  return *amounts_.insert(at, std::move(fresh));
}

std::string ShortageReport::text() const {
  std::vector<std::string> sentences;
  for (const Amount& of : amounts_) {
    if (of.short_somewhere) sentences.push_back(sentence(of));
  }
  for (const auto& [key, refusal] : refusals_) {
    const PreparedFilter& by = shape_.filters()[key.first];
    sentences.push_back(
        fmt::format("{} {} take the pod but for {}: {} (first {}{}{}).", refusal.nodes,
                    refusal.nodes == 1 ? "node would" : "nodes would", by.plugin->name(),
                    by.filter->reasons()[key.second], refusal.first->name,
                    refusal.numbers.empty() ? "" : ": ", refusal.numbers));
  }
  if (sentences.empty() && nodes_ > 0) {
    sentences.emplace_back("No node would take the pod if only one thing were different.");
  }
  if (std::string absent = absent_.text(); !absent.empty()) sentences.push_back(std::move(absent));
  for (const auto& survey : surveys_) {
    if (std::string text = survey->text(); !text.empty()) sentences.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string ShortageReport::sentence(const Amount& of) const {
  const std::string& name = names_.name(of.resource);
  const auto text = [&](std::int64_t amount) { return amount_text(name, amount); };
  const std::string where =
      short_nodes_ == 1 ? "the one node" : fmt::format("the {} nodes", short_nodes_);
  if (of.asked > of.most_capacity) {
    return fmt::format(
        "{}: needs {} on one node; the largest of {} that the pod may use otherwise has {}.", name,
        text(of.asked), where, text(of.most_capacity));
  }
  return fmt::format(
      "{}: needs {} on one node; most free is {} of {} ({}), {} free in all on {} that the pod may "
      "use otherwise.",
      name, text(of.asked), text(of.most_free), text(of.capacity), of.node->name,
      text(of.free_in_all), where);
}

}  // namespace sched
