#include "scheduler/kubectl-gpu/run.h"

#include "k8s-client/auth/cluster_access.h"
#include "plugins/registry.h"
#include "scheduler/answers/json.h"
#include "scheduler/answers/outlook.h"
#include "scheduler/answers/read_json.h"
#include "scheduler/config/config.h"
#include "scheduler/kubectl-gpu/added_nodes.h"
#include "scheduler/kubectl-gpu/arguments.h"
#include "scheduler/kubectl-gpu/given_flags.h"
#include "scheduler/kubectl-gpu/manifests.h"
#include "scheduler/kubectl-gpu/notes.h"
#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/kubectl-gpu/read_cluster.h"
#include "scheduler/kubectl-gpu/read_files.h"
#include "scheduler/kubectl-gpu/show.h"
#include "scheduler/kubectl-gpu/ui/ask_scheduler.h"
#include "scheduler/kubectl-gpu/ui/ui.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace sched::kubectl {
namespace {

constexpr std::chrono::seconds kWatchInterval{5};
// How long a user who may list the cluster waits for the scheduler's answer.
constexpr std::chrono::seconds kPatience{2};
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

// The engine with all that was read, and the notes.
struct Cluster {
  Engine engine;
  Notes notes;
  std::optional<Engine> undrained{};  // the same again, if nodes are to be drained
  std::vector<std::string> hidden{};  // kinds that the caller may not read
  std::vector<std::string> absent{};  // kinds of which files have none
  bool has_namespace = true;          // the one that was given, as far as is known
  PodName asked{};                    // by `why`
};

k8s::Result<config::Configuration> configuration(const Options& options) {
  return options.config.empty() ? config::parse("", "default configuration", plugins::registry())
                                : config::load(options.config, plugins::registry());
}

k8s::Result<Cluster> read(const Options& options, Time now) {
  auto config = configuration(options);
  if (!config) return tl::unexpected(std::move(config.error()));
  std::set<std::string> served;
  for (const Profile& profile : config->profiles) served.insert(profile.scheduler_name);

  // The loop is first, so that it ends last: the credentials may have a program running on it.
  const auto loop = k8s::make_event_loop();
  std::optional<k8s::ClusterAccess> access;
  PodName asked{"default", options.pod};
  if (options.from.empty()) {
    auto found = k8s::find_cluster(options.kubeconfig, options.context);
    if (!found) return tl::unexpected(std::move(found.error()));
    access = *std::move(found);
    access->user_agent = options.user_agent;
    if (!access->default_namespace.empty()) asked.first = access->default_namespace;
  }
  if (!options.namespace_.empty()) asked.first = options.namespace_;

  Wanted wanted;
  if (options.command == Command::kWhy) wanted.pod = asked;
  wanted.nodes = wanted.pods = options.command == Command::kPlan;
  wanted.pods_on = {options.drained_nodes.begin(), options.drained_nodes.end()};
  const ChangeMask reads = changes_read(config->profiles);
  Cluster cluster{.engine = Engine(std::move(config->profiles), config->engine),
                  .notes = Notes(std::move(served), std::move(wanted)),
                  .hidden = {},
                  .asked = std::move(asked)};
  if (options.command == Command::kPlan && !options.drained_nodes.empty()) {
    auto again = configuration(options);  // each engine has plugins of its own
    if (!again) return tl::unexpected(std::move(again.error()));
    cluster.undrained.emplace(std::move(again->profiles), again->engine);
  }
  bool has_nodes = false;
  bool has_pods = false;
  bool has_namespaces = false;
  bool has_given = options.namespace_.empty();
  const auto sink = [&](Event event) {
    has_nodes = has_nodes || std::holds_alternative<event::NodeUpserted>(event);
    has_pods = has_pods || std::holds_alternative<event::PodUpserted>(event);
    if (const auto* seen = std::get_if<event::NamespaceUpserted>(&event)) {
      has_namespaces = true;
      has_given = has_given || seen->object.metadata.name == options.namespace_;
    }
    if (const auto* pod = std::get_if<event::PodUpserted>(&event)) {
      has_given = has_given || pod->object.metadata.namespace_ == options.namespace_;
    }
    cluster.notes.see(event);
    if (cluster.undrained) cluster.undrained->apply(event, now);
    cluster.engine.apply(std::move(event), now);
  };
  if (access) {
    auto hidden = read_cluster(*loop, *access, sink, reads);
    if (!hidden) return tl::unexpected(std::move(hidden.error()));
    cluster.hidden = *std::move(hidden);
  } else if (auto read = read_files(options.from, sink); !read) {
    return tl::unexpected(read.error());
  }
  if (!access && !has_nodes) cluster.absent.emplace_back("nodes");
  // A plan brings pods of its own.
  const bool needs_pods = options.command != Command::kPlan;
  if (!access && !has_pods && needs_pods) cluster.absent.emplace_back("pods");
  cluster.has_namespace = has_given || !has_namespaces;
  if (cluster.undrained) cluster.undrained->apply(event::Synced{}, now);
  cluster.engine.apply(event::Synced{}, now);
  return cluster;
}

class Answering {
 public:
  Answering(const Options& options, const Terminal& terminal)
      : options_(options), terminal_(terminal), style_(terminal.style) {
    style_.wide = options.output == Output::kWide;
    style_.now = terminal.now();
    style_.kubectl_flags = kubectl_flags(options);
    style_.cluster_flags = cluster_flags(options);
    style_.namespace_flag = namespace_flag(options);
    style_.scheduler_flags = scheduler_flags(options.scheduler);
    style_.lease = lease_of(options.scheduler.leader);
  }

