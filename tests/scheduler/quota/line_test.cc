#include "scheduler/quota/line.h"

#include "tests/support/catch.h"

#include <optional>

using namespace sched::quota;

namespace {

GpuShare gpus(std::int64_t count) { return GpuShare::gpus(count); }

LineSpec spec(int guaranteed, std::optional<int> limit = std::nullopt,
              std::optional<int> lendable = std::nullopt) {
  LineSpec made;
  made.gpu_type = "H100";
  made.guaranteed = gpus(guaranteed);
  if (limit) made.limit = gpus(*limit);
  made.lendable = gpus(lendable.value_or(guaranteed));
  return made;
}

struct Said {
  Room room;
  std::int64_t missing;
  friend bool operator==(const Said&, const Said&) = default;
};
Said ask(const Line& line, std::int64_t amount, std::int64_t own = 0) {
  const Line::Answer answer = line.ask(gpus(amount), gpus(own));
  return {answer.room, answer.missing.units() / GpuShare::kUnitsPerGpu};
}

}  // namespace

TEST_CASE("alone, a line is its guarantee") {
  Line line(spec(8), nullptr);
  CHECK(line.limit() == gpus(8));
  CHECK(ask(line, 8) == Said{Room::kGuaranteed, 0});
  CHECK(ask(line, 9) == Said{Room::kNone, 1});
  line.charge(gpus(6));
  CHECK(ask(line, 2) == Said{Room::kGuaranteed, 0});
  CHECK(ask(line, 4) == Said{Room::kNone, 2});
  line.refund(gpus(6));
  CHECK(line.used().is_zero());
}

TEST_CASE("in a cohort, a line borrows what others leave and allow") {
  Pool pool;
  Line borrower(spec(4, 8), &pool);
  Line lender(spec(8, std::nullopt, 3), &pool);
  borrower.all_made();
  lender.all_made();
  CHECK(borrower.limit() == gpus(8));
  CHECK(lender.limit() == gpus(12));
  borrower.charge(gpus(4));
  CHECK(ask(borrower, 3) == Said{Room::kBorrowed, 0});
  CHECK(ask(borrower, 4) == Said{Room::kNone, 1});  // only three are lent
  CHECK(ask(borrower, 6) == Said{Room::kNone, 3});
  borrower.charge(gpus(3));
  CHECK(borrower.borrowed() == gpus(3));
  CHECK(pool.borrowed == gpus(3));
  // The lender takes its guarantee back without asking; more is borrowed than can be lent then.
  CHECK(ask(lender, 8) == Said{Room::kGuaranteed, 0});
  lender.charge(gpus(8));
  CHECK(pool.to_lend.is_zero());
  CHECK(ask(borrower, 1) == Said{Room::kNone, 4});
  borrower.refund(gpus(3));
  lender.refund(gpus(8));
  CHECK(pool.to_lend == gpus(3));
  CHECK(pool.borrowed.is_zero());
}

TEST_CASE("one who takes what he had lent to others cannot borrow from himself") {
  Pool pool;
  Line a(spec(8), &pool);
  Line b(spec(8), &pool);
  a.all_made();
  b.all_made();
  b.charge(gpus(8));
  b.charge(gpus(4));  // borrowed from a
  a.charge(gpus(4));
  CHECK(ask(a, 4) == Said{Room::kGuaranteed, 0});
  CHECK(ask(a, 5) == Said{Room::kNone, 5});
}

TEST_CASE("what is kept for one pod is neither lent nor given to another") {
  Pool pool;
  Line line(spec(8), &pool);
  Line other(spec(0, 8), &pool);
  line.all_made();
  other.all_made();
  line.charge(gpus(3));
  line.hold(gpus(4));
  CHECK(ask(line, 1) == Said{Room::kGuaranteed, 0});
  CHECK(ask(line, 2) == Said{Room::kNone, 1});
  CHECK(ask(line, 4, 4) == Said{Room::kGuaranteed, 0});
  CHECK(ask(other, 1) == Said{Room::kBorrowed, 0});
  CHECK(ask(other, 2) == Said{Room::kNone, 1});
  line.let_go(gpus(4));
  CHECK(ask(other, 5) == Said{Room::kBorrowed, 0});
}
