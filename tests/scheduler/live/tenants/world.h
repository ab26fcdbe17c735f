// What the tests of answers for tenants share: a cluster over a real engine, and a double of the
// API server's reviews of tokens and access.
#pragma once

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/sentences.h"
#include "scheduler/live/tenants/tenant_answers.h"
#include "tests/scheduler/live/questions/asking.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests::tenants {

using Json = nlohmann::json;
using namespace sched;
using live::Question;
using live::TenantAnswers;
using live::Unanswered;
using server::Reply;
using tests::node;
using tests::pod;

inline constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
inline constexpr Time kNow{std::chrono::seconds{1'767'265'200}};

inline std::string header(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "none";
}

// A node that pods of two namespaces fill, for one of which, and for the pod of a third, a pod
// waits. The user is the token's text; "eve" has no rights.
class World : public Asking {
 public:
  World() {
    apply(event::NodeUpserted{node("machine-1").gpus(8).product(kH100)});
    add(ours("red", "runs").gpus(5).on("machine-1"));
    add(ours("blue", "secret").gpus(3).on("machine-1"));
    add(ours("red", "waits").gpus(8));
    apply(event::Synced{});
    decide();
  }

  void decide() {
    while (const auto decision = engine.step(kNow)) {
      notes.decided(*decision);
      const auto* refused = std::get_if<decision::Unschedulable>(&*decision);
      if (refused != nullptr) {
        decided[refused->pod.name] = {.reason = refused->reason,
                                      .message = joined(refused->message, refused->details),
                                      .generation = refused->generation};
      }
    }
  }

  static tests::PodBuilder ours(const std::string& namespace_, const std::string& name) {
    return pod(name).in_namespace(namespace_).served_by("gpu-scheduler");
  }
  void apply(Event event) { engine.apply(std::move(event), kNow); }
  void add(const k8s::Pod& added) {
    pods[added.metadata.namespace_ + "/" + added.metadata.name] = added;
    notes.saw(added);
    apply(event::PodUpserted{added});
  }

  void ask(const std::string& query, std::optional<std::string_view> token = "red-user",
           const std::string& path = "/answers/why") {
    answers.get({.path = path, .query = query, .bearer_token = token, .client = client},
                next_reply());
  }
  Reply reply(std::optional<Unanswered> why = std::nullopt) { return reply_by(engine, why); }
  Reply get(const std::string& query, std::optional<std::string_view> token = "red-user",
            const std::string& path = "/answers/why") {
    ask(query, token, path);
    return reply();
  }
  std::string body(const std::string& query, std::string_view token = "red-user",
                   const std::string& path = "/answers/why") {
    const Reply got = get(query, token, path);
    INFO(*got.body);
    CHECK(got.status == 200);
    CHECK(got.content_type == "application/json");
    return *got.body;
  }

  Engine engine = make_engine();
  live::UiNotes notes;
  std::map<std::string, k8s::Pod> pods;
  std::map<std::string, std::set<std::string>> rights = {
      {"red-user", {"get pods in \"red\"", "list pods in \"red\""}},
      {"blue-user", {"get pods in \"blue\"", "list pods in \"blue\""}},
      {"both",
       {"get pods in \"red\"", "list pods in \"red\"", "get pods in \"blue\"",
        "list pods in \"blue\""}},
      {"operator", {"get pods in \"red\"", "list pods in \"red\"", "list nodes"}},
      {"boss",
       {"get pods in \"red\"", "list pods in \"red\"", "get pods in \"blue\"", "list nodes"}}};
  bool api_is_away = false;
  std::string leader;
  std::optional<std::chrono::nanoseconds> data_age;
  std::vector<answers::Why> judged;
  std::map<std::string, answers::Told> decided;  // last, by the pod's name
  std::vector<std::string> reviewed;             // tokens, then rights
  std::vector<std::string> read;                 // pods

 private:
  static Engine make_engine() {
    auto config = config::parse("", "default", plugins::registry());
    REQUIRE(config);
    config->engine.names_runner_up = true;
    return Engine(std::move(config->profiles), config->engine);
  }
  static k8s::Error away() { return k8s::make_error(k8s::ErrorKind::kConnect, "nobody there"); }

  server::DelegatedAccess access_{
      loop,
      {.review_token =
           [this](const std::string& token, auto done) {
             reviewed.push_back(token);
             done(k8s::TokenStatus{.authenticated = token != "made-up",
                                   .user = {.username = token}});
           },
       .review_access =
           [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
             reviewed.push_back(k8s::to_string(access));
             if (api_is_away) return done(tl::unexpected(away()));
             done(rights[user.username].contains(reviewed.back()));
           }},
      {},
      {}};
  live::Asker asker_{loop,
                     [this](Question question) { put.push_back(std::move(question)); },
                     {},
                     [this] { return leader; }};

 public:
  TenantAnswers answers{
      loop,
      access_,
      asker_,
      [this](const std::string& namespace_, const std::string& name, const auto& done) {
        read.push_back(namespace_ + "/" + name);
        const auto found = pods.find(read.back());
        if (found != pods.end()) return done(found->second);
        k8s::Error error = k8s::make_error(k8s::ErrorKind::kStatus, "pods: not found");
        error.http_status = 404;
        done(tl::unexpected(std::move(error)));
      },
      {.notes = &notes,
       .names = {"gpu-scheduler"},
       .clock = [] { return kNow; },
       .budget = {},
       .data_age = [this](const auto& done) { done(data_age); },
       .on_judged = [this](const answers::Why& why) { judged.push_back(why); }}};
};

inline constexpr const char* kWaits = "namespace=red&pod=waits";
inline constexpr const char* kRed = "namespace=red";

// Besides: two namespaces share a quota that is used up, and a third has one beside it.
class SharedQuota : public World {
 public:
  SharedQuota() {
    apply(event::QuotaUpserted{tests::gpu_quota("department").line("*", 20)});
    apply(event::QuotaUpserted{tests::gpu_quota("shared")
                                   .of("red")
                                   .of("blue")
                                   .in_quota("department")
                                   .line("*", 8)
                                   .limit(8)});
    // Younger, so that "red" stays with the other.
    apply(event::QuotaUpserted{tests::gpu_quota("elsewhere")
                                   .of("green")
                                   .of("red")
                                   .in_quota("department")
                                   .created_at(kNow)
                                   .line("*", 2)});
    add(ours("blue", "urgent").gpus(1).priority(7));
    add(ours("red", "second").gpus(2));
    add(ours("red", "gated").gpus(1).gated("later"));
    decide();
  }
  Json queue(const std::string& query, std::string_view token = "red-user") {
    return Json::parse(body(query, token, "/answers/queue"));
  }
  Json quota(const std::string& query, std::string_view token = "red-user") {
    return Json::parse(body(query, token, "/answers/quota"));
  }
};

}  // namespace tests::tenants
