// Reads a kubeconfig: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
//
// Only the entries that the chosen context names are checked; others may use unsupported settings.
// Unknown fields are ignored, as in kubectl: many tools write this file.
//
// The file holds credentials, or a file of credentials was taken for a kubeconfig. So messages
// quote nothing of it, except what is meant to be shown: the name of the context in use, a plugin's
// command and its installHint.
#include "k8s-client/auth/base64.h"
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/auth/exec_plugin.h"
#include "k8s-client/auth/file_credentials.h"
#include "k8s-client/auth/plugin_credentials.h"
#include "k8s-client/auth/proxy_environment.h"
#include "k8s-client/auth/server_url.h"
#include "k8s-client/shown.h"
#include "k8s-client/yaml/object_reader.h"

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace k8s {
namespace {

using auth::TextSource;
using yaml::ObjectReader;
using ReadEntry = std::function<void(ObjectReader&)>;

struct Context {
  std::string cluster;
  std::string user;
  std::string default_namespace;
};

// Where to find an entry: `clusters: [{name: NAME, cluster: {…}}]`.
struct EntryKind {
  std::string_view list;
  std::string_view key;
  std::string_view named_by;
};
constexpr EntryKind kContexts = {"contexts", "context", "current-context (or --context)"};
constexpr EntryKind kClusters = {"clusters", "cluster", "the context"};
constexpr EntryKind kUsers = {"users", "user", "the context"};

struct Unsupported {
  std::string_view key;
  std::string_view advice;
};
constexpr std::array<Unsupported, 1> kUnsupportedOfCluster = {{
    {"proxy-url", "proxies are not supported; the API server must be reachable directly"},
}};
constexpr std::array<Unsupported, 7> kUnsupportedOfUser = {{
    {"auth-provider", "is not supported; use exec, a token, tokenFile or client certificate"},
    {"username", "basic authentication is not supported; use a token or client certificate"},
    {"password", "basic authentication is not supported; use a token or client certificate"},
    {"as", "impersonation is not supported; use credentials of the user itself"},
    {"as-uid", "impersonation is not supported; use credentials of the user itself"},
    {"as-groups", "impersonation is not supported; use credentials of the user itself"},
    {"as-user-extra", "impersonation is not supported; use credentials of the user itself"},
}};

bool is_set(const yaml::Value* value) {
  if (value == nullptr || value->is_null()) return false;
  if (const auto* text = value->string()) return !text->empty();
  if (const auto* list = value->list()) return !list->empty();
  if (const auto* map = value->map()) return !map->empty();
  return true;
}

template <std::size_t N>
void complain_of_unsupported(ObjectReader& reader, const std::array<Unsupported, N>& unsupported) {
  for (const auto& [key, advice] : unsupported) {
    if (is_set(reader.raw(key))) reader.complain(key, std::string(advice));
  }
}

// Where a cluster has the settings for its credential plugin.
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// Calls `read` with the entry called `name`; an error if there is none, or two of the same name.
void read_entry(ObjectReader& root, const EntryKind& kind, const std::string& name,
                const ReadEntry& read) {
  std::set<std::string> seen;
  root.objects(kind.list, [&](ObjectReader& entry) {
    entry.allow_unknown();
    const std::string entry_name = entry.string("name").value_or("");
    if (!seen.insert(entry_name).second) {
      entry.complain("name", "another entry has the same name");
    }
    if (entry_name != name) return;
    if (!is_set(entry.raw(kind.key))) return;  // an empty user has no credentials
    entry.object(kind.key, [&](ObjectReader& object) {
      object.allow_unknown();
      read(object);
    });
  });
  if (seen.count(name) == 0) {
    root.complain(kind.list,
                  "there is no entry of the name that " + std::string(kind.named_by) + " says");
  }
}

Context read_context(ObjectReader& root, const std::string& name) {
  Context context;
  read_entry(root, kContexts, name, [&](ObjectReader& reader) {
    context.cluster = reader.string("cluster").value_or("");
    context.user = reader.string("user").value_or("");
    context.default_namespace = reader.string("namespace").value_or("");
  });
  return context;
}

class AccessReader {
 public:
  explicit AccessReader(const std::string& file)
      : directory_(std::filesystem::absolute(file).parent_path()) {}

  void read_cluster(ObjectReader& reader);
  void read_user(ObjectReader& reader);

  Endpoint endpoint;
  auth::CredentialSources sources;
  std::optional<auth::ExecPlugin> plugin;
  std::string plugin_config_json;

  [[nodiscard]] bool sends_token() const {
    return plugin || !sources.token.empty() || !sources.token_file.empty();
  }
  // The result of the whole file.
  [[nodiscard]] std::unique_ptr<Credentials> credentials(const auth::Now& now);

 private:
  void read_plugin_config(ObjectReader& cluster);
  void read_plugin(ObjectReader& user);
  // The contents of `KEY` (a file) or `KEY-data` (inline, with precedence).
  TextSource read_pem(ObjectReader& reader, const std::string& key);
  std::string read_path(ObjectReader& reader, const std::string& key);

  std::filesystem::path directory_;
};

std::string AccessReader::read_path(ObjectReader& reader, const std::string& key) {
  const std::string path = reader.string(key).value_or("");
  if (path.empty()) return {};
  const std::string resolved = (directory_ / path).lexically_normal().string();
  std::string content;
  if (const std::string why = auth::read_small_file(resolved, content); !why.empty()) {
    reader.complain(key, "the file that it names cannot be read: " + why);
  }
  return resolved;
}

TextSource AccessReader::read_pem(ObjectReader& reader, const std::string& key) {
  TextSource source;
  const std::string data_key = key + "-data";
  const std::string data = reader.string(data_key).value_or("");
  if (data.empty()) {
    source.file = read_path(reader, key);
    return source;
  }
  const auto decoded = auth::decode_base64(data);
  if (!decoded || decoded->find("-----BEGIN ") == std::string::npos) {
    reader.complain(data_key, "must be a PEM text in Base64");
    return source;
  }
  source.inline_text = *decoded;
  return source;
}

void AccessReader::read_cluster(ObjectReader& reader) {
  complain_of_unsupported(reader, kUnsupportedOfCluster);
  const auto server = reader.string("server");
  if (!server) {
    reader.complain("server", "is missing: the URL of the API server");
    return;
  }
  auto parsed = auth::parse_server_url(*server);
  if (!parsed) {
    reader.complain("server", parsed.error().message);
    return;
  }
  endpoint = std::move(*parsed);
  endpoint.server_name = reader.string("tls-server-name").value_or("");
  read_plugin_config(reader);
  sources.ca = read_pem(reader, "certificate-authority");
  sources.insecure_skip_verify = reader.boolean("insecure-skip-tls-verify").value_or(false);
  if (sources.insecure_skip_verify && sources.ca.is_given()) {
    reader.complain("insecure-skip-tls-verify",
                    "cannot be true together with a certificate authority");
  }
}

void AccessReader::read_plugin_config(ObjectReader& cluster) {
  cluster.objects("extensions", [&](ObjectReader& extension) {
    extension.allow_unknown();
    if (extension.string("name") != kExecExtension) return;
    if (const auto* value = extension.raw("extension")) plugin_config_json = yaml::to_json(*value);
  });
}

void AccessReader::read_plugin(ObjectReader& user) {
  if (!is_set(user.raw("exec"))) return;
  for (const std::string_view other :
       {"token", "tokenFile", "client-certificate", "client-certificate-data"}) {
    if (is_set(user.raw(other))) user.complain(other, "cannot be given together with exec");
  }
  user.object("exec", [&](ObjectReader& reader) {
    reader.allow_unknown();
    plugin = auth::read_exec_plugin(reader, directory_);
  });
}

std::unique_ptr<Credentials> AccessReader::credentials(const auth::Now& now) {
  if (!plugin) return std::make_unique<auth::FileCredentials>(sources, now);
  return std::make_unique<auth::PluginCredentials>(
      std::move(*plugin), auth::ExecCluster{endpoint, plugin_config_json}, sources,
      auth::PluginCredentials::World{.now = now});
}

void AccessReader::read_user(ObjectReader& reader) {
  complain_of_unsupported(reader, kUnsupportedOfUser);
  sources.certificate = read_pem(reader, "client-certificate");
  sources.key = read_pem(reader, "client-key");
  if (sources.certificate.is_given() != sources.key.is_given()) {
    reader.complain(sources.certificate.is_given() ? "client-certificate" : "client-key",
                    "a client certificate and its key must be given together");
  }
  sources.token = reader.string("token").value_or("");
  sources.token_file = read_path(reader, "tokenFile");
  read_plugin(reader);
}

}  // namespace

Result<ClusterAccess> load_kubeconfig(const std::string& file, const std::string& context,
                                      const auth::Now& now) {
  const auto documents = yaml::parse_file(file, yaml::Contents::kSecret);
  if (!documents) return tl::unexpected<Error>(documents.error());
  if (documents->size() != 1) {
    return config_error(file + ": a kubeconfig must be one document, this has " +
                        std::to_string(documents->size()));
  }
  ObjectReader root(documents->front(), file, yaml::Contents::kSecret);
  root.allow_unknown();
  root.one_of("kind", {"Config"});
  root.one_of("apiVersion", {"v1"});
  const std::string name = context.empty() ? root.string("current-context").value_or("") : context;
  if (name.empty()) root.complain("current-context", "is missing, and no context was asked for");

  const Context chosen = read_context(root, name);
  if (chosen.cluster.empty()) {
    root.complain(kContexts.list, "the entry in use names no cluster");
  }
  AccessReader access_reader(file);
  read_entry(root, kClusters, chosen.cluster,
             [&](ObjectReader& reader) { access_reader.read_cluster(reader); });
  if (access_reader.endpoint.host.empty()) {
    root.complain(kClusters.list, "the entry in use has no server");
  }
  if (!chosen.user.empty()) {
    read_entry(root, kUsers, chosen.user,
               [&](ObjectReader& reader) { access_reader.read_user(reader); });
  }
  if (auto error = root.finish()) return tl::unexpected<Error>(std::move(*error));

  if (auto error = auth::refuse_proxy(access_reader.endpoint)) {
    return tl::unexpected<Error>(with_context(std::move(*error), file));
  }

  ClusterAccess access;
  access.endpoint = access_reader.endpoint;
  access.credentials = access_reader.credentials(now);
  access.description = "kubeconfig " + file + ", context " + shown(name, 64);
  if (access.endpoint.tls && access_reader.sources.insecure_skip_verify) {
    access.description += ", server not verified (insecure-skip-tls-verify)";
  }
  if (!access.endpoint.tls && access_reader.sends_token()) {
    access.warning = "a bearer token is sent over http://, where anyone on the way can read it";
  }
  access.default_namespace = chosen.default_namespace;
  return access;
}

}  // namespace k8s
