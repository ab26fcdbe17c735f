#include "scheduler/engine/world/pod_group.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;

TEST_CASE("a pod names its group, and how many pods start together") {
  const std::string group_key = "gpu-scheduler.io/pod-group";
  const std::string count_key = group_key + "-min-count";
  CHECK(group_of(pod("p")) == std::nullopt);
  const auto group = group_of(pod("p").annotated(group_key, "train").annotated(count_key, "8"));
  REQUIRE((group && *group));
  CHECK((*group)->name == "train");
  CHECK((*group)->min_count == 8);
}

TEST_CASE("a group may have the longest name and as many pods as groups may have") {
  const std::string group_key = "gpu-scheduler.io/pod-group";
  const std::string longest(63, 'x');
  const auto group =
      group_of(pod("p").annotated(group_key, longest).annotated(group_key + "-min-count", "1000"));
  REQUIRE((group && *group));
  CHECK((*group)->name == longest);
  CHECK((*group)->min_count == 1'000);
}

TEST_CASE("annotations about groups that cannot be read are told") {
  const std::string group_key = "gpu-scheduler.io/pod-group";
  const std::string count_key = group_key + "-min-count";
  struct Case {
    std::vector<std::pair<std::string, std::string>> annotations;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{{group_key, "train"}}, group_key + " needs " + count_key + " beside it"},
      {{{count_key, "8"}}, count_key + " needs " + group_key + " beside it"},
      {{{group_key, ""}, {count_key, "8"}},
       group_key + ": \"\" is no name of a group: 1 to 63 letters, digits and -_. within"},
      {{{group_key, "a b"}, {count_key, "8"}},
       group_key + ": \"a b\" is no name of a group: 1 to 63 letters, digits and -_. within"},
      {{{group_key, std::string(64, 'x')}, {count_key, "8"}},
       group_key + ": \"" + std::string(64, 'x') +
           "\" is no name of a group: 1 to 63 letters, digits and -_. within"},
      {{{group_key, "train"}, {count_key, "0"}},
       count_key + ": \"0\" is no whole number from 1 to 1000"},
      {{{group_key, "train"}, {count_key, "1001"}},
       count_key + ": \"1001\" is no whole number from 1 to 1000"},
      {{{group_key, "train"}, {count_key, "-1"}},
       count_key + ": \"-1\" is no whole number from 1 to 1000"},
      {{{group_key, "train"}, {count_key, "8 "}},
       count_key + ": \"8 \" is no whole number from 1 to 1000"},
      {{{group_key, "train"}, {count_key, "99999999999999999999999"}},
       count_key + ": \"99999999999999999999999\" is no whole number from 1 to 1000"},
  };
  for (const Case& each : cases) {
    PodBuilder made = pod("p");
    for (const auto& [key, value] : each.annotations) made.annotated(key, value);
    const auto group = group_of(made);
    REQUIRE_FALSE(group);
    CHECK(group.error() == each.want);
  }
}
