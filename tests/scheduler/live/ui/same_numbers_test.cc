// The page, /metrics, kubectl gpu and the engine itself state the same numbers.
#include "scheduler/answers/json.h"
#include "scheduler/answers/overview.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/server/metrics.h"
#include "tests/scheduler/live/ui/page_world.h"
#include "tests/support/gpu_quotas.h"

#include <fmt/format.h>

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <variant>

using namespace sched;
using namespace tests;

namespace {

// What all four state.
struct Figures {
  std::int64_t gpus = 0;
  std::int64_t used = 0;
  std::int64_t free = 0;
  std::int64_t waiting_pods = 0;
  std::int64_t waiting_gpus = 0;
  std::map<std::string, double> quotas;  // used, by name
  friend bool operator==(const Figures&, const Figures&) = default;
};

std::string text_of(const Figures& figures) {
  std::string text =
      fmt::format("{} of {} used, {} free; {} pods wait for {};", figures.used, figures.gpus,
                  figures.free, figures.waiting_pods, figures.waiting_gpus);
  for (const auto& [name, used] : figures.quotas) text += fmt::format(" {} {}", name, used);
  return text;
}

// Of `kubectl gpu -o json` and `kubectl gpu quota -o json`, and of the page, which has both.
Figures of_json(const Json& overview, const Json& quotas) {
  Figures figures{.gpus = overview["gpus"]["total"],
                  .used = overview["gpus"]["used"],
                  .free = overview["gpus"]["free"],
                  .waiting_pods = overview["waiting"]["pods"],
                  .waiting_gpus = overview["waiting"]["gpus"],
                  .quotas = {}};
  for (const Json& quota : quotas["quotas"]) {
    for (const Json& line : quota["lines"]) {
      figures.quotas[quota["name"]] += std::stod(line["use"]["used"].get<std::string>());
    }
  }
  return figures;
}

// Of a scrape.
Figures of_metrics(const std::string& scrape) {
  Figures figures;
  std::istringstream lines(scrape);
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
    const double value = line.starts_with('#') ? 0 : std::stod(line.substr(line.rfind(' ')));
    const auto whole = static_cast<std::int64_t>(value);
    if (line.starts_with("gpu_scheduler_gpus{") && has("form=\"\"")) {
      figures.gpus += whole;
      if (has("state=\"used\"")) figures.used += whole;
      if (has("state=\"free\"")) figures.free += whole;
    } else if (line.starts_with("gpu_scheduler_waiting_pods{")) {
      figures.waiting_pods += whole;
    } else if (line.starts_with("gpu_scheduler_waiting_gpus{")) {
      figures.waiting_gpus += whole;
    } else if (line.starts_with("gpu_scheduler_quota_gpus{") && has("state=\"used\"")) {
      const auto name = line.find("quota=\"") + std::string_view("quota=\"").size();
      figures.quotas[line.substr(name, line.find('"', name) - name)] += value;
    }
  }
  return figures;
}

Figures of_engine(const Engine& engine) {
  Figures figures;
  const GpuTotals totals = engine.gpu_totals();
  for (const GpuTotals::Form& form : totals.forms) {
    if (!form.form.empty()) continue;
    figures.gpus += form.used + form.held + form.free;
    for (const auto& [why, gpus] : form.closed) figures.gpus += gpus;
    figures.used += form.used;
    figures.free += form.free;
  }
  for (const auto& [what, waiting] : totals.waiting) {
    figures.waiting_pods += waiting.pods;
    figures.waiting_gpus += waiting.gpus;
  }
  for (const QuotaStatus& quota : engine.quota_statuses()) {
    for (const auto& line : quota.status.quotas) {
      figures.quotas[quota.name] += static_cast<double>(line.use.used.milli_value()) / 1000;
    }
  }
  return figures;
}

// A cluster of which kubectl gpu reads the objects, while the scheduler goes on.
class Churn {
 public:
  explicit Churn(unsigned seed) : random_(seed) {
    world_.apply(event::NodeDeleted{"full"});
    world_.apply(event::NodeDeleted{"open"});
    world_.apply(event::NodeDeleted{"shut"});
    for (const char* name : {"runs", "waits", "gated", "typo"}) {
      world_.apply(event::PodDeleted{ref_of(PageWorld::ours(name).object())});
    }
    for (const char* name : {"red", "blue"}) {
      k8s::GpuQuota quota =
          gpu_quota(std::string("team-") + name).of(name).line("*", name[0] == 'r' ? 6 : 30);
      quotas_.push_back(quota);
      world_.apply(event::QuotaUpserted{quota});
    }
  }

