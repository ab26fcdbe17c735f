#include "scheduler/engine/finder/buckets.h"

#include "tests/support/catch.h"

using namespace sched;

TEST_CASE("nodes of one key are in one bucket, and a bucket that is left becomes another") {
  Buckets buckets;
  buckets.grow(4);
  CHECK(buckets.size() == 0);
  CHECK(buckets.add(0, {1, {}, {}, {5}}) == 0);
  CHECK(buckets.add(1, {1, {}, {}, {5}}) == 0);
  CHECK(buckets.is_one());
  CHECK(buckets.add(2, {2, {}, {}, {5}}) == 1);
  CHECK(buckets.add(3, {1, {}, {}, {6}}) == 2);
  CHECK_FALSE(buckets.is_one());
  CHECK(buckets.in_use() == 3);
  CHECK(buckets.nodes(0) == 2);
  CHECK(buckets.of(3) == 2);
  CHECK(buckets.key(2) == Buckets::Key{1, {}, {}, {6}});

  buckets.remove(2);
  CHECK(buckets.in_use() == 2);
  CHECK(buckets.nodes(1) == 0);
  CHECK(buckets.add(2, {3, {}, {}, {7}}) == 1);
  CHECK(buckets.key(1) == Buckets::Key{3, {}, {}, {7}});
  CHECK(buckets.size() == 3);

  // Left and come back to, while the bucket has become another.
  buckets.remove(3);
  buckets.remove(2);
  buckets.add(2, {9, {}, {}, {9}});
  CHECK(buckets.key(buckets.add(3, {1, {}, {}, {6}})) == Buckets::Key{1, {}, {}, {6}});
}
