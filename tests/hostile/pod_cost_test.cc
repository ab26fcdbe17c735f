// No pod costs more than so much work and memory per byte of it.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "scheduler/framework/pod_shape.h"
#include "tests/hostile/cost.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sched {

namespace {

using tests::Cost;
using tests::cost_of;
using tests::label;
using tests::pod;

std::string made_up(int number) { return fmt::format("example.com/r{}", number); }

k8s::Container container_with(int first, int names, bool sidecar) {
  k8s::Container made = tests::container(fmt::format("c{}", first), {});
  made.restart_always = sidecar;
  for (int i = first; i < first + names; ++i) {
    made.requests.emplace_back(made_up(i), k8s::Quantity::of(1));
  }
  return made;
}

// `count` init containers of `names` names each, none of which another has; or all the same.
k8s::Pod with_init_containers(int count, int names, bool sidecars, bool same) {
  tests::PodBuilder built = pod("p");
  for (int i = 0; i < count; ++i) {
    built.first_runs(container_with(same ? 0 : i * names, names, sidecars));
  }
  return built;
}

k8s::Pod with_one_container(int names) { return pod("p").with(container_with(0, names, false)); }

k8s::Pod with_statuses(int count) {
  k8s::Pod made = pod("p").on("n");
  for (int i = count; i > 0; --i) {
    made.spec.containers.push_back(tests::container(fmt::format("c{}", i), {{"cpu", "1"}}));
    k8s::ContainerStatus& status = made.status.container_statuses.emplace_back();
    status.name = fmt::format("c{}", count - i + 1);
    status.requests = tests::resources({{"cpu", "2"}});
  }
  return made;
}

k8s::Pod annotated(std::string_view key, const std::string& item, int times) {
  std::string value;
  for (int i = 0; i < times; ++i) value += item;
  return pod("p").gpus(1).annotated(key, value);
}

k8s::Pod with_strangers(int count) {
  tests::PodBuilder built = pod("p").gpus(1);
  for (int i = 0; i < count; ++i) {
    built.annotated(fmt::format("gpu-scheduler.io/sharin{:05}", i), "x");
  }
  return built;
}

k8s::Pod with_affinity(int count, const std::function<k8s::SelectorRequirement(int)>& each) {
  tests::Requirements all;
  for (int i = 0; i < count; ++i) all.push_back(each(i));
  return pod("p").gpus(1).requires_nodes({tests::term(all)});
}

k8s::Pod with_values(std::string_view key, const char* format, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) values.push_back(fmt::format(fmt::runtime(format), i));
  return with_affinity(1, [&](int) { return label(key).in(values); });
}

k8s::Pod with_tolerations(int count) {
  tests::PodBuilder built = pod("p");
  for (int i = 0; i < count; ++i) built.tolerates(fmt::format("key-{}", i));
  return built;
}

