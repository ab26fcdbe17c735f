// What an answer names to whom: over a real engine, with every kind of sentence that names a node.
#include "scheduler/answers/withhold.h"

#include "plugins/registry.h"
#include "scheduler/answers/json.h"
#include "scheduler/config/config.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace sched;
using answers::Visible;
using answers::Why;
using tests::node;
using tests::pod;

constexpr Time kNow{std::chrono::seconds{1'767'265'200}};
constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
const std::set<std::string> kServed = {"gpu-scheduler"};
const std::vector<std::string> kNamespaces = {"tenant-red", "tenant-blue", "tenant-green"};

Engine make_engine() {
  auto config = config::parse("", "default", plugins::registry());
  REQUIRE(config);
  return Engine(std::move(config->profiles), config->engine);
}

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  int below(int most) { return std::uniform_int_distribution<int>(0, most - 1)(generator_); }
  bool once_in(int times) { return below(times) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

 private:
  std::mt19937 generator_;
};

// A cluster of some nodes that refuse for many reasons, and pods of three namespaces, some of which
// wait.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random(seed) {
    for (int i = 0, count = 1 + random.below(6); i < count; ++i) add_node(i);
    if (random.once_in(2)) {
      apply(event::QuotaUpserted{tests::gpu_quota("own").of(kNamespaces[0]).line("*", 4)});
    }
    if (random.once_in(2)) {
      auto shared = tests::gpu_quota("shared").of(kNamespaces[1]).of(kNamespaces[2]).line("*", 2);
      if (random.once_in(2)) shared.strict();
      apply(event::QuotaUpserted{shared});
    }
    for (int i = 0, count = 4 + random.below(16); i < count; ++i) add_pod(i);
    apply(event::Synced{});
    if (random.once_in(2)) reject_pods();
    for (int i = 0; i < 200; ++i) {
      const auto decision = engine.step(now);
      if (!decision) break;
      if (const auto* waits = std::get_if<decision::Unschedulable>(&*decision)) {
        refusals[waits->pod.uid] = {.next = waits->message,
                                    .headline = waits->message + " " + waits->details,
                                    .reason = waits->reason};
      }
      now += std::chrono::minutes(1);
    }
  }

  void apply(Event event) { engine.apply(std::move(event), now); }

  void add_node(int i) {
    auto made = node("machine-" + std::to_string(i) + ".example").gpus(1 + random.below(8));
    if (random.once_in(2)) made.product(kH100);
    if (random.once_in(4)) made.cordoned();
    if (random.once_in(4)) made.tainted("example.com/reserved", "yes");
    if (random.once_in(4)) made.lacks("nvidia.com/gpu").product(kH100);
    if (random.once_in(4)) made.labelled("nvidia.com/mig.config.state", "pending");
    if (random.once_in(4)) made.offers("nvidia.com/mig-1g.10gb", "7");
    if (random.once_in(2))
      made.labelled("example.com/zone", "zone-of-machine-" + std::to_string(i));
    const k8s::Node built = made;
    nodes.push_back(built.metadata.name);
    apply(event::NodeUpserted{built});
  }

  void add_pod(int i) {
    const std::string& namespace_ = random.of(kNamespaces);
    auto made = pod("job-" + std::to_string(i) + "-of-" + namespace_)
                    .in_namespace(namespace_)
                    .served_by(random.once_in(8) ? "another" : "gpu-scheduler")
                    .gpus(1 + random.below(8));
    if (random.once_in(6)) made.requests("nvidia.com/mig-1g.10gb", "1");
    if (random.once_in(6)) made.selects("example.com/zone", "none");
    if (random.once_in(6)) made.annotated("gpu-scheduler.io/gpu-type", "H100");
    if (random.once_in(8)) made.annotated("gpu-scheduler.io/gpu-typ", "H100");
    if (random.once_in(8)) made.gated("later");
    if (random.once_in(2)) made.on(random.of(nodes));
    const k8s::Pod built = made;
    pods.push_back(built);
    names.add(built.metadata.uid, namespace_ + "/" + built.metadata.name);
    apply(event::PodUpserted{built});
  }

  // So that the node is backed off.
  void reject_pods() {
    const std::string& node = random.of(nodes);
    for (int i = 0; i < 3; ++i) {
      const k8s::ObjectMeta& rejected = random.of(pods).metadata;
      apply(event::PodRejected{.pod = {rejected.namespace_, rejected.name, rejected.uid + "-old"},
                               .node = node,
                               .reason = "UnexpectedAdmissionError",
                               .at = now});
    }
  }

  [[nodiscard]] Why why(const k8s::Pod& asked) const {
    Why why = answers::why_seen(engine, asked, kServed, now);
    answers::name_ends(why, names);
    return why;
  }

  [[nodiscard]] std::optional<answers::LastRefusal> refusal_of(const std::string& uid) const {
    const auto found = refusals.find(uid);
    return found == refusals.end() ? std::nullopt : std::optional(found->second);
  }

  Random random;
  Time now = kNow;
  Engine engine = make_engine();
  std::vector<std::string> nodes;
  std::vector<k8s::Pod> pods;
  answers::PodNames names;
  std::map<std::string, answers::LastRefusal> refusals;  // by uid
};

