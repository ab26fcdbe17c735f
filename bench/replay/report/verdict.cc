#include "bench/replay/report/verdict.h"

#include "bench/replay/report/counted_figure.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace bench::replay {
namespace {

constexpr std::size_t kMostNamed = 6;  // policies in a sentence

std::string named(const PolicyRuns& policy) {
  const std::string words = page::policy_words(policy.name);
  return policy.name == "default" ? "the " + words : words;
}

std::vector<std::string> names(const std::vector<const PolicyRuns*>& policies) {
  std::vector<std::string> all;
  for (const PolicyRuns* policy : policies) all.push_back(named(*policy));
  return all;
}

// "12,405 ± 1,947 GPU-hours, and 99 of 100 pods waited 1.3 days at most"; or "4.70 ± 0.08 %".
std::string amount(const PolicyRuns& policy, const CountedFigure& figure) {
  const std::string text = figure_text(policy, figure);
  if (figure == kUnallocated) return text + " %";
  return fmt::format("{} GPU-hours, and 99 of 100 pods waited {} at most", text,
                     page::duration(policy.figure("wait_p99").mean));
}

// The same after the first one: "11,228 ± 397 (14 hours)".
std::string short_amount(const PolicyRuns& policy, const CountedFigure& figure) {
  const std::string text = figure_text(policy, figure);
  if (figure == kUnallocated) return text + " %";
  return fmt::format("{} ({})", text, page::duration(policy.figure("wait_p99").mean));
}

// "best fit 11,228 ± 397 (14 hours), spread 34,135 ± 4,346 (1.7 days)"
std::string amounts(const std::vector<const PolicyRuns*>& policies, const CountedFigure& figure) {
  std::string text;
  for (std::size_t i = 0; i < std::min(policies.size(), kMostNamed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", named(*policies[i]),
                        short_amount(*policies[i], figure));
  }
  if (policies.size() > kMostNamed) {
    text += fmt::format(" and {} more, up to {}", policies.size() - kMostNamed,
                        short_amount(*policies.back(), figure));
  }
  return text;
}

std::string did_best(const CountedFigure& figure) {
  return figure == kUnallocated ? "left the least GPU unallocated" : "kept GPUs waiting least";
}

// What short amounts are of, if no longer one comes before.
std::string unit_of(const CountedFigure& figure) {
  return figure == kUnallocated ? "" : "GPU-hours, and the wait of 99 of 100 pods at most: ";
}

std::string of_one_policy(const PolicyRuns& policy, const CountedFigure& figure) {
  if (figure == kUnallocated) {
    return fmt::format("{} left {} of the GPUs unallocated.", named(policy),
                       amount(policy, figure));
  }
  return fmt::format("pods waited for GPUs under {}: {}.", named(policy), amount(policy, figure));
}

std::string of_policies(const Ranking& ranking) {
  const auto& ranked = ranking.ranked;
  const auto leaders_end = ranked.begin() + static_cast<std::ptrdiff_t>(ranking.leaders);
  const std::vector<const PolicyRuns*> leaders(ranked.begin(), leaders_end);
  const std::vector<const PolicyRuns*> others(leaders_end, ranked.end());
  const std::string rest =
      others.empty() ? "" : fmt::format(" Then: {}.", amounts(others, ranking.figure));
  if (others.empty()) {
    return fmt::format("there is no clear difference between {}: {}{}.",
                       page::listed(names(leaders)), unit_of(ranking.figure),
                       amounts(leaders, ranking.figure));
  }
  if (leaders.size() == 1) {
    return fmt::format("{} {}: {}.{}", named(*leaders.front()), did_best(ranking.figure),
                       amount(*leaders.front(), ranking.figure), rest);
  }
  return fmt::format("{} {}, without a clear difference between them: {}{}.{}",
                     page::listed(names(leaders)), did_best(ranking.figure),
                     unit_of(ranking.figure), amounts(leaders, ranking.figure), rest);
}

std::size_t number_of_seeds(const Comparison& comparison) {
  std::set<std::uint64_t> seeds;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) seeds.insert(run->seed);
  }
  return seeds.size();
}

// What the figures cannot tell.
std::string how_sure(const Comparison& comparison) {
  const std::string& arrival = comparison.arrival;
  if (arrival == "trace" || arrival == "backlog" || arrival == "recording") {
    return " All runs have the same pods: with those of another time the order may be another.";
  }
  return number_of_seeds(comparison) > 1 ? ""
                                         : " Only one seed was run: the difference may be chance.";
}

std::string of_comparison(const Comparison& comparison) {
  const Ranking ranking = ranking_of(comparison);
  if (ranking.ranked.empty()) return "";
  const std::string where = fmt::format("On the trace “{}” ", comparison.trace);
  if (all_placed_at_once(comparison)) {
    return where + fmt::format("every pod was placed as soon as it came, under {}.",
                               page::listed(names(ranking.ranked)));
  }
  if (ranking.ranked.size() == 1) {
    return where + of_one_policy(*ranking.ranked.front(), ranking.figure);
  }
  return where + of_policies(ranking) + how_sure(comparison);
}

std::string traces(std::size_t count) {
  return fmt::format("{} trace{}", count, count == 1 ? "" : "s");
}

// Of the comparisons by one figure: how many each policy leads.
struct Tally {
  std::size_t comparisons = 0;
  std::size_t unclear = 0;
  std::map<std::size_t, std::pair<std::string, std::size_t>> led;  // by policy: its name, how many

  void add(const Ranking& ranking) {
    ++comparisons;
    if (ranking.leaders != 1) {
      ++unclear;
      return;
    }
    auto& [name, count] = led[ranking.ranked.front()->index];
    name = named(*ranking.ranked.front());
    ++count;
  }
};

std::string text_of(const Tally& tally, std::string_view by) {
  std::vector<std::pair<std::string, std::size_t>> led;
  for (const auto& [index, entry] : tally.led) led.push_back(entry);
  std::stable_sort(led.begin(), led.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [name, count] : led) {
    parts.push_back(fmt::format("{} {} {}", name, parts.empty() ? "leads on" : "on", count));
  }
  std::string text =
      fmt::format("By {}, on {}: {}", by, traces(tally.comparisons), fmt::join(parts, ", "));
  if (tally.unclear > 0) {
    text += fmt::format("{}no clear difference between the first ones on {}",
                        parts.empty() ? "" : "; ", tally.unclear);
  }
  return text + ".";
}

std::string of_comparisons(const std::vector<Comparison>& comparisons) {
  Tally waited;
  Tally unallocated;
  std::size_t not_compared = 0;
  for (const Comparison& comparison : comparisons) {
    const Ranking ranking = ranking_of(comparison);
    if (ranking.ranked.size() < 2 || all_placed_at_once(comparison)) {
      ++not_compared;
      continue;
    }
    (ranking.figure == kUnallocated ? unallocated : waited).add(ranking);
  }
  std::vector<std::string> sentences;
  if (waited.comparisons > 0) sentences.push_back(text_of(waited, "GPU-hours waited"));
  if (unallocated.comparisons > 0) {
    sentences.push_back(text_of(unallocated, "the share of GPU left unallocated"));
  }
  if (not_compared > 0) {
    sentences.push_back(fmt::format(
        "On {} there is nothing to compare: one policy, or every pod placed as soon as it came.",
        traces(not_compared)));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace

std::string verdict(const std::vector<Comparison>& comparisons) {
  if (comparisons.empty()) return "";
  return comparisons.size() == 1 ? of_comparison(comparisons.front()) : of_comparisons(comparisons);
}

}  // namespace bench::replay
