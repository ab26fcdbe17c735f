#include "bench/replay/output/csv.h"
#include "tests/support/catch.h"

#include <sstream>

using bench::replay::Result;

TEST_CASE("the use of each quota line is a line, with names quoted where they need it") {
  Result run;
  run.trace = "a,b";
  run.policy = "default";
  run.seed = 42;
  run.over_time = true;
  run.quota_steps = {{.x = 1.5,
                      .quota = "team-vision",
                      .gpu_type = "*",
                      .guaranteed = 8,
                      .used = 9.5,
                      .borrowed = 1.5,
                      .lent = 0,
                      .pending = 2}};
  std::ostringstream out;
  bench::replay::write_quotas_csv(out, {run, Result{}});
  CHECK(out.str() ==
        "trace,policy,seed,x,x_unit,quota,gpu_type,guaranteed,used,borrowed,lent,pending\n"
        "\"a,b\",default,42,1.5,hours,team-vision,*,8,9.5,1.5,0,2\n");
}
