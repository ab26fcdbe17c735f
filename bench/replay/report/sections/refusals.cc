#include "bench/replay/report/page/text.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace bench::replay {
namespace {

// Pods of one kind that one policy refused, over its seeds.
struct MeanKind {
  const RefusedKind* example = nullptr;  // of the first seed with such a refusal
  double pods = 0;                       // a run
  double gpus = 0;                       // a run
};

// Most GPUs first.
std::vector<MeanKind> mean_kinds(const PolicyRuns& policy) {
  std::map<std::string, MeanKind> by_kind;
  const auto runs = static_cast<double>(policy.runs.size());
  for (const Result* run : policy.runs) {
    for (const RefusedKind& refused : run->refused) {
      MeanKind& kind = by_kind[refused.kind];
      if (kind.example == nullptr) kind.example = &refused;
      kind.pods += static_cast<double>(refused.pods) / runs;
      kind.gpus += refused.gpus / runs;
    }
  }
  std::vector<MeanKind> kinds;
  for (const auto& [name, kind] : by_kind) kinds.push_back(kind);
  std::stable_sort(kinds.begin(), kinds.end(), [](const MeanKind& a, const MeanKind& b) {
    return a.gpus != b.gpus ? a.gpus > b.gpus : a.pods > b.pods;
  });
  return kinds;
}

std::string amount(double pods) { return page::number(pods, pods < 10 ? 1 : 0); }

void write_kind(std::ostream& out, const MeanKind& kind) {
  const RefusedKind& example = *kind.example;
  fmt::print(out,
             "<li><h4>{}</h4><p class=\"amounts\">{} pods, {} GPUs a run</p><p class=\"told\">{}",
             page::escape(example.kind), amount(kind.pods), amount(kind.gpus),
             page::escape(example.message));
  if (!example.details.empty()) {
    fmt::print(out, "<br><small>{}</small>", page::escape(example.details));
  }
  fmt::print(out, "</p><p class=\"example\">for example {}</p></li>\n",
             page::escape(example.example));
}

void write_policy(std::ostream& out, const PolicyRuns& policy, std::size_t most, bool open) {
  const std::vector<MeanKind> kinds = mean_kinds(policy);
  double pods = 0;
  double gpus = 0;
  for (const MeanKind& kind : kinds) {
    pods += kind.pods;
    gpus += kind.gpus;
  }
  fmt::print(out,
             "<details{}><summary>{}: {} pods, {} GPUs a run, of {} kinds</summary>"
             "<ol class=\"kinds\">\n",
             open ? " open" : "", policy_name_html(policy), amount(pods), amount(gpus),
             kinds.size());
  double rest_pods = 0;
  double rest_gpus = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i < most) {
      write_kind(out, kinds[i]);
    } else {
      rest_pods += kinds[i].pods;
      rest_gpus += kinds[i].gpus;
    }
  }
  out << "</ol>";
  if (kinds.size() > most) {
    fmt::print(out, "<p class=\"note\">{} more kinds: {} pods, {} GPUs a run.</p>",
               kinds.size() - most, amount(rest_pods), amount(rest_gpus));
  }
  out << "</details>\n";
}

}  // namespace

void write_refusals(std::ostream& out, const Comparison& comparison, std::size_t most) {
  const bool any = std::any_of(comparison.policies.begin(), comparison.policies.end(),
                               [](const PolicyRuns& p) { return !mean_kinds(p).empty(); });
  if (!any) return;
  out << "<h3>Why were these pods not placed?</h3>\n<p>Kinds of pods that found no node, those "
         "with the most GPUs first, with what one of them was told.</p>\n";
  bool open = true;
  for (const PolicyRuns& policy : comparison.policies) {
    write_policy(out, policy, most, open);
    open = false;
  }
}

}  // namespace bench::replay
