#include "scheduler/config/leader_election.h"

#include "scheduler/base/qualified_name.h"
#include "scheduler/config/duration.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sched::config {

namespace {

using k8s::yaml::ObjectReader;
using std::chrono::milliseconds;

constexpr std::string_view kLock = "leases";
constexpr std::string_view kNotADuration =
    "must be a duration in whole milliseconds, such as 15s or 500ms";
// client-go's factor: a retry may come this much later than its period.
constexpr double kJitter = 1.2;

// Of an object's name, less what is appended to it for the ConfigMap of quotas
// (live/shell/hooks.cc).
constexpr std::size_t kLongestName = 253 - std::string_view("-quotas").size();
constexpr std::size_t kLongestNamespace = 63;

// A field that breaks a rule, by its key in the file.
struct Problem {
  std::string_view key;
  std::string text;
};

// The API server would refuse every request, and nobody would ever lead.
std::optional<Problem> problem_of_names(const LeaderElection& election) {
  const std::string& name = election.resource_name;
  if (name.empty()) return Problem{"resourceName", "must not be empty"};
  if (!is_subdomain(name) || name.size() > kLongestName) {
    return Problem{"resourceName",
                   fmt::format("\"{}\" is no name of a Lease, such as gpu-scheduler, of at most {} "
                               "characters",
                               name, kLongestName)};
  }
  const std::string& name_space = election.resource_namespace;
  if (name_space.empty()) return Problem{"resourceNamespace", "must not be empty"};
  if (!is_subdomain(name_space) || name_space.find('.') != std::string::npos ||
      name_space.size() > kLongestNamespace) {
    return Problem{"resourceNamespace",
                   fmt::format("\"{}\" is no name of a namespace", name_space)};
  }
  return std::nullopt;
}

std::optional<Problem> problem_of_times(const LeaderElection& election) {
  constexpr std::chrono::hours kLongest{24};
  const auto [duration, deadline, retry] =
      std::tuple(election.lease_duration, election.renew_deadline, election.retry_period);
  if (duration < std::chrono::seconds(1) || duration > kLongest ||
      duration % std::chrono::seconds(1) != milliseconds(0)) {
    return Problem{"leaseDuration",
                   "must be whole seconds, from 1s to 24h: a Lease counts in these"};
  }
  if (deadline >= duration) {
    return Problem{
        "renewDeadline",
        fmt::format("must be shorter than leaseDuration, which is {} ms: who cannot renew "
                    "must stop before another one starts",
                    duration.count())};
  }
  if (retry <= milliseconds(0)) return Problem{"retryPeriod", "must be at least 1ms"};
  if (static_cast<double>(deadline.count()) <= kJitter * static_cast<double>(retry.count())) {
    return Problem{"renewDeadline",
                   fmt::format("must be longer than {} times retryPeriod, which is {} ms", kJitter,
                               retry.count())};
  }
  return std::nullopt;
}

// Each lease setting with its key in the file and its flag.
struct DurationField {
  std::string_view key;
  std::string_view flag;
  milliseconds LeaderElection::*value;
  std::string LeaderElectionFlags::*said;
};
constexpr std::array<DurationField, 3> kDurations{{
    {"leaseDuration", "--leader-elect-lease-duration", &LeaderElection::lease_duration,
     &LeaderElectionFlags::lease_duration},
    {"renewDeadline", "--leader-elect-renew-deadline", &LeaderElection::renew_deadline,
     &LeaderElectionFlags::renew_deadline},
    {"retryPeriod", "--leader-elect-retry-period", &LeaderElection::retry_period,
     &LeaderElectionFlags::retry_period},
}};
struct NameField {
  std::string_view key;
  std::string_view flag;
  std::string LeaderElection::*value;
  std::string LeaderElectionFlags::*said;
};
constexpr std::array<NameField, 2> kNames{{
    {"resourceName", "--leader-elect-resource-name", &LeaderElection::resource_name,
     &LeaderElectionFlags::resource_name},
    {"resourceNamespace", "--leader-elect-resource-namespace", &LeaderElection::resource_namespace,
     &LeaderElectionFlags::resource_namespace},
}};

std::optional<milliseconds> milliseconds_of(std::string_view text) {
  const auto duration = parse_duration(text);
  if (!duration || *duration % milliseconds(1) != milliseconds(0)) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(*duration);
}

void read_names(ObjectReader& fields, LeaderElection& election) {
  for (const NameField& field : kNames) {
    election.*field.value = fields.string(field.key).value_or(election.*field.value);
  }
  if (const auto problem = problem_of_names(election)) {
    fields.complain(problem->key, problem->text);
  }
}

void read_times(ObjectReader& fields, LeaderElection& election) {
  for (const DurationField& field : kDurations) {
    const auto text = fields.string(field.key);
    if (!text) continue;
    const auto duration = milliseconds_of(*text);
    if (!duration) fields.complain(field.key, std::string(kNotADuration));
    election.*field.value = duration.value_or(election.*field.value);
  }
  fields.one_of("resourceLock", {kLock});
  if (const auto problem = problem_of_times(election)) {
    fields.complain(problem->key, problem->text);
  }
}

void refuse_times(ObjectReader& fields) {
  for (const std::string_view key :
       {"leaseDuration", "renewDeadline", "retryPeriod", "resourceLock"}) {
    if (fields.raw(key) == nullptr) continue;
    fields.complain(key, "has no effect while leaderElect is false; leave it out");
  }
}

std::string_view flag_of(std::string_view key) {
  for (const DurationField& field : kDurations) {
    if (field.key == key) return field.flag;
  }
  for (const NameField& field : kNames) {
    if (field.key == key) return field.flag;
  }
  return key;
}

tl::unexpected<k8s::Error> error_of_flag(const Problem& problem) {
  return k8s::config_error(fmt::format("{}: {}", flag_of(problem.key), problem.text));
}

}  // namespace

LeaderElection read_leader_election(ObjectReader& document) {
  LeaderElection election;
  document.object("leaderElection", [&](ObjectReader& fields) {
    election.leader_elect = fields.boolean("leaderElect").value_or(election.leader_elect);
    if (election.leader_elect) {
      read_times(fields, election);
    } else {
      refuse_times(fields);
    }
    read_names(fields, election);
  });
  return election;
}

k8s::Result<LeaderElection> with_flags(LeaderElection election, const LeaderElectionFlags& flags) {
  election.leader_elect = flags.leader_elect.value_or(election.leader_elect);
  for (const NameField& field : kNames) {
    if (!(flags.*field.said).empty()) election.*field.value = flags.*field.said;
  }
  if (const auto problem = problem_of_names(election)) return error_of_flag(*problem);
  if (!election.leader_elect) return election;
  for (const DurationField& field : kDurations) {
    const std::string& text = flags.*field.said;
    if (text.empty()) continue;
    const auto duration = milliseconds_of(text);
    if (!duration) return k8s::config_error(fmt::format("{}: {}", field.flag, kNotADuration));
    election.*field.value = *duration;
  }
  if (!flags.resource_lock.empty() && flags.resource_lock != kLock) {
    return k8s::config_error(fmt::format("--leader-elect-resource-lock: must be {}", kLock));
  }
  if (const auto problem = problem_of_times(election)) return error_of_flag(*problem);
  return election;
}

}  // namespace sched::config
