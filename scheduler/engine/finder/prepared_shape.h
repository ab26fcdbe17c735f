// A profile's plugins, prepared for one shape: answers for one node at a time.
//
// Filters are asked in the profile's order until the first refusal, which is the node's verdict.
// Two answers need no question to a node: a filter may reject the shape as a whole when it prepares
// (then no node is asked), and filters may name the only nodes in question (the others are not
// asked). Both give kube-scheduler's messages.
#pragma once

#include "scheduler/cluster/node_room.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/profile.h"

#include <bit>
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
  // Every filter passes the node, but the quota of the pod's namespace has no room for its GPUs.
  static constexpr std::uint32_t kNoQuota = 0xffff'fffe;
  // Every filter passes the node, but a rule across nodes excludes it for the pod (Ruling has the
  // reason).
  static constexpr std::uint32_t kExcluded = 0xffff'fffd;
  Code code = Code::kOk;
  std::uint32_t filter = 0;
  std::uint64_t reasons = 0;

  // The verdict of a node outside of the scope that all filters pass.
  static constexpr NodeVerdict no_quota() { return {Code::kUnschedulable, kNoQuota, 1}; }
  // The verdict of a node that a rule across nodes excludes, and that all filters pass.
  static constexpr NodeVerdict excluded() { return {Code::kUnschedulable, kExcluded, 1}; }

  [[nodiscard]] bool is_ok() const { return code == Code::kOk; }
  friend bool operator==(const NodeVerdict&, const NodeVerdict&) = default;
};

// How all nodes refuse a shape.
enum class RefusedBy : std::uint8_t {
  kFacts,  // each by its facts: what its pods take does not matter
  kUsage,  // some by what is taken on them
};

// The names of refusals by quota, and of whole groups, among those of the filters.
inline constexpr std::string_view kQuotaPlugin = "GpuQuota";
inline constexpr std::string_view kPodGroupPlugin = "PodGroup";

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
  std::string plugin;  // empty if several filters together leave no node
  std::string reason;
};

class PreparedShape {
 public:
  // `profile` outlives the result.
  PreparedShape(const Profile& profile, const PodShape& shape, const PrepareContext& context);

  // Prepares the scores that read statistics again, with the version in `context`; verdicts do not
  // depend on it. False, and nothing is done, if one of these scores is normalised: then the
  // answers of all nodes depend on each other, and all nodes must be asked again.
  [[nodiscard]] bool renew(const PodShape& shape, const PrepareContext& context);

  // Undefined after a rejection.
  [[nodiscard]] NodeVerdict check(const NodeView& node) const;
  // The same for a node that is known to pass the first filters, which read facts alone.
  [[nodiscard]] NodeVerdict check_usage(const NodeView& node) const;
  // The same for a node that is known to pass every filter that reads its facts alone, also the
  // later ones.
  [[nodiscard]] NodeVerdict check_usage_alone(const NodeView& node) const;
  // Whether the verdict follows from the node's facts alone; then it holds until they change. If
  // not, or if it is ok, check_usage() gives the new verdict after a change of usage.
  [[nodiscard]] bool follows_from_facts(const NodeVerdict& verdict) const {
    return verdict.filter == NodeVerdict::kNarrowed ||
           (!verdict.is_ok() && verdict.filter < facts_filters_);
  }
  // Whether the node refuses, by this verdict or another one, until its facts change.
  [[nodiscard]] bool refuses_by_facts(const NodeVerdict& verdict) const {
    return verdict.code == Code::kUnresolvable || follows_from_facts(verdict);
  }
  // The first filter after that of index `filter` that would refuse the node, too; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> next_refusal(const NodeView& node,
                                                          std::uint32_t filter) const;

  // The name of the plugin that gave the verdict; empty for nodes that were not asked, or are
  // excluded.
  [[nodiscard]] std::string_view plugin_of(const NodeVerdict& verdict) const;
  // Its reasons as text; none for a node that is excluded.
  [[nodiscard]] std::vector<std::string> reasons_of(const NodeVerdict& verdict) const;

  [[nodiscard]] const std::optional<Rejection>& rejection() const { return rejection_; }
  [[nodiscard]] const std::vector<PreparedFilter>& filters() const { return filters_; }
  [[nodiscard]] const std::vector<PreparedScore>& scores() const { return scores_; }
  // The filters that named the only nodes in question, sorted; empty: all nodes are in question.
  [[nodiscard]] const std::vector<std::string>& narrowed_by() const { return narrowed_by_; }
  // What a node must have free at least, by its filters. A node with that much free may still
  // refuse.
  [[nodiscard]] NodeRoom least_room() const;
  // The amounts that the shape asks for.
  [[nodiscard]] const std::vector<ResourceAmount>& requests() const { return requests_; }

 private:
  void narrow(std::string_view plugin, std::vector<std::string> only_nodes);
  [[nodiscard]] NodeVerdict check_from(std::uint32_t filter, const NodeView& node) const;
  [[nodiscard]] NodeVerdict ask(std::uint32_t filter, const NodeView& node) const;
  // Leading scores are those that go first (ScorePlugin::goes_first): a step of one outweighs the
  // largest sum of the others.
  void set_weights_of_leading_scores(const Profile& profile);

  std::vector<PreparedFilter> filters_;
  std::uint32_t facts_filters_ = 0;           // how many of the first filters read facts alone
  std::vector<std::uint32_t> usage_filters_;  // those that read more, at any place
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
