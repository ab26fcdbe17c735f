// gpu-scheduler: the composition root. It has the list of plugins, reads flags and configuration,
// and runs the live shell.
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/yaml/value.h"
#include "plugins/registry.h"
#include "scheduler/base/short_flags.h"
#include "scheduler/base/version.h"
#include "scheduler/config/config.h"
#include "scheduler/live/idle_flags.h"
#include "scheduler/live/log.h"
#include "scheduler/live/memory_limit.h"
#include "scheduler/live/record/recording_flags.h"
#include "scheduler/live/shell.h"
#include "scheduler/live/signals.h"
#include "scheduler/live/transports.h"
#include "scheduler/server/http_server.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace {

constexpr int kRuntimeFailure = 1;
constexpr int kBadUsage = 2;

struct Flags {
  std::string config;
  std::string kubeconfig;
  std::string record;
  sched::live::RecordingFlags recording;
  std::string flight_recording_dir;
  std::string memory_limit;
  std::string http_bind_address = "127.0.0.1:10251";
  int secure_port = 10259;
  std::string bind_address = "127.0.0.1";
  sched::server::CertificateFiles certificate;
  sched::config::LeaderElectionFlags leader_election;
  int verbosity = 0;
  std::string logging_format = "text";
  bool ui = false;
  bool answers = false;
  bool check_config = false;
};

// As kube-scheduler's.
void add_leader_election_flags(CLI::App& app, sched::config::LeaderElectionFlags& flags) {
  app.add_option("--leader-elect", flags.leader_elect,
                 "Schedule only while holding a lease, so that several replicas may run")
      ->type_name("BOOL")
      ->expected(0, 1)
      ->default_str("true");
  app.add_option("--leader-elect-lease-duration", flags.lease_duration,
                 "How long a lease that is not renewed keeps others from leading; whole seconds "
                 "[15s]")
      ->type_name("DURATION");
  app.add_option("--leader-elect-renew-deadline", flags.renew_deadline,
                 "How long a leader tries to renew before it gives up [10s]")
      ->type_name("DURATION");
  app.add_option("--leader-elect-retry-period", flags.retry_period,
                 "How often the lease is renewed or looked at [2s]")
      ->type_name("DURATION");
  app.add_option("--leader-elect-resource-lock", flags.resource_lock, "Only leases")
      ->type_name("KIND");
  app.add_option("--leader-elect-resource-name", flags.resource_name,
                 "The lease's name [gpu-scheduler]")
      ->type_name("NAME");
  app.add_option("--leader-elect-resource-namespace", flags.resource_namespace,
                 "The lease's namespace [gpu-scheduler]")
      ->type_name("NAMESPACE");
}

// As kube-scheduler's, except that no probes are served there, and that the default address is
// 127.0.0.1.
void add_secure_serving_flags(CLI::App& app, Flags& flags) {
  app.add_option(
         "--secure-port", flags.secure_port,
         "Where /metrics, /explain, /candidates and /debug/recording are served over HTTPS, "
         "to those who may get them there; 0: nowhere")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535))
      ->take_last()
      ->capture_default_str();
  app.add_flag("--ui", flags.ui,
               "Serve a page for browsers at --secure-port, too, below /ui; `kubectl gpu ui` opens "
               "it");
  app.add_flag(
      "--answers", flags.answers,
      "Say at --secure-port, too, below /answers, why a pod waits, to those who may get the "
      "pods of its namespace; `kubectl gpu why` asks there where it may not list the "
      "cluster");
  app.add_option("--bind-address", flags.bind_address, "The address of --secure-port")
      ->type_name("IP")
      ->capture_default_str();
  auto* certificate =
      app.add_option("--tls-cert-file", flags.certificate.certificate,
                     "Certificate of --secure-port in PEM, then those that lead to its authority; "
                     "read again when it changes. Absent: a self-signed certificate is made")
          ->type_name("FILE");
  auto* key = app.add_option("--tls-private-key-file", flags.certificate.key, "Its key, in PEM")
                  ->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
}

