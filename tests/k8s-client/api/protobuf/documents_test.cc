// Pods in protobuf are read as in JSON, and what is written in protobuf says what it should. The
// documents of pods.txt are Kubernetes' own, made by tests/cluster/cmd/protobufpods.
#include "k8s-client/api/protobuf/documents.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/auth/base64.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"
#include "tests/support/request_body.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s {
namespace {

struct Pair {
  std::string json;
  std::string protobuf;
};

std::vector<Pair> pairs() {
  std::vector<Pair> found;
  std::ifstream file(tests::source_dir() + "/tests/k8s-client/api/protobuf/pods.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    const auto bytes = auth::decode_base64(line.substr(tab + 1));
    REQUIRE(bytes);
    found.push_back({line.substr(0, tab), *bytes});
  }
  REQUIRE(found.size() == 26);
  return found;
}

bool is(const Pair& pair, std::string_view kind) {
  return pair.json.find("\"kind\":\"" + std::string(kind) + "\",\"apiVersion\"") == 1;
}
bool is_event(const Pair& pair) { return pair.json.starts_with("{\"type\""); }

}  // namespace

TEST_CASE("a pod reads the same from protobuf and from JSON", "[decode]") {
  int compared = 0;
  for (const Pair& pair : pairs()) {
    if (!is(pair, "Pod")) continue;
    CAPTURE(pair.json);
    const auto want = Decoder().object<Pod>(pair.json);
    const auto got = protobuf::object<Pod>(pair.protobuf);
    REQUIRE(want);
    REQUIRE(got);
    CHECK(got->metadata == want->metadata);
    CHECK(got->spec == want->spec);
    CHECK(got->status == want->status);
    ++compared;
  }
  CHECK(compared == 14);
}

TEST_CASE("every volume source that ties a pod to nodes is compared, and a claim's name",
          "[decode]") {
  std::set<std::string> sources;
  std::set<std::string> disks;  // with an id
  std::vector<std::string> claims;
  for (const Pair& pair : pairs()) {
    if (!is(pair, "Pod")) continue;
    const auto pod = protobuf::object<Pod>(pair.protobuf);
    REQUIRE(pod);
    for (const Volume& volume : pod->spec.volumes) {
      sources.insert(volume.source);
      if (!volume.disk.id.empty()) disks.insert(volume.source);
      if (!volume.claim_name.empty()) claims.push_back(volume.claim_name);
    }
  }
  // Of the thirty there are, the others mount anywhere (words.h) and are not kept.
  CHECK(sources == std::set<std::string>{"awsElasticBlockStore", "azureDisk", "cinder", "ephemeral",
                                         "gcePersistentDisk", "iscsi", "persistentVolumeClaim",
                                         "portworxVolume", "rbd"});
  CHECK(disks.size() == 7);
  CHECK(claims == std::vector<std::string>{"claim-9"});
}

TEST_CASE("a page of a list, a Status and the events of a watch read the same", "[decode]") {
  int compared = 0;
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.json);
    if (is(pair, "PodList")) {
      std::vector<Pod> want;
      std::vector<Pod> got;
      Decoder decoder;
      const auto meta = decoder.list<Pod>(pair.json, [&](Pod pod) { want.push_back(pod); });
      const auto same = decoder.list<Pod>(pair.protobuf, [&](Pod pod) { got.push_back(pod); });
      REQUIRE(meta);
      REQUIRE(same);
      CHECK(same->resource_version == meta->resource_version);
      CHECK(same->continue_token == meta->continue_token);
      CHECK(got == want);
    } else if (is(pair, "Status")) {
      const auto got = Decoder().status(pair.protobuf);
      REQUIRE(got);
      CHECK(got->code == 410);
      CHECK(got->reason == "Expired");
      CHECK(got->message == "too old");
      CHECK(got->retry_after_seconds == 7);
    } else if (is_event(pair)) {
      const auto want = Decoder().watch_event<Pod>(pair.json);
      const auto got = Decoder().watch_message<Pod>(pair.protobuf);
      REQUIRE(want);
      REQUIRE(got);
      CHECK(got->type == want->type);
      CHECK(got->object == want->object);
      CHECK(got->status.code == want->status.code);
      CHECK(got->initial_events_end == want->initial_events_end);
    } else {
      continue;
    }
    ++compared;
  }
  CHECK(compared == 7);
}

