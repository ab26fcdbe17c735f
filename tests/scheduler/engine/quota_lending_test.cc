// What quotas of a cohort lend each other, through the engine: which pods wake when there is
// something to lend, which is first, and the messages of pods.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

PodBuilder theirs(std::string_view namespace_, const std::string& name, int gpus) {
  return their_pod(name).in_namespace(namespace_).gpus(gpus);
}
PodBuilder h100_for(std::string_view namespace_, const std::string& name, int gpus) {
  return in(namespace_, name, gpus).selects("nvidia.com/gpu.product", kH100);
}

}  // namespace

TEST_CASE("what a lender's pod gives back is lent to those that wait to borrow") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 2));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 0));
  for (const char* name : {"l1", "l2"}) s.has(theirs("lender", name, 1).on("a"));
  for (const char* name : {"g1", "g2"}) s.has(in("guest", name, 1));
  REQUIRE(s.decide().size() == 2);
  s.pod_gone(theirs("lender", "l1", 1));
  CHECK(s.decide() == Texts{"g1 → a"});
  CHECK(s.use("lender") == use(2, 1, 0, 1));
  s.pod_gone(theirs("lender", "l2", 1));
  CHECK(s.decide() == Texts{"g2 → a"});
  CHECK(s.use("guest") == use(0, 2, 2));
}

TEST_CASE("what is given back right after a pod was refused is lent to it") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 2));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 0));
  s.has(theirs("lender", "l", 2).on("a"));
  s.has(in("guest", "g", 1));
  // One decision: the engine is not asked for the next before the change.
  const auto told = s.engine.step(s.now);
  REQUIRE(told);
  REQUIRE(std::holds_alternative<decision::Unschedulable>(*told));
  s.pod_gone(theirs("lender", "l", 2));
  CHECK(s.decide() == Texts{"g → a"});
}

TEST_CASE("a borrower whose share has changed while there was nothing to lend is not forgotten") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("first").of("first").in_cohort("c").line("H100", 0).line("L4", 1));
  s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 4));
  s.has(gpu_quota("other").of("other").in_cohort("c").line("H100", 0).line("L4", 2));
  for (const char* name : {"l1", "l2", "l3", "l4"}) s.has(theirs("lender", name, 1).on("a"));
  s.has(h100_for("first", "f", 1));
  s.has(h100_for("other", "o", 1).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.pod_gone(theirs("lender", "l1", 1));
  REQUIRE(s.decide() == Texts{"f → a"});
  // It uses more of what is its own.
  s.has(in("other", "own", 1).selects("nvidia.com/gpu.product", kL4));
  REQUIRE(s.decide() == Texts{"own → b"});
  s.pod_gone(theirs("lender", "l2", 1));
  CHECK(s.decide() == Texts{"o → a"});
}

TEST_CASE("a borrower whose guarantee is on full nodes is a borrower as any other") {
  QuotaCluster s;
  for (const char* name : {"a1", "a2"}) s.has(h100(name));
  s.has(l4("b", 2));
  s.has(our_pod("guest").gpus(2).on("b"));  // no L4 is free, though quota is
  s.has(gpu_quota("both").of("both").in_cohort("c").line("H100", 2).line("L4", 2));
  s.has(gpu_quota("plain").of("plain").in_cohort("c").line("H100", 4).lendable(0));
  for (const char* name : {"both", "plain", "lender"}) s.has(name_space(name));
  s.has(name_space("leaving", {{"team", "lender"}}));
  s.has(gpu_quota("lender")
            .of("lender")
            .selects(selector({{"team", "lender"}}))
            .in_cohort("c")
            .line("H100", 4));
  s.has(theirs("both", "b", 2).on("a1"));
  s.has(theirs("plain", "p", 2).on("a1"));
  s.has(theirs("leaving", "l1", 1).on("a1"));
  s.has(theirs("lender", "l3", 3).on("a1"));
  s.has(in("both", "either", 1));
  REQUIRE(s.decide().at(0).starts_with("either waits: 0/3 nodes are available"));
  // A smaller borrower arrives just when there is something to lend, and no node has more room.
  s.has(h100_for("plain", "more", 3));
  s.has(name_space("leaving"));
  CHECK(s.decide().at(0) == "more → a2");
}

