// A reflector of pods with a script as its server, and the log of all that passes between them.
//
// The log is the test's result: requests as ">" lines, what the reader is told as "+" (upsert), "-"
// (deletion), "synced", "!" (problem) and "?" (an object put aside) lines, in their order. What has
// a node stands in for itself where it cannot be read.
#pragma once

#include "k8s-client/watch/reflector.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tests {

// Wire text.
[[nodiscard]] std::string pod_json(const std::string& name, const std::string& uid, int version);
[[nodiscard]] std::string event_line(const std::string& type, const std::string& object);
[[nodiscard]] std::string bookmark_line(int version, bool initial_events_end = false);
[[nodiscard]] std::string error_line(int code, const std::string& reason,
                                     const std::string& message, int retry_after = 0);
[[nodiscard]] std::string list_body(int version, const std::string& continue_token,
                                    const std::vector<std::string>& items);
[[nodiscard]] std::string status_body(int code, const std::string& reason,
                                      const std::string& message);

// Expected requests, as they appear in the log. A timeoutSeconds between 240 and 290 reads "T".
[[nodiscard]] std::string list_request(const std::string& version = "");
[[nodiscard]] std::string page_request(const std::string& continue_token);
[[nodiscard]] std::string full_list_request();
[[nodiscard]] std::string watch_request(const std::string& version);
[[nodiscard]] std::string stream_request(const std::string& version = "");

// Of a reflector that lists in pages, for servers that stream no lists.
[[nodiscard]] k8s::ReflectorOptions paged();

class WatchScript {
 public:
  explicit WatchScript(k8s::ReflectorOptions options);

  // ---- what the server does with the oldest open request

  void page(int version, const std::string& continue_token, const std::vector<std::string>& items);
  void refuse(int code, const std::string& reason, const std::string& message = "no",
              k8s::Headers headers = {});
  void answer(const std::string& body);  // 200 and whatever this is
  void open(k8s::Headers headers = {});
  void send(const std::string& text);  // on the open stream
  void end();
  void break_off(k8s::ErrorKind kind);

  // ---- time

  // Until the next timer: the end of a back-off, or of an idle limit.
  void wait() {
    loop_.advance_to_next_timer();
    take_requests();
  }
  void advance(std::chrono::milliseconds delta) {
    loop_.advance(delta);
    take_requests();
  }

  void start();
  [[nodiscard]] k8s::Reflector<k8s::Pod>& reflector() { return *reflector_; }
  [[nodiscard]] ManualLoop& loop() { return loop_; }
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }
  // Everything the observer was told: "LIST 200".
  [[nodiscard]] const std::vector<std::string>& observed() const { return observed_; }
  // What on_presence was told.
  [[nodiscard]] const std::vector<bool>& presence() const { return presence_; }
  // How often on_recovered came.
  [[nodiscard]] int recoveries() const { return recoveries_; }
  [[nodiscard]] std::chrono::milliseconds last_delay() const { return last_delay_; }

 private:
  void take_requests();

  ManualLoop loop_;
  FakeTransport transport_;
  std::vector<std::string> log_;
  std::vector<std::string> observed_;
  std::vector<bool> presence_;
  int recoveries_ = 0;
  std::chrono::milliseconds last_delay_{0};
  std::shared_ptr<FakeCall> call_;
  std::unique_ptr<k8s::Reflector<k8s::Pod>> reflector_;
};

// What a server does, and the log that it leaves.
struct WatchCase {
  const char* name;
  std::function<void(WatchScript&)> play;
  std::vector<std::string> want;
};
// Each as a section, from the start of a reflector of its own.
void run(const std::vector<WatchCase>& cases, const k8s::ReflectorOptions& options);

// Lists one pod at version 5 and opens the watch.
void watch_one_pod(WatchScript& script, const k8s::Headers& headers = {});
// What watch_one_pod() leaves in the log, and what comes after it.
[[nodiscard]] std::vector<std::string> after_one_pod(const std::vector<std::string>& rest);

}  // namespace tests
