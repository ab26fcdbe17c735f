// What is supposed is answered as an engine answers in which it is so: with the shipped plugins,
// rules across nodes, volumes and quotas.
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/full.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
// The rules across nodes that are compared. A rule that answers nothing without arguments is named
// with some: {"Name", "{argument: value}"}.
const std::vector<ShippedRule> kCompared = {
    "NodeDeclaredFeatures", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
    "VolumeZone",           "PodTopologySpread",  "InterPodAffinity", "ImageLocality",
};
constexpr const char* kImage = "example.com/image:1";
// What a pod with the network of its node and a user namespace of its own needs.
constexpr const char* kFeature = "UserNamespacesHostNetworkSupport";
constexpr int kNodes = 8;
constexpr int kClaims = 14;

// A cluster as a list of events, so that it can be made twice.
class Supposing {
 public:
  // `seen`: gets the names of the plugins that refused or scored.
  Supposing(unsigned seed, std::set<std::string>& seen) : random_(seed), seen_(seen) {
    for (int i = 0; i < kNodes; ++i) node_comes(i);
    storage_comes();
    quotas_come();
    for (int i = 0; i < 18; ++i) pod_comes(new_pod(i), true);
    for (int i = 18; i < 30; ++i) pod_comes(new_pod(i), false);
    decisions_ = pick(3);
  }

  // Compares all answers once. Returns how many nodes' answers those were.
  std::size_t compare() {
    Cluster as_it_is(*this);
    Supposed supposed;
    Cluster done(*this);
    for (auto i = pick(5); i > 0; --i) {
      const k8s::Pod& pod = pods_[pick(pods_.size())];
      const bool is_named = std::find(supposed.ended.begin(), supposed.ended.end(),
                                      pod.metadata.uid) != supposed.ended.end();
      if (as_it_is.waits(pod) || is_named) continue;
      supposed.ended.push_back(pod.metadata.uid);
      done.apply(event::PodDeleted{Scheduler::ref(pod)});
    }
    for (auto i = pick(4); i > 0; --i) {
      k8s::Pod pod = pods_[pick(pods_.size())];
      if (!done.waits(pod) || !as_it_is.waits(pod)) continue;
      pod.spec.node_name = name_of(static_cast<int>(pick(kNodes)));
      supposed.placed.push_back({pod.metadata.uid, pod.spec.node_name});
      done.apply(event::PodUpserted{pod});
    }
    std::size_t asked = 0;
    const auto ask = [&](const k8s::Pod& pod) {
      INFO(pod.metadata.name << ", with " << supposed.ended.size() << " pods ended and "
                             << supposed.placed.size() << " placed");
      REQUIRE(as_it_is.answers(pod, supposed) == done.answers(pod, {}));
      asked += kNodes;
    };
    for (int i = 0; i < 6; ++i) ask(new_pod(1000 + i));
    for (const k8s::Pod& pod : pods_) {
      const bool is_placed =
          std::any_of(supposed.placed.begin(), supposed.placed.end(),
                      [&](const auto& each) { return each.uid == pod.metadata.uid; });
      if (!is_placed) ask(pod);
    }
    return asked;
  }

 private:
  struct Cluster : QuotaCluster {
    explicit Cluster(const Supposing& events) : QuotaCluster(kCompared), seen(events.seen_) {
      for (const Event& event : events.events_) apply(event);
      for (unsigned i = 0; i < events.decisions_; ++i) static_cast<void>(engine.step(now));
    }
    std::set<std::string>& seen;
    [[nodiscard]] bool waits(const k8s::Pod& pod) const {
      return engine.waiting_pod(pod.metadata.uid) != nullptr;
    }
    // Whose turn it is depends on who waits, so that words about quotas are left out.
    [[nodiscard]] std::string answers(const k8s::Pod& pod, const Supposed& supposed) const {
      const Explanation explained = engine.explain(pod, supposed);
      std::string text = explained.rejection.value_or("");
      if (!explained.by_quota) text += "|" + explained.message;
      for (const NodeExplanation& node : explained.nodes) {
        seen.insert(node.plugin);
        text += "\n" + node.node + " " + to_string(node.code) + " " + node.plugin;
        for (const std::string& reason : node.reasons) text += ", " + reason;
        for (const std::string& numbers : node.numbers) text += "; " + numbers;
      }
      for (const Candidate& each : engine.candidates(pod, kNodes, supposed)) {
        text += "\n" + each.node + " " + std::to_string(each.total_score);
        for (const PluginScore& score : each.scores) {
          // Pods that are gone leave terms that nothing has: they score 0 where without them there
          // is no score.
          if (score.score == 0) continue;
          seen.insert(score.plugin);
          text += " " + score.plugin + " " + std::to_string(score.score);
        }
      }
      return text;
    }
  };

  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  static std::string name_of(int node) { return "n" + std::to_string(node); }

  void node_comes(int i) {
    const std::string name = name_of(i);
    NodeBuilder made = node(name).gpus(8).cpu("64").labelled("host", name);
    made.product(pick(2) == 0 ? kH100 : kL4);
    if (pick(5) != 0) made.labelled(kZoneLabel, "z" + std::to_string(pick(3)));
    k8s::Node complete = made;
    if (pick(2) == 0) complete.status.images = {{{kImage}, std::int64_t{2} << 30}};
    if (pick(3) != 0) complete.status.declared_features = {kFeature};
    events_.emplace_back(event::NodeUpserted{complete});
    k8s::CsiNode limits;
    limits.metadata.name = name;
    limits.drivers = {{"disks", static_cast<std::int32_t>(1 + pick(3))}};
    if (pick(4) != 0) events_.emplace_back(event::Upserted<k8s::CsiNode>{limits});
  }