k8s::Pod with_host_ports(int count) {
  tests::PodBuilder built = pod("p");
  for (int i = 0; i < count; ++i) built.host_port(1 + (i * 7919) % 65'535);
  return built;
}

struct Case {
  const char* name;
  k8s::Pod given;
};

std::vector<Case> hostile_pods() {
  const auto same_product = [](int) { return label("nvidia.com/gpu.product").in({"NVIDIA-A30"}); };
  return {
      {"sidecars with names of their own", with_init_containers(260, 100, true, false)},
      {"sidecars with the same names", with_init_containers(260, 100, true, true)},
      {"init containers with names of their own", with_init_containers(260, 100, false, false)},
      {"as many names as are taken, again and again", with_init_containers(400, 60, true, true)},
      {"one container with very many names", with_one_container(26'000)},
      {"very many containers with statuses", with_statuses(6'000)},
      {"types that name nothing", annotated(gpu::kTypeAnnotation, ",", 250'000)},
      {"types that are the same", annotated(gpu::kTypeAnnotation, "H100,", 50'000)},
      {"one type of very many words", annotated(gpu::kTypeAnnotation, "A-", 125'000)},
      {"a profile without end", annotated(gpu::kMigProfileAnnotation, "1g.5gb.a", 30'000)},
      {"an amount without end", annotated(gpu::kMinMemoryAnnotation, "1", 250'000)},
      {"a capability without end", annotated(gpu::kMinComputeAnnotation, "8.", 125'000)},
      {"a word without end", annotated(gpu::kSharingAnnotation, "never", 50'000)},
      {"annotations that are nearly ours", with_strangers(5'000)},
      {"products without end", with_values("nvidia.com/gpu.product", "NVIDIA-A100-{}", 40'000)},
      {"one product again and again", with_affinity(10'000, same_product)},
      {"profiles again and again",
       with_values("cloud.google.com/gke-gpu-partition-size", "1g.{}gb", 9'999)},
      {"products with profiles",
       with_values("nvidia.com/gpu.product", "NVIDIA-A100-MIG-1g.{}gb", 9'999)},
      {"tolerations without end", with_tolerations(10'000)},
      {"host ports without end", with_host_ports(10'000)},
  };
}

void check(const char* what, const Cost& cost, std::int64_t bytes) {
  INFO(what << ": " << cost << ", of a pod of " << bytes << " bytes");
  CHECK(cost.steps <= tests::kMostSteps * bytes);
  CHECK(cost.peak_bytes <= tests::kMostPeakBytes * bytes);
  CHECK(cost.kept_bytes <= tests::kMostKeptBytes * bytes);
}

}  // namespace

TEST_CASE("no pod costs more than so much for each of its bytes") {
  for (const Case& each : hostile_pods()) {
    INFO(each.name);
    const auto bytes = static_cast<std::int64_t>(k8s::encode(each.given).size());
    ResourceNames names;
    std::optional<PodShape> shape;
    check("shape_of", cost_of([&] { shape = shape_of(each.given, names); }), bytes);
    std::optional<gpu::Wishes> wishes;
    check("wishes_of", cost_of([&] { wishes = gpu::wishes_of(each.given); }), bytes);
    std::optional<Resources> bound;
    check("requests_of_bound", cost_of([&] { bound = requests_of_bound(each.given, names); }),
          bytes);
    bool pending = false;
    check("asks_as_pending", cost_of([&] { pending = asks_as_pending(each.given); }), bytes);
    k8s::Pod sample;
    check("template_of", cost_of([&] { sample = template_of(each.given); }), bytes);
    std::string key;
    check("shape_key", cost_of([&] { key = shape_key(*shape); }), bytes);
  }
}

TEST_CASE("an ordinary pod costs less than a tenth of what any may") {
  const k8s::Pod ordinary = pod("train-0")
                                .gpus(1)
                                .cpu("8")
                                .annotated(gpu::kTypeAnnotation, "H100,A100")
                                .labelled("app", "train")
                                .tolerates("nvidia.com/gpu");
  const auto bytes = static_cast<std::int64_t>(k8s::encode(ordinary).size());
  ResourceNames names;
  std::optional<PodShape> shape;
  const Cost cost = cost_of([&] { shape = shape_of(ordinary, names); });
  INFO(cost << ", of a pod of " << bytes << " bytes");
  CHECK(cost.steps > bytes);  // it is counted
  CHECK(10 * cost.steps < tests::kMostSteps * bytes);
}

TEST_CASE("a watch keeps no memory of a large pod that it has read") {
  const std::string event = R"({"type":"MODIFIED","object":)" +
                            k8s::encode(annotated("example.com/notes", "word ", 600'000)) + "}";
  k8s::Decoder decoder;
  bool is_read = false;
  const Cost cost = cost_of([&] { is_read = decoder.watch_event<k8s::Pod>(event).has_value(); });
  CHECK(is_read);
  INFO(cost << ", of an event of " << event.size() << " bytes");
  CHECK(cost.kept_bytes < 100'000);
}

TEST_CASE("a pod that names too many resources adds none to those that are known") {
  ResourceNames names;
  names.intern("example.com/r7");
  const std::size_t known = names.size();
  const PodShape shape = shape_of(with_init_containers(3, 30, true, false), names);
  CHECK(shape.too_many_resources);
  CHECK(names.size() == known);
  CHECK(shape.requests == std::vector<ResourceAmount>{{*names.find("example.com/r7"), 1}});
}

}  // namespace sched