void add_recording_flags(CLI::App& app, Flags& flags) {
  app.add_option(
         "--record", flags.record,
         "Write the engine's input and decisions, for `bench replay --recording FILE`; ends "
         "when FILE cannot be written or is full, and scheduling goes on")
      ->type_name("FILE");
  app.add_option("--record-limit", flags.recording.record_limit,
                 "How large that file may become; 0: without limit")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--flight-recording", flags.recording.flight_recording,
                 "How much memory the recording of the last hour may take, which is served at "
                 "/debug/recording and written at SIGUSR1; 0: there is none")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--flight-recording-age", flags.recording.flight_recording_age,
                 "How far back it goes, where the memory is enough")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--flight-recording-dir", flags.flight_recording_dir,
                 "Where it is written at SIGUSR1; the last four files are kept. Absent: nowhere")
      ->type_name("DIR");
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "KubeSchedulerConfiguration; absent: the default one")
      ->type_name("FILE");
  app.add_option(
         "--kubeconfig", flags.kubeconfig,
         "How to reach the cluster. Absent: the configuration's clientConnection.kubeconfig, "
         "else $KUBECONFIG, else the service account of the pod it runs in, else "
         "~/.kube/config")
      ->type_name("FILE");
  app.add_option("--http-bind-address", flags.http_bind_address,
                 "Where /healthz, /livez and /readyz are served, to everybody; 0: nowhere")
      ->type_name("IP:PORT")
      ->capture_default_str();
  app.add_option("--memory-limit", flags.memory_limit,
                 "How much memory the process may take: it stores answers within a part of it. "
                 "Absent: what its cgroup allows")
      ->type_name("SIZE");
  app.add_option("-v,--v", flags.verbosity, "Log verbosity; 4 and more add details")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10));
  app.add_option("--logging-format", flags.logging_format,
                 "\"text\", or \"json\": each line of the log an object")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_flag(
      "--check-config", flags.check_config,
      "Read the configuration, say what is wrong; of the other flags those of leader "
      "election, memory, recordings and the log, --http-bind-address and --bind-address are looked "
      "at");
  add_recording_flags(app, flags);
  add_leader_election_flags(app, flags.leader_election);
  add_secure_serving_flags(app, flags);
  app.set_version_flag("--version", fmt::format("gpu-scheduler {}", sched::kVersion));
}

// Prints the error to stderr, where the caller of the program reads it.
int fail(int code, const std::string& message) {
  fmt::print(stderr, "gpu-scheduler: {}\n", message);
  return code;
}

// The flag has precedence over the configuration.
k8s::Result<k8s::ClusterAccess> cluster_of(const std::string& flag, const std::string& configured) {
  auto cluster = k8s::find_cluster(flag.empty() ? configured : flag);
  if (cluster) cluster->user_agent = fmt::format("gpu-scheduler/{}", sched::kVersion);
  return cluster;
}

// "IP:PORT"; an IPv6 address in brackets.
std::string secure_address(const Flags& flags) {
  const bool is_v6 = flags.bind_address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", flags.bind_address, flags.secure_port)
               : fmt::format("{}:{}", flags.bind_address, flags.secure_port);
}

k8s::Result<void> check_addresses(const Flags& flags) {
  using sched::server::HttpServer;
  if (flags.http_bind_address != "0") {
    if (const auto checked = HttpServer::check_address(flags.http_bind_address); !checked) {
      return tl::unexpected(k8s::with_context(checked.error(), "--http-bind-address"));
    }
  }
  if (const auto checked = HttpServer::check_address(secure_address(flags)); !checked) {
    return k8s::config_error(
        fmt::format("--bind-address: \"{}\" is no IP address", flags.bind_address));
  }
  return {};
}

// Whether the command line has the flag; "--ui=false" is as if it had not.
bool is_given(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = app.get_option(flag);
  return !option->empty() && option->as<std::string>() != "false";
}

std::optional<std::string> idle_flag(const CLI::App& app, const Flags& flags,
                                     bool flight_recording) {
  return sched::live::idle_flag({.secure_port = flags.secure_port != 0,
                                 .record = !flags.record.empty(),
                                 .flight_recording = flight_recording,
                                 .flight_recording_dir = !flags.flight_recording_dir.empty()},
                                [&](const std::string& flag) { return is_given(app, flag); });
}

int run(sched::live::ShellOptions options) {
  sched::live::block_signals();
  auto shell = sched::live::Shell::create(std::move(options));
  if (!shell) {
    const bool usage = shell.error().kind == k8s::ErrorKind::kConfig;
    return fail(usage ? kBadUsage : kRuntimeFailure, shell.error().message);
  }
  const sched::live::Signals signals(
      [&](int signal) { (*shell)->shut_down(fmt::format("signal {}", signal)); },
      [&] { (*shell)->write_recording(); });
  return (*shell)->run() == sched::live::Shell::End::kShutDown ? 0 : kRuntimeFailure;
}

