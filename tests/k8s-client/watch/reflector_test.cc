#include "k8s-client/watch/reflector.h"

#include "k8s-client/watch/watcher.h"
#include "tests/k8s-client/watch/watch_script.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

using tests::after_one_pod;
using tests::bookmark_line;
using tests::error_line;
using tests::event_line;
using tests::full_list_request;
using tests::list_request;
using tests::page_request;
using tests::paged;
using tests::pod_json;
using tests::run;
using tests::stream_request;
using tests::watch_one_pod;
using tests::watch_request;
using tests::WatchScript;

using Log = std::vector<std::string>;

TEST_CASE("a list, then a watch", "[watch]") {
  run({{"an empty list is complete too",
        [](WatchScript& s) { s.page(5, "", {}); },
        {list_request(), "synced", watch_request("5")}},
       {"pages are delivered as they come; the watch starts at the version of the first",
        [](WatchScript& s) {
          s.page(5, "c1", {pod_json("a", "1", 3), pod_json("b", "2", 4)});
          s.page(5, "c2", {pod_json("c", "3", 1)});
          s.page(9, "", {pod_json("d", "4", 2)});
        },
        {list_request(), "+ a/1@3", "+ b/2@4", page_request("c1"), "+ c/3@1", page_request("c2"),
         "+ d/4@2", "synced", watch_request("5")}},
       {"events, two in one chunk, one in two halves",
        [](WatchScript& s) {
          watch_one_pod(s);
          const std::string modified = event_line("MODIFIED", pod_json("a", "1", 7));
          s.send(event_line("ADDED", pod_json("b", "2", 6)) + modified);
          const std::string deleted = event_line("DELETED", pod_json("a", "1", 8));
          s.send(deleted.substr(0, 30));
          s.send(deleted.substr(30));
        },
        after_one_pod({"+ b/2@6", "+ a/1@7", "- a/1"})},
       {"an orderly end: the next watch starts at the last event",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
          s.end();
        },
        after_one_pod({"+ b/2@6", watch_request("6")})},
       {"or at the last bookmark",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(bookmark_line(77));
          s.end();
        },
        after_one_pod({watch_request("77")})},
       {"a bookmark alone is no object",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(bookmark_line(77));
        },
        after_one_pod({})},
       {"the deletion of an object never shown is not told",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("DELETED", pod_json("b", "2", 6)));
        },
        after_one_pod({})},
       {"a quiet watch that the server ends in time goes on",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.advance(std::chrono::seconds{100});
          s.end();
        },
        after_one_pod({watch_request("5")})}},
      paged());
}

TEST_CASE("410 in its four places", "[watch]") {
  run({{"a list: at once again, consistently",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(410, "Expired", "too old");
          s.page(9, "", {pod_json("a", "1", 3)});
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"),
                       "! list /api/v1/pods: 410 Gone: too old, again at once", list_request(),
                       "+ a/1@3", watch_request("9")})},
       {"a version that the server has not reached yet is like one that is gone",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(504, "Timeout", "Too large resource version: 5, current: 4");
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"),
                       "! list /api/v1/pods: 504 Gateway Timeout: Too large resource version: 5, "
                       "current: 4, again at once",
                       list_request()})},
       {"the token of a further page: the whole list in one, not older than what was shown",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.page(8, "c1", {pod_json("b", "2", 6), pod_json("c", "3", 7)});
          s.refuse(410, "Expired", "token");
          s.page(9, "", {pod_json("b", "2", 6)});
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"), "+ b/2@6",
                       "+ c/3@7", page_request("c1"),
                       "! list /api/v1/pods: 410 Gone: token, again at once", full_list_request(),
                       "+ b/2@6", "- a/1", "- c/3", watch_request("9")})},
       {"opening a watch: back off, then list anew at the last version",
        [](WatchScript& s) {
          s.page(5, "", {});
          s.refuse(410, "Expired", "too old");
          s.wait();
        },
        {list_request(), "synced", watch_request("5"), "! watch /api/v1/pods: 410 Gone: too old",
         list_request("5")}},
       {"within a watch: back off, then list anew at the last version",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.page(9, "", {pod_json("b", "2", 6)});
        },
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: 410 Gone: too old", list_request("6"),
                       "+ b/2@6", "- a/1", watch_request("9")})}},
      paged());
}

