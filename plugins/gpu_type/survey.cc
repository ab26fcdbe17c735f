#include "plugins/gpu_type/survey.h"

#include "plugins/support/gibibytes.h"
#include "scheduler/base/nearest_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace plugins {

namespace {

using namespace sched;

class GpuTypeSurvey final : public Survey {
 public:
  explicit GpuTypeSurvey(const GpuTypeAsk& ask)
      : ask_(ask), nodes_of_type_(ask.wishes().types.size()) {}

  void add(const NodeView& node, const Refusal& /*refusal*/) override {
    const gpu::Inventory& gpu = node.facts.gpu;
    keep_newest(gpu.driver, newest_driver_);
    keep_newest(gpu.cuda, newest_cuda_);
    if (gpu.product.name.empty()) return;
    ++product(gpu.product).nodes;
    for (std::size_t i = 0; i < nodes_of_type_.size(); ++i) {
      if (gpu::matches(ask_.wishes().types[i], gpu.product)) ++nodes_of_type_[i];
    }
    const std::int64_t memory = ask_.memory_of(gpu);
    const bool is_as_much = memory == most_memory_ && gpu.product.name < most_memory_of_;
    if (memory > most_memory_ || is_as_much) {
      most_memory_ = memory;
      most_memory_of_ = gpu.product.name;
    }
    most_compute_ = std::max(most_compute_, gpu.compute);
  }

  std::string text() const override {
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < nodes_of_type_.size(); ++i) {
      if (nodes_of_type_[i] == 0) sentences.push_back(missing(ask_.wishes().types[i].text));
    }
    // Where no node offers the instances that the pod asks for, their memory says nothing.
    const bool is_judged = most_memory_ > 0 || !ask_.asks_for_instances();
    if (ask_.wishes().min_memory > most_memory_ && is_judged) {
      sentences.push_back(too_little_memory());
    }
    if (ask_.wishes().min_compute > most_compute_) {
      sentences.push_back(
          fmt::format("No node is known to have GPUs of compute capability {}; the highest is {}.",
                      to_string(ask_.wishes().min_compute),
                      most_compute_.is_known() ? to_string(most_compute_) : "not known"));
    }
    if (ask_.wishes().min_driver > newest_driver_) {
      sentences.push_back(
          too_old("a GPU driver of version", ask_.wishes().min_driver, newest_driver_));
    }
    if (ask_.wishes().min_cuda > newest_cuda_) {
      sentences.push_back(too_old("a GPU driver for CUDA", ask_.wishes().min_cuda, newest_cuda_));
    }
    return fmt::format("{}", fmt::join(sentences, " "));
  }

 private:
  static void keep_newest(std::string_view label, gpu::Version& newest) {
    if (const auto version = gpu::parse_version(label)) newest = std::max(newest, *version);
  }

  static std::string too_old(std::string_view what, const gpu::Version& asked,
                             const gpu::Version& newest) {
    return fmt::format("No node is known to have {} {} or later; the newest is {}.", what,
                       to_string(asked), newest.is_known() ? to_string(newest) : "not known");
  }

  struct Seen {
    std::string name;
    std::string gpu_class;
    std::size_t nodes = 0;
  };

  // A cluster has few products.
  Seen& product(const gpu::Product& product) {
    const auto found = std::find_if(products_.begin(), products_.end(),
                                    [&](const Seen& seen) { return seen.name == product.name; });
    if (found != products_.end()) return *found;
    return products_.emplace_back(
        Seen{.name = product.name, .gpu_class = std::string(product.class_name()), .nodes = 0});
  }

  [[nodiscard]] std::string missing(const std::string& type) const {
    if (products_.empty()) {
      return fmt::format("No node has a GPU of type {}, nor of any that labels name.", type);
    }
    return fmt::format("No node has a GPU of type {}; the nearest are {}.", type,
                       fmt::join(nearest(type), ", "));
  }

  // The products with names most like `type`, by class or by name.
  [[nodiscard]] std::vector<std::string> nearest(const std::string& type) const {
    std::vector<std::pair<std::size_t, const Seen*>> by_distance;
    for (const Seen& seen : products_) {
      std::size_t distance = edit_distance(type, seen.name);
      if (!seen.gpu_class.empty()) {
        distance = std::min(distance, edit_distance(type, seen.gpu_class));
      }
      by_distance.emplace_back(distance, &seen);
    }
    std::sort(by_distance.begin(), by_distance.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second->name) < std::tie(b.first, b.second->name);
    });
    constexpr std::size_t kAtMost = 3;
    std::vector<std::string> texts;
    for (const auto& [distance, seen] : by_distance) {
      if (texts.size() == kAtMost) break;
      texts.push_back(fmt::format("{}{}{} ({} {})", seen->gpu_class,
                                  seen->gpu_class.empty() ? "" : ": ", seen->name, seen->nodes,
                                  seen->nodes == 1 ? "node" : "nodes"));
    }
    return texts;
  }

  [[nodiscard]] std::string too_little_memory() const {
    const std::int64_t asked = ask_.wishes().min_memory;
    if (most_memory_ == 0) {
      return fmt::format("No node is known to have GPUs with {} of memory.", gibibytes(asked));
    }
    return fmt::format("No node has {} with {} of memory; the most is {} ({}).",
                       ask_.asks_for_instances() ? "such MIG instances" : "GPUs", gibibytes(asked),
                       gibibytes(most_memory_), most_memory_of_);
  }

  const GpuTypeAsk& ask_;
  std::vector<std::size_t> nodes_of_type_;  // by index of the type
  std::vector<Seen> products_;
  std::int64_t most_memory_ = 0;  // bytes
  std::string most_memory_of_;
  gpu::Capability most_compute_;
  gpu::Version newest_driver_;
  gpu::Version newest_cuda_;
};

}  // namespace

std::unique_ptr<Survey> make_gpu_type_survey(const GpuTypeAsk& ask) {
  return std::make_unique<GpuTypeSurvey>(ask);
}

}  // namespace plugins
