#include "k8s-client/auth/cluster_access.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"

#include <cstdlib>
#include <string>

using namespace std::chrono_literals;
using namespace tests;

namespace {

// "-----BEGIN X-----\n", "-----BEGIN Y-----\n" and "-----BEGIN Z-----\n" in Base64.
constexpr auto kDataX = "LS0tLS1CRUdJTiBYLS0tLS0K";
constexpr auto kDataY = "LS0tLS1CRUdJTiBZLS0tLS0K";
constexpr auto kDataZ = "LS0tLS1CRUdJTiBaLS0tLS0K";

// A kubeconfig with one context; `cluster` and `user` are the fields of theirs, in flow style.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\n"
         "kind: Config\n"
         "current-context: main\n"
         "contexts:\n"
         "- name: main\n"
         "  context: {cluster: c, user: u, namespace: team}\n"
         "clusters:\n"
         "- name: c\n"
         "  cluster: {" +
         cluster +
         "}\n"
         "users:\n"
         "- name: u\n"
         "  user: {" +
         user + "}\n";
}

constexpr auto kServer = "server: 'https://10.0.0.1:6443'";

std::string error_of(const std::string& file, const std::string& context = "") {
  const auto access = k8s::load_kubeconfig(file, context);
  REQUIRE_FALSE(access.has_value());
  CHECK(access.error().kind == k8s::ErrorKind::kConfig);
  return access.error().message;
}

}  // namespace

TEST_CASE("kubeconfig: of a long context name the beginning is shown") {
  const TemporaryDirectory directory;
  const auto described = [&](const std::string& context) {
    std::string text = kubeconfig(kServer, "token: secret");
    for (const std::string key : {"current-context: ", "- name: "}) {
      const auto at = text.find(key + "main");
      REQUIRE(at != std::string::npos);
      text.replace(at, key.size() + 4, key + context);
    }
    const auto access = k8s::load_kubeconfig(directory.write("config", text));
    REQUIRE(access.has_value());
    return access->description.substr(access->description.find(", context"));
  };
  const std::string longest(64, 'c');
  CHECK(described(longest) == ", context " + longest);
  CHECK(described(longest + "d") == ", context " + longest + "…");
}

TEST_CASE("kubeconfig: of the list in the environment empty entries are no files") {
  const TemporaryDirectory directory;
  const auto file = directory.write("config", kubeconfig(kServer, "token: secret"));
  const auto found = [](const std::string& list) {
    ::setenv("KUBECONFIG", list.c_str(), 1);
    auto access = k8s::find_cluster("");
    ::unsetenv("KUBECONFIG");
    return access ? access->default_namespace : access.error().message;
  };
  CHECK(found(file) == "team");
  CHECK(found(file + ":") == "team");
  CHECK(found("::" + file + ":") == "team");
  CHECK_THAT(found(file + ":" + file), Catch::StartsWith("$KUBECONFIG names several files"));
}

TEST_CASE("kubeconfig: inline data") {
  const TemporaryDirectory directory;
  const auto file = directory.write(
      "config", kubeconfig(std::string(kServer) + ", certificate-authority-data: " + kDataX +
                               ", certificate-authority: ignored, tls-server-name: kubernetes",
                           std::string("client-certificate-data: ") + kDataY +
                               ", client-key-data: " + kDataZ + ", token: secret"));
  const auto access = k8s::load_kubeconfig(file);
  REQUIRE(access.has_value());
  CHECK(access->endpoint.host == "10.0.0.1");
  CHECK(access->endpoint.port == 6443);
  CHECK(access->endpoint.server_name == "kubernetes");
  CHECK(access->default_namespace == "team");
  CHECK(access->description == "kubeconfig " + file + ", context main");
  CHECK(access->credentials->bearer_token().value() == "secret");
  CHECK(access->credentials->tls().value() == k8s::TlsMaterial{"-----BEGIN X-----\n",
                                                               "-----BEGIN Y-----\n",
                                                               "-----BEGIN Z-----\n", false});
}

TEST_CASE("kubeconfig: files, relative to its own, read again as they change") {
  const TemporaryDirectory directory;
  ManualTime time;
  directory.write("pki/ca.pem", "ca");
  directory.write("pki/me.pem", "certificate");
  directory.write("pki/me.key", "key");
  const auto token = directory.write("token", "one\n");
  const auto file = directory.write(
      "config", kubeconfig(std::string(kServer) + ", certificate-authority: pki/ca.pem",
                           "client-certificate: ./pki/me.pem, client-key: pki/me.key, "
                           "tokenFile: '" +
                               token + "'"));
  const auto access = k8s::load_kubeconfig(file, "", time.now());
  REQUIRE(access.has_value());
  CHECK(access->credentials->bearer_token().value() == "one");
  CHECK(access->credentials->tls().value() == k8s::TlsMaterial{"ca", "certificate", "key", false});
  directory.write("token", "two");
  directory.write("pki/ca.pem", "new ca");
  time.pass(60s);
  CHECK(access->credentials->bearer_token().value() == "two");
  CHECK(access->credentials->tls()->ca_pem == "new ca");
}

TEST_CASE("kubeconfig: another context, an anonymous user, JSON") {
  const TemporaryDirectory directory;
  const auto file = directory.write(
      "config",
      R"({"current-context": "main", "preferences": {}, "extensions": [{"name": "x"}],
          "contexts": [{"name": "main", "context": {"cluster": "broken", "user": "plugin"}},
                       {"name": "other", "context": {"cluster": "plain"}},
                       {"name": "empty", "context": {"cluster": "plain", "user": "nobody"}}],
          "clusters": [{"name": "broken", "cluster": {"proxy-url": "http://proxy"}},
                       {"name": "plain", "cluster": {"server": "http://localhost:8001"}}],
          "users": [{"name": "plugin", "user": {"exec": {"command": "aws"}}},
                    {"name": "nobody", "user": null}]})");
  for (const std::string context : {"other", "empty"}) {
    const auto access = k8s::load_kubeconfig(file, context);
    REQUIRE(access.has_value());
    CHECK_FALSE(access->endpoint.tls);
    CHECK(access->credentials->bearer_token().value() == std::nullopt);
  }
}

