// Two lines, a pod each (JSON): what the scheduler keeps of them, and when that is the same.
#include "k8s-client/api/decode.h"
#include "scheduler/framework/pod_shape.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/hostile/cost.h"

#include <algorithm>
#include <vector>

namespace {

using sched::PodShape;
using sched::ResourceAmount;
using sched::ResourceNames;

// Runs `work`, which must not cost more than a pod of so many bytes may.
template <typename Work>
void within_budget(std::size_t bytes, Work work) {
  fuzz::require(tests::is_within_budget(tests::cost_of(work), bytes),
                "work and memory are in proportion to the pod");
}

void check_amounts(const std::vector<ResourceAmount>& amounts) {
  const auto ascends = [](const ResourceAmount& a, const ResourceAmount& b) {
    return a.resource >= b.resource;
  };
  fuzz::require(std::adjacent_find(amounts.begin(), amounts.end(), ascends) == amounts.end(),
                "amounts stand by ascending id, each once");
}

void check_shape(const PodShape& shape) {
  check_amounts(shape.requests);
  check_amounts(shape.by_container);
  for (const auto& [resource, amount] : shape.requests) {
    fuzz::require(amount > 0, "what is not asked for is left out");
    fuzz::require(shape.request_of_one_container(resource) <= amount,
                  "a container asks no more than its pod");
  }
  fuzz::require(std::is_sorted(shape.host_ports.begin(), shape.host_ports.end()),
                "host ports are sorted");
}

PodShape without_node(PodShape shape) {
  shape.node_name.clear();
  return shape;
}

// The shape of a pod; its JSON has that many bytes.
PodShape shape_within_budget(const k8s::Pod& pod, std::size_t bytes, ResourceNames& names) {
  PodShape shape;
  within_budget(bytes, [&] { shape = sched::shape_of(pod, names); });
  check_shape(shape);
  k8s::Pod sample;
  within_budget(bytes, [&] { sample = sched::template_of(pod); });
  fuzz::require(sched::shape_of(sample, names) == without_node(shape),
                "a template has the shape of its pod");
  fuzz::require(sched::same_template(pod, sample), "a pod has its own template");
  return shape;
}

void check_bound(const k8s::Pod& pod, std::size_t bytes, ResourceNames& names) {
  sched::Resources bound;
  within_budget(bytes, [&] { bound = sched::requests_of_bound(pod, names); });
  bool as_pending = false;
  within_budget(bytes, [&] { as_pending = sched::asks_as_pending(pod); });
  if (!as_pending) return;
  const auto pending = sched::requests_of_pending(pod, names);
  fuzz::require(!pending.too_many && pending.amounts == bound,
                "a pod that asks as pending takes what it would ask for");
  fuzz::require(sched::nonzero_requests_of(pod, true) == sched::nonzero_requests_of(pod, false),
                "with defaults, too");
}

void check_pair(const k8s::Pod& a, const PodShape& a_shape, const k8s::Pod& b,
                const PodShape& b_shape) {
  fuzz::require((sched::shape_key(a_shape) == sched::shape_key(b_shape)) == (a_shape == b_shape),
                "keys are the same exactly when shapes are");
  const bool same = sched::same_template(a, b);
  fuzz::require(same == sched::same_template(b, a), "a template is the same both ways");
  if (!same) return;
  fuzz::require(without_node(a_shape) == without_node(b_shape), "pods of one template are alike");
  fuzz::require(sched::template_digest(a) == sched::template_digest(b), "and found together");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  static k8s::Decoder decoder;  // used again, as by its callers
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto a = decoder.object<k8s::Pod>(text.substr(0, end));
  if (!a) return;
  ResourceNames names;
  const PodShape a_shape = shape_within_budget(*a, size, names);
  check_bound(*a, size, names);
  const auto b = decoder.object<k8s::Pod>(text.substr(std::min(end + 1, size)));
  if (!b) return;
  const PodShape b_shape = shape_within_budget(*b, size, names);
  check_bound(*b, size, names);
  check_pair(*a, a_shape, *b, b_shape);
}