bool names(const std::string& text, const std::string& name) {
  return text.find(name) != std::string::npos;
}

// As a reader gets it.
std::string told(Why why, const Visible& visible) {
  answers::withhold(why, visible);
  return answers::to_json(why);
}

}  // namespace

TEST_CASE("no answer names a node or a pod that its reader may not see") {
  std::size_t nodes_named = 0;
  std::size_t pods_named = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const RandomCluster cluster(seed);
    for (const k8s::Pod& asked : cluster.pods) {
      const Why why = cluster.why(asked);
      const std::string whole = answers::to_json(why);
      const std::string& own = asked.metadata.namespace_;
      for (const Visible& visible :
           {Visible{.namespaces = {own}}, Visible{.nodes = true, .namespaces = {own}},
            Visible{.namespaces = {own, "tenant-red"}}}) {
        const std::string text = told(why, visible);
        INFO("seed " << seed << "\n" << whole << text);
        for (const std::string& node : cluster.nodes) {
          if (visible.nodes || node == asked.spec.node_name) continue;
          if (names(whole, node)) ++nodes_named;
          CHECK_FALSE(names(text, node));
        }
        for (const k8s::Pod& other : cluster.pods) {
          const bool is_asked = other.metadata.name == asked.metadata.name;
          if (is_asked || visible.namespaces.contains(other.metadata.namespace_)) continue;
          if (names(whole, other.metadata.name)) ++pods_named;
          CHECK_FALSE(names(text, other.metadata.name));
          if (other.metadata.namespace_ != own) {
            CHECK_FALSE(names(text, other.metadata.namespace_));
          }
        }
      }
    }
  }
  // So there was something to withhold.
  CHECK(nodes_named > 1'000);
  CHECK(pods_named > 100);
}

TEST_CASE("no queue or quota names a node or a pod that its reader may not see") {
  std::size_t nodes_named = 0;
  std::size_t heads_named = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const RandomCluster cluster(seed);
    for (const std::string& own : kNamespaces) {
      const auto refusal_of = [&](const std::string& uid) { return cluster.refusal_of(uid); };
      answers::Queue queue = answers::queue_seen(cluster.engine, own, refusal_of, 100);
      answers::QuotasSeen quotas = answers::quotas_seen(cluster.engine, own);
      const std::string whole = answers::to_json(queue) + answers::to_json(quotas);
      answers::withhold(queue, {.namespaces = {own}});
      answers::withhold(quotas, {.namespaces = {own}});
      const std::string text = answers::to_json(queue) + answers::to_json(quotas);
      INFO("seed " << seed << "\n" << whole << text);
      for (const std::string& node : cluster.nodes) {
        if (names(whole, node)) ++nodes_named;
        CHECK_FALSE(names(text, node));
      }
      for (const k8s::Pod& other : cluster.pods) {
        if (other.metadata.namespace_ == own) continue;
        if (names(whole, other.metadata.name)) ++heads_named;
        CHECK_FALSE(names(text, other.metadata.name));
        CHECK_FALSE(names(text, other.metadata.namespace_));
      }
    }
  }
  // So there was something to withhold.
  CHECK(nodes_named > 20);
  CHECK(heads_named > 5);
}

TEST_CASE("who may see everything is told everything") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomCluster cluster(seed);
    for (const k8s::Pod& asked : cluster.pods) {
      const Why why = cluster.why(asked);
      const Visible all{.nodes = true, .namespaces = {kNamespaces.begin(), kNamespaces.end()}};
      CHECK(told(why, all) == answers::to_json(why));
      CHECK(told(why, {.nodes = true, .all_pods = true}) == answers::to_json(why));
    }
  }
}

TEST_CASE("pods that are not named are counted, with their GPUs") {
  Why why;
  why.room.node = "n1";
  why.room.pods = {{"a", 4}, {"b", 2}, {"c", 1}, {"d", 3}};
  why.ends = {"red/x (4)", "blue/y (2)", "uid c (1)", "red/z (3)"};
  CHECK(answers::namespaces_named_in(why) == std::set<std::string>{"blue", "red"});
  answers::withhold(why, {.nodes = true, .namespaces = {"red"}});
  CHECK(why.ends == std::vector<std::string>{"red/x (4)", "red/z (3)"});
  CHECK(why.room.node == "n1");
  CHECK(why.withheld == answers::Withheld{.nodes = false, .pods = 2, .gpus = 3});
}

