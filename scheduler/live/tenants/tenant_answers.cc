#include "scheduler/live/tenants/tenant_answers.h"

#include "scheduler/answers/json.h"
#include "scheduler/answers/withhold.h"
#include "scheduler/live/questions/asked_pod.h"
#include "scheduler/live/questions/unanswered.h"
#include "scheduler/server/query.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

using server::HttpServer;
using server::json_reply;
using server::Reply;
using server::text_reply;

constexpr std::string_view kTenantPath = "/answers";
// If more pods of the namespace wait, the others are only counted.
constexpr std::size_t kMostRows = 1'000;
// For so many other namespaces the account's rights are reviewed. Pods of further ones are not
// named.
constexpr std::size_t kMostNamespaces = 8;

k8s::Access pods_in(const std::string& namespace_, const char* verb = "get") {
  return k8s::ResourceAccess{.verb = verb, .resource = "pods", .namespace_ = namespace_};
}

k8s::Access list_nodes() { return k8s::ResourceAccess{.verb = "list", .resource = "nodes"}; }

// What the question is about, and so which rights it needs: kPod and kQuota to get the pods of the
// namespace, kQueue to list them, kCluster to list the pods of all namespaces, and nodes.
enum class About { kCluster, kPod, kQueue, kQuota };

struct Wanted {
  About about = About::kPod;
  std::string namespace_;  // kCluster: empty, or count only pods that wait in this one
  std::string pod;         // kPod
};

std::optional<About> about_of(std::string_view path) {
  if (path == "/answers/overview") return About::kCluster;
  if (path == "/answers/why") return About::kPod;
  if (path == "/answers/queue") return About::kQueue;
  if (path == "/answers/quota") return About::kQuota;
  return std::nullopt;
}

tl::expected<Wanted, Reply> read_request(const server::Request& request) {
  const auto bad = [](int status, std::string sentence) {
    return tl::unexpected(text_reply(status, std::move(sentence) + '\n'));
  };
  const auto about = about_of(request.path);
  if (!about) {
    return bad(404, "there are /answers/overview, /answers/why, /answers/queue and /answers/quota");
  }
  auto given = server::parse_query(request.query);
  if (!given) return bad(400, given.error());
  Wanted wanted{.about = *about, .namespace_ = {}, .pod = {}};
  const bool has_pod = *about == About::kPod;
  if (*about != About::kCluster || given->contains("namespace")) {
    auto namespace_ = take_name(*given, "namespace");
    if (!namespace_) return bad(400, namespace_.error());
    wanted.namespace_ = *std::move(namespace_);
  }
  if (has_pod) {
    auto pod = take_name(*given, "pod");
    if (!pod) return bad(400, pod.error());
    wanted.pod = *std::move(pod);
  }
  if (!given->empty()) {
    return bad(400,
               has_pod ? "the parameters are namespace and pod" : "the parameter is namespace");
  }
  return wanted;
}

std::vector<k8s::Access> needed_for(const Wanted& of) {
  switch (of.about) {
    case About::kCluster:
      return {pods_in({}, "list"), list_nodes()};
    case About::kQueue:
      return {pods_in(of.namespace_, "list")};
    case About::kPod:
    case About::kQuota:
      break;
  }
  return {pods_in(of.namespace_)};
}

}  // namespace

// A question that is being answered.
struct TenantAnswers::Asked {
  Wanted of;
  std::string token;
  HttpServer::Answer answer;
  Asker::Client client;
  std::optional<std::chrono::seconds> data_age = {};
};

TenantAnswers::TenantAnswers(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker,
                             GetPod get_pod, Scheduler scheduler)
    : access_(access),
      asker_(asker),
      get_pod_(std::move(get_pod)),
      scheduler_(std::move(scheduler)),
      budgeted_(loop, access, scheduler_.budget) {}

bool TenantAnswers::serves(std::string_view path) {
  return path == kTenantPath || (path.starts_with(kTenantPath) && path[kTenantPath.size()] == '/');
}

void TenantAnswers::get(const server::Request& request, HttpServer::Answer answer) {
  auto of = read_request(request);
  if (!of) return answer(std::move(of.error()));
  std::vector<k8s::Access> needed = needed_for(*of);
  budgeted_.if_allowed(
      request, std::move(needed), std::move(answer),
      [this, of = *std::move(of), token = std::string(request.bearer_token.value_or("")),
       client = request.client](HttpServer::Answer allowed, const std::string& user) {
        find_age(Asked{of, token, std::move(allowed), {user, client}});
      });
}

void TenantAnswers::find_age(Asked asked) {
  scheduler_.data_age(
      [this, asked = std::move(asked)](std::optional<std::chrono::nanoseconds> age) mutable {
        if (age) asked.data_age = std::chrono::duration_cast<std::chrono::seconds>(*age);
        answer_allowed(std::make_shared<const Asked>(std::move(asked)));
      });
}

void TenantAnswers::answer_allowed(const std::shared_ptr<const Asked>& asked) {
  if (asked->of.about == About::kCluster) return ask_overview(asked);
  if (asked->of.about == About::kQueue) return ask_queue(asked);
  if (asked->of.about == About::kQuota) return ask_quota(asked);
  read_pod(asked);
}