TEST_CASE("among borrowers the share that counts is that of the line of which they borrow") {
  QuotaCluster s;
  for (const char* name : {"a1", "a2"}) s.has(h100(name));
  s.has(l4("b", 8));
  s.has(gpu_quota("even").of("even").in_cohort("c").line("L4", 4).line("H100", 4));
  s.has(gpu_quota("lopsided").of("lopsided").in_cohort("c").line("L4", 4).line("H100", 4));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 8));
  s.has(theirs("lopsided", "x", 4).on("a1"));
  s.has(theirs("even", "y", 2).on("a1"));
  s.has(theirs("even", "z", 4).on("b"));
  // The older pod is that of the greater share.
  s.has(h100_for("lopsided", "second", 1));
  s.has(h100_for("even", "first", 3).created_at(kStart + 1s));
  const Texts told = s.decide();
  REQUIRE(told.size() == 2);
  CHECK(told[0].starts_with("first → "));
  CHECK(told[1].starts_with("second → "));
}

TEST_CASE("a pod that has become another while it was next is ranked as what it is") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(h100("b"));
  s.has(gpu_quota("one").of("one").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("two").of("two").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("zero").of("zero").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 8));
  s.has(in("zero", "now", 1));
  s.has(in("one", "large", 2).created_at(kStart + 1s));  // would borrow
  s.has(in("two", "small", 1).created_at(kStart + 2s));
  const auto first = s.engine.step(s.now);
  REQUIRE(first);
  REQUIRE(std::get<decision::Bind>(*first).pod.name == "now");
  s.has(in("one", "large", 1).created_at(kStart + 1s));  // would not any more, and is older
  const Texts told = s.decide();
  REQUIRE(told.size() == 2);
  CHECK(told[0].starts_with("large → "));
  CHECK(told[1].starts_with("small → "));
}

TEST_CASE("a pod whose limit would do is told that its cohort has nothing to lend") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 1).limit(3));
  s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 4));
  s.has(theirs("lender", "l", 4).on("a"));
  s.has(theirs("ml", "m", 1).on("a"));
  s.has(in("ml", "to-the-limit", 2));
  s.has(in("ml", "beyond-it", 3).created_at(kStart + 1s));
  CHECK(s.decide() ==
        Texts{"to-the-limit waits: quota q: H100 needs 2, 1 of 3 in use, first in line; cohort c "
              "has nothing more to lend, 2 more must be freed in it",
              "beyond-it waits: quota q: H100 needs 3, 1 of 3 in use, 2nd in line; 3 more must be "
              "freed"});
}

TEST_CASE("the nodes that are counted are those of all types that quota lets the pod have") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(node("c").gpus(4).product("NVIDIA-A100-SXM4-80GB").cpu("64"));
  s.has(our_pod("guest-a").gpus(8).on("a"));
  s.has(our_pod("guest-b").gpus(4).on("b"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 1).line("L4", 0));
  s.has(gpu_quota("lender").in_cohort("c").line("L4", 4));
  s.has(in("ml", "p", 1));
  const auto told = s.decisions();
  REQUIRE(told.size() == 1);
  CHECK(std::get<decision::Unschedulable>(told[0]).message ==
        "0/3 nodes are available: 1 node(s) had GPUs without room in the namespace's GPU quota, 2 "
        "Insufficient nvidia.com/gpu.");
}

TEST_CASE("a quota that was deleted and made anew is another, whatever its generation") {
  QuotaCluster s;
  const auto told = [&] {
    std::vector<std::pair<std::string, std::string>> uids;
    for (const QuotaStatus& each : s.engine.take_quota_news().changed) {
      uids.emplace_back(each.name, each.uid);
    }
    return uids;
  };
  using Uids = std::vector<std::pair<std::string, std::string>>;
  s.has(gpu_quota("q").of("ml").line("H100", 1));
  CHECK(told() == Uids{{"q", "q-uid"}});
  const std::uint64_t version = s.engine.quota_version();
  s.has(gpu_quota("q").of("ml").line("H100", 1));
  CHECK(told().empty());
  CHECK(s.engine.quota_version() == version);
  k8s::GpuQuota anew = gpu_quota("q").of("ml").line("H100", 1);
  anew.metadata.uid = "another";
  s.has(anew);
  CHECK(told() == Uids{{"q", "another"}});
  CHECK(s.engine.quota_version() > version);
  anew.metadata.generation = 2;
  s.has(anew);
  CHECK(told() == Uids{{"q", "another"}});
}