  int answer() {
    if (asks_first()) {
      auto shown = show_answer(ask_scheduler(options_, kPatience));
      if (shown) return 0;
      asked_ = std::move(shown.error());
    }
    auto read_cluster = read(options_, style_.now);
    if (!read_cluster) return without_cluster(read_cluster.error());
    Cluster& cluster = cluster_.emplace(*std::move(read_cluster));
    for (const std::string& kind : cluster.hidden) {
      note() << "you may not list " << kind << "; they count as none\n";
    }
    for (const std::string& kind : cluster.absent) {
      note() << "there are no " << kind << " in the files; is one missing?\n";
    }
    if (!cluster.has_namespace) {
      note() << "there is no namespace \"" << options_.namespace_ << '"'
             << cluster.notes.instead_of_namespace(options_.namespace_) << '\n';
    }
    switch (options_.command) {
      case Command::kOverview:
        print(answers::overview_of(cluster.engine.gpu_nodes(), line_of(cluster.engine),
                                   cluster.engine.quota_statuses()));
        return 0;
      case Command::kNodes: {
        const auto nodes = nodes_of(cluster);
        if (as_json()) {
          terminal_.out << answers::to_json(nodes, cluster.notes.names());
        } else {
          show(terminal_.out, nodes, cluster.notes.names(), style_);
        }
        return 0;
      }
      case Command::kQueue:
        print(queue(cluster));
        return 0;
      case Command::kQuota:
        quotas(cluster);
        return 0;
      case Command::kWhy:
        return why(cluster);
      case Command::kPlan:
        return plan(cluster);
      case Command::kUi:
        break;  // of no cluster that is read here
    }
    return kBadUsage;
  }

