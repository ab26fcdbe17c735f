#include "bench/replay/arguments.h"

#include "bench/replay/trace/read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <variant>

namespace bench::replay {
namespace {

constexpr std::uint64_t kMostSeeds = 10'000;

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

k8s::Result<ArrivalMode> arrival_of(const ReplayOptions& options) {
  auto mode = parse_arrival(options.arrival);
  if (!mode) return mode;
  auto life = parse_life(options.life);
  if (!life) return tl::unexpected<k8s::Error>(std::move(life.error()));
  if (auto* stationary = std::get_if<StationaryArrival>(&*mode)) stationary->life = *life;
  return mode;
}

WhenFull when_full_of(const ReplayOptions& options, const ArrivalMode& mode) {
  if (options.when_full) return *options.when_full;
  const bool drawn = std::holds_alternative<InflateArrival>(mode) ||
                     std::holds_alternative<StationaryArrival>(mode);
  return drawn ? WhenFull::kRefuse : WhenFull::kQueue;
}

std::vector<double> snapshots_of(const ReplayOptions& options, const ArrivalMode& mode) {
  if (!options.snapshots.empty()) return options.snapshots;
  if (const auto* inflate = std::get_if<InflateArrival>(&mode)) return {50, 90, inflate->percent};
  return {25, 50, 75, 100};
}

k8s::Result<void> read_traces(const ReplayOptions& options, Arguments& arguments) {
  for (const std::string& pods : options.pods) {
    auto trace = read_trace({.nodes = options.nodes, .pods = pods});
    if (!trace) return tl::unexpected<k8s::Error>(std::move(trace.error()));
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
  auto done = parse_texts(options, arguments);
  if (done) done = find_policies(options, registry, arguments);
  if (done) done = read_traces(options, arguments);
  if (!done) return tl::unexpected<k8s::Error>(std::move(done.error()));
  arguments.in_words = in_words(options, arguments);
  return arguments;
}

k8s::Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  const auto dots = text.find("..");
  const auto first = number<std::uint64_t>(text.substr(0, dots));
  const auto last =
      dots == std::string_view::npos ? first : number<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMostSeeds) {
    return k8s::config_error(
        fmt::format("--seed {}: expected a number, or a range such as 42..51", text));
  }
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = *first; seed <= *last; ++seed) seeds.push_back(seed);
  return seeds;
}

k8s::Result<Moment> parse_duration(std::string_view text) {
  const auto complaint = [&] {
    return k8s::config_error(
        fmt::format("--until {}: expected a number with s, m, h or d: 36h", text));
  };
  if (text.empty()) return complaint();
  const auto value = number<std::int64_t>(text.substr(0, text.size() - 1));
  if (!value || *value <= 0 || *value > 1'000'000'000) return complaint();
  switch (text.back()) {
    case 's':
      return std::chrono::seconds(*value);
    case 'm':
      return std::chrono::minutes(*value);
    case 'h':
      return std::chrono::hours(*value);
    case 'd':
      return std::chrono::hours(24 * *value);
    default:
      return complaint();
  }
}

}  // namespace bench::replay
