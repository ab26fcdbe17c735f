#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <cctype>
#include <string>

using namespace sched;
using namespace tests;

namespace {

PodBuilder for_scheduler(const char* name, const std::string& scheduler_name) {
  return our_pod(name).served_by(scheduler_name);
}

}  // namespace

TEST_CASE("pods whose scheduler's name is one slip from a profile's are named once") {
  Scheduler s;
  const std::string ours = kOurs;
  std::string capital = ours;
  capital[0] = static_cast<char>(std::toupper(capital[0]));
  s.has(for_scheduler("missing", ours.substr(1)));
  s.has(for_scheduler("more", ours + "s"));
  s.has(for_scheduler("capital", capital));
  s.has(for_scheduler("two", ours + "ss"));
  s.has(for_scheduler("other", "default-scheduler"));
  s.has(for_scheduler("none", ""));
  s.has(for_scheduler("placed", ours + "s").on("n"));
  s.has(for_scheduler("gone", ours + "s"));
  s.pod_gone(our_pod("gone"));
  CHECK(s.decide().empty());  // not before everything is known
  s.synced();
  CHECK(s.decide() ==
        Texts{"missing means " + ours, "more means " + ours, "capital means " + ours});
  s.has(for_scheduler("more", ours + "s").labelled("a", "b"));
  CHECK(s.decide().empty());
  // Who asks later is told, too.
  Texts known;
  for (const auto& one : s.engine.misnamed()) known.push_back(one.pod.name);
  CHECK(known == Texts{"missing", "more", "capital"});
  CHECK(s.engine.misnamed("elsewhere").empty());
  // Another pod of the same name.
  s.pod_gone(our_pod("more"));
  s.has(for_scheduler("more", ours + "s"));
  CHECK(s.decide() == Texts{"more means " + ours});
}

TEST_CASE("a pod that got a node before its turn is not told of") {
  Scheduler s;
  s.has(for_scheduler("late", "gpu-schedular"));
  s.has(for_scheduler("late", "gpu-schedular").on("n"));
  s.synced();
  CHECK(s.decide().empty());
}
