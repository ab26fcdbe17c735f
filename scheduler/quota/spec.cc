#include "scheduler/quota/spec.h"

#include <fmt/format.h>

#include <limits>
#include <set>

namespace sched::quota {
namespace {

using k8s::Quantity;

tl::unexpected<k8s::Error> wrong(const std::string& key, const std::string& what) {
  return k8s::config_error(fmt::format("{}: {}", key, what));
}

bool is_negative(const Quantity& amount) { return amount < Quantity(); }

k8s::Result<LineSpec> line_of(const k8s::GpuQuota::Line& line, const std::string& key,
                              bool has_cohort) {
  if (line.gpu_type.empty()) return wrong(key + ".gpuType", "must not be empty");
  if (is_negative(line.guaranteed)) return wrong(key + ".guaranteed", "must not be negative");
  LineSpec checked{.gpu_type = line.gpu_type,
                   .means = gpu::parse_type_name(line.gpu_type),
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
  if (!has_cohort && *checked.limit > checked.guaranteed) {
    return wrong(key + ".limit", fmt::format("{} is more than guaranteed, {}, and without "
                                             "spec.cohort there is nobody to borrow from",
                                             limit, guaranteed));
  }
  return checked;
}

// How closely a line that names the product says which: "*" nothing, a class something, a class
// with more words more, the product itself all.
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
  Spec spec{.cohort = from.cohort,
            .lines = {},
            .most_per_pod = std::nullopt,
            .strict = from.order == k8s::GpuQuota::Order::kStrict};
  if (from.max_gpus_per_pod) {
    if (is_negative(*from.max_gpus_per_pod)) {
      return wrong("spec.maxGpusPerPod", "must not be negative");
    }
    spec.most_per_pod = GpuShare::of(*from.max_gpus_per_pod);
  }
  std::set<std::string> types;
  for (std::size_t i = 0; i < from.quotas.size(); ++i) {
    const std::string key = fmt::format("spec.quotas[{}]", i);
    auto line = line_of(from.quotas[i], key, !from.cohort.empty());
    if (!line) return tl::unexpected<k8s::Error>(std::move(line.error()));
    if (!types.insert(line->gpu_type).second) {
      return wrong(key + ".gpuType", fmt::format("a second line for {}", line->gpu_type));
    }
    spec.lines.push_back(*std::move(line));
  }
  return spec;
}

bool names(const LineSpec& line, const gpu::Product& product) {
  if (line.gpu_type == kAnyType) return true;
  return !product.name.empty() && gpu::matches(line.means, product);
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