TEST_CASE("a device class is read whatever numbers its driver's parameters hold", "[decode]") {
  int read = 0;
  DeviceClass want;
  want.metadata.name = "gpu.example.com";
  want.metadata.uid = "u-1";
  want.metadata.resource_version = "7";
  want.extended_resource_name = "example.com/gpu";
  for (const Pair& pair : pairs()) {
    if (is(pair, "DeviceClass")) {
      CHECK_FALSE(Decoder().object<DeviceClass>(pair.json));  // the reason for all this
      const auto got = protobuf::object<DeviceClass>(pair.protobuf);
      REQUIRE(got);
      CHECK(*got == want);
      ++read;
    } else if (is(pair, "DeviceClassList")) {
      std::vector<DeviceClass> got;
      const auto meta = Decoder().list<DeviceClass>(
          pair.protobuf, [&](DeviceClass item) { got.push_back(std::move(item)); });
      REQUIRE(meta);
      CHECK(meta->resource_version == "17");
      CHECK(got == std::vector<DeviceClass>{want});
      ++read;
    }
  }
  CHECK(read == 2);
  CHECK(accepted_types<DeviceClass>() == protobuf::kAccept);
}

namespace {

// A controller in JSON and in protobuf; in its pod template are such managedFields.
template <typename T>
Pair controller_with(const std::string& fields) {
  constexpr bool kIsOldest = std::is_same_v<T, ReplicationController>;
  const std::string selector = kIsOldest ? R"({"app":"a"})" : R"({"matchLabels":{"app":"a"}})";
  Pair made;
  made.json = R"({"metadata":{"name":"a","namespace":"ml","uid":"u-1","resourceVersion":"7"},)"
              R"("spec":{"selector":)" +
              selector + R"(,"template":{"metadata":{"managedFields":[{"fieldsV1":)" + fields +
              "}]}}}}";
  made.protobuf =
      protobuf::document(T::kKind.api_version, T::kKind.name, [&](protobuf::Writer& writer) {
        writer.message(1, [&] {
          writer.text(1, "a");
          writer.text(3, "ml");
          writer.text(5, "u-1");
          writer.text(6, "7");
        });
        writer.message(2, [&] {
          const StringMap labels({{"app", "a"}});
          if (kIsOldest) {
            writer.map(2, labels);
          } else {
            writer.message(2, [&] { writer.map(1, labels); });
          }
          writer.message(3, [&] {
            writer.message(1, [&] {
              writer.message(17, [&] { writer.message(7, [&] { writer.text(1, fields); }); });
            });
          });
        });
      });
  return made;
}

template <typename T>
void check_controller() {
  CAPTURE(T::kKind.name);
  const auto want = Decoder().object<T>(controller_with<T>("{}").json);
  REQUIRE(want);
  CHECK(want->metadata.uid == "u-1");
  CHECK_FALSE(want->selector == decltype(want->selector)());
  for (const char* fields : {"{}", R"({"f:a":12345678901234567890123})", R"({"f:\ud800":{}})"}) {
    CAPTURE(fields);
    const Pair pair = controller_with<T>(fields);
    const auto got = protobuf::object<T>(pair.protobuf);
    REQUIRE(got);
    CHECK(*got == *want);
    // The reason for all this.
    CHECK(Decoder().object<T>(pair.json).has_value() == (fields == std::string("{}")));
  }
  CHECK(accepted_types<T>() == protobuf::kAccept);
}

}  // namespace