TEST_CASE("what a pod is charged as is noted where a quota counts, or a note is there already") {
  struct Case {
    const char* name;
    bool quota;
    PodBuilder pod;
    std::optional<std::string> want;
  };
  const char* const kNote = "gpu-scheduler.io/charged-as";
  const Case cases[] = {
      {"no quota, no note", false, in("ml", "p", 1), std::nullopt},
      {"no quota, an old note", false, in("ml", "p", 1).annotated(kNote, kL4), kH100},
      {"a quota", true, in("ml", "p", 1), kH100},
      {"a quota and an old note", true, in("ml", "p", 1).annotated(kNote, kL4), kH100},
      {"a quota of another namespace", true, in("free", "p", 1), kH100},
      {"a quota, and no GPU is asked for", true,
       our_pod("p").in_namespace("ml").cpu("1").annotated(kNote, kL4), std::nullopt},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    QuotaCluster s;
    s.has(h100("a"));
    if (c.quota) s.has(gpu_quota("q").of("ml").line("H100", 8));
    s.has(c.pod);
    const auto told = s.decisions();
    REQUIRE(told.size() == 1);
    CHECK(std::get<decision::Bind>(told[0]).charged_as == c.want);
  }
}

TEST_CASE("only our own note says what a pod on a node without labels is charged as") {
  const char* const kNote = "gpu-scheduler.io/charged-as";
  QuotaCluster s;
  s.has(node("bare").gpus(8).cpu("64"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("*", 4));
  s.has(in("ml", "ours", 1).annotated(kNote, kH100).on("bare"));
  CHECK(s.use("q", 0) == use(4, 1));
  CHECK(s.use("q", 1) == use(4, 0));
  s.has(theirs("ml", "theirs", 2).annotated(kNote, kH100).on("bare"));
  CHECK(s.use("q", 0) == use(4, 1));
  CHECK(s.use("q", 1) == use(4, 2));
}

TEST_CASE("in a bounded cohort an owner waits for what is lent, and gets it before anybody else") {
  EngineOptions options;
  options.quota.bound_cohorts = true;
  QuotaCluster s(options);
  s.has(h100("a"));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 2));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 2));
  for (const char* name : {"g1", "g2", "g3", "g4"}) s.has(in("guest", name, 1));
  CHECK(s.decide().size() == 4);
  s.has(in("owner", "o1", 1).created_at(kStart + 2s));
  s.has(in("owner", "o2", 1).created_at(kStart + 3s));
  s.has(in("guest", "g5", 1).created_at(kStart + 1s));
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  CHECK_THAT(told[0],
             Catch::Contains("o1 waits: quota owner: H100 needs 1, 0 of 4 in use, first in "
                             "line; cohort c uses all that its quotas guarantee, 1 more "
                             "must be freed in it"));
  // There are free GPUs all the time.
  s.pod_gone(in("guest", "g1", 1));
  CHECK(s.decide() == Texts{"o1 → a"});
  s.pod_gone(in("guest", "g2", 1));
  CHECK(s.decide() == Texts{"o2 → a"});
  // Within its guarantee again.
  s.pod_gone(in("guest", "g3", 1));
  CHECK(s.decide() == Texts{"g5 → a"});
}

TEST_CASE(
    "of an owner at its limit no more must be freed than its pod asks for, though much is lent") {
  QuotaCluster s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 4));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 0));
  s.has(in("guest", "borrows", 3));
  REQUIRE(s.decide().size() == 1);
  const k8s::Pod one = in("owner", "one", 1);
  s.has(one);
  s.has(in("owner", "three", 3));
  REQUIRE(s.decide().size() == 2);
  s.has(in("owner", "p", 1).created_at(kStart + 1s));
  CHECK(s.decide() == Texts{"p waits: quota owner: H100 needs 1, 4 of 4 in use, first in line; 1 "
                            "more must be freed"});
  s.pod_gone(one);
  CHECK(s.decide().at(0).starts_with("p → "));
}