TEST_CASE("lists that fail", "[watch]") {
  run({{"are tried again after a back-off",
        [](WatchScript& s) {
          s.refuse(500, "InternalError", "oh");
          s.wait();
          s.break_off(ErrorKind::kConnect);
          s.wait();
          s.page(5, "", {});
        },
        {list_request(), "! list /api/v1/pods: 500 Internal Server Error: oh", list_request(),
         "! list /api/v1/pods: broke", list_request(), "synced", watch_request("5")}},
       {"a further page is asked for again when the reason passes",
        [](WatchScript& s) {
          s.page(5, "c1", {pod_json("a", "1", 3)});
          s.refuse(429, "TooManyRequests", "busy");
          s.wait();
          s.page(5, "", {pod_json("b", "2", 4)});
        },
        {list_request(), "+ a/1@3", page_request("c1"),
         "! list /api/v1/pods: 429 Too Many Requests: busy", page_request("c1"), "+ b/2@4",
         "synced", watch_request("5")}},
       {"a further page is asked for again with the next credentials",
        [](WatchScript& s) {
          s.page(5, "c1", {pod_json("a", "1", 3)});
          s.refuse(401, "Unauthorized", "who?");
          s.wait();
          s.break_off(ErrorKind::kConfig);
          s.wait();
          s.page(5, "", {pod_json("b", "2", 4)});
        },
        {list_request(), "+ a/1@3", page_request("c1"),
         "! list /api/v1/pods: 401 Unauthorized: who?", page_request("c1"),
         "! list /api/v1/pods: broke", page_request("c1"), "+ b/2@4", "synced",
         watch_request("5")}},
       {"after objects of a broken relist only a consistent one will do",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.page(9, "c1", {pod_json("b", "2", 8)});
          s.refuse(403, "Forbidden", "no more");
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"), "+ b/2@8",
                       page_request("c1"), "! list /api/v1/pods: 403 Forbidden: no more",
                       list_request()})},
       {"a page with an object that cannot be read delivers nothing and is not complete",
        [](WatchScript& s) {
          s.page(5, "", {pod_json("a", "1", 3), R"({"metadata":{"name":5}})"});
          s.wait();
          s.page(6, "", {pod_json("a", "1", 3)});
        },
        {list_request(),
         "! list /api/v1/pods: PodList: items[1]: Pod: metadata.name: must be a string, "
         "found a number",
         list_request(), "+ a/1@3", "synced", watch_request("6")}},
       {"a page without a version delivers nothing: no watch could go on from it",
        [](WatchScript& s) {
          s.answer(R"({"metadata":{},"items":[)" + pod_json("a", "1", 3) + "]}");
          s.wait();
          s.page(6, "", {pod_json("a", "1", 3)});
        },
        {list_request(),
         "! list /api/v1/pods: the list has no metadata.resourceVersion, from which to go on",
         list_request(), "+ a/1@3", "synced", watch_request("6")}},
       {"no answer within the deadline",
        [](WatchScript& s) {
          s.wait();
          s.wait();
        },
        {list_request(), "! list /api/v1/pods: the deadline has passed", list_request()}}},
      paged());
}

