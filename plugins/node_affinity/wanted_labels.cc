#include "plugins/node_affinity/wanted_labels.h"

#include "scheduler/base/nearest_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

// A label that has to be there, with one of these values.
struct WantedLabel {
  std::string key;
  std::vector<std::string> values;
};

// Only the first few, so that a pod with many requirements does not make the survey slow.
std::vector<WantedLabel> wanted_labels(const RequiredNodes& required) {
  constexpr std::size_t kMost = 4;
  std::vector<WantedLabel> all;
  for (const auto& [key, value] : required.selector()) {
    if (all.size() < kMost) all.push_back({key, {value}});
  }
  if (!required.terms() || required.terms()->terms.size() != 1) return all;
  for (const auto& each : required.terms()->terms.front().match_expressions) {
    if (all.size() < kMost && each.op == k8s::SelectorOperator::kIn && !each.values.empty()) {
      all.push_back({each.key, each.values});
    }
  }
  return all;
}

// Both are sorted by key.
bool have_same_keys(const k8s::StringMap& a, const k8s::StringMap& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return left.first == right.first; });
}

// Of one label: whether a node has it, and what there is instead.
class Search {
 public:
  explicit Search(WantedLabel wanted) : wanted_(std::move(wanted)) {}

  void look_at(const k8s::StringMap& labels) {
    if (found_) return;
    const std::string* value = labels.find(wanted_.key);
    if (value == nullptr) {
      // Most nodes have the same labels, with other values.
      if (values_.empty() && (last_ == nullptr || !have_same_keys(*last_, labels))) {
        for (const auto& [key, other] : labels) note(keys_, key);
      }
      last_ = &labels;
      return;
    }
    found_ =
        std::find(wanted_.values.begin(), wanted_.values.end(), *value) != wanted_.values.end();
    note(values_, *value);
  }

  // Empty: a node has it.
  [[nodiscard]] std::string text() const {
    if (found_) return "";
    if (values_.empty()) {
      const auto meant = nearest_name(wanted_.key, {keys_.begin(), keys_.end()});
      if (!meant) return fmt::format("No node has a label {}.", wanted_.key);
      return fmt::format("No node has a label {}; is {} meant?", wanted_.key, *meant);
    }
    constexpr std::size_t kAtMost = 3;
    const std::string& value = wanted_.values.front();
    return fmt::format(
        "No node has the label {}={}; the nearest are {}.", wanted_.key, value,
        fmt::join(nearest_names(value, {values_.begin(), values_.end()}, kAtMost), ", "));
  }

 private:
  // A cluster may have a value for each node.
  static constexpr std::size_t kMost = 64;
  static void note(std::set<std::string>& all, const std::string& text) {
    if (all.size() < kMost) all.insert(text);
  }

  WantedLabel wanted_;
  bool found_ = false;
  std::set<std::string> values_;          // of that label
  std::set<std::string> keys_;            // as long as no node has the label
  const k8s::StringMap* last_ = nullptr;  // of the last node without the label
};

class WantedLabels final : public Survey {
 public:
  explicit WantedLabels(std::vector<Search> searches) : searches_(std::move(searches)) {}

  void add(const NodeView& node, const Refusal& /*refusal*/) override {
    for (Search& search : searches_) search.look_at(node.facts.labels);
  }
  std::string text() const override {
    std::vector<std::string> sentences;
    for (const Search& search : searches_) {
      if (std::string text = search.text(); !text.empty()) sentences.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(sentences, " "));
  }

 private:
  std::vector<Search> searches_;
};

}  // namespace

std::unique_ptr<Survey> survey_wanted_labels(const RequiredNodes& required) {
  std::vector<Search> searches;
  for (WantedLabel& wanted : wanted_labels(required)) searches.emplace_back(std::move(wanted));
  if (searches.empty()) return nullptr;
  return std::make_unique<WantedLabels>(std::move(searches));
}

}  // namespace plugins
