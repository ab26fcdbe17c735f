// What the tests of the client's calls share: a client whose server is the test, and a pod.
#pragma once

#include "k8s-client/client.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests::calls {

using namespace k8s;
using namespace std::chrono_literals;
using Json = nlohmann::json;

struct World {
  ManualLoop loop;
  FakeTransport transport{loop};
  std::vector<std::string> observed;
  std::optional<Client> client;
  std::optional<Result<void>> result;

  World() {
    client.emplace(transport, loop, [] {
      return Timestamp(std::chrono::sys_days{std::chrono::year{2026} / 3 / 4} + 5h + 6min + 7s +
                       890ms);
    });
    client->set_observer([this](std::string_view verb, int status, std::chrono::nanoseconds) {
      observed.push_back(std::string(verb) + " " + std::to_string(status));
    });
  }

  [[nodiscard]] auto keep_result() {
    return [this](Result<void> answer) {
      REQUIRE_FALSE(result);  // exactly one
      result = std::move(answer);
    };
  }
  void run() { loop.run_ready(); }
  // Why the call has failed.
  [[nodiscard]] const Error& error() {
    run();
    REQUIRE(result);
    REQUIRE_FALSE(*result);
    return result->error();
  }
  [[nodiscard]] bool succeeded() {
    run();
    return result && *result;
  }
};

inline const Headers kAcceptsProtobuf = {
    {"Accept", "application/vnd.kubernetes.protobuf, application/json"}};

inline constexpr BindLimits kLimits{.deadline = 1500ms, .send_by = BootClock::time_point(5s)};

// Within kLimits, and never twice.
inline void check_sent_once(const Request& request) {
  CHECK(request.deadline == kLimits.deadline);
  CHECK(request.target.ends_with("?timeout=1500ms"));
  CHECK(request.send_by == kLimits.send_by);
  CHECK_FALSE(request.repeatable);
}

inline std::string status_json(int code, const std::string& reason, const std::string& message) {
  return Json{{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", message}}.dump();
}

inline Pod pod_with_condition(const std::string& status) {
  Pod pod;
  pod.metadata.namespace_ = "ml";
  pod.metadata.name = "train-0";
  pod.metadata.uid = "u-1";
  pod.metadata.resource_version = "7";
  if (!status.empty()) {
    PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = status;
    pod.status.conditions.push_back(condition);
  }
  return pod;
}

}  // namespace tests::calls
