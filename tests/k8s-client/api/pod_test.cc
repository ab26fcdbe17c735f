#include "k8s-client/api/pod.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

using TolerationOp = TolerationOperator;
using Effect = TaintEffect;

TEST_CASE("A toleration covers taints as upstream's does", "[pod]") {
  const Taint taint{"gpu", "yes", Effect::kNoSchedule};
  struct Case {
    std::string name;
    Toleration given;
    bool want;
  };
  const std::vector<Case> cases = {
      {"same key and value", {"gpu", TolerationOp::kEqual, "yes", Effect::kNoSchedule}, true},
      {"another value", {"gpu", TolerationOp::kEqual, "no", Effect::kNoSchedule}, false},
      {"another key", {"cpu", TolerationOp::kEqual, "yes", Effect::kNoSchedule}, false},
      {"another effect", {"gpu", TolerationOp::kEqual, "yes", Effect::kNoExecute}, false},
      {"every effect", {"gpu", TolerationOp::kEqual, "yes", std::nullopt}, true},
      {"Exists, whatever the value", {"gpu", TolerationOp::kExists, "", Effect::kNoSchedule}, true},
      {"Exists, every key", {"", TolerationOp::kExists, "", std::nullopt}, true},
      {"Exists, another key", {"cpu", TolerationOp::kExists, "", std::nullopt}, false},
      {"Lt", {"gpu", TolerationOp::kLt, "yes", std::nullopt}, false},
      {"Gt", {"gpu", TolerationOp::kGt, "yes", std::nullopt}, false},
      {"an operator unknown here", {"gpu", TolerationOp::kUnknown, "yes", std::nullopt}, false},
      {"an effect unknown here", {"gpu", TolerationOp::kEqual, "yes", Effect::kUnknown}, false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    CHECK(c.given.tolerates(taint) == c.want);
  }
  // Two effects that are unknown here need not be the same one.
  CHECK_FALSE(Toleration{"gpu", TolerationOp::kEqual, "yes", Effect::kUnknown}.tolerates(
      Taint{"gpu", "yes", Effect::kUnknown}));
}

TEST_CASE("A pod tells its condition and its end", "[pod]") {
  Pod pod;
  CHECK(pod.condition("PodScheduled") == nullptr);
  pod.status.conditions = {{"Ready", "False", "", "", 0}, {"PodScheduled", "True", "", "", 3}};
  REQUIRE(pod.condition("PodScheduled") != nullptr);
  CHECK(pod.condition("PodScheduled")->observed_generation == 3);

  CHECK_FALSE(pod.is_finished());
  pod.status.phase = PodPhase::kUnknown;
  CHECK_FALSE(pod.is_finished());
  pod.status.phase = PodPhase::kFailed;
  CHECK(pod.is_finished());
  CHECK_FALSE(pod.is_terminating());
  pod.metadata.deletion_timestamp.emplace();
  CHECK(pod.is_terminating());
}

}  // namespace
}  // namespace k8s
