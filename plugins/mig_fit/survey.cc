#include "plugins/mig_fit/survey.h"

#include "scheduler/gpu/mig/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

// The first of some nodes by name, and how many there are.
class NodeList {
 public:
  void add(const std::string& name) {
    ++count_;
    first_.insert(name);
    if (first_.size() > kShown) first_.erase(std::prev(first_.end()));
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }
  // "a100-1, a100-2, a100-3 and 4 more"
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{}", fmt::join(first_, ", "));
    if (count_ > first_.size()) text += fmt::format(" and {} more", count_ - first_.size());
    return text;
  }

 private:
  static constexpr std::size_t kShown = 3;
  std::set<std::string> first_;
  std::size_t count_ = 0;
};

class MigSurvey final : public Survey {
 public:
  MigSurvey(ResourceId resource, std::string resource_name, std::string profile)
      : resource_(resource),
        resource_name_(std::move(resource_name)),
        profile_(std::move(profile)),
        profiles_(profile_) {}

  void add(const NodeView& node, const Refusal& refusal) override {
    // What other plugins or a second reason keep the pod off is no candidate.
    if (!refusal.alone || refusal.plugin != "NodeResourcesFit") return;
    const gpu::Inventory& gpu = node.facts.gpu;
    if (node.allocatable(resource_) > 0) {
      has_.add(node.facts.name);
    } else if (!gpu.has_gpu()) {
      ++without_gpu_;
    } else if (profiles_.on(gpu.product.geometry) != nullptr) {
      (gpu.mig_strategy == "mixed" ? could_ : other_strategy_).add(node.facts.name);
    } else {
      ++never_[gpu.product.name.empty() ? "GPUs that no label names" : gpu.product.name];
    }
  }

  std::string text() const override {
    std::vector<std::string> parts;
    if (!has_.empty()) {
      parts.push_back(fmt::format("{} {} it, but not enough free ({})", has_.count(),
                                  has_.count() == 1 ? "node has" : "nodes have", has_.text()));
    }
    if (!could_.empty()) {
      parts.push_back(
          fmt::format("{} could hold it after a repartition ({})", could_.count(), could_.text()));
    }
    if (!other_strategy_.empty()) {
      parts.push_back(fmt::format("{} could after a repartition, and with mig.strategy mixed ({})",
                                  other_strategy_.count(), other_strategy_.text()));
    }
    if (const std::string never = never_text(); !never.empty()) parts.push_back(never);
    if (parts.empty()) return {};
    return fmt::format("{}: {}.", resource_name_, fmt::join(parts, "; "));
  }

 private:
  [[nodiscard]] std::string never_text() const {
    std::size_t nodes = without_gpu_;
    std::vector<std::string> kinds;
    for (const auto& [product, count] : never_) {
      nodes += count;
      kinds.push_back(fmt::format("{} {}", count, product));
    }
    if (without_gpu_ > 0) kinds.push_back(fmt::format("{} without GPU", without_gpu_));
    if (nodes == 0) return {};
    return fmt::format("{} never can ({})", nodes, fmt::join(kinds, ", "));
  }

  ResourceId resource_;
  std::string resource_name_;
  std::string profile_;
  gpu::mig::ProfileByModel profiles_;
  NodeList has_;
  NodeList could_;
  NodeList other_strategy_;
  std::map<std::string, std::size_t> never_;  // product → nodes
  std::size_t without_gpu_ = 0;
};

}  // namespace

std::unique_ptr<Survey> make_mig_survey(ResourceId resource, const std::string& resource_name,
                                        const std::string& profile) {
  return std::make_unique<MigSurvey>(resource, resource_name, profile);
}

}  // namespace plugins
