// Lines KEY=VALUE as what a pod says of GPUs: annotations, labels ("label KEY=VALUE"), and its node
// selection ("select KEY=VALUE", "affinity KEY=VALUE").
#include "scheduler/gpu/mig/resource_name.h"
#include "scheduler/gpu/wishes.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/hostile/cost.h"

#include <algorithm>
#include <string>

namespace {

using sched::gpu::SharingWish;
using sched::gpu::Wishes;

// Of texts that are told: what is shown of them is cut.
constexpr std::size_t kMostOfAProblem = 512;

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

k8s::NodeSelectorTerm& only_term(k8s::Pod& pod) {
  if (!pod.spec.node_affinity) {
    pod.spec.node_affinity.emplace();
    pod.spec.node_affinity->required = k8s::NodeSelector{{k8s::NodeSelectorTerm{}}};
  }
  return pod.spec.node_affinity->required->terms.front();
}

void add_line(k8s::Pod& pod, std::string_view line) {
  const bool label = skip(line, "label ");
  const bool select = !label && skip(line, "select ");
  const bool affinity = !label && !select && skip(line, "affinity ");
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string key(line.substr(0, equals));
  const std::string value(line.substr(std::min(equals + 1, line.size())));
  if (affinity) {
    k8s::SelectorRequirement& requirement = only_term(pod).match_expressions.emplace_back();
    requirement.key = key;
    requirement.op = k8s::SelectorOperator::kIn;
    requirement.values = {value};
    return;
  }
  (label    ? pod.metadata.labels
   : select ? pod.spec.node_selector
            : pod.metadata.annotations)
      .set(key, value);
}

k8s::Pod pod_of(std::string_view text) {
  k8s::Pod pod;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(pod, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pod;
}

void check_problems(const Wishes& wishes) {
  constexpr auto& kKeys = sched::gpu::kWishAnnotations;
  // Of each key one as an annotation and one as a label, of the profile's label two more, of the
  // two about groups one as a label, and of strangers sixteen.
  fuzz::require(wishes.problems.size() <= 2 * kKeys.size() + 2 + 2 + 16, "problems have an end");
  for (const auto& problem : wishes.problems) {
    fuzz::require(std::find(kKeys.begin(), kKeys.end(), problem.key) != kKeys.end(),
                  "a problem is one of an annotation of ours");
    fuzz::require(problem.text.size() <= kMostOfAProblem, "a problem is told shortly");
    fuzz::require(problem.text.find(problem.key) != std::string::npos ||
                      problem.text.find(sched::gpu::kPodGroupAnnotation) != std::string::npos,
                  "a problem names its key, or one about groups");
  }
}

void check_profiles(const Wishes& wishes) {
  const auto& known = wishes.known_profiles;
  const auto is_spelled = [](const std::string& profile) {
    return sched::gpu::mig::profile_spelling(profile) == profile;
  };
  fuzz::require(std::is_sorted(known.begin(), known.end()) &&
                    std::adjacent_find(known.begin(), known.end()) == known.end(),
                "profiles are sorted, each once");
  fuzz::require(std::all_of(known.begin(), known.end(), is_spelled), "profiles are profiles");
  fuzz::require(wishes.mig_profile.empty() || sched::gpu::names_profile(wishes, wishes.mig_profile),
                "the profile that is meant is known");
}

std::string joined_types(const Wishes& wishes) {
  std::string list;
  for (const auto& type : wishes.types) list += (list.empty() ? "" : ", ") + type.text;
  return list;
}

// The annotations that say what was understood.
void check_again(k8s::Pod pod, const Wishes& wishes) {
  k8s::StringMap& annotations = pod.metadata.annotations;
  const auto said = [&](std::string_view key, const std::string& value) {
    if (annotations.find(key) != nullptr) annotations.set(std::string(key), value);
  };
  const auto& [major, minor] = wishes.min_compute;
  said(sched::gpu::kTypeAnnotation, joined_types(wishes));
  said(sched::gpu::kMinMemoryAnnotation, std::to_string(wishes.min_memory));
  said(sched::gpu::kMinComputeAnnotation, std::to_string(major) + "." + std::to_string(minor));
  said(sched::gpu::kGpuMemoryAnnotation, std::to_string(wishes.gpu_memory));
  said(sched::gpu::kMigProfileAnnotation, wishes.mig_profile);
  if (annotations.find(sched::gpu::kTypeAnnotation) != nullptr &&
      joined_types(wishes).size() > Wishes::kMostTypeBytes) {
    return;  // the blanks that are put in make it too long
  }
  fuzz::require(sched::gpu::wishes_of(pod) == wishes,
                "what was understood, said again, is the same");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const k8s::Pod pod = pod_of(fuzz::as_text(data, size));
  Wishes wishes;
  const auto cost = tests::cost_of([&] { wishes = sched::gpu::wishes_of(pod); });
  fuzz::require(tests::is_within_budget(cost, size), "work and memory are in proportion");
  check_problems(wishes);
  check_profiles(wishes);
  fuzz::require(wishes.types.size() <= Wishes::kMostTypes, "types have an end");
  fuzz::require(sched::gpu::same_of_ours(pod.metadata.annotations, pod.metadata.annotations),
                "annotations are the same as themselves");
  if (wishes.problems.empty()) check_again(pod, wishes);
}
