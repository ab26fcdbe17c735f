// A profile's plugins, prepared for one shape: answers for one node at a time.
//
// Filters are asked in the profile's order up to the first "no", which is the node's verdict. Two
// answers need no filter: a filter may reject the shape as a whole when it prepares (nothing is
// asked of any node then), and filters may name the only nodes that come into question (the others
// are not asked). Both speak kube-scheduler's words for it.
#pragma once

#include "scheduler/cluster/node_room.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// A node's answer to a shape. `filter` is an index into PreparedShape::filters(), or one of these.
struct NodeVerdict {
  static constexpr std::uint32_t kNarrowed = 0xffff'ffff;
  // Every filter lets it pass, but the quota of the pod's namespace has no room for its GPUs.
  static constexpr std::uint32_t kNoQuota = 0xffff'fffe;
  // Every filter lets it pass, but a rule across nodes excludes it for the pod (Ruling says why).
  static constexpr std::uint32_t kExcluded = 0xffff'fffd;
  Code code = Code::kOk;
  std::uint32_t filter = 0;
  std::uint64_t reasons = 0;

  // The verdict of a node outside of the scope that filters let pass.
  static constexpr NodeVerdict no_quota() { return {Code::kUnschedulable, kNoQuota, 1}; }
  // The verdict of a node that a rule across nodes excludes, and that filters let pass.
  static constexpr NodeVerdict excluded() { return {Code::kUnschedulable, kExcluded, 1}; }

  [[nodiscard]] bool is_ok() const { return code == Code::kOk; }
  friend bool operator==(const NodeVerdict&, const NodeVerdict&) = default;
};

// Under whose name the quota's refusals are listed beside those of the filters.
inline constexpr std::string_view kQuotaPlugin = "GpuQuota";

struct PreparedFilter {
  const FilterPlugin* plugin = nullptr;
  std::unique_ptr<NodeFilter> filter;
};

struct PreparedScore {
  const ScorePlugin* plugin = nullptr;
  std::int64_t weight = 1;
  Normalisation normalisation = Normalisation::kNone;
  std::unique_ptr<NodeScore> score;  // null: 0 on every node
};

// A refusal of the shape as a whole.
struct Rejection {
  std::string plugin;  // empty when several together leave no node
  std::string reason;
};

class PreparedShape {
 public:
  // `profile` outlives the result.
  PreparedShape(const Profile& profile, const PodShape& shape, const PrepareContext& context);

  // Prepares the scores that read statistics anew, with the version in `context`; verdicts do not
  // depend on it. False, and nothing is done, when one of these scores is normalised: then answers
  // of all nodes hang together, and all must be asked anew.
  [[nodiscard]] bool renew(const PodShape& shape, const PrepareContext& context);

  // Meaningless after a rejection.
  [[nodiscard]] NodeVerdict check(const NodeView& node) const;
  // The same of a node that is known to pass what is asked of its facts before anything else.
  [[nodiscard]] NodeVerdict check_usage(const NodeView& node) const;
  // The same of a node that is known to pass every filter that reads its facts alone, also those
  // that come later.
  [[nodiscard]] NodeVerdict check_usage_alone(const NodeView& node) const;
  // Whether the verdict follows from the node's facts alone: it holds until they change. Of one
  // that does not, and of ok, check_usage() tells what has become of it.
  [[nodiscard]] bool follows_from_facts(const NodeVerdict& verdict) const {
    return verdict.filter == NodeVerdict::kNarrowed ||
           (!verdict.is_ok() && verdict.filter < facts_filters_);
  }
  // Whether the filters after that of `verdict`, which were not asked, would let the node pass.
  [[nodiscard]] bool passes_rest(const NodeView& node, const NodeVerdict& verdict) const;

  // The name of the plugin that gave the verdict; empty for nodes that were not asked, or are
  // excluded.
  [[nodiscard]] std::string_view plugin_of(const NodeVerdict& verdict) const;
  // Its reasons in words; none of a node that is excluded.
  [[nodiscard]] std::vector<std::string> reasons_of(const NodeVerdict& verdict) const;

  [[nodiscard]] const std::optional<Rejection>& rejection() const { return rejection_; }
  [[nodiscard]] const std::vector<PreparedFilter>& filters() const { return filters_; }
  [[nodiscard]] const std::vector<PreparedScore>& scores() const { return scores_; }
  // The filters that named the only nodes in question, sorted; empty: all nodes are.
  [[nodiscard]] const std::vector<std::string>& narrowed_by() const { return narrowed_by_; }
  // What a node must have free at least, as filters tell; one that has as much may refuse as well.
  [[nodiscard]] NodeRoom least_room() const;
  // The amounts that the shape asks for.
  [[nodiscard]] const std::vector<ResourceAmount>& requests() const { return requests_; }

 private:
  void narrow(std::string_view plugin, std::vector<std::string> only_nodes);
  [[nodiscard]] NodeVerdict check_from(std::uint32_t filter, const NodeView& node) const;
  [[nodiscard]] NodeVerdict ask(std::uint32_t filter, const NodeView& node) const;
  // A step of such a score outweighs all that the others can add up to.
  void weigh_those_that_go_first(const Profile& profile);

  std::vector<PreparedFilter> filters_;
  std::uint32_t facts_filters_ = 0;           // so many of the first read nothing but facts
  std::vector<std::uint32_t> usage_filters_;  // those that read more, wherever they stand
  std::vector<PreparedScore> scores_;
  std::optional<Rejection> rejection_;
  std::optional<std::vector<std::string>> only_nodes_;  // sorted
  std::vector<std::string> narrowed_by_;
  std::vector<ResourceAmount> requests_;
};

// Calls visit(index) for each bit set in `reasons`, lowest first.
template <typename Visit>
void for_each_reason(std::uint64_t reasons, Visit&& visit) {
  for (; reasons != 0; reasons &= reasons - 1) {
    visit(static_cast<unsigned>(std::countr_zero(reasons)));
  }
}

// 0 … kMaxScore of a raw score (as it is with kNone).
[[nodiscard]] std::int64_t normalise(Normalisation how, std::int64_t raw, const Extremes& extremes);

}  // namespace sched
