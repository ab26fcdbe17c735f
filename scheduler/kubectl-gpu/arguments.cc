#include "scheduler/kubectl-gpu/arguments.h"

#include "scheduler/base/short_flags.h"
#include "scheduler/kubectl-gpu/given_flags.h"
#include "scheduler/kubectl-gpu/run.h"
#include "scheduler/kubectl-gpu/text_out.h"
#include "scheduler/kubectl-gpu/ui/ask_scheduler.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched::kubectl {
namespace {

void add_flags(CLI::App& app, Options& options) {
  app.add_option("--from,-f,--filename", options.from,
                 "A file that `kubectl get -o json` printed, or a manifest, in place of a cluster; "
                 "may be repeated")
      ->allow_extra_args(false)  // what follows the file may be the name of the pod
      ->type_name("FILE");
  app.add_option("--kubeconfig", options.kubeconfig, "How to reach the cluster")->type_name("FILE");
  app.add_option("--context", options.context, "The kubeconfig's context")->type_name("NAME");
  app.add_option("--config", options.config,
                 "The scheduler's KubeSchedulerConfiguration; absent: the default one")
      ->type_name("FILE");
  app.add_option("-n,--namespace", options.namespace_, "Only pods of this namespace");
  app.add_flag("-A,--all-namespaces", options.all_namespaces,
               "Pods of all namespaces, as without -n");
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& format) {
           if (format != "json" && format != "wide") {
             throw CLI::ValidationError("--output", "want json or wide, not " + format);
           }
           options.output = format == "json" ? Output::kJson : Output::kWide;
         },
         "json or wide")
      ->type_name("FORMAT");
  app.add_flag("-w,--watch", options.watch, "Again every 5 s");
}

CLI::App* add_command(CLI::App& app, Options& options, Command command, const std::string& name,
                      const std::string& what) {
  CLI::App* added = app.add_subcommand(name, what);
  added->fallthrough();
  added->callback([&options, command] { options.command = command; });
  return added;
}

void add_plan(CLI::App& app, Options& options) {
  CLI::App* plan =
      add_command(app, options, Command::kPlan, "plan",
                  "What would start if something were different; writes nothing. "
                  "Exits 3 where pods of the files, or of drained nodes, would wait, or "
                  "a drain keeps others from starting");
  plan->add_option("-f,--filename,--quota", options.manifests,
                   "A manifest: pods and what creates pods, nodes, quotas, storage")
      ->allow_extra_args(false)
      ->type_name("FILE");
  plan->add_option("--add", options.added_nodes,
                   "Nodes more, like one that is there: H100x8=2, or NODE=2")
      ->allow_extra_args(false)
      ->type_name("KIND=COUNT");
  plan->add_option("--drain", options.drained_nodes, "A node that is drained")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NODE");
}

// How the scheduler that runs is asked.
void add_way_to_scheduler(CLI::App& command, SchedulerOptions& options) {
  command
      .add_option("--token-file", options.token_file,
                  "A token for the scheduler, where the kubeconfig has none")
      ->type_name("FILE");
  command.add_option("--scheduler-namespace", options.leader.namespace_, "Where its pods are")
      ->type_name("NAMESPACE")
      ->capture_default_str();
  command.add_option("--lease", options.leader.lease, "The lease, whose holder is asked")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--lease-namespace", options.leader.lease_namespace,
                  "Where its lease is, if not beside its pods (leaderElection.resourceNamespace)")
      ->type_name("NAMESPACE");
  command.add_option("--secure-port", options.leader.port, "Its --secure-port")
      ->type_name("PORT")
      ->capture_default_str();
  auto* server =
      command
          .add_option("--server", options.server,
                      "Ask this one, without the API server in between: https://HOST:PORT")
          ->type_name("URL");
  command
      .add_option("--server-ca", options.server_ca,
                  "What --server's certificate is verified with; absent: the system's authorities")
      ->type_name("FILE")
      ->needs(server);
  command
      .add_flag("--insecure-skip-tls-verify", options.insecure_skip_verify,
                "Send the token to --server whatever certificate it shows")
      ->needs(server);
}

void add_ask(CLI::App& command, Options& options) {
  command.add_flag("--ask", options.ask,
                   "Ask the scheduler first, which has the answer at once; it is shown your token. "
                   "So does --server");
}

// A command that the scheduler answers, too.
CLI::App* add_answered_command(CLI::App& app, Options& options, Command command,
                               const std::string& name, const std::string& what) {
  CLI::App* added = add_command(app, options, command, name, what);
  add_way_to_scheduler(*added, options.scheduler);
  return added;
}

void add_ui(CLI::App& app, Options& options) {
  CLI::App* ui = add_command(app, options, Command::kUi, "ui",
                             "The scheduler's page in a browser: prints its URL on this machine, "
                             "and serves it with your credentials until it is ended");
  ui->add_option("--port", options.ui_port, "The port on 127.0.0.1; 0: any that is free")
      ->type_name("PORT");
  add_way_to_scheduler(*ui, options.scheduler);
}

