#include "plugins/node_affinity/required_nodes.h"

#include "plugins/node_affinity/terms.h"
#include "plugins/support/pod_selector.h"

#include <algorithm>
#include <utility>

namespace plugins {

RequiredNodes::RequiredNodes(k8s::StringMap selector,
                             const std::optional<k8s::NodeAffinity>& affinity)
    : selector_(std::move(selector)) {
  if (affinity && affinity->required) terms_ = usable_terms(*affinity->required);
}

bool RequiredNodes::match(const sched::NodeFacts& node) const {
  const bool has_labels =
      std::all_of(selector_.begin(), selector_.end(), [&](const k8s::StringMap::Entry& entry) {
        const std::string* value = node.labels.find(entry.first);
        return value != nullptr && *value == entry.second;
      });
  return has_labels && (!terms_ || terms_->matches(node.name, node.labels));
}

std::string RequiredNodes::text() const {
  std::string all;
  append_key(all, selector_);
  if (!terms_) return all + "-";
  all += "t" + std::to_string(terms_->terms.size());
  for (const k8s::NodeSelectorTerm& term : terms_->terms) {
    append_key(all, term.match_expressions);
    append_key(all, term.match_fields);
  }
  return all;
}

}  // namespace plugins
