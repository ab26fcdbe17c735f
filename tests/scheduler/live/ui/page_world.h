// The page's answers over a real engine, before an API server that is the test.
#pragma once

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/live/ui/page.h"
#include "tests/scheduler/live/questions/asking.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

using Json = nlohmann::json;
using sched::live::Question;
using sched::live::UiPage;
using sched::live::Unanswered;
using sched::server::Reply;

constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
constexpr sched::Time kNow{std::chrono::seconds{1'767'265'200}};

// "ada" and "bob" may get the page, "eve" may not.
class PageWorld : public Asking {
 public:
  PageWorld() {
    apply(sched::event::NodeUpserted{node("full").gpus(8).product(kH100)});
    apply(sched::event::NodeUpserted{node("open").gpus(8).product(kH100)});
    apply(sched::event::NodeUpserted{node("shut").gpus(8).product(kH100).cordoned()});
    apply(sched::event::PodUpserted{ours("runs").gpus(8).on("full")});
    apply(sched::event::PodUpserted{ours("waits").gpus(9)});
    apply(sched::event::PodUpserted{ours("gated").gpus(2).gated("later")});
    apply(sched::event::PodUpserted{ours("typo").gpus(1).served_by("gpu-schedular")});
    apply(sched::event::Synced{});
    notes.saw(ours("runs").gpus(8).on("full"));
    while (auto decision = engine.step(now)) notes.decided(*decision);
  }

  static PodBuilder ours(const std::string& name) {
    return pod(name).in_namespace("ml").served_by("gpu-scheduler");
  }
  void apply(sched::Event event) { engine.apply(std::move(event), now); }

  void ask(const std::string& path, const std::string& query = "",
           std::optional<std::string_view> token = "ada") {
    page.get({.path = path, .query = query, .bearer_token = token, .client = client}, next_reply());
  }
  void answer(std::optional<Unanswered> why = std::nullopt) { answer_by(engine, why); }
  Reply reply(std::optional<Unanswered> why = std::nullopt) { return reply_by(engine, why); }
  Reply get(const std::string& path, const std::string& query = "") {
    ask(path, query);
    return reply();
  }
  Json json(const std::string& path, const std::string& query = "") {
    const Reply got = get(path, query);
    INFO(*got.body);
    CHECK(got.status == 200);
    CHECK(got.content_type == "application/json");
    return Json::parse(*got.body);
  }

  sched::Time now = kNow;
  sched::Engine engine = make_engine();
  sched::live::UiNotes notes;
  std::vector<std::string> reviewed;
  std::optional<std::chrono::nanoseconds> data_age;
  std::chrono::nanoseconds spent{};
  std::chrono::nanoseconds each_look = std::chrono::milliseconds{1};  // a document, of the engine

  static sched::Engine make_engine() {
    auto config = sched::config::parse("", "default", plugins::registry());
    REQUIRE(config);
    config->engine.names_runner_up = true;
    return sched::Engine(std::move(config->profiles), config->engine);
  }

 private:
  sched::server::DelegatedAccess access_{
      loop,
      {.review_token =
           [](const std::string& token, auto done) {
             done(k8s::TokenStatus{.authenticated = true, .user = {.username = token}});
           },
       .review_access =
           [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
             reviewed.push_back(user.username + ": " + k8s::to_string(access));
             done(user.username != "eve");
           }},
      {},
      {}};
  sched::live::Asker asker_{
      loop, [this](Question question) { put.push_back(std::move(question)); }, {}};

 public:
  std::vector<std::string> told;  // of pods that were refused
  UiPage page{
      loop,
      access_,
      asker_,
      {.notes = &notes,
       .about = {.replica = "host", .version = "1.2.3", .scheduler_names = {"gpu-scheduler"}},
       .clock = [this] { return now; },
       .data_age = [this](const auto& done) { done(data_age); },
       .on_judged =
           [this](const sched::answers::Why& why) {
             if (why.told) told.push_back(why.pod.name + ": " + why.told->message);
           },
       .processor_time = [this] { return spent += each_look; }}};
};

}  // namespace tests