 private:
  // The cluster could not be read.
  int without_cluster(const k8s::Error& error) {
    const bool may_not = options_.from.empty() && error.is_status(403);
    if (!may_not || !asks_scheduler()) return fail(error);
    if (options_.all_namespaces && options_.command != Command::kOverview) {
      fail(error);
      note() << "the scheduler answers about one namespace; give it with -n\n";
      return kUnreadable;
    }
    if (!asked_ || asked_->kind == k8s::ErrorKind::kTimeout) {
      auto shown = show_answer(ask_scheduler(options_));
      if (shown) {
        note() << "you may not list the cluster, so the scheduler answered; it does not name nodes "
                  "and pods that you may not see\n";
        return 0;
      }
      asked_ = std::move(shown.error());
    }
    fail(error);
    note() << "the scheduler did not answer instead: " << asked_->message << '\n';
    return kUnreadable;
  }
  // The scheduler's answers about one pod and about the cluster have all that can be computed here,
  // and how a pod was placed. But the request gives the scheduler the caller's token, which may
  // have more rights than its own. So the scheduler is asked first only if the caller asks for
  // that.
  [[nodiscard]] bool asks_first() const {
    const bool has_answer =
        options_.command == Command::kOverview || options_.command == Command::kWhy;
    const bool is_told = options_.ask || !options_.scheduler.server.empty();
    return has_answer && is_told && options_.from.empty() && options_.config.empty();
  }
  [[nodiscard]] bool asks_scheduler() const {
    return asks_first() || options_.command == Command::kWhy ||
           options_.command == Command::kQueue || options_.command == Command::kQuota;
  }
  k8s::Result<void> show_answer(const k8s::Result<std::string>& json) {
    if (!json) return tl::unexpected(json.error());
    switch (options_.command) {
      case Command::kOverview:
        return show_read(*json, answers::read_overview(*json));
      case Command::kQueue:
        return show_read(*json, answers::read_queue(*json));
      case Command::kQuota:
        return show_read(*json, answers::read_quotas(*json));
      default:
        return show_read(*json, answers::read_why(*json));
    }
  }
  // Prints the JSON as it came, which may have fields that are not known here.
  template <typename Answer>
  k8s::Result<void> show_read(const std::string& json,
                              const tl::expected<Answer, std::string>& answer) {
    if (!answer) return tl::unexpected(k8s::make_error(k8s::ErrorKind::kDecode, answer.error()));
    if (as_json()) {
      terminal_.out << json;
    } else {
      show(terminal_.out, *answer, style_);
    }
    return {};
  }
  void quotas(const Cluster& cluster) {
    if (!options_.namespace_.empty() && !options_.all_namespaces) {
      answers::QuotasSeen seen = answers::quotas_seen(cluster.engine, options_.namespace_);
      seen.loans = answers::loans_of(seen.of.borrowed, cluster.notes.names());
      return print(seen);
    }
    print(answers::all_quotas(cluster.engine, cluster.notes.names()));
  }
  [[nodiscard]] bool as_json() const { return options_.output == Output::kJson; }
  template <typename Answer>
  void print(const Answer& answer) {
    if (as_json()) {
      terminal_.out << answers::to_json(answer);
    } else {
      show(terminal_.out, answer, style_);
    }
  }

  // For a line beside the answer.
  [[nodiscard]] TextOut note() const { return TextOut(terminal_.err) << "kubectl gpu: "; }

  int fail(const k8s::Error& error) {
    note() << error.message << '\n';
    return error.kind == k8s::ErrorKind::kConfig ? kBadUsage : kUnreadable;
  }

  // Those with GPUs; of a given namespace those on which its pods have some.
  [[nodiscard]] std::vector<GpuNode> nodes_of(const Cluster& cluster) const {
    std::vector<GpuNode> nodes = cluster.engine.gpu_nodes_with_tenants();
    if (options_.namespace_.empty() || options_.all_namespaces) return nodes;
    std::erase_if(nodes, [&](const GpuNode& node) {
      return std::none_of(node.tenants.begin(), node.tenants.end(), [&](const GpuTenant& tenant) {
        return cluster.notes.names().of(tenant.uid).starts_with(options_.namespace_ + "/");
      });
    });
    return nodes;
  }

  // The waiting pods of the given namespace.
  [[nodiscard]] std::vector<PodInLine> line_of(const Engine& engine) const {
    std::vector<PodInLine> line = engine.in_line();
    std::erase_if(line, [&](const PodInLine& pod) { return !is_asked_for(pod.pod.namespace_); });
    return line;
  }
  [[nodiscard]] bool is_asked_for(const std::string& namespace_) const {
    return options_.namespace_.empty() || options_.all_namespaces ||
           namespace_ == options_.namespace_;
  }

