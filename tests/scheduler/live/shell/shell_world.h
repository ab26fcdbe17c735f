// A shell that runs on a thread of its own before an API server inside the test; what it logs, and
// its ports.
#pragma once

#include "scheduler/live/shell.h"
#include "tests/scheduler/live/shell/api_server.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tests {

// Of the scheduler's namespace; it lasts ten minutes. `holder`: empty: it was given back.
[[nodiscard]] k8s::Lease lease_of(const std::string& name, const std::string& holder);

// Waits end with the test's failure after a minute.
class ShellWorld {
 public:
  using Json = ApiServer::Json;

  // The API server has the lease of an earlier leader, which has given it back.
  ShellWorld();
  ShellWorld(const ShellWorld&) = delete;
  ShellWorld& operator=(const ShellWorld&) = delete;
  ~ShellWorld();

  ApiServer api;

  // For a shell before that server, with both ports. `config`: YAML; empty: the default.
  [[nodiscard]] sched::live::ShellOptions options(std::string_view config = {}) const;
  void start(sched::live::ShellOptions options);
  void start() { start(options()); }
  [[nodiscard]] sched::live::Shell& shell() { return *shell_; }
  // Waits until it has ended.
  sched::live::Shell::End end();
  sched::live::Shell::End shut_down();

  // Waits for the first write to a path with that end; its body.
  Json write(const std::string& method, const std::string& path_end, std::size_t number = 1);
  [[nodiscard]] std::size_t writes(const std::string& method, const std::string& path_end) const;
  // Waits for an event about an object of that name.
  Json event(const std::string& reason, const std::string& name);
  // Waits for a line in the log that contains these words.
  std::string line(const std::string& words);
  [[nodiscard]] bool has_line(const std::string& words);

  // What its ports answer, with the head: /readyz and so on; /metrics, /explain and so on.
  std::string probe(const std::string& target);
  std::string secure(const std::string& target);

 private:
  void changed();
  std::uint16_t port(const std::string& name);
  template <typename Found>
  Found wait(const std::string& what, const std::function<std::optional<Found>()>& find);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::shared_ptr<spdlog::logger> log_before_;
  std::unique_ptr<sched::live::Shell> shell_;
  std::optional<sched::live::Shell::End> end_;  // once it has ended
  std::thread thread_;
};

}  // namespace tests
