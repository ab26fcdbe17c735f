#include "k8s-client/event_series.h"

#include "tests/support/catch.h"

#include <chrono>
#include <functional>
#include <string>

namespace k8s {
namespace {

EventObject failed_scheduling() {
  EventObject event;
  event.regarding_kind = "Pod";
  event.regarding_namespace = "ml";
  event.regarding_name = "train-0";
  event.regarding_uid = "u-1";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.type = "Warning";
  event.note = "0/3 nodes are available";
  event.reporting_controller = "gpu-scheduler";
  event.reporting_instance = "gpu-scheduler-host";
  event.event_time = Timestamp(std::chrono::microseconds{0x1000});
  return event;
}

TEST_CASE("what makes an event a repeat of another", "[client]") {
  const std::string key = series_key(failed_scheduling());
  const std::function<void(EventObject&)> other[] = {
      [](EventObject& e) { e.regarding_uid = "u-2"; },
      [](EventObject& e) { e.regarding_name = "train-1"; },
      [](EventObject& e) { e.regarding_namespace = "web"; },
      [](EventObject& e) { e.regarding_kind = "Node"; },
      [](EventObject& e) { e.reason = "Preempted"; },
      [](EventObject& e) { e.action = "Preempting"; },
      [](EventObject& e) { e.note = "0/4 nodes are available"; },
      [](EventObject& e) { e.type = "Normal"; },
      [](EventObject& e) { e.reporting_controller = "another"; },
  };
  for (const auto& change : other) {
    EventObject event = failed_scheduling();
    change(event);
    CHECK(series_key(event) != key);
  }
  // A letter that moves from one field to the next.
  EventObject moved = failed_scheduling();
  moved.regarding_namespace = "l";
  moved.regarding_kind = "Podm";
  CHECK(series_key(moved) != key);
  EventObject later = failed_scheduling();
  later.event_time += std::chrono::hours{1};
  CHECK(series_key(later) == key);
}

TEST_CASE("an event is filled in and cut to what the server accepts", "[client]") {
  EventObject event = failed_scheduling();
  SECTION("namespace and name") {
    make_acceptable(event, 7);
    CHECK(event.namespace_ == "ml");
    CHECK(event.name == "train-0.3e8007");  // 0x1000 × 1000 + 7
  }
  SECTION("of an object without namespace") {
    event.regarding_namespace.clear();
    make_acceptable(event, 7);
    CHECK(event.namespace_ == "default");
  }
  SECTION("a name as long as a name may be") {
    event.regarding_name = std::string(245, 'a') + "-.-." + std::string(4, 'b');
    make_acceptable(event, 7);
    CHECK(event.name == std::string(245, 'a') + ".3e8007");
  }
  SECTION("a name that ends in a letter or a digit, and in what is neither") {
    for (const char last : std::string("azAZ09")) {
      event.regarding_name = std::string("x") + last;
      make_acceptable(event, 7);
      CHECK(event.name == event.regarding_name + ".3e8007");
    }
    for (const char last : std::string("`{@[/:-.")) {
      event.regarding_name = std::string("x") + last;
      make_acceptable(event, 7);
      CHECK(event.name == "x.3e8007");
    }
  }
  SECTION("a long note, not cut within a character") {
    event.note = std::string(1019, 'x') + "\xc3\xa9" + std::string(100, 'y');
    make_acceptable(event, 7);
    CHECK(event.note == std::string(1019, 'x') + " ...");
  }
  SECTION("a note of just the allowed length") {
    event.note = std::string(1024, 'x');
    make_acceptable(event, 7);
    CHECK(event.note == std::string(1024, 'x'));
  }
  SECTION("a long host name") {
    event.reporting_instance = std::string(200, 'h');
    make_acceptable(event, 7);
    CHECK(event.reporting_instance == std::string(128, 'h'));
  }
}

}  // namespace
}  // namespace k8s