TEST_CASE("watches that fail", "[watch]") {
  run({{"an event without a version is not told: no watch could go on from it",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", R"({"metadata":{"name":"b","uid":"2"}})"));
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: an event has no metadata.resourceVersion, from which "
                       "to go on",
                       list_request("5")})},
       {"429 at opening: again without listing",
        [](WatchScript& s) {
          s.page(5, "", {});
          s.refuse(429, "TooManyRequests", "busy");
          s.wait();
        },
        {list_request(), "synced", watch_request("5"),
         "! watch /api/v1/pods: 429 Too Many Requests: busy", watch_request("5")}},
       {"connection refused at opening: again without listing",
        [](WatchScript& s) {
          s.page(5, "", {});
          s.break_off(ErrorKind::kConnect);
          s.wait();
        },
        {list_request(), "synced", watch_request("5"), "! watch /api/v1/pods: broke",
         watch_request("5")}},
       {"credentials that fail: again without listing",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.break_off(ErrorKind::kConnection);
          s.wait();
          s.refuse(401, "Unauthorized", "who?");
          s.wait();
          s.break_off(ErrorKind::kConfig);
          s.wait();
          s.open();
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
        },
        after_one_pod({"! watch /api/v1/pods: broke", watch_request("5"),
                       "! watch /api/v1/pods: 401 Unauthorized: who?", watch_request("5"),
                       "! watch /api/v1/pods: broke", watch_request("5"), "+ b/2@6"})},
       {"403 at opening: again without listing, and listed anew once that has lasted",
        [](WatchScript& s) {
          s.page(5, "", {});
          s.refuse(403, "Forbidden");
          s.advance(std::chrono::seconds{30});
          s.refuse(403, "Forbidden");
          s.wait();
        },
        {list_request(), "synced", watch_request("5"), "! watch /api/v1/pods: 403 Forbidden: no",
         watch_request("5"), "! watch /api/v1/pods: 403 Forbidden: no", list_request("5")}},
       {"a broken connection: again from the last event",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", pod_json("b", "2", 6)));
          s.break_off(ErrorKind::kConnection);
          s.wait();
        },
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: broke", watch_request("6")})},
       {"silence beyond the idle limit: again from the last event",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.wait();
        },
        after_one_pod(
            {"! watch /api/v1/pods: nothing came for longer than the idle limit, again at once",
             watch_request("5")})},
       {"an end within the first second, without an event: list anew, later",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.end();
          s.wait();
        },
        after_one_pod(
            {"! watch /api/v1/pods: the server ended the watch at once", list_request("5")})},
       {"an end within an event: the event comes again",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", pod_json("b", "2", 6)).substr(0, 40));
          s.end();
          s.wait();
        },
        after_one_pod(
            {"! watch /api/v1/pods: the stream ended within an event", watch_request("5")})},
       {"an event that cannot be read: list anew, and nothing after it is delivered",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", R"({"metadata":{"name":5}})") +
                 event_line("ADDED", pod_json("b", "2", 7)));
          s.wait();
          s.page(8, "", {pod_json("a", "1", 3), pod_json("b", "2", 7)});
        },
        after_one_pod({"! watch /api/v1/pods: Pod: metadata.name: must be a string, found a number",
                       list_request("5"), "+ a/1@3", "+ b/2@7", watch_request("8")})},
       {"an ERROR event of a server in trouble: again without listing",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(500, "InternalError", "etcd"));
          s.wait();
        },
        after_one_pod(
            {"! watch /api/v1/pods: 500 Internal Server Error: etcd", watch_request("5")})},
       {"the same ERROR event again: list anew",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(500, "InternalError", "etcd"));
          s.wait();
          s.open();
          s.send(error_line(500, "InternalError", "etcd"));
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: 500 Internal Server Error: etcd", watch_request("5"),
                       "! watch /api/v1/pods: 500 Internal Server Error: etcd",
                       list_request("5")})}},
      paged());
}

