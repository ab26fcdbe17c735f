// The input stands as a JSON value where pods have selectors, and is then asked to match.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/fuzz/fuzz_target.h"

#include <algorithm>
#include <string>

namespace {

using k8s::SelectorOperator;

const k8s::StringMap kLabels{{"", "empty"}, {"app", "a"}, {"count", "8"}, {"zone", ""}};

k8s::SelectorRequirement with_operator(k8s::SelectorRequirement requirement, SelectorOperator op) {
  requirement.op = op;
  return requirement;
}

void check_requirement(const k8s::SelectorRequirement& requirement) {
  const auto matches = [&](SelectorOperator op) {
    return with_operator(requirement, op).matches(kLabels);
  };
  fuzz::require(matches(SelectorOperator::kExists) != matches(SelectorOperator::kDoesNotExist),
                "a label exists or does not");
  if (!requirement.values.empty()) {
    fuzz::require(matches(SelectorOperator::kIn) != matches(SelectorOperator::kNotIn),
                  "a label is among values or not");
  }
  fuzz::require(!(matches(SelectorOperator::kGt) && matches(SelectorOperator::kLt)),
                "no number is greater and less");
}

void check_term(const k8s::NodeSelectorTerm& term) {
  for (const auto& requirement : term.match_expressions) check_requirement(requirement);
  const bool matches = term.matches("node", kLabels);
  fuzz::require(k8s::NodeSelector{{term}}.matches("node", kLabels) == matches,
                "a selector of one term is that term");
  fuzz::require(!matches || !term.match_expressions.empty() || !term.match_fields.empty(),
                "a term without requirements matches nothing");
}

void check_label_selector(const k8s::LabelSelector& selector) {
  for (const auto& requirement : selector.match_expressions) check_requirement(requirement);
  const bool matches = selector.matches(kLabels);
  const bool all = std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                               [](const auto& r) { return r.matches(kLabels); });
  fuzz::require(!matches || all, "a selector matches only if all expressions do");
  fuzz::require(!selector.empty() || matches, "an empty selector matches everything");
}

void check_spec(const k8s::Pod::Spec& spec) {
  if (spec.node_affinity && spec.node_affinity->required) {
    for (const auto& term : spec.node_affinity->required->terms) check_term(term);
  }
  if (!spec.pod_affinity) return;
  for (const auto& term : spec.pod_affinity->required) {
    if (term.label_selector) check_label_selector(*term.label_selector);
  }
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::as_text(data, size));
  const std::string required = "\"requiredDuringSchedulingIgnoredDuringExecution\":";
  k8s::Decoder decoder;
  for (const std::string& affinity :
       {"\"nodeAffinity\":{" + required + text + "}",
        "\"podAffinity\":{" + required + "[{\"labelSelector\":" + text + "}]}"}) {
    const auto pod = decoder.object<k8s::Pod>(R"({"metadata":{"name":"p"},"spec":{"affinity":{)" +
                                              affinity + "}}}");
    if (!pod) {
      fuzz::require(!pod.error().message.empty(), "an error says something");
      continue;
    }
    check_spec(pod->spec);
    const auto again = decoder.object<k8s::Pod>(k8s::encode(*pod));
    fuzz::require(again && *again == *pod, "an encoded pod decodes to the same");
  }
}
