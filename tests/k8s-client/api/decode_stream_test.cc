// What lists and watches wrap objects in.
#include "k8s-client/api/decode.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

// The names of the items, or the error's message.
std::string names_of(const std::string& json) {
  std::string names;
  const auto page =
      Decoder().list<Pod>(json, [&](const Pod& pod) { names += pod.metadata.name + " "; });
  return page ? names : page.error().message;
}

TEST_CASE("A list page gives its items in order, and where it goes on", "[decode]") {
  std::vector<std::string> names;
  const auto page = Decoder().list<Pod>(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"tok",
      "remainingItemCount":3},"items":[{"metadata":{"name":"b"}},{"metadata":{"name":"a"}}]})",
      [&](const Pod& pod) { names.push_back(pod.metadata.name); });
  REQUIRE(page);
  CHECK(page->resource_version == "9");
  CHECK(page->continue_token == "tok");
  CHECK(names == std::vector<std::string>{"b", "a"});
}

TEST_CASE("What is not a list, or holds a bad item, is an error", "[decode]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {R"({"kind":"PodList","metadata":{},"items":[]})", ""},
      {R"({"kind":"PodList","metadata":{},"items":null})", ""},
      {R"({"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"}}]})", "a "},
      {R"({"metadata":{}})", "PodList: items: is missing"},
      {"[]", "PodList: items: is missing"},
      {R"({"kind":"Status","code":403})", "expected a PodList, found a Status"},
      {R"({"kind":"NodeList","items":[]})", "expected a PodList, found a NodeList"},
      {R"({"items":{}})", "PodList: items: must be a list, found an object"},
      {R"({"metadata":{"continue":1},"items":[]})",
       "PodList: metadata.continue: must be a string, found a number"},
      {R"({"items":[{"metadata":{"name":"a"}},{"spec":{"priority":"x"},
          "metadata":{"namespace":"ml","name":"b"}}]})",
       "PodList: items[1]: Pod \"ml/b\": spec.priority: must be an integer, found a string"},
      {R"({"items":[null]})", "PodList: items[0]: Pod: metadata.name: is missing"},
      {R"({"items":[{"kind":"Node","metadata":{"name":"a"}}]})",
       "PodList: items[0]: expected a Pod, found a Node"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    CHECK(names_of(c.given) == c.want);
  }
}

TEST_CASE("Watch events of every type are read", "[decode]") {
  Decoder decoder;
  const std::vector<std::pair<std::string, WatchEventType>> types = {
      {"ADDED", WatchEventType::kAdded},
      {"MODIFIED", WatchEventType::kModified},
      {"DELETED", WatchEventType::kDeleted}};
  for (const auto& [text, type] : types) {
    const auto event = decoder.watch_event<Pod>(
        R"({"type":")" + text + R"(","object":{"kind":"Pod","metadata":{"name":"a"}}})");
    REQUIRE(event);
    CHECK(event->type == type);
    CHECK(event->object.metadata.name == "a");
  }
}

TEST_CASE("A bookmark has a version only, and may end the initial events", "[decode]") {
  Decoder decoder;
  const auto plain = decoder.watch_event<Pod>(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"},
      "spec":{"containers":null}}})");
  REQUIRE(plain);
  CHECK(plain->type == WatchEventType::kBookmark);
  CHECK(plain->object.metadata.resource_version == "12");
  CHECK_FALSE(plain->initial_events_end);
  const auto last = decoder.watch_event<Pod>(
      R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"13",
      "annotations":{"k8s.io/initial-events-end":"true"}}}})");
  REQUIRE(last);
  CHECK(last->initial_events_end);
}

TEST_CASE("An ERROR event carries a Status", "[decode]") {
  const auto event = Decoder().watch_event<Pod>(
      R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,
      "reason":"Expired","message":"too old","details":{"retryAfterSeconds":2}}})");
  REQUIRE(event);
  CHECK(event->type == WatchEventType::kError);
  CHECK(event->status.code == 410);
  CHECK(event->status.reason == "Expired");
  CHECK(event->status.message == "too old");
  CHECK(event->status.retry_after_seconds == 2);
}

