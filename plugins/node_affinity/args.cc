#include "plugins/node_affinity/args.h"

#include "plugins/node_affinity/terms.h"
#include "plugins/support/args.h"

namespace plugins {

namespace {

using k8s::SelectorOperator;
using k8s::yaml::ObjectReader;

SelectorOperator read_operator(ObjectReader& reader) {
  const auto word =
      reader.one_of("operator", {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  if (!word) {
    reader.complain("operator", "is missing; one of In, NotIn, Exists, DoesNotExist, Gt, Lt");
    return SelectorOperator::kUnknown;
  }
  if (*word == "In") return SelectorOperator::kIn;
  if (*word == "NotIn") return SelectorOperator::kNotIn;
  if (*word == "Exists") return SelectorOperator::kExists;
  if (*word == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  return *word == "Gt" ? SelectorOperator::kGt : SelectorOperator::kLt;
}

std::vector<k8s::SelectorRequirement> read_requirements(ObjectReader& term, std::string_view key) {
  std::vector<k8s::SelectorRequirement> requirements;
  term.objects(key, [&](ObjectReader& reader) {
    k8s::SelectorRequirement requirement;
    requirement.key = reader.string("key").value_or("");
    requirement.op = read_operator(reader);
    requirement.values = reader.strings("values");
    requirements.push_back(std::move(requirement));
  });
  return requirements;
}

k8s::NodeSelectorTerm read_term(ObjectReader& reader) {
  k8s::NodeSelectorTerm term;
  term.match_expressions = read_requirements(reader, "matchExpressions");
  term.match_fields = read_requirements(reader, "matchFields");
  if (const auto problem = problem_of(term)) reader.complain("", *problem);
  // Such a term matches no node, not all.
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    reader.complain("", "needs matchExpressions or matchFields: without, it matches no node");
  }
  return term;
}

k8s::NodeAffinity read_affinity(ObjectReader& reader) {
  k8s::NodeAffinity affinity;
  reader.object("requiredDuringSchedulingIgnoredDuringExecution", [&](ObjectReader& required) {
    affinity.required.emplace();
    required.objects("nodeSelectorTerms", [&](ObjectReader& term) {
      affinity.required->terms.push_back(read_term(term));
    });
    if (affinity.required->terms.empty()) {
      required.complain("nodeSelectorTerms", "needs at least one term: none matches no node");
    }
  });
  reader.objects("preferredDuringSchedulingIgnoredDuringExecution", [&](ObjectReader& preferred) {
    k8s::PreferredNodeTerm term;
    const auto weight = preferred.integer("weight", {.min = 1, .max = 100});
    if (!weight) preferred.complain("weight", "is missing; 1 to 100");
    term.weight = static_cast<std::int32_t>(weight.value_or(0));
    const k8s::yaml::Value* given = preferred.raw("preference");
    if (given == nullptr || given->is_null()) {
      preferred.complain("preference", "is missing: the nodes that get the weight");
    }
    preferred.object("preference",
                     [&](ObjectReader& preference) { term.preference = read_term(preference); });
    affinity.preferred.push_back(std::move(term));
  });
  return affinity;
}

}  // namespace

NodeAffinityArgs read_node_affinity_args(ObjectReader& args) {
  NodeAffinityArgs read;
  read_type(args, "NodeAffinityArgs");
  args.object("addedAffinity",
              [&](ObjectReader& reader) { read.added_affinity = read_affinity(reader); });
  return read;
}

}  // namespace plugins
