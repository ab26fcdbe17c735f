#include "bench/replay/run/quotas.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/quota/ledger.h"
#include "scheduler/quota/spec.h"
#include "scheduler/quota/spec_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

namespace bench::replay {
namespace {

k8s::Result<k8s::GpuQuota> quota_of(const k8s::yaml::Value& document) {
  const k8s::yaml::Value* kind = document.find("kind");
  const bool is_quota =
      kind != nullptr && kind->string() != nullptr && *kind->string() == "GpuQuota";
  if (!is_quota) return k8s::decode_error("want an object of kind GpuQuota");
  k8s::Decoder decoder;
  auto quota = decoder.object<k8s::GpuQuota>(k8s::yaml::to_json(document));
  if (!quota) return quota;
  if (auto spec = sched::quota::spec_of(*quota); !spec) {
    return tl::unexpected<k8s::Error>(std::move(spec.error()));
  }
  return quota;
}

// But for their x.
bool is_alike(const QuotaStep& a, const QuotaStep& b) {
  return std::tie(a.quota, a.gpu_type, a.guaranteed, a.used, a.borrowed, a.lent, a.pending) ==
         std::tie(b.quota, b.gpu_type, b.guaranteed, b.used, b.borrowed, b.lent, b.pending);
}

double gpus(const k8s::Quantity& amount) {
  return static_cast<double>(amount.milli_value()) / 1'000;
}

}  // namespace

k8s::Result<std::vector<k8s::GpuQuota>> read_quotas(const std::string& file) {
  auto documents = k8s::yaml::parse_file(file);
  if (!documents) return tl::unexpected<k8s::Error>(std::move(documents.error()));
  std::vector<k8s::GpuQuota> quotas;
  std::set<std::string> names;
  std::vector<std::string> places;
  for (const k8s::yaml::Value& document : *documents) {
    const std::string where = fmt::format("{}:{}", file, document.line);
    auto quota = quota_of(document);
    if (!quota) return tl::unexpected<k8s::Error>(k8s::with_context(quota.error(), where));
    if (auto error = sched::quota::unknown_field(document, file)) {
      return tl::unexpected<k8s::Error>(*std::move(error));
    }
    if (!names.insert(quota->metadata.name).second) {
      return k8s::config_error(
          fmt::format("{}: a second GpuQuota \"{}\"", where, quota->metadata.name));
    }
    if (!quota->metadata.creation_timestamp) {
      quota->metadata.creation_timestamp = k8s::Timestamp{std::chrono::microseconds(quotas.size())};
    }
    quotas.push_back(*std::move(quota));
    places.push_back(where);
  }
  if (quotas.empty()) return k8s::config_error(file + ": there is no GpuQuota in it");
  // Errors of a quota in relation to the others.
  sched::quota::Ledger ledger{sched::quota::Options{}};
  for (const k8s::GpuQuota& quota : quotas) ledger.upsert(quota);
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    const auto error = ledger.report().error_of(*ledger.quotas().find(quotas[i].metadata.name));
    if (error) return k8s::config_error(fmt::format("{}: {}", places[i], *error));
  }
  return quotas;
}

std::vector<k8s::Namespace> namespaces_of(const Trace& trace) {
  std::set<std::string> names;
  for (const TracePod& pod : trace.pods) names.insert(pod.pod.metadata.namespace_);
  std::vector<k8s::Namespace> namespaces;
  for (const std::string& name : names) {
    k8s::Namespace& made = namespaces.emplace_back();
    made.metadata.name = name;
    made.metadata.labels.set("kubernetes.io/metadata.name", name);
  }
  return namespaces;
}

void QuotaSteps::advance(double x, const sched::Engine& engine) {
  if (x < next_) return;
  ask(x, engine);
  while (next_ <= x && interval_ > 0) next_ += interval_;
}

void QuotaSteps::holds(double x, double end, const sched::Engine& engine) {
  if (end < next_ || steps_.empty() || steps_.back().x >= x) return;
  const std::size_t before = steps_.size();
  ask(x, engine);
  const auto asked = steps_.begin() + static_cast<std::ptrdiff_t>(before);
  const auto lines = std::min(steps_.end() - asked, asked - steps_.begin());
  if (std::equal(asked, steps_.end(), asked - lines, asked, is_alike)) steps_.resize(before);
}

void QuotaSteps::finish(double x, const sched::Engine& engine) {
  if (steps_.empty() || steps_.back().x < x) ask(x, engine);
}

void QuotaSteps::ask(double x, const sched::Engine& engine) {
  for (const sched::QuotaStatus& quota : engine.quota_statuses()) {
    for (const k8s::GpuQuota::LineStatus& line : quota.status.quotas) {
      steps_.push_back({.x = x,
                        .quota = quota.name,
                        .gpu_type = line.gpu_type,
                        .guaranteed = gpus(line.use.guaranteed),
                        .used = gpus(line.use.used),
                        .borrowed = gpus(line.use.borrowed),
                        .lent = gpus(line.use.lent),
                        .pending = gpus(line.use.pending)});
    }
  }
}

}  // namespace bench::replay
