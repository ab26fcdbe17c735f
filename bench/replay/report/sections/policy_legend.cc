#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace bench::replay {

std::string policy_name_html(const PolicyRuns& policy) {
  return fmt::format(
      "<span class=\"name p{}\" title=\"{}\"><b class=\"key{}\"></b><span>{}</span></span>",
      policy.index, page::escape(policy.name), policy.index >= kPolicyColours ? " marked" : "",
      page::escape(page::policy_words(policy.name)));
}

std::vector<std::string> policy_columns(const std::string& first, const Comparison& comparison) {
  std::vector<std::string> columns{first};
  for (const PolicyRuns& policy : comparison.policies) {
    columns.push_back(policy_name_html(policy));
  }
  return columns;
}

void write_legend(std::ostream& out, const Comparison& comparison, bool published) {
  out << "<div class=\"legend\">";
  for (const PolicyRuns& policy : comparison.policies) {
    fmt::print(out, "<label for=\"show{}\">{}</label>", policy.index, policy_name_html(policy));
  }
  if (published) out << "<span><b class=\"key published\"></b>published (mean)</span>";
  const bool has_bands = std::any_of(comparison.policies.begin(), comparison.policies.end(),
                                     [](const PolicyRuns& p) { return p.runs.size() > 1; });
  if (has_bands) out << "<span><b class=\"key band\"></b>± 1 standard deviation over seeds</span>";
  out << "</div>\n";
}

page::Line policy_line(const PolicyRuns& policy, const Curve& curve) {
  page::Line line{.name = page::policy_words(policy.name),
                  .policy = policy.index,
                  .hue = policy.index % kPolicyColours};
  line.dotted = policy.index >= kPolicyColours;
  const bool banded = policy.runs.size() > 1;
  for (const CurvePoint& point : curve) {
    line.points.push_back({point.x, point.y.mean});
    if (banded) line.deviations.push_back(point.y.deviation);
  }
  return line;
}

}  // namespace bench::replay
