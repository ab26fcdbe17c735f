#include "bench/replay/report/report.h"

#include "bench/replay/report/comparison.h"
#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

namespace bench::replay {

extern const std::string_view kReportPalette;  // scheduler/server/ui/palette.css
extern const std::string_view kReportStyle;    // page/style.css
extern const std::string_view kPlotsScript;    // page/plots.js
extern const std::string_view kMapsScript;     // page/maps.js

namespace {

// What grows with traces × policies has a limit, so that the page stays below 3 MB.
constexpr std::size_t kMapBytes = 1'000'000;
constexpr std::size_t kKindsOnPage = 900;
constexpr std::size_t kMostKinds = 15;
constexpr std::size_t kFewestKinds = 3;

// A policy's colour; its curves are hidden if its box is not ticked.
void write_policy_styles(std::ostream& out, std::size_t policies) {
  for (std::size_t i = 0; i < policies; ++i) {
    fmt::print(out,
               ".p{0}{{--c:var(--hue{1})}}"
               "body:has(#show{0}:not(:checked)) svg .p{0}{{display:none}}"
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
             "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}{}",
             page::escape(report.title), kReportPalette, kReportStyle);
  write_policy_styles(out, policies);
  out << "</style>\n</head>\n";
}

void write_switches(std::ostream& out, const std::vector<std::string>& policies) {
  out << "<fieldset class=\"switches\"><legend>Policies shown in the plots</legend>\n";
  for (std::size_t i = 0; i < policies.size(); ++i) {
    fmt::print(out,
               "<label class=\"p{0}\"><input type=\"checkbox\" id=\"show{0}\" checked>"
               "<span class=\"name\"><b class=\"key{1}\"></b><span>{2}</span></span></label>\n",
               i, i >= kPolicyColours ? " marked" : "", page::escape(policies[i]));
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
  write_fact(out, "arrival", comparison.arrival);
  write_fact(out, "seeds", seeds_of(comparison));
  if (comparison.source != nullptr) {
    for (const auto& [name, value] : comparison.source->counts) {
      write_fact(out, name, page::count(value));
    }
  }
  out << "</dl>\n";
}

void write_summary(std::ostream& out, const Report& report) {
  std::size_t decisions = 0;
  double seconds = 0;
  for (const Result& result : report.results) {
    decisions += result.decisions;
    seconds += result.seconds;
  }
  fmt::print(out, "<h1>{}</h1>\n<pre class=\"command\">{}</pre>\n", page::escape(report.title),
             page::escape(report.command));
  fmt::print(out, "<p>{} runs, {} decisions, {} s of computing.</p>\n",
             page::count(report.results.size()), page::count(decisions), page::number(seconds, 1));
  if (report.interrupted) {
    out << "<p class=\"note\">The replay was interrupted: runs that had not finished are missing."
           "</p>\n";
  }
}

}  // namespace

void write_report(std::ostream& out, const Report& report) {
  const std::vector<Comparison> all = comparisons(report);
  const std::vector<std::string> policies = policy_names(report);
  const std::size_t kinds =
      std::clamp(kKindsOnPage / std::max<std::size_t>(1, all.size() * policies.size()),
                 kFewestKinds, kMostKinds);
  write_head(out, report, policies.size());
  out << "<body>\n<main>\n";
  write_summary(out, report);
  write_overview(out, all);
  if (policies.size() > 1) write_switches(out, policies);
  NodeMaps maps(kMapBytes);
  for (std::size_t id = 0; id < all.size(); ++id) {
    const Comparison& comparison = all[id];
    fmt::print(out, "<section id=\"c{}\">\n<h2>{}</h2>\n", id, page::escape(comparison.trace));
    write_facts(out, comparison);
    write_figures(out, comparison);
    write_curves(out, comparison);
    write_fragmentation(out, comparison);
    maps.write(out, comparison);
    write_waits(out, comparison);
    write_use(out, comparison);
    write_quotas(out, comparison);
    write_refusals(out, comparison, kinds);
    out << "</section>\n";
  }
  fmt::print(
      out, "</main>\n<div id=\"tip\" hidden></div>\n<script>\n{}\n{}</script>\n</body>\n</html>\n",
      kPlotsScript, kMapsScript);
}

}  // namespace bench::replay