TEST_CASE("a change is told without what the reader may not see") {
  const Why whole = [] {
    Why why;
    why.named_nodes = {"n1"};
    why.remedies = {{.change = {.what = "nodeSelector zone",
                                .to = "n1",
                                .node = "n1",
                                .pods = {{"a", 4}, {"b", 2}, {"c", 1}}},
                     .ends = {"red/x (4)", "blue/y (2)", "green/z (1)"}},
                    {.change = {.what = "tolerations",
                                .to = "[{key: dedicated, operator: Exists, effect: NoSchedule}]",
                                .node = "n2"},
                     .ends = {}}};
    return why;
  }();
  CHECK(answers::namespaces_named_in(whole) == std::set<std::string>{"blue", "green", "red"});
  Why why = whole;
  answers::withhold(why, {.namespaces = {"red"}});
  CHECK(why.withheld == answers::Withheld{.nodes = true, .pods = 0, .gpus = 0});
  CHECK(why.remedies[0].change.node.empty());
  CHECK(why.remedies[0].change.to == "a node");
  CHECK(why.remedies[0].ends == std::vector<std::string>{"red/x (4)", "2 other pods (3)"});
  CHECK(why.remedies[1].change.node.empty());
  CHECK(why.remedies[1].change.to == "[{key: dedicated, operator: Exists, effect: NoSchedule}]");
  why = whole;
  answers::withhold(why, {.nodes = true, .all_pods = true});
  CHECK(why.remedies == whole.remedies);
}

TEST_CASE("sentences stay sentences without the names of nodes") {
  struct Case {
    std::string text;
    std::string want;
  };
  for (const Case& each :
       std::vector<Case>{{"needs 8 on one node; most free is 2 of 8 (n-1), 2 free in all",
                          "needs 8 on one node; most free is 2 of 8, 2 free in all"},
                         {"3 nodes would take the pod but for NodeAffinity: no match (first n-2).",
                          "3 nodes would take the pod but for NodeAffinity: no match."},
                         {"2 offer GPUs in another form (first n-2: nvidia.com/gpu)",
                          "2 offer GPUs in another form (on one: nvidia.com/gpu)"},
                         {"quota q: first in line; holds node n-1 until it has room",
                          "quota q: first in line; holds a node until it has room"},
                         {"The pod could not be bound to node n.example 3 times",
                          "The pod could not be bound to a node 3 times"},
                         {"(n-1) and n-2, n-1.", "(a node) and a node, a node."},
                         {"n-10 on-n-1 and nothing else", "n-10 on-n-1 and nothing else"},
                         {"", ""}}) {
    INFO(each.text);
    Engine engine = make_engine();
    for (const char* name : {"n-1", "n-2", "n.example"}) {
      engine.apply(event::NodeUpserted{node(name)}, kNow);
    }
    Why why;
    why.headline = why.details = each.text;
    why.named_nodes = answers::nodes_named_in(engine, why);
    answers::withhold(why, {});
    CHECK(why.headline == each.want);
    CHECK(why.details == each.want);
    CHECK(why.named_nodes.empty());
    CHECK(why.withheld.has_value() == (each.text != each.want));
  }
}

TEST_CASE("of nodes there are counts and amounts in place of names") {
  Why why;
  why.verdict = Why::Verdict::kStarts;
  why.node = "n-1";
  why.candidates = {{.node = "n-1", .total_score = 1, .scores = {}}};
  why.reasons = {{.nodes = 6, .reason = "no match", .example = "n-2"},
                 {.nodes = 2, .reason = "Insufficient", .example = "n-3: asked 8, free 0 of 8"}};
  why.room.if_empty = "n-3";
  why.room.if_empty_type = "H100-80GB";
  answers::withhold(why, {});
  CHECK(why.node.empty());
  CHECK(why.candidates.empty());
  CHECK(why.reasons ==
        std::vector<answers::ReasonRow>{
            {.nodes = 6, .reason = "no match", .example = ""},
            {.nodes = 2, .reason = "Insufficient", .example = "asked 8, free 0 of 8"}});
  CHECK(why.room.if_empty.empty());
  CHECK(why.room.if_empty_type == "H100-80GB");
  CHECK(why.withheld == answers::Withheld{.nodes = true});

  Why placed;
  placed.verdict = Why::Verdict::kPlaced;
  placed.node = "n-1";
  answers::withhold(placed, {});
  CHECK(placed.node == "n-1");  // the pod's own object says so
}