TEST_CASE("what vanished between watches is found by a complete list alone", "[watch]") {
  const auto relist = [](WatchScript& s) {
    watch_one_pod(s);
    s.send(event_line("ADDED", pod_json("b", "2", 6)));
    s.send(error_line(410, "Expired", "too old"));
    s.wait();
  };
  const auto log = [](const Log& rest) {
    Log all =
        after_one_pod({"+ b/2@6", "! watch /api/v1/pods: 410 Gone: too old", list_request("6")});
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  run({{"not while pages are missing",
        [relist](WatchScript& s) {
          relist(s);
          s.page(9, "c1", {pod_json("c", "3", 8)});
        },
        log({"+ c/3@8", page_request("c1")})},
       {"an object on a later page is not gone",
        [relist](WatchScript& s) {
          relist(s);
          s.page(9, "c1", {pod_json("c", "3", 8)});
          s.page(9, "", {pod_json("b", "2", 6)});
        },
        log({"+ c/3@8", page_request("c1"), "+ b/2@6", "- a/1", watch_request("9")})},
       {"created anew under its name: the old one goes before the new one comes",
        [relist](WatchScript& s) {
          relist(s);
          s.page(9, "c1", {pod_json("a", "7", 8)});
          s.page(9, "", {pod_json("b", "2", 6)});
        },
        log({page_request("c1"), "+ b/2@6", "- a/1", "+ a/7@8", watch_request("9")})},
       {"created anew within a watch whose deletion was never seen",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(event_line("ADDED", pod_json("a", "7", 8)));
        },
        after_one_pod({"- a/1", "+ a/7@8"})}},
      paged());
}

TEST_CASE("streamed lists", "[watch]") {
  run({{"end with the bookmark that says so, and go on as a watch",
        [](WatchScript& s) {
          s.open();
          s.send(event_line("ADDED", pod_json("a", "1", 3)) + bookmark_line(4));
          s.send(event_line("ADDED", pod_json("b", "2", 2)));
          s.send(bookmark_line(5, true));
          s.send(event_line("MODIFIED", pod_json("a", "1", 6)));
          s.end();
        },
        {stream_request(), "+ a/1@3", "+ b/2@2", "synced", "+ a/1@6", watch_request("6")}},
       {"a server that refuses them is listed in pages",
        [](WatchScript& s) {
          s.refuse(422, "Invalid", "sendInitialEvents is forbidden");
          s.page(5, "", {pod_json("a", "1", 3)});
        },
        {stream_request(),
         "! watch /api/v1/pods: 422 Unprocessable Entity: sendInitialEvents is forbidden, again "
         "at once",
         list_request(), "+ a/1@3", "synced", watch_request("5")}},
       {"429: the stream again, later",
        [](WatchScript& s) {
          s.refuse(429, "TooManyRequests", "busy");
          s.wait();
        },
        {stream_request(), "! watch /api/v1/pods: 429 Too Many Requests: busy", stream_request()}},
       {"an internal error: pages, later",
        [](WatchScript& s) {
          s.open();
          s.send(error_line(500, "InternalError", "oh"));
          s.wait();
        },
        {stream_request(), "! watch /api/v1/pods: 500 Internal Server Error: oh", list_request()}},
       {"a watch cache that does not come up to date: pages, later if the server says so",
        [](WatchScript& s) {
          s.open();
          s.send(error_line(504, "Timeout", "Too large resource version: 5, current: 4", 1));
          s.wait();
          s.page(5, "", {pod_json("a", "1", 3)});
          s.open();
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(504, "Timeout", "Too large resource version: 5, current: 4");
          s.refuse(504, "Timeout", "Too large resource version: 6, current: 4");
        },
        {stream_request(),
         "! watch /api/v1/pods: 504 Gateway Timeout: Too large resource version: 5, current: 4",
         list_request(), "+ a/1@3", "synced", watch_request("5"),
         "! watch /api/v1/pods: 410 Gone: too old", stream_request("5"),
         "! watch /api/v1/pods: 504 Gateway Timeout: Too large resource version: 5, current: 4, "
         "again at once",
         stream_request(),
         "! watch /api/v1/pods: 504 Gateway Timeout: Too large resource version: 6, current: 4, "
         "again at once",
         list_request()}},
       {"connection refused: the stream again, later",
        [](WatchScript& s) {
          s.break_off(ErrorKind::kConnect);
          s.wait();
        },
        {stream_request(), "! watch /api/v1/pods: broke", stream_request()}},
       {"an expired version: the stream again, consistently",
        [](WatchScript& s) {
          s.open();
          s.send(event_line("ADDED", pod_json("a", "1", 3)) + bookmark_line(5, true));
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(410, "Expired", "too old");
          s.open();
          s.send(bookmark_line(9, true));
        },
        {stream_request(), "+ a/1@3", "synced", "! watch /api/v1/pods: 410 Gone: too old",
         stream_request("5"), "! watch /api/v1/pods: 410 Gone: too old, again at once",
         stream_request(), "- a/1"}},
       {"broken off before the end: pages, consistent for what the reader has seen",
        [](WatchScript& s) {
          s.open();
          s.send(event_line("ADDED", pod_json("a", "1", 3)) + bookmark_line(5, true));
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.open();
          s.send(event_line("ADDED", pod_json("b", "2", 8)));
          s.break_off(ErrorKind::kConnection);
          s.page(9, "", {pod_json("b", "2", 8)});
        },
        {stream_request(), "+ a/1@3", "synced", "! watch /api/v1/pods: 410 Gone: too old",
         stream_request("5"), "+ b/2@8", "! watch /api/v1/pods: broke, again at once",
         list_request(), "+ b/2@8", "- a/1", watch_request("9")}},
       {"a server that takes them for a plain watch never says that they end",
        [](WatchScript& s) {
          s.open();
          s.send(event_line("ADDED", pod_json("a", "1", 3)));
          s.advance(std::chrono::seconds{100});
          s.end();
        },
        {stream_request(), "+ a/1@3",
         "! watch /api/v1/pods: the streamed list ended before it was complete; listing in pages, "
         "again at once",
         list_request()}},
       {"created anew under its name and gone again before the end",
        [](WatchScript& s) {
          s.open();
          s.send(event_line("ADDED", pod_json("a", "1", 3)) + bookmark_line(5, true));
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.open();
          s.send(event_line("ADDED", pod_json("a", "7", 8)));
          s.send(event_line("DELETED", pod_json("a", "7", 9)));
          s.send(bookmark_line(9, true));
        },
        {stream_request(), "+ a/1@3", "synced", "! watch /api/v1/pods: 410 Gone: too old",
         stream_request("5"), "- a/1"}}},
      ReflectorOptions{});
}

