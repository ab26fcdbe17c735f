// The live scheduler: the engine, beside a cluster.
//
// Two threads do the work. The I/O thread (the event loop's, the one that calls run()) talks to the
// API server: watches become events, decisions become API calls, outcomes become events again. The
// engine's thread decides. Between them go queues, nothing is shared. Binds go out first, then
// conditions, then events. A third thread serves metrics and answers questions about pods
// (shell/secure_port.h); what it asks of the engine goes between them, too (questions/).
//
// With leader election it stands by until it leads (leadership/leadership.h), and ends at once when
// it loses the lease: binds that were sent have landed, or never will, before another one begins.
// Likewise, leading or not, when the lease shows that etcd was restored from a backup
// (k8s-client/leader_election/election.h).
//
// Shutdown: nothing more is decided, binds that were sent are seen through to their outcome, then
// conditions are written, the lease is given back and events are written, all within a time limit
// (shell/shutdown.h).
// What was decided but not sent stays pending, for the next process. A bind that could not be
// settled in time keeps the lease from being given back: it expires. A name that is being resolved
// when the loop has ended is waited for, some seconds where the name server does not answer;
// nothing is sent any more then.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "scheduler/config/config.h"
#include "scheduler/live/shell/secure_port.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace sched::live {

struct ShellOptions {
  config::Configuration configuration;
  k8s::ClusterAccess cluster;
  std::string http_bind_address;                 // for probes; "0": no server
  std::optional<SecurePortOptions> secure_port;  // nullopt: no such port
  std::string record_file;                       // empty: no recording
  std::string config_file;                       // what a recording says of its configuration
  std::string config_text;
  std::string version;  // of the program, for the metrics
  bool ui = false;      // whether the secure port serves the page at /ui
};

class Shell {
 public:
  // Opens what can fail at once: the recording and the ports.
  [[nodiscard]] static k8s::Result<std::unique_ptr<Shell>> create(ShellOptions options);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  enum class End {
    kShutDown,        // it was asked for, and is done
    kLeadershipLost,  // another process may lead now
  };
  // Schedules until one of these.
  [[nodiscard]] End run();
  // Thread-safe; the first call counts.
  void shut_down(const std::string& reason);

 private:
  class Parts;
  explicit Shell(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched::live
