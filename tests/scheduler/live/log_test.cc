#include "scheduler/live/log.h"

#include "tests/support/catch.h"

TEST_CASE("a log line is one line, whatever its values hold") {
  const auto line = sched::live::LogLine("bound")
                        .with("pod", "ml/a")
                        .with("score", 870)
                        .with("scores", "GpuPacking=87*10 X=1*1")
                        .with("empty", "")
                        .with("error", "line 1\nnode=\"fake\"\x01\\");
  CHECK(line.text() ==
        "bound pod=ml/a score=870 scores=\"GpuPacking=87*10 X=1*1\" empty=\"\" "
        "error=\"line 1\\nnode=\\\"fake\\\"\\x01\\\\\"");
}
