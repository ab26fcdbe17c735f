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

// Of one profile.
class ProfileSurvey {
 public:
  explicit ProfileSurvey(InstanceAsk ask) : ask_(std::move(ask)), profiles_(ask_.profile) {}

  void add(const NodeView& node) {
    const gpu::Inventory& gpu = node.facts.gpu;
    const gpu::mig::Profile* profile = profiles_.on(gpu.product.geometry);
    if (node.allocatable(ask_.resource) > 0) {
      // A node with enough of this profile lacks something else.
      if (node.free(ask_.resource) < ask_.amount) has_.add(node.facts.name);
    } else if (!gpu.has_gpu() && profile == nullptr) {
      ++without_gpu_;
    } else if (profile == nullptr) {
      ++never_[gpu.product.name.empty() ? "GPUs that no label names" : gpu.product.name];
    } else if (has_too_few_gpus(gpu, *profile)) {
      ++never_[gpu.product.name + " with too few GPUs"];
    } else {
      (gpu.mig_strategy == "mixed" ? could_ : other_strategy_).add(node.facts.name);
    }
  }

  // Empty: there is nothing to report.
  [[nodiscard]] std::string text() const {
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
    return fmt::format("{}: {}.", ask_.resource_name, fmt::join(parts, "; "));
  }

 private:
  // Too few however they are partitioned; false if labels do not count them.
  [[nodiscard]] bool has_too_few_gpus(const gpu::Inventory& gpu,
                                      const gpu::mig::Profile& profile) const {
    if (gpu.gpu_count == 0 || !gpu.single_profile.empty()) return false;
    return ask_.amount > gpu.gpu_count * profile.max_instances;
  }

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

  InstanceAsk ask_;
  gpu::mig::ProfileByModel profiles_;
  NodeList has_;
  NodeList could_;
  NodeList other_strategy_;
  std::map<std::string, std::size_t> never_;  // product → nodes
  std::size_t without_gpu_ = 0;
};

class MigSurvey final : public Survey {
 public:
  explicit MigSurvey(const std::vector<InstanceAsk>& asks) : profiles_(asks.begin(), asks.end()) {}

  void add(const NodeView& node, const Refusal& refusal) override {
    // A node that other plugins or a second reason exclude is no candidate.
    if (!refusal.alone || refusal.plugin != "NodeResourcesFit") return;
    for (ProfileSurvey& profile : profiles_) profile.add(node);
  }

  std::string text() const override {
    std::vector<std::string> sentences;
    for (const ProfileSurvey& profile : profiles_) {
      if (std::string text = profile.text(); !text.empty()) sentences.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(sentences, " "));
  }

 private:
  std::vector<ProfileSurvey> profiles_;
};

}  // namespace

std::unique_ptr<Survey> make_mig_survey(const std::vector<InstanceAsk>& asks) {
  return std::make_unique<MigSurvey>(asks);
}

}  // namespace plugins