void TenantAnswers::read_pod(const std::shared_ptr<const Asked>& asked) {
  get_pod_(asked->of.namespace_, asked->of.pod, [this, asked](const k8s::Result<k8s::Pod>& pod) {
    if (pod) return ask_why(asked, *pod);
    const bool is_unknown = pod.error().is_status(404);
    asked->answer(text_reply(is_unknown ? 404 : 503, pod.error().message + '\n'));
  });
}

void TenantAnswers::ask_why(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod) {
  asker_.ask(
      [pod, names = scheduler_.names, clock = scheduler_.clock,
       on_judged = scheduler_.on_judged](const Engine& engine) {
        answers::Why why = answers::why_seen(engine, pod, names, clock());
        on_judged(why);
        return why;
      },
      asked->client,
      [this, asked, uid = pod.metadata.uid](tl::expected<answers::Why, Unanswered> why) {
        if (!why) return asked->answer(reply_to(why.error(), asker_.leader()));
        scheduler_.notes->name_ends(*why);
        if (why->verdict == answers::Why::Verdict::kPlaced) {
          why->chosen = scheduler_.notes->chosen(uid);
        }
        reply(asked, *why);
      });
}

void TenantAnswers::ask_overview(const std::shared_ptr<const Asked>& asked) {
  asker_.ask(
      [namespace_ = asked->of.namespace_](const Engine& engine) {
        return answers::overview_of(engine.gpu_nodes(), engine.in_line(namespace_),
                                    engine.quota_statuses());
      },
      asked->client,
      [this, asked](const tl::expected<answers::Overview, Unanswered>& overview) {
        if (!overview) return asked->answer(reply_to(overview.error(), asker_.leader()));
        answers::Overview told = *overview;
        told.data_age = asked->data_age;
        asked->answer(json_reply(answers::to_json(told)));
      });
}

void TenantAnswers::ask_queue(const std::shared_ptr<const Asked>& asked) {
  asker_.ask(
      [namespace_ = asked->of.namespace_, notes = scheduler_.notes](const Engine& engine) {
        const auto refusal_of = [notes](const std::string& uid) { return notes->refusal_of(uid); };
        return answers::queue_seen(engine, namespace_, refusal_of, kMostRows);
      },
      asked->client,
      [this, asked](const tl::expected<answers::Queue, Unanswered>& queue) {
        if (!queue) return asked->answer(reply_to(queue.error(), asker_.leader()));
        find_visible(asked, !queue->named_nodes.empty(), {},
                     [asked, queue = *queue](const answers::Visible& visible) {
                       answers::Queue told = queue;
                       told.data_age = asked->data_age;
                       answers::withhold(told, visible);
                       asked->answer(json_reply(answers::to_json(told)));
                     });
      });
}

void TenantAnswers::ask_quota(const std::shared_ptr<const Asked>& asked) {
  asker_.ask([namespace_ = asked->of.namespace_](
                 const Engine& engine) { return answers::quotas_seen(engine, namespace_); },
             asked->client,
             [this, asked](tl::expected<answers::QuotasSeen, Unanswered> quotas) {
               if (!quotas) return asked->answer(reply_to(quotas.error(), asker_.leader()));
               quotas->loans = scheduler_.notes->loans_of(quotas->of.borrowed);
               std::set<std::string> others;
               if (const auto& head = quotas->of.head) others.insert(head->namespace_);
               find_visible(asked, false, std::move(others),
                            [asked, quotas = *quotas](const answers::Visible& visible) {
                              answers::QuotasSeen told = quotas;
                              told.data_age = asked->data_age;
                              answers::withhold(told, visible);
                              asked->answer(json_reply(answers::to_json(told)));
                            });
             });
}

void TenantAnswers::find_visible(const std::shared_ptr<const Asked>& asked, bool has_nodes,
                                 std::set<std::string> others,
                                 const std::function<void(const answers::Visible&)>& done) {
  others.erase(asked->of.namespace_);
  std::vector<std::string> namespaces(others.begin(), others.end());
  namespaces.resize(std::min(namespaces.size(), kMostNamespaces));
  std::vector<k8s::Access> wanted;
  if (has_nodes) wanted.push_back(list_nodes());
  const bool has_others = !namespaces.empty();
  if (has_others) wanted.push_back(pods_in({}, "list"));
  for (const std::string& namespace_ : namespaces) wanted.push_back(pods_in(namespace_));
  access_.ask_each(
      asked->token, wanted,
      [asked, has_nodes, has_others, namespaces, done](const std::vector<bool>& allowed) {
        answers::Visible visible{.namespaces = {asked->of.namespace_}};
        auto is_allowed = allowed.begin();
        if (has_nodes) visible.nodes = *is_allowed++;
        if (has_others) visible.all_pods = *is_allowed++;
        for (const std::string& namespace_ : namespaces) {
          if (*is_allowed++) visible.namespaces.insert(namespace_);
        }
        done(visible);
      });
}

void TenantAnswers::reply(const std::shared_ptr<const Asked>& asked, const answers::Why& why) {
  find_visible(asked, true, answers::namespaces_named_in(why),
               [asked, why](const answers::Visible& visible) {
                 answers::Why told = why;
                 told.data_age = asked->data_age;
                 answers::withhold(told, visible);
                 asked->answer(json_reply(answers::to_json(told)));
               });
}

}  // namespace sched::live