TEST_CASE("a controller is read whatever its pod template carries", "[decode]") {
  check_controller<ReplicationController>();
  check_controller<ReplicaSet>();
  check_controller<StatefulSet>();
}

TEST_CASE("a time out of range is none; of a deletion it is one all the same", "[decode]") {
  constexpr std::int64_t kYear12026 = 317'353'248'000;
  const auto of_times = [](std::int64_t seconds) {
    return protobuf::document("v1", "Pod", [&](protobuf::Writer&) {}) + [&] {
      std::string fields;
      protobuf::Writer writer(fields);
      writer.message(2, [&] {
        writer.message(1, [&] {
          writer.text(1, "a");
          writer.message(8, [&] { writer.number(1, seconds); });
          writer.message(9, [&] { writer.number(1, seconds); });
        });
        writer.message(3, [&] { writer.message(7, [&] { writer.number(1, seconds); }); });
      });
      return fields;
    }();
  };
  for (const std::int64_t seconds : {kYear12026, std::int64_t{1} << 62, -(std::int64_t{1} << 62)}) {
    const auto got = protobuf::object<Pod>(of_times(seconds));
    REQUIRE(got);
    CHECK_FALSE(got->status.start_time);
    CHECK_FALSE(got->metadata.creation_timestamp);
    CHECK(got->is_terminating());
  }
  const auto got = protobuf::object<Pod>(of_times(7));
  REQUIRE(got);
  CHECK(got->status.start_time == Timestamp(std::chrono::seconds(7)));
}

TEST_CASE("a pod whose time of deletion is broken is not read", "[decode]") {
  std::string document = protobuf::document("v1", "Pod", [](protobuf::Writer&) {});
  protobuf::Writer writer(document);
  writer.message(2, [&] {
    writer.message(1, [&] {
      writer.text(1, "a");
      writer.text(9, "\x08");  // seconds without their number
    });
  });
  CHECK_FALSE(protobuf::object<Pod>(document));
}

TEST_CASE("of a pod that cannot be read in a watch or a list, what can be is told", "[decode]") {
  const auto write_pod = [](protobuf::Writer& writer) {
    writer.message(1, [&] {
      writer.text(1, "a");
      writer.text(3, "ml");
      writer.text(5, "uid-a");
      writer.text(6, "7");
    });
    writer.message(2, [&] {
      writer.message(2, [&] {
        writer.message(8, [&] {
          writer.message(2, [&] {
            writer.text(1, "nvidia.com/gpu");
            writer.message(2, [&] { writer.text(1, "two"); });
          });
        });
      });
      writer.text(10, "node-1");
    });
  };
  const auto check = [](const Pod& pod, const std::optional<Error>& why) {
    REQUIRE(why);
    CHECK_THAT(why->message, Catch::StartsWith("Pod \"ml/a\": protobuf field 2.2.8.2.2.1: "));
    CHECK(pod.metadata.uid == "uid-a");
    CHECK(pod.spec.node_name == "node-1");
    REQUIRE(pod.spec.containers.size() == 1);
    CHECK(pod.spec.containers[0].requests.at(0).first == "nvidia.com/gpu");
  };
  std::string frame;
  protobuf::Writer writer(frame);
  writer.text(1, "ADDED");
  writer.message(2, [&] { writer.text(1, protobuf::document("v1", "Pod", write_pod)); });
  const auto event = protobuf::event<Pod>(frame);
  REQUIRE(event);
  check(event->object, event->unreadable);

  const std::string page = protobuf::document("v1", "PodList", [&](protobuf::Writer& list) {
    list.message(1, [&] { list.text(2, "9"); });
    list.message(2, [&] { write_pod(list); });
  });
  CHECK_FALSE(protobuf::list<Pod>(page, [](Pod) {}));
  int told = 0;
  CHECK(protobuf::list<Pod>(
      page, [](Pod) { FAIL(); },
      [&](const Pod& pod, const Error& why) {
        check(pod, why);
        ++told;
      }));
  CHECK(told == 1);
}