void add_commands(CLI::App& app, Options& options) {
  add_way_to_scheduler(app, options.scheduler);
  add_ask(app, options);
  options.scheduler.leader.role = kAnswersRole;
  CLI::App* why = add_answered_command(
      app, options, Command::kWhy, "why",
      "Why a pod waits, or is where it is. Asks the scheduler where you may not list what the "
      "answer needs");
  why->add_option("POD", options.pod, "pod/NAME")->required();
  add_ask(*why, options);
  add_command(app, options, Command::kNodes, "nodes",
              "Each node's GPUs; with -o wide who has them, with -n where pods of that namespace "
              "have some");
  add_answered_command(
      app, options, Command::kQueue, "queue",
      "The pods that wait, in the order of turns. Asks the scheduler, that of "
      "--server if it is given, only where you may not list what the answer needs");
  add_answered_command(app, options, Command::kQuota, "quota",
                       "What each GpuQuota has, uses, lends and borrows. Asks the scheduler, that "
                       "of --server if it is given, only where you may not list what the answer "
                       "needs");
  add_plan(app, options);
  add_ui(app, options);
}

// Of arguments that nothing takes.
std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> extra = app.remaining(true);
  const std::string first = extra.empty() ? "" : extra.front();
  const auto commands = app.get_subcommands();
  if (first.starts_with('-')) return "there is no flag " + first;
  if (!commands.empty()) {
    return fmt::format("{} takes no argument {}", commands.front()->get_name(), first);
  }
  return fmt::format("there is no command {}; there are why, nodes, queue, quota, plan and ui",
                     first);
}

// "pod/NAME", "pods/NAME", "po/NAME" or "NAME".
std::string name_of_pod(const std::string& argument) {
  for (const std::string_view kind : {"pod/", "pods/", "po/"}) {
    if (argument.starts_with(kind)) return argument.substr(kind.size());
  }
  return argument;
}

// Leaves the name alone. As tables have it, "NAMESPACE/NAME", it gives the namespace, too, if no
// flag does.
void read_name(Options& options) {
  options.pod = name_of_pod(options.pod);
  const auto slash = options.pod.find('/');
  if (slash == std::string::npos) return;
  if (options.namespace_.empty()) options.namespace_ = options.pod.substr(0, slash);
  options.pod.erase(0, slash + 1);
}

// What is wrong with flags that would have no effect; empty: all have one.
std::string without_effect(const Options& options) {
  const bool asks_first = options.command == Command::kOverview || options.command == Command::kWhy;
  if (options.ask && !asks_first) {
    return "--ask is for kubectl gpu and kubectl gpu why; no other command asks the scheduler "
           "first";
  }
  if (options.command == Command::kUi) {
    const bool has_some = !options.namespace_.empty() || options.all_namespaces || options.watch ||
                          options.output != Output::kTable || !options.config.empty();
    if (has_some) return "ui: the page shows all there is: leave out -n, -A, -o, -w and --config";
  }
  if (!options.from.empty() && (!options.kubeconfig.empty() || !options.context.empty())) {
    return "the files of --from are read in place of a cluster: leave out --kubeconfig and "
           "--context";
  }
  const std::string way = (options.ask ? " --ask" : "") + scheduler_flags(options.scheduler);
  if (way.empty() || options.command == Command::kUi) return {};
  if (options.command == Command::kNodes || options.command == Command::kPlan) {
    return "nodes and plan ask no scheduler: leave out" + way;
  }
  if (!options.from.empty()) {
    return "no scheduler is asked about the files of --from: leave out" + way;
  }
  if (options.ask && !options.config.empty()) {
    return "the scheduler has a configuration of its own: leave out --ask, or --config";
  }
  return {};
}

}  // namespace

std::optional<int> read_arguments(const std::vector<std::string>& arguments,
                                  std::string_view version, std::ostream& out, std::ostream& err,
                                  Options& options) {
  CLI::App app("The cluster's GPUs, and what gpu-scheduler makes of the pods that want them.",
               "kubectl gpu");
  add_flags(app, options);
  add_commands(app, options);
  app.require_subcommand(0, 1);
  app.failure_message([](const CLI::App* of, const CLI::Error& error) {
    const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return fmt::format("kubectl gpu: {}; kubectl gpu --help says more\n",
                       is_extra ? unexpected(*of) : error.what());
  });
  app.set_version_flag("--version", fmt::format("kubectl-gpu {}", version));
  try {
    std::vector<std::string> split = with_short_flags_split(arguments);
    std::reverse(split.begin(), split.end());  // as CLI11 wants them
    app.parse(std::move(split));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : kBadUsage;
  }
  options.user_agent = fmt::format("kubectl-gpu/{}", version);
  read_name(options);
  if (const std::string wrong = without_effect(options); !wrong.empty()) {
    TextOut(err) << "kubectl gpu: " << wrong << '\n';
    return kBadUsage;
  }
  return std::nullopt;
}

}  // namespace sched::kubectl
