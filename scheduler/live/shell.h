// The live scheduler: the engine connected to a cluster.
//
// Two threads do the work. The I/O thread (the event loop's, which calls run()) communicates with
// the API server: watches become events, decisions become API calls, outcomes become events again.
// The engine's thread decides. They communicate by queues; nothing is shared. Binds go out first,
// then conditions, then events. A third thread serves metrics and answers questions about pods
// (secure_port.h); its questions to the engine go through a queue, too (questions/).
//
// With leader election it is a standby until it leads (leadership/leadership.h). It ends at once
// when it loses the lease: binds that were sent have been carried out, or never will be, before
// another leader begins. It also ends, leading or not, when the lease shows that etcd was restored
// from a backup (k8s-client/leader_election/election.h). Without leader election it writes a lease
// of its own for that alone (k8s-client/leader_election/store_mark.h).
//
// Shutdown: nothing more is decided, the outcome of binds and evictions that were sent is awaited,
// then conditions are written, the lease is given back and events are written, all within a time
// limit (shell/shutdown.h). What was decided but not sent stays pending, for the next process. If
// an outcome is not known in time, the lease is not given back: it expires. If a host name
// is being resolved when the loop ends, the process waits for the resolver: some seconds if the
// name server does not answer. Nothing is sent during that time.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "scheduler/config/config.h"
#include "scheduler/live/record/flight_recorder.h"
#include "scheduler/live/secure_port.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace sched::live {

struct ShellOptions {
  config::Configuration configuration;
  k8s::ClusterAccess cluster;
  std::string http_bind_address;                                 // for probes; "0": no server
  std::optional<SecurePortOptions> secure_port;                  // nullopt: no such port
  std::string record_file;                                       // empty: no recording
  std::size_t record_limit = 0;                                  // of that file, in bytes; 0: none
  std::optional<FlightRecorder::Options> flight_recording = {};  // nullopt: none
  std::string flight_recording_dir = {};  // where SIGUSR1 writes it; empty: nowhere
  std::string config_file;                // what a recording says of its configuration
  std::string config_text;
  std::string version;   // of the program, for the metrics
  bool ui = false;       // whether the secure port serves the page at /ui
  bool answers = false;  // whether it serves answers for tenants at /answers
};

class Shell {
 public:
  // Opens what can fail at once: the recording and the ports.
  [[nodiscard]] static k8s::Result<std::unique_ptr<Shell>> create(ShellOptions options);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  enum class End {
    kShutDown,  // it was requested, and is done
    kLost,      // another process may lead now, or the store was set back
  };
  // Schedules until one of these happens.
  [[nodiscard]] End run();
  // Thread-safe; the first call counts.
  void shut_down(const std::string& reason);
  // Writes the flight recording into a file, and logs where. Thread-safe.
  void write_recording();

 private:
  class Parts;
  explicit Shell(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched::live