TEST_CASE("kinds that a cluster may not have", "[watch]") {
  ReflectorOptions options = paged();
  options.optional = true;
  run({{"404: nothing exists; looked for every few minutes",
        [](WatchScript& s) {
          s.refuse(404, "NotFound");
          s.advance(std::chrono::seconds{179});
          s.advance(std::chrono::seconds{1});
          s.page(5, "", {pod_json("a", "1", 3)});
        },
        {list_request(), "! list /api/v1/pods: 404 Not Found: no", "synced", list_request(),
         "+ a/1@3", watch_request("5")}},
       {"404 later: all of it is gone once that has lasted",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(404, "NotFound");
          s.advance(std::chrono::seconds{30});
          s.refuse(404, "NotFound");
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"),
                       "! list /api/v1/pods: 404 Not Found: no", list_request("5"),
                       "! list /api/v1/pods: 404 Not Found: no", "- a/1", list_request()})},
       {"403 later: what was seen stays",
        [](WatchScript& s) {
          watch_one_pod(s);
          s.send(error_line(410, "Expired", "too old"));
          s.wait();
          s.refuse(403, "Forbidden");
          s.wait();
        },
        after_one_pod({"! watch /api/v1/pods: 410 Gone: too old", list_request("5"),
                       "! list /api/v1/pods: 403 Forbidden: no", list_request("5")})},
       {"any other failure counts as for every kind",
        [](WatchScript& s) {
          s.refuse(500, "InternalError");
          s.wait();
        },
        {list_request(), "! list /api/v1/pods: 500 Internal Server Error: no", list_request()}}},
      options);
}

}  // namespace
}  // namespace k8s
