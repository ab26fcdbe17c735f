#include "bench/replay/arguments.h"

#include "bench/replay/run/quotas.h"
#include "bench/replay/trace/groups.h"
#include "bench/replay/trace/read.h"
#include "k8s-client/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <variant>

namespace bench::replay {
namespace {

constexpr std::uint64_t kMostSeeds = 10'000;
// As much as the readers of traces accept (row_reader.h).
constexpr Moment kLongestDuration = std::chrono::seconds(100'000'000'000);

k8s::Result<ArrivalMode> arrival_of(const ReplayOptions& options) {
  auto mode = parse_arrival(options.arrival);
  if (!mode) return mode;
  auto life = parse_life(options.life);
  if (!life) return tl::unexpected<k8s::Error>(std::move(life.error()));
  if (auto* stationary = std::get_if<StationaryArrival>(&*mode)) stationary->life = *life;
  return mode;
}

// Pods come one by one, whatever they have to do with each other.
bool is_drawn(const ArrivalMode& mode) {
  return std::holds_alternative<InflateArrival>(mode) ||
         std::holds_alternative<StationaryArrival>(mode);
}

WhenFull when_full_of(const ReplayOptions& options, const ArrivalMode& mode) {
  if (options.when_full) return *options.when_full;
  return is_drawn(mode) ? WhenFull::kRefuse : WhenFull::kQueue;
}

std::vector<double> snapshots_of(const ReplayOptions& options, const ArrivalMode& mode) {
  if (!options.snapshots.empty()) return options.snapshots;
  if (const auto* inflate = std::get_if<InflateArrival>(&mode)) return {50, 90, inflate->percent};
  return {25, 50, 75, 100};
}

// The greatest possible x; none if it depends on the trace.
std::optional<double> greatest_moment(const ArrivalMode& mode) {
  if (const auto* inflate = std::get_if<InflateArrival>(&mode)) return inflate->percent;
  if (std::holds_alternative<StationaryArrival>(mode)) return 100;
  return std::nullopt;
}

k8s::Result<void> check_snapshots(const std::vector<double>& snapshots, const ArrivalMode& mode) {
  const std::optional<double> most = greatest_moment(mode);
  for (const double at : snapshots) {
    if (std::isfinite(at) && at >= 0 && at <= most.value_or(at)) continue;
    return k8s::config_error(fmt::format("--snapshots {}: expected a percentage from 0{}", at,
                                         most ? fmt::format(" to {}", *most) : " on"));
  }
  return {};
}

k8s::Result<void> read_traces(const ReplayOptions& options, Arguments& arguments) {
  for (const std::string& pods : options.pods) {
    auto trace = read_trace({.nodes = options.nodes, .pods = pods});
    if (!trace) return tl::unexpected<k8s::Error>(std::move(trace.error()));
    if (is_drawn(arguments.arrival) || arguments.when_full == WhenFull::kRefuse) {
      leave_out_groups(*trace);
    }
    const auto same = [&](const Trace& other) { return other.name == trace->name; };
    if (std::any_of(arguments.traces.begin(), arguments.traces.end(), same)) {
      return k8s::config_error(
          fmt::format("--pods {}: a second trace of the name \"{}\"; results are told apart by it",
                      pods, trace->name));
    }
    arguments.traces.push_back(*std::move(trace));
  }
  return {};
}

k8s::Result<void> find_policies(const ReplayOptions& options, const sched::Registry& registry,
                                Arguments& arguments) {
  const std::vector<std::string> fallback{"default"};
  for (const std::string& name : options.policies.empty() ? fallback : options.policies) {
    auto policy = find_policy(name);
    if (!policy) return tl::unexpected<k8s::Error>(std::move(policy.error()));
    auto config = configure(*policy, registry, arguments.seeds.front());
    if (!config) return tl::unexpected<k8s::Error>(std::move(config.error()));
    const auto same = [&](const Policy& other) { return other.name == policy->name; };
    if (std::any_of(arguments.policies.begin(), arguments.policies.end(), same)) {
      return k8s::config_error(fmt::format(
          "--policy {}: a second policy of the name \"{}\"; results are told apart by it", name,
          policy->name));
    }
    arguments.policies.push_back(*std::move(policy));
  }
  return {};
}

k8s::Result<void> parse_texts(const ReplayOptions& options, Arguments& arguments) {
  for (const std::string& text : options.seeds) {
    auto seeds = parse_seeds(text);
    if (!seeds) return tl::unexpected<k8s::Error>(std::move(seeds.error()));
    for (const std::uint64_t seed : *seeds) {
      auto& all = arguments.seeds;
      if (std::find(all.begin(), all.end(), seed) == all.end()) all.push_back(seed);
    }
  }
  for (const std::string& text : options.fail_if) {
    auto condition = parse_condition(text);
    if (!condition) return tl::unexpected<k8s::Error>(std::move(condition.error()));
    arguments.fail_if.push_back(*std::move(condition));
  }
  if (!options.quotas.empty()) {
    auto quotas = read_quotas(options.quotas);
    if (!quotas) return tl::unexpected<k8s::Error>(std::move(quotas.error()));
    arguments.quotas = *std::move(quotas);
  }
  if (options.until.empty()) return {};
  auto until = parse_duration(options.until);
  if (!until) return tl::unexpected<k8s::Error>(std::move(until.error()));
  arguments.until = *until;
  return {};
}

std::vector<std::pair<std::string, std::string>> in_words(const ReplayOptions& options,
                                                          const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> words{
      {"arrival", options.arrival},
      {"when-full", arguments.when_full == WhenFull::kRefuse ? "refuse" : "queue"},
      {"typical-pods", options.typical_pods == TypicalPods::kTrace ? "trace" : "learned"},
      {"seeds", fmt::format("{}", fmt::join(arguments.seeds, ","))}};
  if (std::holds_alternative<StationaryArrival>(arguments.arrival)) {
    words.emplace_back("life", options.life);
  }
  if (arguments.until) words.emplace_back("until", options.until);
  if (!options.quotas.empty()) words.emplace_back("quotas", options.quotas);
  return words;
}

}  // namespace

k8s::Result<Arguments> check(const ReplayOptions& options, const sched::Registry& registry) {
  Arguments arguments;
  arguments.arrival_text = options.arrival;
  auto mode = arrival_of(options);
  if (!mode) return tl::unexpected<k8s::Error>(std::move(mode.error()));
  arguments.arrival = *mode;
  if (std::holds_alternative<StationaryArrival>(*mode))
    arguments.arrival_text += ", life " + options.life;
  arguments.when_full = when_full_of(options, *mode);
  arguments.snapshots = snapshots_of(options, *mode);
  auto done = check_snapshots(arguments.snapshots, *mode);
  if (done) done = parse_texts(options, arguments);
  if (done) done = find_policies(options, registry, arguments);
  if (done) done = read_traces(options, arguments);
  if (!done) return tl::unexpected<k8s::Error>(std::move(done.error()));
  arguments.in_words = in_words(options, arguments);
  return arguments;
}

k8s::Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  const auto dots = text.find("..");
  const auto first = k8s::parse_number<std::uint64_t>(text.substr(0, dots));
  const auto last = dots == std::string_view::npos
                        ? first
                        : k8s::parse_number<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMostSeeds) {
    return k8s::config_error(
        fmt::format("--seed {}: expected a number, or a range such as 42..51", text));
  }
  std::vector<std::uint64_t> seeds(*last - *first + 1);
  std::iota(seeds.begin(), seeds.end(), *first);
  return seeds;
}

k8s::Result<Moment> parse_duration(std::string_view text) {
  const auto complaint = [&] {
    return k8s::config_error(
        fmt::format("--until {}: expected a number with s, m, h or d: 36h", text));
  };
  if (text.empty()) return complaint();
  const auto value = k8s::parse_number<std::int64_t>(text.substr(0, text.size() - 1));
  if (!value || *value <= 0) return complaint();
  const std::map<char, Moment> units{{'s', std::chrono::seconds(1)},
                                     {'m', std::chrono::minutes(1)},
                                     {'h', std::chrono::hours(1)},
                                     {'d', std::chrono::hours(24)}};
  const auto unit = units.find(text.back());
  if (unit == units.end()) return complaint();
  if (*value > kLongestDuration / unit->second) {
    return k8s::config_error(
        fmt::format("--until {}: at most {} seconds", text,
                    std::chrono::seconds(kLongestDuration.count() / 1'000).count()));
  }
  return *value * unit->second;
}

}  // namespace bench::replay
