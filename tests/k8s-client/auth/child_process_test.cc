// Real processes, from a real shell.
#include "k8s-client/auth/child_process.h"

#include "tests/support/catch.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>

using k8s::ErrorKind;
using namespace k8s::auth;
using namespace std::chrono_literals;

namespace {

Command shell(const std::string& script) {
  Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", script};
  return command;
}

// Runs the loop until every process that was started is gone, and nothing is left of it.
void run_until_no_children(k8s::EventLoop& loop) {
  std::function<void()> look = [&] {
    siginfo_t info{};
    const bool none = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
    if (none && errno == ECHILD) return loop.stop();
    loop.post(look);
  };
  loop.post(look);
  loop.run();
}

// Runs it to its end.
k8s::Result<Finished> result_of(const Command& command) {
  const auto loop = k8s::make_event_loop();
  std::optional<k8s::Result<Finished>> result;
  std::unique_ptr<ChildProcess> process;
  process = run_process(*loop, command, [&](k8s::Result<Finished> finished) {
    CHECK_FALSE(result.has_value());
    result = std::move(finished);
    process.reset();
    loop->stop();
  });
  CHECK_FALSE(result.has_value());  // not from within the call
  loop->run();
  run_until_no_children(*loop);
  return *result;
}

}  // namespace

TEST_CASE("child process: output, errors and how it ended") {
  struct Case {
    std::string name;
    std::string script;
    int exit_code;
    std::string output;
    std::string errors;
  };
  const auto c = GENERATE(values<Case>({
      {"nothing", ":", 0, "", ""},
      {"both", "echo out; echo err >&2", 0, "out\n", "err\n"},
      {"failure", "echo why >&2; exit 3", 3, "", "why\n"},
      {"signal", "kill -TERM $$", 128 + SIGTERM, "", ""},
      {"no input", "cat; echo end", 0, "end\n", ""},
      {"output closed long before the end", "exec >&-; exit 4", 4, "", ""},
      {"outlived by what it started", "sleep 600 & echo $$ >/dev/null; echo out", 0, "out\n", ""},
  }));
  CAPTURE(c.name);
  const auto finished = result_of(shell(c.script));
  if (!finished) FAIL(finished.error().message);
  CHECK(finished->exit_code == c.exit_code);
  CHECK(finished->output == c.output);
  CHECK(finished->errors == c.errors);
}

TEST_CASE("child process: arguments and environment are its own") {
  Command command = shell(R"(echo "$1|$A|$HOME|$#")");
  command.arguments.insert(command.arguments.end(), {"name", "a b'c", "second"});
  command.environment = {"A=x y", "B="};
  CHECK(result_of(command)->output == "a b'c|x y||2\n");
}

TEST_CASE("child process: neither our signal mask nor our files") {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto finished = result_of(shell("grep SigBlk /proc/self/status; ls /proc/self/fd | wc -l"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Four: the folder that ls reads is one.
  CHECK(finished->output == "SigBlk:\t0000000000000000\n4\n");
}

TEST_CASE("child process: large output, up to the limit") {
  Command command = shell("head -c 300000 /dev/zero; head -c 9000 /dev/zero >&2");
  CHECK(result_of(command)->output.size() == 300'000);
  CHECK(result_of(command)->errors.size() == 4096);
  command.output_limit = 299'999;
  const auto finished = result_of(command);
  REQUIRE_FALSE(finished.has_value());
  CHECK(finished.error().kind == ErrorKind::kDecode);
  CHECK_THAT(finished.error().message, Catch::Contains("more than 299999 bytes"));
}

TEST_CASE("child process: errors without end") {
  SECTION("end it") {
    const auto finished = result_of(shell("exec cat /dev/zero >&2"));
    REQUIRE_FALSE(finished.has_value());
    CHECK(finished.error().kind == ErrorKind::kDecode);
    CHECK_THAT(finished.error().message, Catch::Contains("more than 16777216 bytes of errors"));
  }
  SECTION("leave the loop time for other things") {
    const auto loop = k8s::make_event_loop();
    bool ended = false;
    const auto process =
        run_process(*loop, shell("exec cat /dev/zero >&2"), [&](const auto&) { ended = true; });
    int others = 0;
    std::function<void()> other = [&] {
      if (ended) return loop->stop();
      ++others;
      loop->post(other);
    };
    loop->post(other);
    loop->run();
    run_until_no_children(*loop);
    CHECK(others >= 16 * 1024 / 64);
  }
}

TEST_CASE("child process: what takes too long is killed, with what it started") {
  Command command = shell("sleep 600 & wait");
  command.time_limit = 50ms;
  const auto finished = result_of(command);
  REQUIRE_FALSE(finished.has_value());
  CHECK(finished.error().kind == ErrorKind::kTimeout);
  CHECK_THAT(finished.error().message, Catch::Contains("50 ms"));
}

TEST_CASE("child process: what cannot be started") {
  Command command;
  command.program = "/does/not/exist";
  const auto finished = result_of(command);
  REQUIRE_FALSE(finished.has_value());
  CHECK(finished.error().kind == ErrorKind::kConfig);
  CHECK_THAT(finished.error().message, Catch::Contains("No such file"));
}

TEST_CASE("child process: given up, it is killed and nothing is heard of it") {
  const auto loop = k8s::make_event_loop();
  bool called = false;
  auto process = run_process(*loop, shell("sleep 600"), [&](const auto&) { called = true; });
  process.reset();
  run_until_no_children(*loop);
  CHECK_FALSE(called);
}

TEST_CASE("child process: one that has left its process group is killed like any other") {
  Command command;
  command.program = "/usr/bin/perl";
  command.arguments = {"-e", "$| = 1; setpgrp(0, getpgrp(getppid())); print 'left'; sleep 600"};
  command.output_limit = 0;
  const auto finished = result_of(command);
  REQUIRE_FALSE(finished.has_value());
  CHECK_THAT(finished.error().message, Catch::Contains("more than 0 bytes"));
}
