#include "scheduler/cluster/shapes.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <vector>

using namespace sched;
using tests::pod;

TEST_CASE("equal shapes have one id as long as somebody refers to them") {
  ResourceNames names;
  Shapes shapes;
  const auto intern = [&](const k8s::Pod& object) {
    return shapes.intern(shape_of(object, names));
  };

  ShapeRef a = intern(pod("a").gpus(1));
  const ShapeRef same = intern(pod("b").gpus(1));
  const ShapeRef other = intern(pod("c").gpus(2));
  CHECK(a.id() == same.id());
  CHECK(a.id() != other.id());
  CHECK(*same == shape_of(pod("d").gpus(1), names));
  CHECK(shapes.size() == 2);

  ShapeRef copy = a;
  a = other;
  CHECK(a.id() == other.id());
  CHECK(shapes.size() == 2);
  copy = other;
  CHECK(shapes.size() == 2);  // `same` still refers to the first
}

TEST_CASE("a shape that nobody refers to is forgotten, and its id used again") {
  ResourceNames names;
  Shapes shapes;
  ShapeId first{};
  {
    const ShapeRef a = shapes.intern(shape_of(pod("a").gpus(1), names));
    first = a.id();
  }
  CHECK(shapes.size() == 0);
  const ShapeRef b = shapes.intern(shape_of(pod("b").gpus(2), names));
  CHECK(b.id() == first);
  CHECK(*b == shape_of(pod("b").gpus(2), names));
}

TEST_CASE("a shape that is put aside stays what it is for its holders, and is nobody else's") {
  ResourceNames names;
  Shapes shapes;
  const PodShape asked = shape_of(pod("a").gpus(1), names);
  const ShapeRef held = shapes.intern(asked);
  const std::size_t memory = held.memory();
  CHECK(memory >= shape_key(asked).size() + heap_bytes(asked));
  shapes.put_aside_unless(std::vector<bool>(names.end_of_ids(), false));
  CHECK(shapes.size() == 0);
  CHECK(*held == asked);
  CHECK(held.memory() == memory);
  CHECK(shapes.intern(asked).id() != held.id());
}
