#include "scheduler/quota/message.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched::quota;
using Why = LineAnswer::Why;

namespace {

LineAnswer line(const char* type, Why why, int needs, int used, int limit, int missing = 0,
                int borrowed = 0) {
  return {.gpu_type = type,
          .why = why,
          .needs = GpuShare::gpus(needs),
          .used = GpuShare::gpus(used),
          .guaranteed = {},
          .limit = GpuShare::gpus(limit),
          .most = GpuShare::gpus(limit),
          .borrowed = GpuShare::gpus(borrowed),
          .missing = GpuShare::gpus(missing),
          .cohort = "research",
          .parent = {}};
}

}  // namespace

TEST_CASE("a pod is told what it waits for, in numbers") {
  struct Case {
    std::vector<LineAnswer> answers;
    std::size_t before;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{line("NVIDIA-H100-80GB-HBM3", Why::kLimit, 4, 14, 16, 2, 6)},
       0,
       "quota q: NVIDIA-H100-80GB-HBM3 needs 4, 14 of 16 in use (6 borrowed from cohort research), "
       "first in line; 2 more must be freed"},
      {{line("H100", Why::kCohort, 1, 9, 16, 1, 1)},
       1,
       "quota q: H100 needs 1, 9 of 16 in use (1 borrowed from cohort research), 2nd in line; "
       "cohort research has nothing more to lend, 1 more must be freed in it"},
      {{line("H100", Why::kBound, 1, 5, 8, 2, 0)},
       0,
       "quota q: H100 needs 1, 5 of 8 in use, first in line; cohort research uses all that its "
       "quotas guarantee, 2 more must be freed in it"},
      {{line("H100", Why::kKept, 1, 5, 8, 2)},
       2,
       "quota q: H100 needs 1, 5 of 8 in use, 3rd in line; what is freed is kept for pods that "
       "have waited long, 2 more must be freed"},
      {{line("H100", Why::kLimit, 2, 8, 8, 2), line("L4", Why::kLimit, 2, 3, 4, 1)},
       10,
       "quota q: H100 needs 2, 8 of 8 in use, or L4 needs 2, 3 of 4 in use, 11th in line; H100: 2 "
       "more must be freed; L4: 1 more must be freed"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       21,
       "quota q: H100 needs 2, 1 of 8 in use, 22nd in line"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       12,
       "quota q: H100 needs 2, 1 of 8 in use, 13th in line"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       100,
       "quota q: H100 needs 2, 1 of 8 in use, 101st in line"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       110,
       "quota q: H100 needs 2, 1 of 8 in use, 111th in line"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       112,
       "quota q: H100 needs 2, 1 of 8 in use, 113th in line"},
      {{line("H100", Why::kHasRoom, 2, 1, 8)},
       113,
       "quota q: H100 needs 2, 1 of 8 in use, 114th in line"},
      {{line("H100", Why::kLimit, 9, 0, 8, 1)},
       0,
       "quota q: H100 needs 9, 0 of 8 in use; it can never give that much"},
      {{line("H100", Why::kTooLarge, 16, 0, 8)},
       0,
       "quota q: H100 needs 16, at most 8 a pod; it can never give that much"},
      {{line("NVIDIA-L4", Why::kNoLine, 1, 0, 0)},
       0,
       "quota q: NVIDIA-L4 is not in it, so it gives none"},
      {{}, 0, "quota q: no node has GPUs of a type that the pod allows"},
  };
  for (const Case& c : cases) CHECK(waiting_message("q", c.answers, c.before) == c.want);
}

TEST_CASE("of the quotas that select a namespace without effect the first is named") {
  CHECK(without_effect_message({"late"}, "early", "ml") ==
        "quota late selects ml, too, and would count it if early did not");
  CHECK(without_effect_message({"late", "later", "latest"}, "early", "ml") ==
        "quota late (and 2 more) selects ml, too, and would count it if early did not");
}