TEST_CASE("what is cut off, or damaged anywhere, is an error or another pod, never a crash",
          "[decode]") {
  std::mt19937_64 random(3);
  for (const Pair& pair : pairs()) {
    if (!is(pair, "Pod")) continue;
    for (int round = 0; round < 60; ++round) {
      std::string bytes = pair.protobuf;
      if (round % 2 == 0) {
        bytes.resize(random() % bytes.size());
      } else {
        for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const auto got = protobuf::object<Pod>(bytes);
      if (got) CHECK_FALSE(got->metadata.name.empty());
    }
  }
}

TEST_CASE("what is wrong with a document is said", "[decode]") {
  using namespace std::string_literals;
  const std::string magic = "k8s\0"s;
  const std::string type = "\x0a\x09\x0a\x02v1\x12\x03Pod"s;
  struct Case {
    const char* name;
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"JSON", "{}", R"(not protobuf: the four bytes "k8s\0" are missing)"},
      {"nothing in it", magic, "expected a Pod, found a "},
      {"another kind", magic + "\x0a\x0a\x0a\x02v1\x12\x04Node"s, "expected a Pod, found a Node"},
      {"an envelope cut off", magic + "\x0a\x09\x0a"s, "envelope: is cut off or damaged"},
      {"an empty pod", magic + type, "Pod: metadata.name: is missing"},
      {"a name that is a number", magic + type + "\x12\x04\x0a\x02\x08\x01"s,
       "Pod: protobuf field 1.1: must be a text"},
      {"a group", magic + type + "\x12\x01\x0b"s, "Pod: is cut off or damaged"},
      {"a field of no number", magic + type + "\x12\x02\x02\x00"s, "Pod: is cut off or damaged"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto got = protobuf::object<Pod>(c.given);
      REQUIRE_FALSE(got);
      CHECK(got.error().kind == ErrorKind::kDecode);
      CHECK(got.error().message == c.want);
    }
  }
}

TEST_CASE("text that is not UTF-8 is read as JSON would show it", "[decode]") {
  using namespace std::string_literals;
  const std::string name = "a\xff\xc3\xbc\xe2\x82"s;
  const std::string document =
      "k8s\0"s + "\x0a\x09\x0a\x02v1\x12\x03Pod"s + "\x12\x0a\x0a\x08\x0a\x06"s + name;
  const auto got = protobuf::object<Pod>(document);
  REQUIRE(got);
  CHECK(got->metadata.name == "a\xef\xbf\xbd\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("fields that nobody knows are passed over, of whatever type they are", "[decode]") {
  using namespace std::string_literals;
  const std::string metadata =
      "\x0a\x03\x0a\x01"
      "a"s;
  for (const std::string& unknown : {"\x78\x96\x01"s,
                                     "\x79"
                                     "12345678"s,
                                     "\x7a\x02"
                                     "ab"s,
                                     "\x7d"
                                     "1234"s}) {
    const std::string pod = unknown + metadata;
    const std::string raw = "\x12"s + static_cast<char>(pod.size()) + pod;
    const auto got = protobuf::object<Pod>("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod"s + raw);
    REQUIRE(got);
    CHECK(got->metadata.name == "a");
  }
}

// So that what client_test reads out of the bodies of binds and events is what Kubernetes would.
TEST_CASE("tests read what schedulers write as Kubernetes wrote it", "[encode]") {
  int compared = 0;
  for (const Pair& pair : pairs()) {
    if (!is(pair, "Binding") && !is(pair, "Event")) continue;
    nlohmann::json want = nlohmann::json::parse(pair.json);
    for (const char* empty :
         {"deprecatedSource", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"}) {
      want.erase(empty);
    }
    CHECK(tests::json_of_protobuf(pair.protobuf) == want);
    ++compared;
  }
  CHECK(compared == 3);
}

}  // namespace k8s
