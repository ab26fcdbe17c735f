#include "scheduler/live/log.h"

#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

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

TEST_CASE("in JSON a log line is an object, whatever its values hold") {
  using sched::live::LogFormat;
  const auto line = sched::live::LogLine("bound \"x\"", LogFormat::kJson)
                        .with("pod", "ml/a")
                        .with("score", 870)
                        .with("seen", -1)
                        .with("empty", "")
                        .with("digits", "12")
                        .with("error", "line 1\nnode=\"fake\"\x01\\ \xff");
  CHECK(line.text().find('\n') == std::string::npos);
  const auto object = nlohmann::json::parse("{" + line.text() + "}");
  CHECK(object == nlohmann::json{{"msg", "bound \"x\""},
                                 {"pod", "ml/a"},
                                 {"score", 870},
                                 {"seen", -1},
                                 {"empty", ""},
                                 {"digits", "12"},
                                 {"error", "line 1\nnode=\"fake\"\x01\\ \xEF\xBF\xBD"}});
}

TEST_CASE("formats of the log go by Kubernetes' words") {
  using sched::live::LogFormat;
  CHECK(sched::live::log_format("text") == LogFormat::kText);
  CHECK(sched::live::log_format("json") == LogFormat::kJson);
  CHECK_FALSE(sched::live::log_format("JSON"));
  CHECK_FALSE(sched::live::log_format(""));
}
