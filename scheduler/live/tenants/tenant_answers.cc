#include "scheduler/live/tenants/tenant_answers.h"

#include "scheduler/answers/json.h"
#include "scheduler/answers/withhold.h"
#include "scheduler/live/questions/asked_pod.h"
#include "scheduler/live/questions/unanswered.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

using server::HttpServer;
using server::Reply;
using server::text_reply;

constexpr std::string_view kTenantPath = "/answers";
// So many namespaces of others are asked about; the pods of further ones are not named.
constexpr std::size_t kMostNamespaces = 8;

k8s::Access pods_in(const std::string& namespace_) {
  return k8s::ResourceAccess{.verb = "get", .resource = "pods", .namespace_ = namespace_};
}

tl::expected<AskedPod, Reply> read_request(const server::Request& request) {
  const auto bad = [](int status, std::string sentence) {
    return tl::unexpected(text_reply(status, std::move(sentence) + '\n'));
  };
  if (request.path != "/answers/why") return bad(404, "there is only /answers/why");
  auto given = server::parse_query(request.query);
  if (!given) return bad(400, given.error());
  auto pod = take_asked_pod(*given);
  if (!pod) return bad(400, pod.error());
  if (!given->empty()) return bad(400, "the parameters are namespace and pod");
  return *std::move(pod);
}

Reply over_budget(Budget::Clock::duration wait, const Budget::Limits& limits) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  Reply reply = text_reply(
      429, fmt::format("an account may ask {} questions at once, then one every {} s; ask again in "
                       "{} s\n",
                       limits.at_once, limits.each.count(), seconds));
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

Reply why_reply(const answers::Why& why) {
  Reply reply = text_reply(200, answers::to_json(why));
  reply.content_type = "application/json";
  return reply;
}

}  // namespace

// A question that is being answered.
struct TenantAnswers::Asked {
  AskedPod of;
  std::string token;
  HttpServer::Answer answer;
  Asker::Client client;
};

TenantAnswers::TenantAnswers(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker,
                             GetPod get_pod, Scheduler scheduler)
    : loop_(loop),
      access_(access),
      asker_(asker),
      get_pod_(std::move(get_pod)),
      scheduler_(std::move(scheduler)),
      budget_(scheduler_.budget) {}

bool TenantAnswers::serves(std::string_view path) {
  return path == kTenantPath || (path.starts_with(kTenantPath) && path[kTenantPath.size()] == '/');
}

void TenantAnswers::get(const server::Request& request, HttpServer::Answer answer) {
  auto of = read_request(request);
  if (!of) return answer(std::move(of.error()));
  server::if_allowed(
      access_, request, {}, std::move(answer),
      [this, of = *std::move(of), token = std::string(request.bearer_token.value_or("")),
       client = request.client](HttpServer::Answer known, const std::string& user) {
        take_from_budget(
            std::make_shared<const Asked>(Asked{of, token, std::move(known), {user, client}}));
      });
}

void TenantAnswers::take_from_budget(const std::shared_ptr<const Asked>& asked) {
  if (const auto wait = budget_.take(asked->client.account, loop_.now())) {
    return asked->answer(over_budget(*wait, budget_.limits()));
  }
  review(asked);
}

void TenantAnswers::review(const std::shared_ptr<const Asked>& asked) {
  server::if_allowed(access_, asked->token, {pods_in(asked->of.namespace_)}, asked->answer,
                     [this, asked](const HttpServer::Answer& /*the same*/,
                                   const std::string& /*user*/) { read_pod(asked); });
}

void TenantAnswers::read_pod(const std::shared_ptr<const Asked>& asked) {
  get_pod_(asked->of.namespace_, asked->of.pod, [this, asked](const k8s::Result<k8s::Pod>& pod) {
    if (pod) return ask_engine(asked, *pod);
    const bool is_unknown = pod.error().is_status(404);
    asked->answer(text_reply(is_unknown ? 404 : 503, pod.error().message + '\n'));
  });
}

void TenantAnswers::ask_engine(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod) {
  asker_.ask([pod, names = scheduler_.names, clock = scheduler_.clock](
                 const Engine& engine) { return answers::why_seen(engine, pod, names, clock()); },
             asked->client,
             [this, asked](tl::expected<answers::Why, Unanswered> why) {
               if (!why) return asked->answer(reply_to(why.error()));
               scheduler_.notes->name_ends(*why);
               reply(asked, *std::move(why));
             });
}

void TenantAnswers::reply(const std::shared_ptr<const Asked>& asked, answers::Why why) {
  std::set<std::string> others = answers::namespaces_named_in(why);
  others.erase(asked->of.namespace_);
  std::vector<std::string> namespaces(others.begin(), others.end());
  namespaces.resize(std::min(namespaces.size(), kMostNamespaces));
  std::vector<k8s::Access> wanted = {k8s::ResourceAccess{.verb = "list", .resource = "nodes"}};
  for (const std::string& namespace_ : namespaces) wanted.push_back(pods_in(namespace_));
  access_.ask_each(asked->token, wanted,
                   [asked, namespaces, why = std::move(why)](const std::vector<bool>& allowed) {
                     answers::Visible visible{.nodes = allowed.front(),
                                              .namespaces = {asked->of.namespace_}};
                     for (std::size_t i = 0; i < namespaces.size(); ++i) {
                       if (allowed[i + 1]) visible.namespaces.insert(namespaces[i]);
                     }
                     answers::Why told = why;
                     answers::withhold(told, visible);
                     asked->answer(why_reply(told));
                   });
}

}  // namespace sched::live