  void storage_comes() {
    for (int i = 0; i < kClaims; ++i) {
      const std::string name = "c" + std::to_string(i);
      k8s::PersistentVolume made = volume(name);
      made.csi_driver = pick(4) == 0 ? "others" : "disks";
      made.csi_volume_handle = name;
      made.claim_ref = {"default", name, ""};
      if (pick(6) == 0) {
        made.node_affinity =
            k8s::NodeSelector{{term({label("host").in({name_of(1), name_of(2)})})}};
      }
      if (pick(6) == 0) made.metadata.labels.set(kZoneLabel, "z" + std::to_string(pick(3)));
      events_.emplace_back(event::VolumeUpserted{made});
      k8s::PersistentVolumeClaim bound = claim(name, name);
      if (pick(3) == 0) bound.access_modes = {"ReadWriteOncePod"};
      events_.emplace_back(event::VolumeClaimUpserted{bound});
      if (pick(5) != 0) continue;
      k8s::VolumeAttachment attached;
      attached.metadata.name = name;
      attached.node = name_of(static_cast<int>(pick(kNodes)));
      attached.volume = name;
      events_.emplace_back(event::Upserted<k8s::VolumeAttachment>{attached});
    }
  }

  void quotas_come() {
    if (pick(2) == 0) return;
    events_.emplace_back(event::QuotaUpserted{
        gpu_quota("default").of("default").in_cohort("all").line("H100", 12).line("L4", 6)});
    events_.emplace_back(event::QuotaUpserted{
        gpu_quota("ml").of("ml").in_cohort("all").line("*", static_cast<std::int64_t>(pick(12)))});
  }

  k8s::Pod new_pod(int i) {
    PodBuilder made =
        pick(3) == 0 ? their_pod("p" + std::to_string(i)) : our_pod("p" + std::to_string(i));
    made.gpus(pick(4)).priority(static_cast<int>(pick(3))).cpu("1");
    if (pick(4) == 0) made.in_namespace("ml");
    made.labelled("app", pick(2) == 0 ? "a" : "b");
    if (pick(6) == 0) made.host_port(80);
    const auto some_app = [&] {
      return pods_like({{"app", pick(2) == 0 ? "a" : "b"}}, pick(2) == 0 ? kZoneLabel : "host");
    };
    if (pick(5) == 0) made.away_from(some_app());
    if (pick(7) == 0) made.near(some_app());
    if (pick(5) == 0) made.rather_near(10, some_app());
    if (pick(5) == 0) {
      k8s::TopologySpreadConstraint over;
      over.topology_key = pick(2) == 0 ? kZoneLabel : "host";
      over.max_skew = static_cast<std::int32_t>(1 + pick(2));
      over.label_selector = selector({{"app", "a"}});
      over.do_not_schedule = pick(3) != 0;
      made.spread_over(std::move(over));
    }
    for (auto claims = pick(3); claims > 0; --claims) {
      made.mounts_claim("c" + std::to_string(pick(kClaims)));
    }
    if (pick(5) == 0) {
      k8s::Volume disk{"d", k8s::Volume::Kind::kDisk, "", "gcePersistentDisk"};
      disk.disk.id = "x" + std::to_string(pick(3));
      disk.disk.read_only = pick(2) == 0;
      made.mounts(std::move(disk));
    }
    k8s::Pod complete = made;
    for (k8s::Container& container : complete.spec.containers) {
      if (pick(3) == 0) container.image = kImage;
    }
    complete.spec.host_network = pick(8) == 0;
    complete.spec.user_namespace = complete.spec.host_network;
    return complete;
  }
  void pod_comes(k8s::Pod pod, bool bound) {
    if (bound) pod.spec.node_name = name_of(static_cast<int>(pick(kNodes)));
    events_.emplace_back(event::PodUpserted{pod});
    pods_.push_back(std::move(pod));
  }

  std::mt19937 random_;
  std::set<std::string>& seen_;
  std::vector<Event> events_;
  std::vector<k8s::Pod> pods_;
  unsigned decisions_ = 0;
};

}  // namespace

TEST_CASE("what is supposed is answered as an engine answers in which it is so") {
  const std::size_t questions = amount(30'000, 1'000'000);
  std::size_t asked = 0;
  std::set<std::string> seen;
  for (unsigned seed = 1; asked < questions; ++seed) {
    INFO("seed " << seed);
    Supposing cluster(seed, seen);
    for (int i = 0; i < 3; ++i) asked += cluster.compare();
  }
  for (const ShippedRule& rule : kCompared) {
    INFO(rule.name);
    CHECK(seen.contains(std::string(rule.name)));
  }
}

TEST_CASE("a pod or node that is not there is passed over when it is supposed") {
  QuotaCluster s;
  s.has(node("a").gpus(2));
  const k8s::Pod running = their_pod("running").gpus(2).on("a");
  const k8s::Pod waiting = our_pod("waiting").gpus(2);
  s.has(running);
  s.has(waiting);
  s.decide();
  const k8s::Pod asked = our_pod("asked").gpus(2);
  const auto fits = [&](const Supposed& supposed) {
    return s.engine.candidates(asked, 9, supposed).size() == 1;
  };
  CHECK_FALSE(fits({}));
  const std::string gone = running.metadata.uid;
  CHECK(fits({.ended = {gone, gone, "nobody"}, .placed = {}}));
  CHECK_FALSE(fits({.ended = {"nobody"}, .placed = {}}));
  CHECK_FALSE(fits({.ended = {gone}, .placed = {{waiting.metadata.uid, "a"}}}));
  CHECK(fits(
      {.ended = {gone}, .placed = {{waiting.metadata.uid, "b"}, {"nobody", "a"}, {gone, "a"}}}));
}