int tell_checked(const Flags& flags, const sched::config::Configuration& config) {
  fmt::print("{}: no mistake found\n",
             flags.config.empty() ? "default configuration" : flags.config);
  for (const sched::Profile& profile : config.profiles) {
    fmt::print("profile {}: {} filters, {} scores, {} rules across nodes\n", profile.scheduler_name,
               profile.filters.size(), profile.scores.size(), profile.constraints.size());
  }
  fmt::print("not looked at: kubeconfig, credentials, the cluster\n");
  return 0;
}

void tell_memory(const sched::live::MemoryLimit& limit, const sched::EngineMemory& memory) {
  sched::live::LogLine line("memory");
  if (limit.bytes) line.with("limit_bytes", *limit.bytes);
  line.with("limit_from", limit.from)
      .with("answers_bytes", memory.shapes)
      .with("counts_bytes", memory.counts)
      .info();
}

int start(const CLI::App& app, const Flags& flags) {
  const auto format = sched::live::log_format(flags.logging_format);
  if (!format) {
    return fail(kBadUsage,
                fmt::format("--logging-format: \"{}\" is no format; it must be text or json",
                            flags.logging_format));
  }
  // Only once: what is recorded must be exactly what was read.
  k8s::Result<std::string> text;
  if (!flags.config.empty()) text = k8s::yaml::read_file(flags.config);
  if (!text) return fail(kBadUsage, text.error().message);
  auto config = sched::config::parse(
      *text, flags.config.empty() ? "default configuration" : flags.config, plugins::registry());
  if (!config) return fail(kBadUsage, config.error().message);
  if (const auto built = sched::live::check_transport(config->client_connection); !built) {
    return fail(kBadUsage, flags.config + ": " + built.error().message);
  }
  const auto election = sched::config::with_flags(config->leader_election, flags.leader_election);
  if (!election) return fail(kBadUsage, election.error().message);
  config->leader_election = *election;
  if (const auto addresses = check_addresses(flags); !addresses) {
    return fail(kBadUsage, addresses.error().message);
  }
  const auto record_limit = sched::live::record_limit(flags.recording);
  if (!record_limit) return fail(kBadUsage, record_limit.error().message);
  const auto flight_recording = sched::live::flight_recording(flags.recording);
  if (!flight_recording) return fail(kBadUsage, flight_recording.error().message);
  const auto idle = idle_flag(app, flags, flight_recording->has_value());
  if (idle) return fail(kBadUsage, *idle);
  const auto memory = sched::live::memory_limit(flags.memory_limit);
  if (!memory) return fail(kBadUsage, memory.error().message);
  config->engine.memory = sched::live::engine_memory(*memory);
  sched::live::start_log(flags.verbosity, *format);
  for (const std::string& warning : config->warnings) sched::live::LogLine(warning).warning();
  if (flags.check_config) return tell_checked(flags, *config);
  const std::string configured = config->client_connection.kubeconfig;
  tell_memory(*memory, config->engine.memory);
  auto cluster = cluster_of(flags.kubeconfig, configured);
  if (!cluster) return fail(kBadUsage, cluster.error().message);
  sched::live::ShellOptions options{.configuration = std::move(*config),
                                    .cluster = std::move(*cluster),
                                    .http_bind_address = flags.http_bind_address,
                                    .secure_port = {},
                                    .record_file = flags.record,
                                    .record_limit = *record_limit,
                                    .flight_recording = *flight_recording,
                                    .flight_recording_dir = flags.flight_recording_dir,
                                    .config_file = flags.config,
                                    .config_text = std::move(*text),
                                    .version = std::string(sched::kVersion),
                                    .ui = flags.ui,
                                    .answers = flags.answers};
  if (flags.secure_port != 0) {
    auto reviewer = cluster_of(flags.kubeconfig, configured);
    if (!reviewer) return fail(kBadUsage, reviewer.error().message);
    options.secure_port = {.address = secure_address(flags),
                           .certificate = flags.certificate,
                           .cluster = std::move(*reviewer)};
  }
  return run(std::move(options));
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Schedules the pods that name it onto nodes with GPUs.", "gpu-scheduler");
  Flags flags;
  add_flags(app, flags);
  try {
    auto arguments = sched::with_short_flags_split({argv + 1, argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  return start(app, flags);
} catch (const std::exception& error) {
  return fail(kRuntimeFailure, error.what());
}
