// Credentials that a program prints (see exec_plugin.h); it is run again when they expire.
//
// The program runs beside the loop, one at a time however many requests wait for it. Its output is
// used until it expires; some time before, the program is run again while requests continue with
// the present credentials. A 401 makes these unusable and runs the program again, once: if the
// server refuses the new credentials, too, or the program fails, the next run waits, from a second
// up to a minute, and until then requests get the server's answer, or the program's error.
#pragma once

#include "k8s-client/auth/child_process.h"
#include "k8s-client/auth/exec_credential.h"
#include "k8s-client/auth/exec_plugin.h"
#include "k8s-client/auth/file_credentials.h"
#include "k8s-client/back_off.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace k8s::auth {

class PluginCredentials final : public Credentials {
 public:
  using WallClock = std::function<std::chrono::system_clock::time_point()>;
  using Run = std::function<std::unique_ptr<ChildProcess>(
      EventLoop& loop, const Command& command, std::function<void(Result<Finished>)> done)>;

  // The sources of time and processes.
  struct World {
    Now now = std::chrono::steady_clock::now;
    WallClock wall_clock = std::chrono::system_clock::now;
    Run run = run_process;
  };

  // `cluster_sources` have only the authorities.
  PluginCredentials(ExecPlugin plugin, ExecCluster cluster,
                    const CredentialSources& cluster_sources, World world);
  PluginCredentials(const PluginCredentials&) = delete;
  PluginCredentials& operator=(const PluginCredentials&) = delete;
  // Kills the program if it is running.
  ~PluginCredentials() override = default;

  [[nodiscard]] bool prepare(EventLoop& loop, std::function<void()> ready) override;
  [[nodiscard]] Result<std::optional<std::string>> bearer_token() override;
  [[nodiscard]] Result<TlsMaterial> tls() override;
  void rejected() override;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  // The output of the last successful run.
  struct Held {
    ExecCredential credential;
    TimePoint since;
    std::chrono::system_clock::time_point renew_at;  // undefined without an expiry
  };

  [[nodiscard]] bool is_expired() const;
  [[nodiscard]] bool is_usable() const { return held_ && !rejected_ && !is_expired(); }
  // The present credentials are unusable, or soon will be.
  [[nodiscard]] bool is_due() const;
  void run(EventLoop& loop);
  void on_finished(const Result<Finished>& finished);
  [[nodiscard]] Result<ExecCredential> credential_of(const Result<Finished>& finished) const;
  void hold(ExecCredential credential);
  void fail(Error error);
  // An error if there are no usable credentials.
  [[nodiscard]] Result<const ExecCredential*> current() const;

  const ExecPlugin plugin_;
  const ExecCluster cluster_;
  FileCredentials authorities_;
  World world_;
  BackOff back_off_;
  std::optional<Held> held_;
  bool rejected_ = false;         // the server refused `held_`
  std::optional<Error> failure_;  // of the last run
  TimePoint not_before_{};        // of the next run
  std::unique_ptr<ChildProcess> running_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace k8s::auth
