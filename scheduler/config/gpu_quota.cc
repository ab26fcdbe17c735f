#include "scheduler/config/gpu_quota.h"

#include "scheduler/base/qualified_name.h"
#include "scheduler/config/duration.h"

#include <string>

namespace sched::config {

namespace {

using k8s::yaml::ObjectReader;

void read_default(ObjectReader& fields, quota::Options& options) {
  const auto text = fields.string("defaultQuota");
  if (!text || *text == "Unlimited") return;
  if (*text == "None") {
    options.without_quota = quota::WithoutQuota::kNone;
  } else if (*text == "unlimited" || *text == "none") {
    fields.complain("defaultQuota",
                    "must be Unlimited or None, with a capital: in lower case it "
                    "would name a GpuQuota");
  } else if (is_subdomain(*text)) {
    // An object's name is in lower case, so it cannot be confused with one of these words.
    options.without_quota = quota::WithoutQuota::kNamed;
    options.default_quota = *text;
  } else {
    fields.complain("defaultQuota", "must be Unlimited, None, or the name of a GpuQuota");
  }
}

void read_seconds(ObjectReader& fields, const char* key, std::chrono::seconds& out) {
  const auto text = fields.string(key);
  if (!text) return;
  constexpr std::chrono::hours kLongest{24 * 365};
  const auto duration = parse_duration(*text);
  if (!duration || *duration > kLongest ||
      *duration % std::chrono::seconds(1) != duration->zero()) {
    fields.complain(key, "must be a duration in whole seconds, at most a year, such as 10m");
    return;
  }
  out = std::chrono::floor<std::chrono::seconds>(*duration);
}

}  // namespace

quota::Options read_gpu_quota(ObjectReader& document) {
  quota::Options options;
  document.object("gpuQuota", [&](ObjectReader& fields) {
    read_default(fields, options);
    read_seconds(fields, "holdAfter", options.hold_after);
    read_seconds(fields, "closedAfterDeletion", options.closed_after_deletion);
    options.bound_cohorts = fields.boolean("boundCohorts").value_or(false);
    options.pods_without_quota_first =
        fields.one_of("podsWithoutQuota", {"First", "Last"}) == "First";
  });
  return options;
}

}  // namespace sched::config