  int why(Cluster& cluster) {
    const Notes& notes = cluster.notes;
    if (!notes.pod()) {
      const auto& [namespace_, name] = cluster.asked;
      note() << "there is no pod \"" << name << "\" in namespace \"" << namespace_
             << "\" that has not finished" << notes.instead_of_pod() << '\n';
      return kUnreadable;
    }
    print(answers::why(cluster.engine, *notes.pod(), notes.served(), notes.names(), style_.now));
    return 0;
  }

  int plan(Cluster& cluster) {
    if (options_.manifests.empty() && options_.added_nodes.empty() &&
        options_.drained_nodes.empty()) {
      return fail(k8s::make_error(
          k8s::ErrorKind::kConfig,
          "plan: nothing is different; say what would be with --add, --drain, --quota or -f"));
    }
    auto change = change_of(cluster);
    if (!change) return fail(change.error());
    Engine* undrained = cluster.undrained ? &*cluster.undrained : nullptr;
    const answers::Plan plan = answers::plan(cluster.engine, undrained, *std::move(change),
                                             cluster.notes.served(), style_.now);
    print(plan);
    return plan.all_start() ? 0 : kWouldWait;
  }

  k8s::Result<answers::Change> change_of(const Cluster& cluster) const {
    const Notes& notes = cluster.notes;
    answers::Change change;
    std::vector<k8s::Node> added;
    const std::vector<GpuNode> gpu_nodes = cluster.engine.gpu_nodes();
    for (const std::string& wish : options_.added_nodes) {
      auto read = add_nodes(wish, gpu_nodes, notes.nodes(), added);
      if (!read) return tl::unexpected(std::move(read.error()));
    }
    for (k8s::Node& node : added) change.objects.emplace_back(event::NodeUpserted{std::move(node)});
    for (const std::string& name : options_.drained_nodes) {
      const auto node = notes.nodes().find(name);
      if (node == notes.nodes().end()) {
        return k8s::config_error("--drain " + name + ": there is no such node");
      }
      change.drained.push_back(node->second);
    }
    change.evicted = notes.pods_on_nodes();
    auto loaded = load_manifests(options_.manifests, cluster.asked.first,
                                 {.classes = notes.priorities(),
                                  .pods = notes.pods(),
                                  .quotas = notes.quotas(),
                                  .now = style_.now},
                                 change);
    if (!loaded) return tl::unexpected(std::move(loaded.error()));
    return change;
  }

  answers::Queue queue(Cluster& cluster) const {
    // All of them, so that positions are those of the whole queue.
    const std::vector<PodInLine> line = cluster.engine.in_line();
    answers::Outlook outlook;
    outlook.advance(cluster.engine, style_.now);
    answers::Queue queue =
        answers::queue_of(line, outlook, cluster.notes.unserved(), cluster.notes.served());
    const auto is_other = [&](const auto& row) { return !is_asked_for(row.pod.namespace_); };
    std::erase_if(queue.rows, is_other);
    std::erase_if(queue.never, is_other);
    std::erase_if(queue.unserved, is_other);
    return queue;
  }

  const Options& options_;
  const Terminal& terminal_;
  Style style_;
  std::optional<k8s::Error> asked_;  // what became of asking the scheduler first
  std::optional<Cluster> cluster_;   // if it was read
};

}  // namespace

int run(const std::vector<std::string>& arguments, std::string_view version,
        const Terminal& terminal) {
  Options options;
  if (const auto ended = read_arguments(arguments, version, terminal.out, terminal.err, options)) {
    return *ended;
  }
  if (options.command == Command::kUi) {
    options.scheduler.leader.role = kUiRole;
    return run_ui(options, terminal);
  }
  for (;;) {
    if (options.watch && terminal.style.bars) terminal.out << kClearScreen;
    Answering answering(options, terminal);
    const int code = answering.answer();
    terminal.out.flush();
    if (!terminal.out) {
      terminal.err << "kubectl gpu: the answer could not be written\n";
      return kUnreadable;
    }
    if (!options.watch || code == kBadUsage) {
      if (terminal.end != nullptr) terminal.end(code);
      return code;
    }
    std::this_thread::sleep_for(kWatchInterval);
  }
}

}  // namespace sched::kubectl
