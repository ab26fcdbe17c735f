#include "tests/plugins/one_node.h"

#include "bench/policies/registry.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/cluster/claim.h"

#include <algorithm>

namespace tests {

using namespace sched;

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  out << to_string(answer.code);
  for (const std::string& reason : answer.reasons) out << "; " << reason;
  return out;
}

OneNode::OneNode(const k8s::Node& node, const std::vector<k8s::Pod>& pods)
    : facts_(facts_of(node, names_)) {
  for (const k8s::Pod& pod : pods) add_claim(usage_, claim_of_bound(pod, names_));
}

Answer OneNode::ask(const FilterPlugin& plugin, const k8s::Pod& pod) {
  const PodShape shape = shape_of(pod, names_);
  const FilterPreparation prepared = plugin.prepare(shape, {names_});
  if (prepared.rejection) return unresolvable({*prepared.rejection});
  if (prepared.only_nodes &&
      !std::binary_search(prepared.only_nodes->begin(), prepared.only_nodes->end(), facts_.name)) {
    return unresolvable({});
  }
  if (!prepared.filter) return kFits;
  const Verdict verdict = prepared.filter->check({facts_, usage_});
  Answer answer{verdict.code(), {}};
  for (unsigned i = 0; i < prepared.filter->reasons().size(); ++i) {
    if ((verdict.reasons() >> i & 1U) != 0) answer.reasons.push_back(prepared.filter->reasons()[i]);
  }
  return answer;
}

std::vector<std::string> OneNode::numbers(const FilterPlugin& plugin, const k8s::Pod& pod) {
  const PodShape shape = shape_of(pod, names_);
  const FilterPreparation prepared = plugin.prepare(shape, {names_});
  std::vector<std::string> found;
  if (!prepared.filter) return found;
  const NodeView view{facts_, usage_};
  const Verdict verdict = prepared.filter->check(view);
  for (unsigned i = 0; i < prepared.filter->reasons().size(); ++i) {
    if ((verdict.reasons() >> i & 1U) != 0) found.push_back(prepared.filter->numbers(view, i));
  }
  return found;
}

std::int64_t OneNode::score(const ScorePlugin& plugin, const k8s::Pod& pod) {
  const PodShape shape = shape_of(pod, names_);
  const auto prepared = plugin.prepare(shape, {names_});
  return prepared ? prepared->score({facts_, usage_}) : -1;
}

k8s::Result<PluginInstance> make_plugin(std::string_view name, std::string_view args) {
  const PluginEntry* entry = find_plugin(bench::registry(), name);
  if (entry == nullptr) return k8s::config_error("no plugin " + std::string(name));
  auto documents = k8s::yaml::parse(args, "args.yaml");
  if (!documents) return tl::unexpected(documents.error());
  const k8s::yaml::Value none;
  k8s::yaml::ObjectReader reader(documents->empty() ? none : documents->front(), "args.yaml");
  PluginInstance made = entry->make(reader);
  if (auto complaint = reader.finish()) return tl::unexpected(*complaint);
  return made;
}

}  // namespace tests
