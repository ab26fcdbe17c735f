// The sections of the report, one file each. A section that has nothing to show writes nothing.
#pragma once

#include "bench/replay/report/comparison.h"
#include "bench/replay/report/page/plot.h"
#include "bench/replay/report/page/table.h"

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace bench::replay {

// The number of distinct colours; further policies share them and are marked with dots.
inline constexpr std::size_t kPolicyColours = 7;

// The policy's name beside its colour.
[[nodiscard]] std::string policy_name_html(const PolicyRuns& policy);
// "Policy" and then the names; heads of a table with a column for each policy.
[[nodiscard]] std::vector<std::string> policy_columns(const std::string& first,
                                                      const Comparison& comparison);
// The colour of each policy; a click hides or shows it in all plots. With `published`, explains
// dashed lines.
void write_legend(std::ostream& out, const Comparison& comparison, bool published = false);
// The axis of the steps, arrival or time.
[[nodiscard]] page::Axis step_axis(const Comparison& comparison);
[[nodiscard]] page::Line policy_line(const PolicyRuns& policy, const Curve& curve);

// The figure that counts of all comparisons at a glance: traces × policies.
void write_overview(std::ostream& out, const std::vector<Comparison>& comparisons);
// Mean ± deviation of each figure for each policy, the best marked, published ones beside it.
void write_figures(std::ostream& out, const Comparison& comparison);
// Allocated, unallocated, refused, waiting against arrival or time; at most so many points a line.
void write_curves(std::ostream& out, const Comparison& comparison, std::size_t most_points);
// Why the typical pods cannot use free GPU.
void write_fragmentation(std::ostream& out, const Comparison& comparison, std::size_t most_points);
// How long pods waited, and which.
void write_waits(std::ostream& out, const Comparison& comparison);
// What each GPU model and each namespace got.
void write_use(std::ostream& out, const Comparison& comparison);
// How much of each GPU quota was used, borrowed, lent and waited for.
void write_quotas(std::ostream& out, const Comparison& comparison);
// Which pods found no node, and their messages; at most `most` kinds for each policy.
void write_refusals(std::ostream& out, const Comparison& comparison, std::size_t most);

// Nodes × GPUs at chosen moments. Clusters that several traces share are written once.
class NodeMaps {
 public:
  // At most about `bytes` of data; what does not fit is left out, with a note.
  explicit NodeMaps(std::size_t bytes) : left_(bytes) {}

  void write(std::ostream& out, const Comparison& comparison);

 private:
  std::map<std::string, std::size_t> clusters_;  // nodes as JSON → id in the page
  std::size_t left_;
};

}  // namespace bench::replay