TEST_CASE("An event of an object that is identified says why the rest is not readable",
          "[decode]") {
  const auto event = Decoder().watch_event<Pod>(
      R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},
          "status":{"phase":1}}})");
  REQUIRE(event);
  CHECK(event->object.metadata.name == "a");
  CHECK(event->object.metadata.uid == "u");
  CHECK(event->object.metadata.resource_version == "7");
  REQUIRE(event->unreadable);
  CHECK(event->unreadable->message == "Pod \"a\": status.phase: must be a string, found a number");
}

TEST_CASE("Of a list with an item that cannot be read the others are kept", "[decode]") {
  const auto event = Decoder().watch_event<Pod>(
      R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},
          "spec":{"resourceClaims":[{"name":"one"},{"name":2}]}}})");
  REQUIRE(event);
  REQUIRE(event->unreadable);
  CHECK(event->unreadable->message ==
        "Pod \"a\": spec.resourceClaims[1].name: must be a string, found a number");
  CHECK(event->object.spec.resource_claims == std::vector<PodResourceClaim>{{"one"}, {""}});
}

// Go passes managedFields on as their author wrote them.
TEST_CASE("An object with bytes that are not UTF-8 spoils neither list nor watch", "[decode]") {
  const std::string claim = R"({"metadata":{"name":"a","uid":"u","resourceVersion":"7",
      "managedFields":[{"fieldsV1":{"f:)"
                            "\xff"
                            R"(":{}}}]}})";
  Decoder decoder;
  std::vector<std::string> names;
  const auto page = decoder.list<PersistentVolumeClaim>(
      R"({"metadata":{"resourceVersion":"9"},"items":[)" + claim +
          R"(,{"metadata":{"name":"b)"
          "\xc3\xbc\xe2\x82"
          R"("}}]})",
      [&](const PersistentVolumeClaim& each) { names.push_back(each.metadata.name); });
  REQUIRE(page);
  CHECK(page->resource_version == "9");
  CHECK(names == std::vector<std::string>{"a", "b\u00FC\uFFFD\uFFFD"});
  const auto event =
      decoder.watch_event<PersistentVolumeClaim>(R"({"type":"ADDED","object":)" + claim + "}");
  REQUIRE(event);
  CHECK_FALSE(event->unreadable);
  CHECK(event->object.metadata.name == "a");
  CHECK(decoder.object<PersistentVolumeClaim>(claim));
}

TEST_CASE("A broken watch event is an error", "[decode]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"{}", "watch event: type: '' is not one of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR"},
      {R"({"type":"GONE","object":{}})",
       "watch event: type: 'GONE' is not one of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR"},
      {R"({"type":"ADDED"})", "watch event: object: is missing"},
      {R"({"type":"ADDED","object":null})", "Pod: metadata.name: is missing"},
      {R"({"type":"ADDED","object":{"metadata":{"name":"a"},"status":{"phase":1}}})",
       "Pod \"a\": status.phase: must be a string, found a number"},
      {R"({"type":"ADDED","object":{"metadata":{"name":"a","uid":"u"},"status":{"phase":1}}})",
       "Pod \"a\": status.phase: must be a string, found a number"},
      {R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"},"status":{"phase":1}}})",
       "Pod \"a\": status.phase: must be a string, found a number"},
      {R"({"type":"ERROR","object":{"code":"x"}})",
       "watch event: code: must be an integer, found a string"},
      {R"({"type":"BOOKMARK","object":{"metadata":7}})",
       "watch event: metadata: must be an object, found a number"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto event = Decoder().watch_event<Pod>(c.given);
    REQUIRE_FALSE(event);
    CHECK(event.error().message == c.want);
  }
}

TEST_CASE("An error answer's Status is read, and only a Status", "[decode]") {
  const auto status = Decoder().status(
      R"({"kind":"Status","code":409,"reason":"Conflict","message":"m","details":{"name":"x"}})");
  REQUIRE(status);
  CHECK(status->code == 409);
  CHECK(status->reason == "Conflict");
  CHECK(Decoder().status(R"({"kind":"Pod"})").error().message == "expected a Status, found 'Pod'");
  CHECK_FALSE(Decoder().status("<html>"));
}

}  // namespace
}  // namespace k8s
