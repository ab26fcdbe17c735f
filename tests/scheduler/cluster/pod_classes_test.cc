#include "scheduler/cluster/pod_classes.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using tests::pod;

namespace {

k8s::Pod of_app(const char* app, const char* name = "p") { return pod(name).labelled("app", app); }

std::vector<std::size_t> born_since(const PodClasses& classes, ChangeLog::Position position) {
  std::vector<std::size_t> ids;
  classes.births().since(position, [&](NodeSlot id) { ids.push_back(id); });
  return ids;
}

}  // namespace

TEST_CASE("pods of one class share an id as long as one of them has it") {
  PodClasses classes;
  std::optional<PodClassRef> first = classes.intern(of_app("x"));
  const PodClassRef same = classes.intern(of_app("x", "another"));
  const PodClassRef other = classes.intern(of_app("y"));
  CHECK_FALSE(first->none());
  CHECK(*first == same);
  CHECK_FALSE(*first == other);
  CHECK(classes.size() == 2);
  CHECK(*same == class_of(of_app("x")));
  CHECK(classes[other.id()] == class_of(of_app("y")));

  first.reset();
  CHECK(classes.size() == 2);
  CHECK(classes.intern(of_app("x")) == same);
}

TEST_CASE("a class that no pod has any more is gone, and its id is given to the next") {
  PodClasses classes;
  const PodClassRef kept = classes.intern(of_app("kept"));
  PodClassRef gone = classes.intern(of_app("gone"));
  const PodClassId id = gone.id();
  const ChangeLog::Position seen = classes.births().end();
  PodClassRef copy = gone;
  gone = kept;
  CHECK(classes.size() == 2);
  const PodClassRef moved = std::move(copy);
  CHECK(*moved == class_of(of_app("gone")));
  copy = {};
  CHECK(classes.size() == 2);
  CHECK(born_since(classes, seen).empty());
  {
    const PodClassRef last = moved;
    CHECK(last.id() == id);
  }
  CHECK(classes.size() == 2);
}

TEST_CASE("ids that are given out again are among the births") {
  PodClasses classes;
  std::optional<PodClassRef> gone = classes.intern(of_app("gone"));
  const PodClassId id = gone->id();
  const ChangeLog::Position seen = classes.births().end();
  gone.reset();
  CHECK(classes.size() == 0);
  const PodClassRef next = classes.intern(of_app("next"));
  CHECK(next.id() == id);
  CHECK(*next == class_of(of_app("next")));
  CHECK(born_since(classes, seen) == std::vector<std::size_t>{static_cast<std::size_t>(id)});
  const PodClassRef further = classes.intern(of_app("further"));
  CHECK(further.id() != id);
  CHECK(born_since(classes, seen).size() == 2);
}

TEST_CASE("the class that a pod had, and that of the pod before it, are looked at first") {
  PodClasses classes;
  const PodClassRef x = classes.intern(of_app("x"));
  const PodClassRef y = classes.intern(of_app("y"));
  CHECK(classes.intern(of_app("x"), x) == x);
  CHECK(classes.intern(of_app("x"), y) == x);  // its labels have changed
  CHECK(classes.intern(of_app("x")) == x);
  CHECK(classes.intern(of_app("y")) == y);
  CHECK(classes.intern(of_app("y")) == y);
  CHECK(classes.size() == 2);
  CHECK(PodClassRef().none());
  CHECK(PodClassRef() == PodClassRef());
  CHECK_FALSE(PodClassRef() == x);
}
