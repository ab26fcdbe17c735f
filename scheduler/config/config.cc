#include "scheduler/config/config.h"

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/config/gpu_quota.h"
#include "scheduler/config/profiles.h"
#include "scheduler/config/site_labels.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace sched::config {

namespace {

using k8s::yaml::ObjectReader;
using k8s::yaml::Value;

constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kProtobufElseJson =
    "application/vnd.kubernetes.protobuf,application/json";

void require(ObjectReader& document, std::string_view key, std::string_view wanted) {
  const auto found = document.string(key);
  if (found != wanted) document.complain(key, fmt::format("must be {}", wanted));
}

ClientConnection read_client_connection(ObjectReader& document) {
  ClientConnection connection;
  document.object("clientConnection", [&](ObjectReader& fields) {
    connection.kubeconfig = fields.string("kubeconfig").value_or("");
    if (fields.one_of("transport", {"asio", "cpprest"}) == "cpprest") {
      connection.transport = TransportKind::kCpprest;
    }
    // Only upstream's values for what is always done here. Any other value would have no effect.
    fields.one_of("contentType", {"", kProtobuf});
    fields.one_of("acceptContentTypes", {"", kProtobuf, kProtobufElseJson});
    if (const auto qps = fields.number("qps")) {
      if (!(*qps > 0 && *qps <= 1e6)) fields.complain("qps", "must be above 0, at most 1000000");
      connection.qps = *qps;
    }
    if (const auto burst = fields.integer("burst", {.min = 1, .max = 1'000'000})) {
      connection.burst = static_cast<int>(*burst);
    }
  });
  return connection;
}

EngineOptions read_engine_options(ObjectReader& document) {
  EngineOptions options;
  constexpr k8s::yaml::IntegerRange kSeconds{.min = 1, .max = 86'400};
  if (const auto initial = document.integer("podInitialBackoffSeconds", kSeconds)) {
    options.initial_backoff = std::chrono::seconds(*initial);
  }
  if (const auto max = document.integer("podMaxBackoffSeconds", kSeconds)) {
    options.max_backoff = std::chrono::seconds(*max);
  }
  if (options.max_backoff < options.initial_backoff) {
    document.complain("podMaxBackoffSeconds", "must be at least podInitialBackoffSeconds");
  }
  return options;
}

void refuse_if_on(ObjectReader& document, std::string_view key, std::string_view why) {
  if (document.boolean(key) == true)
    document.complain(key, fmt::format("{}; set it to false", why));
}

// Upstream's fields for functions that this scheduler does not have, unless they are switched off.
void read_what_is_not_built(ObjectReader& document) {
  const auto parallelism = document.integer("parallelism", {.min = 1, .max = 1'000'000});
  if (parallelism && *parallelism != 1) {
    document.complain("parallelism",
                      "decisions are made on one thread; leave it out or set it to 1");
  }
  const auto percentage = document.integer("percentageOfNodesToScore", {.min = 0, .max = 100});
  if (percentage && *percentage != 0 && *percentage != 100) {
    document.complain("percentageOfNodesToScore",
                      "only 0 or 100: this scheduler always looks at every node");
  }
  const Value* extenders = document.raw("extenders");
  const bool no_extenders = extenders == nullptr || extenders->is_null() ||
                            (extenders->list() != nullptr && extenders->list()->empty());
  if (!no_extenders) document.complain("extenders", "are not built; write a plugin instead");
  refuse_if_on(document, "delayCacheUntilActive", "a standby always keeps its caches warm");
  refuse_if_on(document, "enableProfiling", "profiling over HTTP is not built");
  refuse_if_on(document, "enableContentionProfiling", "profiling over HTTP is not built");
  for (const std::string_view key : {"healthzBindAddress", "metricsBindAddress"}) {
    if (document.raw(key) != nullptr) {
      document.complain(key, "is not a field of v1; use the flag --http-bind-address");
    }
  }
}

k8s::Result<Configuration> read(const Value& value, const std::string& file,
                                const Registry& registry, bool empty) {
  ObjectReader document(value, file);
  if (!empty) {
    require(document, "apiVersion", kApiVersion);
    require(document, "kind", kKind);
  }
  Configuration configuration;
  configuration.client_connection = read_client_connection(document);
  configuration.leader_election = read_leader_election(document);
  configuration.engine = read_engine_options(document);
  configuration.engine.quota = read_gpu_quota(document);
  configuration.engine.site_labels = read_site_labels(document);
  read_what_is_not_built(document);
  configuration.profiles = read_profiles(document, registry, configuration.warnings);
  if (auto error = document.finish()) return tl::unexpected<k8s::Error>(std::move(*error));
  return configuration;
}

k8s::Result<Configuration> read_documents(k8s::Result<std::vector<Value>> documents,
                                          const std::string& file, const Registry& registry) {
  if (!documents) return tl::unexpected<k8s::Error>(std::move(documents.error()));
  if (documents->empty()) return read(Value{}, file, registry, true);
  if (documents->size() > 1) {
    return k8s::config_error(fmt::format("{}:{}: a second document; the configuration is one", file,
                                         (*documents)[1].line));
  }
  return read(documents->front(), file, registry, false);
}

}  // namespace

k8s::Result<Configuration> load(const std::string& file, const Registry& registry) {
  return read_documents(k8s::yaml::parse_file(file), file, registry);
}

k8s::Result<Configuration> parse(std::string_view text, const std::string& file,
                                 const Registry& registry) {
  return read_documents(k8s::yaml::parse(text, file), file, registry);
}

}  // namespace sched::config