  void step() {
    world_.now += std::chrono::seconds{2};
    world_.loop.advance(std::chrono::seconds{2});  // the page's document is made once a second
    for (unsigned i = pick(4); i > 0; --i) change();
    // Some pods may still wait for their turn.
    for (unsigned i = pick(6); i > 0; --i) {
      auto decision = world_.engine.step(world_.now);
      if (!decision) break;
      world_.notes.decided(*decision);
      const auto* bind = std::get_if<decision::Bind>(&*decision);
      if (bind == nullptr) continue;
      k8s::Pod& pod = pods_.at(bind->pod.uid);
      pod.spec.node_name = bind->node;
      world_.apply(event::PodUpserted{pod});
    }
  }

  void compare() {
    const std::uint64_t decision = world_.notes.decisions();
    const Figures own = of_engine(world_.engine);
    INFO("after decision " << decision << " the engine has: " << text_of(own));
    const Json page = world_.json("/ui/state");
    const Figures on_page = of_json(page["overview"], page["quotas"]);
    INFO("the page: " << text_of(on_page));
    CHECK(page["decision"] == decision);
    CHECK(on_page == own);
    metrics_.last_decision(decision);
    metrics_.quotas(world_.engine.take_quota_news());
    metrics_.gpu_totals(world_.engine.gpu_totals(), world_.now);
    const Figures scraped = of_metrics(metrics_.text());
    INFO("/metrics: " << text_of(scraped));
    CHECK(scraped == own);
    const Figures read = of_objects();
    INFO("kubectl gpu: " << text_of(read));
    CHECK(read == own);
    CHECK(world_.notes.decisions() == decision);
    is_used_ = is_used_ || own.used > 0;
    is_waited_ = is_waited_ || own.waiting_gpus > 0;
    is_closed_ = is_closed_ || own.used + own.free < own.gpus;
  }
  [[nodiscard]] bool has_seen_all() const { return is_used_ && is_waited_ && is_closed_; }

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

  void change() {
    const unsigned what = pick(10);
    if (what < 2) {
      // One that comes again, with pods on it, is what it was.
      const unsigned number = pick(6);
      const std::string name = "n" + std::to_string(number);
      NodeBuilder made = node(name).gpus(number % 2 == 0 ? 4 : 8);
      made.product(number < 3 ? kH100 : "NVIDIA-L4");
      if (pick(3) == 0) made.cordoned();
      nodes_.insert_or_assign(name, made.object());
      world_.apply(event::NodeUpserted{made});
    } else if (what < 3 && !nodes_.empty()) {
      const auto gone = std::next(nodes_.begin(), pick(static_cast<unsigned>(nodes_.size())));
      world_.apply(event::NodeDeleted{gone->first});
      nodes_.erase(gone);
    } else if (what < 5 && !pods_.empty()) {
      const auto gone = std::next(pods_.begin(), pick(static_cast<unsigned>(pods_.size())));
      world_.apply(event::PodDeleted{ref_of(gone->second)});
      pods_.erase(gone);
    } else {
      const std::string name = "p" + std::to_string(++came_);
      PodBuilder made = pod(name);
      made.in_namespace(pick(2) == 0 ? "red" : "blue").served_by("gpu-scheduler").uid(name);
      made.gpus(1 + pick(4)).created_at(world_.now);
      if (pick(6) == 0) made.gated("later");
      if (pick(8) == 0) made.annotated("gpu-scheduler.io/gpu-typ", "H100");
      pods_.insert_or_assign(name, made.object());
      world_.apply(event::PodUpserted{made});
    }
  }

  // As kubectl gpu: with an engine of its own, by the objects that the API server has.
  Figures of_objects() {
    Engine engine = PageWorld::make_engine();
    for (const k8s::GpuQuota& quota : quotas_) {
      engine.apply(event::QuotaUpserted{quota}, world_.now);
    }
    for (const auto& [name, node] : nodes_) engine.apply(event::NodeUpserted{node}, world_.now);
    for (const auto& [uid, pod] : pods_) engine.apply(event::PodUpserted{pod}, world_.now);
    engine.apply(event::Synced{}, world_.now);
    const auto overview =
        answers::overview_of(engine.gpu_nodes(), engine.in_line(), engine.quota_statuses());
    return of_json(Json::parse(answers::to_json(overview)),
                   Json::parse(answers::to_json(answers::all_quotas(engine, {}))));
  }

  std::mt19937 random_;
  PageWorld world_;
  server::Metrics metrics_{{"gpu-scheduler"}};
  std::map<std::string, k8s::Node> nodes_;
  std::map<std::string, k8s::Pod> pods_;  // by uid
  std::vector<k8s::GpuQuota> quotas_;
  int came_ = 0;
  bool is_used_ = false;
  bool is_waited_ = false;
  bool is_closed_ = false;
};

}  // namespace

TEST_CASE("page, metrics, kubectl gpu and engine state the same numbers after each decision") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    INFO("seed " << seed);
    Churn churn(seed);
    for (int i = 0; i < 60; ++i) {
      churn.step();
      churn.compare();
    }
    CHECK(churn.has_seen_all());
  }
}
