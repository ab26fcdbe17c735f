// Whatever is wrong with a file of credentials or with a plugin's output, no message quotes it.
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/auth/exec_credential.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using tests::TemporaryDirectory;

const std::string kSecret = "eyJhbGciOiJSUzI1NiIsImtpZCI6IlhYIn0";

void check_silent(const std::string& message) {
  CHECK_FALSE(message.empty());
  CHECK_THAT(message, !Catch::Contains("eyJ"));
}

// Every S is the secret.
std::string with_secret(std::string text) {
  for (std::size_t at = 0; (at = text.find('S', at)) != std::string::npos; at += kSecret.size()) {
    text.replace(at, 1, kSecret);
  }
  return text;
}

}  // namespace

TEST_CASE("a file that is no kubeconfig is not printed") {
  const std::vector<std::string> texts = {
      "S",
      "\"S\"",
      "'S",
      "S: S",
      "S: S\nS: S",
      "- S",
      "[S",
      "{S",
      "!S x",
      "&S *S",
      "*S",
      "a: !S x",
      "<<: S",
      "? [S]\n: b",
      "S: a\n b: c",
      "S\n---\nS",
      "kind: S",
      "apiVersion: S",
      "kind: {S: S}",
      "apiVersion: [S]",
      "contexts: S",
      "current-context: S",
      "S: 0x",
      "a: 08S",
      "current-context: c\ncontexts: [{name: c, context: {cluster: S, user: S}}]",
      "current-context: c\ncontexts: [{name: S}, {name: S}]",
      "%S\n---\n",
      "a: \"\\S\"",
      "a: |S",
      "a: @S",
      "a: `S"};
  const TemporaryDirectory directory;
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto access = k8s::load_kubeconfig(directory.write("config", with_secret(text)));
    REQUIRE_FALSE(access);
    check_silent(access.error().message);
  }
}

TEST_CASE("no field of a kubeconfig is quoted, wherever the secret stands") {
  struct Case {
    std::string cluster;
    std::string user;
  };
  const std::string server = "server: 'https://h'";
  const std::vector<Case> cases = {
      {"server: S", ""},
      {"server: 'https://u:S@h'", ""},
      {"server: 'https://h/?token=S'", ""},
      {"server: [S]", ""},
      {server + ", certificate-authority: S", ""},
      {server + ", certificate-authority-data: S", ""},
      {server + ", insecure-skip-tls-verify: S", ""},
      {server + ", proxy-url: S", ""},
      {server, "token: [S]"},
      {server, "token: {S: S}"},
      {server, "tokenFile: S"},
      {server, "client-key: S, client-certificate: S"},
      {server, "client-key-data: S, client-certificate-data: S"},
      {server, "username: S, password: S"},
      {server, "auth-provider: {config: {access-token: S}}"},
      {server, "as: S"},
      {server, "exec: S"},
      {server, "token: S, exec: {command: /bin/sh}"},
      {server, "exec: {command: S, apiVersion: client.authentication.k8s.io/v1beta1}"},
      {server, "exec: {command: /bin/sh, apiVersion: S}"},
      {server, "exec: {command: /bin/sh, interactiveMode: S}"},
      {server,
       "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1beta1, "
       "args: S}"},
      {server,
       "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1beta1, "
       "env: [{name: 'S=', value: S}]}"},
      {server,
       "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1beta1, "
       "provideClusterInfo: S}"},
  };
  const TemporaryDirectory directory;
  for (const Case& each : cases) {
    CAPTURE(each.cluster, each.user);
    const auto access = k8s::load_kubeconfig(directory.write(
        "config",
        with_secret("current-context: c\n"
                    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                    "clusters: [{name: k, cluster: {" +
                    each.cluster + "}}]\nusers: [{name: u, user: {" + each.user + "}}]\n")));
    REQUIRE_FALSE(access);
    check_silent(access.error().message);
  }
}

TEST_CASE("nothing that a plugin prints is quoted") {
  const std::vector<std::string> outputs = {
      "S",
      "{S",
      R"({"kind": "S"})",
      R"({"kind": "ExecCredential", "apiVersion": "S"})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": "S"})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"token": ["S"]}})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"S": "S"}})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"clientKeyData": "S"}})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"clientKeyData": "S", )"
      R"("clientCertificateData": "S"}})",
      R"({"kind": "ExecCredential", "apiVersion": "v", "status": {"token": "t", )"
      R"("expirationTimestamp": "S"}})"};
  for (const std::string& output : outputs) {
    CAPTURE(output);
    const auto credential = k8s::auth::parse_exec_credential(with_secret(output), "v");
    REQUIRE_FALSE(credential);
    check_silent(credential.error().message);
  }
}

TEST_CASE("a token that is sent without TLS gets a warning") {
  const TemporaryDirectory directory;
  const auto warning_of = [&](const std::string& server, const std::string& user) {
    const auto access = k8s::load_kubeconfig(
        directory.write("config",
                        "current-context: c\n"
                        "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                        "clusters: [{name: k, cluster: {server: '" +
                            server + "'}}]\nusers: [{name: u, user: {" + user + "}}]\n"));
    REQUIRE(access);
    return access->warning;
  };
  CHECK_THAT(warning_of("http://localhost", "token: t"), Catch::Contains("sent over http://"));
  CHECK(warning_of("http://localhost", "").empty());
  CHECK(warning_of("https://localhost", "token: t").empty());
}
