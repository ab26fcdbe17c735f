// A reflector with watches that are answered in protobuf. Only two things differ there: how a
// stream is cut into events, and how it is recognised as protobuf. What is done with events is
// tested in reflector_test.cc.
#include "tests/k8s-client/watch/watch_script.h"
#include "tests/support/catch.h"

#include <string>
#include <string_view>

namespace k8s {
namespace {

using namespace std::string_literals;
using tests::after_one_pod;
using tests::event_line;
using tests::list_request;
using tests::paged;
using tests::pod_json;
using tests::run;
using tests::stream_request;
using tests::watch_one_pod;
using tests::watch_request;
using tests::WatchScript;

const Headers kProtobuf = {{"Content-Type", "application/vnd.kubernetes.protobuf;stream=watch"}};
const Headers kJson = {{"Content-Type", "application/json"}};

// ---- protobuf's wire format

std::string varint(unsigned value) {
  std::string bytes;
  for (; value >= 0x80U; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string number(unsigned field, unsigned value) { return varint(field << 3U) + varint(value); }

std::string bytes(unsigned field, std::string_view content) {
  std::string encoded = varint(field << 3U | 2U) + varint(static_cast<unsigned>(content.size()));
  return encoded.append(content);
}

std::string document(std::string_view kind, std::string_view object) {
  return "k8s\0"s + bytes(1, bytes(1, "v1") + bytes(2, kind)) + bytes(2, object);
}

// An event with its length in front.
std::string frame(std::string_view type, std::string_view object) {
  const std::string message = bytes(1, type) + bytes(2, bytes(1, object));
  std::string framed;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    framed += static_cast<char>(message.size() >> shift & 0xffU);
  }
  return framed + message;
}

std::string pod_frame(std::string_view type, std::string_view name, std::string_view uid,
                      int version) {
  const std::string metadata =
      bytes(1, name) + bytes(3, "ml") + bytes(5, uid) + bytes(6, std::to_string(version));
  return frame(type, document("Pod", bytes(1, metadata)));
}

std::string bookmark_frame(int version, bool initial_events_end = false) {
  std::string metadata = bytes(6, std::to_string(version));
  if (initial_events_end) {
    metadata += bytes(12, bytes(1, "k8s.io/initial-events-end") + bytes(2, "true"));
  }
  return frame("BOOKMARK", document("Pod", bytes(1, metadata)));
}

std::string error_frame(unsigned code, std::string_view reason, std::string_view message) {
  return frame("ERROR", document("Status", bytes(3, message) + bytes(4, reason) + number(6, code)));
}

}  // namespace

TEST_CASE("a watch in protobuf", "[watch]") {
  run({{"events, two in one chunk, one in two halves, one cut within its length",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(pod_frame("ADDED", "b", "2", 6) + pod_frame("MODIFIED", "a", "1", 7));
          const std::string deleted = pod_frame("DELETED", "a", "1", 8);
          s.send(deleted.substr(0, 30));
          s.send(deleted.substr(30));
          const std::string added = pod_frame("ADDED", "c", "3", 9);
          s.send(added.substr(0, 3));
          s.send(added.substr(3));
        },
        after_one_pod({"+ b/2@6", "+ a/1@7", "- a/1", "+ c/3@9"})},
       {"an orderly end: the next watch starts at the last bookmark",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(pod_frame("ADDED", "b", "2", 6) + bookmark_frame(77));
          s.end();
        },
        after_one_pod({"+ b/2@6", watch_request("77")})},
       {"an end within an event: a lost connection, again from the last event",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(pod_frame("ADDED", "b", "2", 6) + pod_frame("ADDED", "c", "3", 7).substr(0, 40));
          s.end();
          s.wait();
          s.open(kProtobuf);
          s.send(pod_frame("ADDED", "c", "3", 7));
        },
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: the stream ended within an event",
                       watch_request("6"), "+ c/3@7"})},
       {"an end within an event's length, too",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(pod_frame("ADDED", "b", "2", 6) + "\0\0"s);
          s.end();
          s.wait();
        },
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: the stream ended within an event",
                       watch_request("6")})},
       {"410: list anew at the last version",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(pod_frame("ADDED", "b", "2", 6) + error_frame(410, "Expired", "too old"));
          s.wait();
          s.page(9, "", {pod_json("b", "2", 6)});
        },
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: 410 Gone: too old", list_request("6"),
                       "+ b/2@6", "- a/1", watch_request("9")})},
       {"an event that cannot be read: list anew, and nothing after it is delivered",
        [](WatchScript& s) {
          watch_one_pod(s, kProtobuf);
          s.send(frame("ADDED", document("Node", "")) + pod_frame("ADDED", "b", "2", 7));
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: expected a Pod, found a Node", list_request("5")})},
       {"a server that answers in JSON nevertheless",
        [](WatchScript& s) {
          watch_one_pod(s, kJson);
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
        },
        after_one_pod({"+ b/2@6"})},
       {"one that is updated while nobody is connected: each watch is read as it says",
        [](WatchScript& s) {
          watch_one_pod(s, kJson);
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
          s.end();
          s.open(kProtobuf);
          s.send(pod_frame("ADDED", "c", "3", 7));
          s.end();
          s.open(kJson);
          s.send(event_line("DELETED", pod_json("b", "2", 8)));
        },
        after_one_pod({"+ b/2@6", watch_request("6"), "+ c/3@7", watch_request("7"), "- b/2"})}},
      paged());
}

TEST_CASE("a watch that does not say what it is in", "[watch]") {
  run({{"begins with a frame",
        [](WatchScript& s) {
          watch_one_pod(s, {});
          s.send(pod_frame("ADDED", "b", "2", 6));
          s.send(pod_frame("DELETED", "a", "1", 7));
        },
        after_one_pod({"+ b/2@6", "- a/1"})},
       {"begins with the first byte of a frame",
        [](WatchScript& s) {
          watch_one_pod(s, {});
          const std::string added = pod_frame("ADDED", "b", "2", 6);
          s.send("");
          s.send(added.substr(0, 1));
          s.send(added.substr(1));
        },
        after_one_pod({"+ b/2@6"})},
       {"begins with a line",
        [](WatchScript& s) {
          watch_one_pod(s, {});
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
        },
        after_one_pod({"+ b/2@6"})},
       {"each by itself",
        [](WatchScript& s) {
          watch_one_pod(s, {});
          s.send(pod_frame("ADDED", "b", "2", 6));
          s.end();
          s.open();
          s.send(event_line("ADDED", pod_json("c", "3", 7)));
        },
        after_one_pod({"+ b/2@6", watch_request("6"), "+ c/3@7"})}},
      paged());
}

TEST_CASE("a streamed list in protobuf", "[watch]") {
  run({{"ends with the bookmark that says so, and goes on as a watch",
        [](WatchScript& s) {
          s.open(kProtobuf);
          s.send(pod_frame("ADDED", "a", "1", 3) + bookmark_frame(4));
          s.send(bookmark_frame(5, true) + pod_frame("MODIFIED", "a", "1", 6));
          s.end();
        },
        {stream_request(), "+ a/1@3", "synced", "+ a/1@6", watch_request("6")}}},
      ReflectorOptions{});
}

}  // namespace k8s