TEST_CASE("kubeconfig: a server believed unseen") {
  const TemporaryDirectory directory;
  const auto file = directory.write(
      "config", kubeconfig(std::string(kServer) + ", insecure-skip-tls-verify: true", ""));
  const auto access = k8s::load_kubeconfig(file);
  REQUIRE(access.has_value());
  CHECK(access->credentials->tls()->insecure_skip_verify);
  CHECK_THAT(access->description, Catch::Contains("not verified"));
}

TEST_CASE("kubeconfig: what is not supported or not right is said with its place") {
  struct Case {
    std::string name;
    std::string cluster;
    std::string user;
    std::string want;
  };
  const std::string server = kServer;
  const auto c = GENERATE_COPY(values<Case>({
      {"proxy", server + ", proxy-url: 'http://p'", "", ":9: clusters[0].cluster.proxy-url: "},
      {"no server", "tls-server-name: x", "", ":9: clusters[0].cluster.server: is missing"},
      {"empty cluster", "", "", "clusters: the entry in use has no server"},
      {"bad server", "server: '10.0.0.1'", "", "clusters[0].cluster.server: the URL must"},
      {"wrong type", "server: 5", "", "clusters[0].cluster.server: must be a string"},
      {"bad data", server + ", certificate-authority-data: '%%'", "",
       "clusters[0].cluster.certificate-authority-data: must be a PEM text in Base64"},
      {"data is no PEM", server + ", certificate-authority-data: Zm9v", "",
       "clusters[0].cluster.certificate-authority-data: must be a PEM text in Base64"},
      {"authority and none",
       server + ", insecure-skip-tls-verify: true, " + "certificate-authority-data: " + kDataX, "",
       "clusters[0].cluster.insecure-skip-tls-verify: cannot be true together"},
      {"no such authority", server + ", certificate-authority: gone.pem", "",
       "clusters[0].cluster.certificate-authority: the file that it names cannot be read: No such"},
      {"auth provider", server, "auth-provider: {name: gcp}", "users[0].user.auth-provider: "},
      {"user name", server, "username: admin", "users[0].user.username: basic authentication"},
      {"password", server, "password: x", "users[0].user.password: basic authentication"},
      {"impersonation", server, "as: root", "users[0].user.as: impersonation"},
      {"impersonated groups", server, "as-groups: [a]", "users[0].user.as-groups: impersonation"},
      {"no key", server, std::string("client-certificate-data: ") + kDataX,
       "users[0].user.client-certificate: a client certificate and its key"},
      {"no certificate", server, std::string("client-key-data: ") + kDataX,
       "users[0].user.client-key: a client certificate and its key"},
      {"no such token file", server, "tokenFile: gone",
       "users[0].user.tokenFile: the file that it names cannot be read: No such"},
      {"token is a number", server, "token: 12345", "users[0].user.token: must be a string"},
  }));
  CAPTURE(c.name);
  const TemporaryDirectory directory;
  const auto file = directory.write("config", kubeconfig(c.cluster, c.user));
  const auto message = error_of(file);
  CHECK_THAT(message, Catch::StartsWith(file + ":"));
  CHECK_THAT(message, Catch::Contains(c.want));
}

TEST_CASE("kubeconfig: entries that do not fit together") {
  const TemporaryDirectory directory;
  const std::string good = kubeconfig(kServer, "token: t");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return directory.write("config", text);
  };
  CHECK_THAT(error_of(directory.write("config", good), "absent"),
             Catch::Contains("contexts: there is no entry of the name that current-context (or "
                             "--context) says"));
  CHECK_THAT(error_of(replaced("current-context: main\n", "")),
             Catch::Contains("current-context: is missing"));
  CHECK_THAT(error_of(replaced("cluster: c,", "cluster: x,")),
             Catch::Contains("clusters: there is no entry of the name that the context says"));
  CHECK_THAT(error_of(replaced("user: u,", "user: x,")),
             Catch::Contains("users: there is no entry of the name that the context says"));
  CHECK_THAT(error_of(replaced("cluster: c, ", "")),
             Catch::Contains("contexts: the entry in use names no cluster"));
  CHECK_THAT(error_of(replaced("- name: u\n", "- name: u\n- name: u\n")),
             Catch::Contains("users[1].name: another entry has the same name"));
  CHECK_THAT(error_of(replaced("kind: Config", "kind: Pod")), Catch::Contains(":2: kind: "));
  CHECK_THAT(error_of(replaced("clusters:\n", "clusters: {}\nx:\n")),
             Catch::Contains("clusters: must be a list"));
}

TEST_CASE("kubeconfig: files that are none") {
  const TemporaryDirectory directory;
  CHECK_THAT(error_of(directory.path("absent")), Catch::Contains(directory.path("absent")));
  CHECK_THAT(error_of(directory.write("empty", "")), Catch::Contains("one document"));
  CHECK_THAT(error_of(directory.write("two", "a: 1\n---\nb: 2\n")),
             Catch::Contains("one document"));
  CHECK_THAT(error_of(directory.write("list", "- a\n")), Catch::Contains("must be a map"));
  CHECK_THAT(error_of(directory.write("broken", "a: [1\n")), Catch::Contains("broken:"));
}
