#include "scheduler/quota/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace sched::quota {
namespace {

using k8s::Quantity;

tl::unexpected<k8s::Error> wrong(const std::string& key, const std::string& what) {
  return k8s::config_error(fmt::format("{}: {}", key, what));
}

bool is_negative(const Quantity& amount) { return amount < Quantity(); }

// What distinguishes the GPUs that a line means from others. A name of a known class means all GPUs
// of that class that match its other words; any other name means itself.
std::string type_key_of(const gpu::TypeName& type) {
  if (type.gpu_class == nullptr) return type.text == kAnyType ? kAnyType : type.key;
  std::vector<std::string> words = type.words;
  std::sort(words.begin(), words.end());
  return fmt::format("{} {} {} {}", type.gpu_class->name, type.memory_gb,
                     static_cast<int>(type.form), fmt::join(words, ""));
}

// Empty: nothing is wrong with it.
std::string problem_of_type(const std::string& text) {
  if (text.empty()) return "must not be empty";
  if (text == kAnyType) return "";
  if (!gpu::names_something(gpu::parse_type_name(text))) {
    return fmt::format("\"{}\" names nothing", text);
  }
  const gpu::ProductLabel label = gpu::parse_product(text);
  if (!label.shared && label.mig_profile.empty()) return "";
  return fmt::format(
      "{} must be the product without -SHARED or -MIG-…: shared GPUs and MIG "
      "instances are charged to its line",
      text);
}

k8s::Result<LineSpec> line_of(const k8s::GpuQuota::Line& line, const std::string& key,
                              bool is_alone) {
  if (const std::string problem = problem_of_type(line.gpu_type); !problem.empty()) {
    return wrong(key + ".gpuType", problem);
  }
  if (is_negative(line.guaranteed)) return wrong(key + ".guaranteed", "must not be negative");
  LineSpec checked{.gpu_type = line.gpu_type,
                   .means = gpu::parse_type_name(line.gpu_type),
                   .type_key = type_key_of(gpu::parse_type_name(line.gpu_type)),
                   .guaranteed = GpuShare::of(line.guaranteed),
                   .limit = std::nullopt,
                   .lendable = GpuShare::of(line.lendable.value_or(line.guaranteed))};
  const std::string guaranteed = line.guaranteed.to_string();
  if (line.lendable && (is_negative(*line.lendable) || checked.lendable > checked.guaranteed)) {
    return wrong(key + ".lendable", fmt::format("{} is not between 0 and guaranteed, {}",
                                                line.lendable->to_string(), guaranteed));
  }
  if (!line.limit) return checked;
  const std::string limit = line.limit->to_string();
  if (*line.limit < line.guaranteed) {
    return wrong(key + ".limit", fmt::format("{} is less than guaranteed, {}", limit, guaranteed));
  }
  checked.limit = GpuShare::of(*line.limit);
  if (is_alone && *checked.limit > checked.guaranteed) {
    return wrong(key + ".limit",
                 fmt::format("{} is more than guaranteed, {}, and without spec.cohort or "
                             "spec.parent there is no other quota to borrow from",
                             limit, guaranteed));
  }
  return checked;
}

// How specific a line is that names the product: "*" is least, then a class, a class with more
// words, and most the product itself.
std::size_t says_how_much(const LineSpec& line, const gpu::Product& product) {
  if (line.gpu_type == kAnyType) return 0;
  const gpu::TypeName& type = line.means;
  if (type.key == product.key) return std::numeric_limits<std::size_t>::max();
  return 1 + type.words.size() + (type.memory_gb != 0 ? 1 : 0) +
         (type.form != gpu::Form::kUnknown ? 1 : 0);
}

}  // namespace

k8s::Result<Spec> spec_of(const k8s::GpuQuota& quota) {
  const k8s::GpuQuota::Spec& from = quota.spec;
  if (from.order == k8s::GpuQuota::Order::kUnknown) {
    return wrong("spec.order", "neither BestEffort nor Strict");
  }
  if (!from.cohort.empty() && !from.parent.empty()) {
    return wrong("spec.cohort",
                 "a quota that has a parent lends and borrows inside it: its parent "
                 "may have a cohort");
  }
  if (from.parent == quota.metadata.name && !from.parent.empty()) {
    return wrong("spec.parent", "a quota is not its own parent");
  }
  if (from.weight && (*from.weight < 0 || *from.weight > GpuShare::kMostGpus)) {
    return wrong("spec.weight",
                 fmt::format("{} is not between 0 and {}", *from.weight, GpuShare::kMostGpus));
  }
  Spec spec{.cohort = from.cohort,
            .parent = from.parent,
            .weight = from.weight ? std::optional(GpuShare::gpus(*from.weight)) : std::nullopt,
            .lines = {},
            .most_per_pod = std::nullopt,
            .strict = from.order == k8s::GpuQuota::Order::kStrict};
  if (from.max_gpus_per_pod) {
    if (!(Quantity() < *from.max_gpus_per_pod)) {
      return wrong("spec.maxGpusPerPod", "must be more than 0");
    }
    spec.most_per_pod = GpuShare::of(*from.max_gpus_per_pod);
  }
  std::map<std::string, std::size_t> line_of_type;
  for (std::size_t i = 0; i < from.quotas.size(); ++i) {
    const std::string key = fmt::format("spec.quotas[{}]", i);
    auto line = line_of(from.quotas[i], key, from.cohort.empty() && from.parent.empty());
    if (!line) return tl::unexpected<k8s::Error>(std::move(line.error()));
    const auto [first, is_new] = line_of_type.try_emplace(line->type_key, i);
    if (!is_new) {
      return wrong(key + ".gpuType",
                   fmt::format("{} is the type of spec.quotas[{}], {}", line->gpu_type,
                               first->second, from.quotas[first->second].gpu_type));
    }
    spec.lines.push_back(*std::move(line));
  }
  return spec;
}

bool names(const LineSpec& line, const gpu::Product& product) {
  if (line.gpu_type == kAnyType) return true;
  return !product.name.empty() && gpu::matches(line.means, product);
}

bool includes(const LineSpec& all, const LineSpec& some) {
  if (all.gpu_type == kAnyType || all.type_key == some.type_key) return true;
  return some.gpu_type != kAnyType && names(all, gpu::parse_product(some.gpu_type).product);
}

std::size_t line_above(const std::vector<LineSpec>& lines, const LineSpec& line) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].type_key == line.type_key) return i;
  }
  const bool is_any = line.gpu_type == kAnyType;
  return line_for(lines, is_any ? gpu::Product() : gpu::parse_product(line.gpu_type).product);
}

std::size_t line_for(const std::vector<LineSpec>& lines, const gpu::Product& product) {
  std::size_t best = lines.size();
  std::size_t best_says = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!names(lines[i], product)) continue;
    const std::size_t says = says_how_much(lines[i], product);
    if (best != lines.size() && says <= best_says) continue;
    best = i;
    best_says = says;
  }
  return best;
}

}  // namespace sched::quota
