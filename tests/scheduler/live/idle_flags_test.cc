#include "scheduler/live/idle_flags.h"

#include "tests/support/catch.h"

#include <set>
#include <string>
#include <vector>

namespace {

using sched::live::SwitchedOn;

TEST_CASE("flags without effect are refused") {
  struct Flags {
    std::set<std::string> given;
    SwitchedOn on;
    const char* want;  // empty: nothing is wrong
  };
  const std::vector<Flags> cases = {
      {{}, {}, ""},
      {{"--ui"}, {}, "--ui has no effect: --secure-port is 0"},
      {{"--answers"}, {}, "--answers has no effect: --secure-port is 0"},
      {{"--tls-cert-file", "--tls-private-key-file"},
       {},
       "--tls-cert-file has no effect: --secure-port is 0"},
      {{"--tls-private-key-file"}, {}, "--tls-private-key-file has no effect: --secure-port is 0"},
      {{"--ui", "--answers", "--tls-cert-file", "--tls-private-key-file"},
       {.secure_port = true},
       ""},
      {{"--bind-address"}, {}, ""},
      {{"--record-limit"},
       {.secure_port = true, .flight_recording = true},
       "--record-limit has no effect: --record is not given"},
      {{"--record", "--record-limit"}, {.record = true}, ""},
      {{"--flight-recording-age"},
       {.secure_port = true, .record = true},
       "--flight-recording-age has no effect: --flight-recording is 0"},
      {{"--flight-recording-dir"},
       {.secure_port = true, .flight_recording_dir = true},
       "--flight-recording-dir has no effect: --flight-recording is 0"},
      {{"--flight-recording"}, {}, ""},  // 0
      {{"--flight-recording"},
       {.flight_recording = true},
       "--flight-recording has no effect: nothing can read the recording: --secure-port is 0 and "
       "--flight-recording-dir is not given"},
      {{"--flight-recording"}, {.secure_port = true, .flight_recording = true}, ""},
      {{"--flight-recording", "--flight-recording-age", "--flight-recording-dir"},
       {.flight_recording = true, .flight_recording_dir = true},
       ""},
  };
  for (const Flags& each : cases) {
    const auto wrong = sched::live::idle_flag(
        each.on, [&](const std::string& flag) { return each.given.contains(flag); });
    INFO(each.want);
    CHECK(wrong.value_or("") == each.want);
  }
}

}  // namespace
