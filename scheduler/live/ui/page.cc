#include "scheduler/live/ui/page.h"

#include "k8s-client/json_text.h"
#include "k8s-client/shown.h"
#include "scheduler/answers/json.h"
#include "scheduler/live/questions/unanswered.h"
#include "scheduler/live/ui/what_if.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/query.h"
#include "scheduler/server/ui/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

namespace sched::live {

namespace {

using server::Reply;
using server::text_reply;
using server::with_ui_headers;

constexpr std::string_view kPath = "/ui";
// The account of the questions that the page asks for its document, not for a user.
constexpr const char* kOwnAccount = "the page";

Reply page_reply(std::shared_ptr<const std::string> json) {
  return {
      .body = std::move(json), .content_type = "application/json", .headers = server::ui_headers()};
}
Reply page_reply(std::string json) {
  return page_reply(std::make_shared<const std::string>(std::move(json)));
}

struct PodName {
  std::string namespace_;
  std::string pod;
};

tl::expected<PodName, std::string> read_name(const std::string& query) {
  auto given = server::parse_query(query);
  if (!given) return tl::unexpected(std::move(given.error()));
  if (given->size() != 2 || !given->contains("namespace") || !given->contains("pod")) {
    return tl::unexpected<std::string>("the parameters are namespace and pod");
  }
  return PodName{given->at("namespace"), given->at("pod")};
}

// An error: why there is no answer, in a line.
tl::expected<answers::Why, std::string> why_of(const Engine& engine, const PodName& name,
                                               Time now) {
  if (const auto in_line = engine.find_in_line(name.namespace_, name.pod)) {
    if (const k8s::Pod* pod = engine.waiting_pod(in_line->pod.uid)) {
      return answers::why_waiting(engine, *pod, *in_line, now);
    }
  }
  const std::string shown = k8s::shown(name.namespace_) + "/" + k8s::shown(name.pod);
  for (const decision::MisnamedScheduler& one : engine.misnamed(name.namespace_)) {
    if (one.pod.name != name.pod) continue;
    return tl::unexpected(
        fmt::format("{} waits for a scheduler \"{}\", which this one is not; is \"{}\" meant?\n",
                    shown, one.scheduler_name, one.meant));
  }
  return tl::unexpected(fmt::format("no pod \"{}\" of this scheduler waits\n", shown));
}

}  // namespace

UiPage::UiPage(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker,
               Scheduler scheduler)
    : loop_(loop),
      access_(loop, access, kBudget),
      questions_(loop, access, kBudgetOfQuestions),
      asker_(asker),
      scheduler_(std::move(scheduler)),
      itself_(std::make_shared<const bool>(true)) {
  loop_.post([this, alive = std::weak_ptr(itself_)] {
    if (!alive.expired()) sample_later();
  });
}

bool UiPage::serves(std::string_view path) {
  return path == kPath || (path.starts_with(kPath) && path[kPath.size()] == '/');
}

void UiPage::get(const server::Request& request, Answer answer) {
  access_.if_allowed(request, {k8s::NonResourceAccess{.path = std::string(kPath), .verb = "get"}},
                     std::move(answer),
                     [this, path = std::string(request.path), query = std::string(request.query),
                      client = request.client](Answer allowed, const std::string& user) {
                       answer_for(path, query, {user, client}, std::move(allowed));
                     });
}

void UiPage::answer_for(const std::string& path, const std::string& query, Asker::Client client,
                        Answer answer) {
  if (path == "/ui/state") return get_state(std::move(answer));
  if (path == "/ui/why" || path == "/ui/node" || path == "/ui/what-if") {
    if (!questions_.take(client.account, answer)) return;
    if (path == "/ui/why") return get_why(query, std::move(client), std::move(answer));
    if (path == "/ui/node") return get_node(query, std::move(client), std::move(answer));
    return get_what_if(query, std::move(client), std::move(answer));
  }
  answer(server::ui_file(path).value_or(text_reply(404, "there is no such part of the page\n")));
}

void UiPage::get_state(Answer answer) {
  if (state_ && loop_.now() - state_made_ < state_life_) return answer(page_reply(state_));
  waiting_.push_back(std::move(answer));
  ask_for_state();
}

void UiPage::ask_for_state() {
  if (std::exchange(is_asking_, true)) return;
  scheduler_.data_age([this](std::optional<std::chrono::nanoseconds> age) {
    if (!age) return ask_for_state(std::nullopt);
    ask_for_state(std::chrono::duration_cast<std::chrono::seconds>(*age));
  });
}

void UiPage::ask_for_state(std::optional<std::chrono::seconds> data_age) {
  const auto ask = [data_age, notes = scheduler_.notes, clock = scheduler_.clock,
                    processor_time = scheduler_.processor_time](const Engine& engine) {
    const std::chrono::nanoseconds begin = processor_time();
    ClusterSeen seen{.nodes = engine.gpu_nodes(),
                     .line = engine.in_line(),
                     .totals = engine.gpu_totals(),
                     .quotas = engine.quota_statuses(),
                     .misnamed = engine.misnamed(),
                     .decisions = notes->decisions(),
                     .at = clock(),
                     .data_age = data_age};
    seen.took = processor_time() - begin;
    return seen;
  };
  asker_.ask(ask, {kOwnAccount, itself_}, [this](tl::expected<ClusterSeen, Unanswered> seen) {
    is_asking_ = false;
    if (seen) return has_seen(*std::move(seen));
    for (const Answer& answer : std::exchange(waiting_, {})) {
      answer(with_ui_headers(reply_to(seen.error(), asker_.leader())));
    }
  });
}

void UiPage::has_seen(ClusterSeen seen) {
  const auto& samples = history_.samples();
  if (samples.empty() || seen.at - samples.back().at >= History::kInterval) {
    history_.add(answers::overview_of(seen.nodes, seen.line, seen.quotas), seen.at);
  }
  state_life_ = std::max<k8s::EventLoop::Clock::duration>(kStateLife, kStateRest * seen.took);
  state_ = std::make_shared<const std::string>(
      to_json(std::move(seen), scheduler_.about, *scheduler_.notes, history_));
  state_made_ = loop_.now();
  for (const Answer& answer : std::exchange(waiting_, {})) answer(page_reply(state_));
}

std::chrono::nanoseconds UiPage::thread_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

void UiPage::sample_later() {
  next_sample_ = loop_.after(History::kInterval, [this] {
    ask_for_state();
    sample_later();
  });
}

void UiPage::get_why(const std::string& query, Asker::Client client, Answer answer) {
  auto name = read_name(query);
  if (!name) return answer(with_ui_headers(text_reply(400, name.error() + '\n')));
  asker_.ask(
      [name = *name, clock = scheduler_.clock,
       on_judged = scheduler_.on_judged](const Engine& engine) {
        auto why = why_of(engine, name, clock());
        if (why) on_judged(*why);
        return why;
      },
      std::move(client),
      [this, answer = std::move(answer)](
          tl::expected<tl::expected<answers::Why, std::string>, Unanswered> why) {
        if (!why) return answer(with_ui_headers(reply_to(why.error(), asker_.leader())));
        if (!*why) return answer(with_ui_headers(text_reply(404, std::move(why->error()))));
        scheduler_.notes->name_ends(**why);
        answer(page_reply(answers::to_json(**why)));
      });
}

void UiPage::get_node(const std::string& query, Asker::Client client, Answer answer) {
  const auto given = server::parse_query(query);
  if (!given) return answer(with_ui_headers(text_reply(400, given.error() + '\n')));
  if (given->size() != 1 || !given->contains("node")) {
    return answer(with_ui_headers(text_reply(400, "the parameter is node\n")));
  }
  const std::string& name = given->at("node");
  asker_.ask(
      [name](const Engine& engine) { return engine.gpu_node(name); }, std::move(client),
      [this, name,
       answer = std::move(answer)](const tl::expected<std::optional<GpuNode>, Unanswered>& node) {
        if (!node) return answer(with_ui_headers(reply_to(node.error(), asker_.leader())));
        if (!*node) {
          return answer(with_ui_headers(
              text_reply(404, fmt::format("no node \"{}\" has GPUs\n", k8s::shown(name)))));
        }
        const GpuNode& found = **node;
        answer(page_reply(answers::to_json({found}, scheduler_.notes->names_of(found.tenants))));
      });
}

void UiPage::get_what_if(const std::string& query, Asker::Client client, Answer answer) {
  const auto given = server::parse_query(query);
  auto what = given ? read_what_if(*given, scheduler_.about.scheduler_names)
                    : tl::expected<WhatIf, std::string>(tl::unexpected(given.error()));
  if (!what) return answer(with_ui_headers(text_reply(400, what.error() + '\n')));
  const nlohmann::json notes = what->notes;
  asker_.ask([pod = what->pod, clock = scheduler_.clock](
                 const Engine& engine) { return answers::why_now(engine, pod, clock()); },
             std::move(client),
             [this, notes, answer = std::move(answer)](tl::expected<answers::Why, Unanswered> why) {
               if (!why) return answer(with_ui_headers(reply_to(why.error(), asker_.leader())));
               scheduler_.notes->name_ends(*why);
               answer(page_reply(R"({"notes":)" + k8s::json_text(notes) + R"(,"why":)" +
                                 answers::to_json(*why) + "}\n"));
             });
}

}  // namespace sched::live
