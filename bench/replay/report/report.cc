#include "bench/replay/report/report.h"

#include "bench/replay/report/comparison.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"
#include "bench/replay/report/verdict.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

namespace sched::server {

// The live page's: scheduler/server/ui.
extern const std::string_view kUiPalette;
extern const std::string_view kUiBase;
extern const std::string_view kUiChart;
extern const std::string_view kUplotScript;
extern const std::string_view kUplotStyle;
extern const std::string_view kUplotLicence;

}  // namespace sched::server

namespace bench::replay {

extern const std::string_view kReportStyle;  // page/style.css
extern const std::string_view kPlotsScript;  // page/plots.js
extern const std::string_view kMapsScript;   // page/maps.js

namespace {

// What grows with traces × policies has a limit, so that the page stays below 3 MB.
constexpr std::size_t kMapBytes = 1'000'000;
constexpr std::size_t kKindsOnPage = 900;
constexpr std::size_t kMostKinds = 15;
constexpr std::size_t kFewestKinds = 3;
constexpr std::size_t kPointsOnPage = 100'000;
constexpr std::size_t kLinesOfPolicy = 14;  // of a policy on a trace, about
constexpr std::size_t kMostPoints = 400;
constexpr std::size_t kFewestPoints = 40;

struct Limits {
  std::size_t kinds = kMostKinds;    // of refused pods, for each policy on each trace
  std::size_t points = kMostPoints;  // of a line
};

Limits limits_of(std::size_t policies_on_traces) {
  return {std::clamp(kKindsOnPage / policies_on_traces, kFewestKinds, kMostKinds),
          std::clamp(kPointsOnPage / (policies_on_traces * kLinesOfPolicy), kFewestPoints,
                     kMostPoints)};
}

// A policy's colour, and what its legend looks like while its curves are hidden.
void write_policy_styles(std::ostream& out, std::size_t policies) {
  for (std::size_t i = 0; i < policies; ++i) {
    fmt::print(out,
               ".p{0}{{--c:var(--hue{1})}}"
               "body:has(#show{0}:not(:checked)) .legend .p{0}{{opacity:.4;"
               "text-decoration:line-through}}\n",
               i, i % kPolicyColours);
  }
}

void write_head(std::ostream& out, const Report& report, std::size_t policies) {
  fmt::print(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}\n{}{}{}",
             page::escape(report.title), sched::server::kUplotStyle, sched::server::kUiPalette,
             sched::server::kUiBase, kReportStyle);
  write_policy_styles(out, policies);
  out << "</style>\n</head>\n";
}

void write_switches(std::ostream& out, const std::vector<std::string>& policies) {
  out << "<fieldset class=\"switches\"><legend>Policies shown in the plots</legend>\n";
  for (std::size_t i = 0; i < policies.size(); ++i) {
    fmt::print(out,
               "<label class=\"p{0}\"><input type=\"checkbox\" id=\"show{0}\" checked>"
               "<span class=\"name\"><b class=\"key{1}\"></b><span>{2}</span></span></label>\n",
               i, i >= kPolicyColours ? " marked" : "",
               page::escape(page::policy_words(policies[i])));
  }
  out << "</fieldset>\n";
}

std::string seeds_of(const Comparison& comparison) {
  std::set<std::uint64_t> seeds;
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Result* run : policy.runs) seeds.insert(run->seed);
  }
  std::string text;
  for (const std::uint64_t seed : seeds) text += (text.empty() ? "" : ", ") + std::to_string(seed);
  return text;
}

void write_fact(std::ostream& out, std::string_view name, const std::string& value) {
  fmt::print(out, "<div><dt>{}</dt><dd>{}</dd></div>\n", page::escape(name), page::escape(value));
}

void write_facts(std::ostream& out, const Comparison& comparison) {
  out << "<dl class=\"facts\">\n";
  write_fact(out, "pods come", page::arrival_words(comparison.arrival));
  write_fact(out, "seeds", seeds_of(comparison));
  if (comparison.source != nullptr) {
    for (const auto& [name, value] : comparison.source->counts) {
      write_fact(out, name, page::count(value));
    }
  }
  out << "</dl>\n";
}

std::string heading_of(const Report& report, const std::vector<Comparison>& all) {
  if (all.empty()) return report.title;
  const std::string what = policy_names(report).size() > 1 ? "Policies compared" : report.title;
  return what + (all.size() == 1 ? " on the trace “" + all.front().trace + "”"
                                 : fmt::format(" on {} traces", all.size()));
}

void write_summary(std::ostream& out, const Report& report, const std::vector<Comparison>& all) {
  fmt::print(out, "<h1>{}</h1>\n", page::escape(heading_of(report, all)));
  const std::string sentences = verdict(all);
  if (!sentences.empty()) fmt::print(out, "<p class=\"verdict\">{}</p>\n", page::escape(sentences));
  if (report.interrupted) {
    out << "<p class=\"note\">The replay was interrupted: runs that had not finished are missing."
           "</p>\n";
  }
  out << "<noscript><p class=\"note\">The plots and maps of this page need JavaScript. Their "
         "figures "
         "are in the tables.</p></noscript>\n";
}

void write_origin(std::ostream& out, const Report& report) {
  std::size_t decisions = 0;
  double seconds = 0;
  for (const Result& result : report.results) {
    decisions += result.decisions;
    seconds += result.seconds;
  }
  fmt::print(out,
             "<footer><h2>How this page was made</h2>\n<pre class=\"command\">{}</pre>\n"
             "<p>{} runs of the scheduler's engine in virtual time, {} decisions, {} of "
             "computing.</p>\n",
             page::escape(report.command), page::count(report.results.size()),
             page::count(decisions), page::took(seconds, 1));
  fmt::print(out,
             "<details><summary>The plots are drawn by uPlot 1.6.32, whose licence is</summary>"
             "<pre>{}</pre></details></footer>\n",
             page::escape(sched::server::kUplotLicence));
}

void write_comparison(std::ostream& out, const Comparison& comparison, std::size_t id,
                      NodeMaps& maps, const Limits& limits) {
  fmt::print(out, "<section id=\"c{}\">\n<h2>The trace “{}”</h2>\n", id,
             page::escape(comparison.trace));
  write_facts(out, comparison);
  write_figures(out, comparison);
  write_waits(out, comparison);
  write_curves(out, comparison, limits.points);
  write_fragmentation(out, comparison, limits.points);
  maps.write(out, comparison);
  write_use(out, comparison);
  write_quotas(out, comparison);
  write_refusals(out, comparison, limits.kinds);
  out << "</section>\n";
}

}  // namespace

void write_report(std::ostream& out, const Report& report) {
  const std::vector<Comparison> all = comparisons(report);
  const std::vector<std::string> policies = policy_names(report);
  const Limits limits = limits_of(std::max<std::size_t>(1, all.size() * policies.size()));
  write_head(out, report, policies.size());
  out << "<body>\n<main>\n";
  write_summary(out, report, all);
  write_overview(out, all);
  if (policies.size() > 1) write_switches(out, policies);
  NodeMaps maps(kMapBytes);
  for (std::size_t id = 0; id < all.size(); ++id) {
    write_comparison(out, all[id], id, maps, limits);
  }
  write_origin(out, report);
  fmt::print(out,
             "</main>\n<div id=\"tip\" hidden></div>\n<script>\n{}</script>\n"
             "<script type=\"module\">\n{}{}{}</script>\n</body>\n</html>\n",
             sched::server::kUplotScript, sched::server::kUiChart, kPlotsScript, kMapsScript);
}

}  // namespace bench::replay
