// What a kubeconfig says of its credential plugin, and what the plugin is told.
#include "k8s-client/auth/exec_plugin.h"

#include "k8s-client/auth/cluster_access.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"

#include <cstdlib>

using namespace k8s::auth;
using namespace tests;

namespace {

// A kubeconfig with a user that has `exec` with these fields, in flow style.
std::string kubeconfig_with_exec(const std::string& exec, const std::string& other_fields = "",
                                 const std::string& cluster_fields = "") {
  return "current-context: main\n"
         "contexts: [{name: main, context: {cluster: c, user: u}}]\n"
         "clusters:\n"
         "- {name: c, cluster: {server: 'https://10.0.0.1:6443'" +
         cluster_fields +
         "}}\n"
         "users:\n"
         "- {name: u, user: {exec: {" +
         exec + "}" + other_fields + "}}\n";
}

constexpr auto kExecV1 = "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never";

std::string program(const TemporaryDirectory& directory, const std::string& name,
                    const std::string& script) {
  const auto file = directory.write(name, "#!/bin/sh\n" + script);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

// What the credentials of that kubeconfig come to, by a real process.
struct Asked {
  k8s::Result<std::optional<std::string>> token;
  k8s::Result<k8s::TlsMaterial> tls;
};

Asked ask(const std::string& file) {
  const auto loop = k8s::make_event_loop();
  auto access = k8s::load_kubeconfig(file);
  if (!access) FAIL(access.error().message);
  CHECK_FALSE(access->credentials->prepare(*loop, [&] { loop->stop(); }));
  loop->run();
  return {access->credentials->bearer_token(), access->credentials->tls()};
}

}  // namespace

TEST_CASE("exec plugin: run with its arguments and environment, told about the cluster") {
  const TemporaryDirectory directory;
  ::setenv("EXEC_PLUGIN_TEST", "ours", 1);
  ::setenv("EXEC_PLUGIN_TEST_KEPT", "kept", 1);
  program(directory, "bin/login",
          "echo \"$KUBERNETES_EXEC_INFO\" > \"$(dirname \"$0\")/info\"\n"
          "echo \"{\\\"kind\\\": \\\"ExecCredential\\\","
          " \\\"apiVersion\\\": \\\"client.authentication.k8s.io/v1beta1\\\","
          " \\\"status\\\": {\\\"token\\\": "
          "\\\"$1-$2-$EXEC_PLUGIN_TEST-$EXEC_PLUGIN_TEST_KEPT\\\"}}\"\n");
  const auto info = [&] {
    return k8s::auth::read_small_file(directory.path("bin/info")).value_or("none");
  };
  const std::string exec =
      "apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [a, 'b c'], "
      "env: [{name: EXEC_PLUGIN_TEST, value: its own}]";
  SECTION("without a word about the cluster") {
    const auto asked = ask(directory.write("config", kubeconfig_with_exec(exec)));
    CHECK(asked.token.value() == "a-b c-its own-kept");
    CHECK(info() == R"({"apiVersion":"client.authentication.k8s.io/v1beta1",)"
                    R"("kind":"ExecCredential","spec":{"interactive":false}})"
                    "\n");
  }
  SECTION("with all of it") {
    const auto file = directory.write(
        "config",
        kubeconfig_with_exec(
            exec + ", provideClusterInfo: true", "",
            ", tls-server-name: kubernetes, certificate-authority-data: "
            "LS0tLS1CRUdJTiBYLS0tLS0K, extensions: [{name: other, extension: {a: 1}}, {name: "
            "client.authentication.k8s.io/exec, extension: {audience: [x, 2]}}]"));
    const auto asked = ask(file);
    CHECK(asked.token.value() == "a-b c-its own-kept");
    CHECK(asked.tls->ca_pem == "-----BEGIN X-----\n");
    CHECK(info() == R"({"apiVersion":"client.authentication.k8s.io/v1beta1",)"
                    R"("kind":"ExecCredential","spec":{"cluster":{)"
                    R"("certificate-authority-data":"LS0tLS1CRUdJTiBYLS0tLS0K",)"
                    R"("config":{"audience":["x",2]},"server":"https://10.0.0.1:6443",)"
                    R"("tls-server-name":"kubernetes"},"interactive":false}})"
                    "\n");
  }
  ::unsetenv("EXEC_PLUGIN_TEST");
  ::unsetenv("EXEC_PLUGIN_TEST_KEPT");
}

TEST_CASE("exec plugin: found in $PATH when it has no slash") {
  const TemporaryDirectory directory;
  program(directory, "second/login-plugin",
          R"(echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",)"
          R"( "status": {"token": "found"}}')");
  directory.write("first/login-plugin", "not executable");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH",
           (directory.path("first") + ":" + directory.path("second") + ":" + before).c_str(), 1);
  const auto asked = ask(directory.write(
      "config", kubeconfig_with_exec(std::string(kExecV1) + ", command: login-plugin")));
  ::setenv("PATH", before.c_str(), 1);
  CHECK(asked.token.value() == "found");
}

TEST_CASE("exec plugin: a failure names the command and its exit code, and not what it said") {
  const TemporaryDirectory directory;
  program(directory, "login", "echo 'no session' >&2; echo 'second line' >&2; exit 5\n");
  const auto asked = ask(directory.write(
      "config", kubeconfig_with_exec(std::string(kExecV1) +
                                     ", command: ./login, installHint: run setup first")));
  REQUIRE_FALSE(asked.token.has_value());
  CHECK(asked.token.error().message ==
        "credential plugin \"./login\": exit code 5, and it wrote to its standard error; run it to "
        "see what; run setup first");
}

TEST_CASE("exec plugin: what is not right is said with its place") {
  struct Case {
    std::string name;
    std::string exec;
    std::string other_fields;
    std::string want;
  };
  const std::string v1 = kExecV1;
  const auto c = GENERATE_COPY(values<Case>({
      {"no version", "command: /bin/sh", "", "exec.apiVersion: is missing"},
      {"old version", "apiVersion: client.authentication.k8s.io/v1alpha1, command: /bin/sh", "",
       "exec.apiVersion: must be one of"},
      {"no command", v1, "", "exec.command: is missing"},
      {"command that is not there", v1 + ", command: /does/not/exist, installHint: get it", "",
       "exec.command: is not an executable file; get it"},
      {"command that is nowhere", v1 + ", command: does-not-exist", "",
       "exec.command: is not an executable file in any folder of $PATH"},
      {"somebody is asked",
       "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always, command: /bin/sh", "",
       "exec.interactiveMode: Always means that a question is asked at a terminal"},
      {"no mode", "apiVersion: client.authentication.k8s.io/v1, command: /bin/sh", "",
       "exec.interactiveMode: is missing"},
      {"variable without a name", v1 + ", command: /bin/sh, env: [{value: x}]", "",
       "exec.env[0].name: must be the name of a variable"},
      {"arguments", v1 + ", command: /bin/sh, args: one", "", "exec.args: must be a list"},
      {"beside a token", v1 + ", command: /bin/sh", ", token: x",
       "token: cannot be given together with exec"},
  }));
  CAPTURE(c.name);
  const TemporaryDirectory directory;
  const auto access =
      k8s::load_kubeconfig(directory.write("config", kubeconfig_with_exec(c.exec, c.other_fields)));
  REQUIRE_FALSE(access.has_value());
  CHECK(access.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(access.error().message, Catch::Contains(":6: users[0].user." + c.want));
}

TEST_CASE("exec plugin: a proxy of the environment stops a kubeconfig, too") {
  const TemporaryDirectory directory;
  const auto file =
      directory.write("config", kubeconfig_with_exec(std::string(kExecV1) + ", command: /bin/sh"));
  ::setenv("HTTPS_PROXY", "http://proxy:3128", 1);
  const auto refused = k8s::load_kubeconfig(file);
  ::setenv("NO_PROXY", "10.0.0.0/8", 1);
  const auto accepted = k8s::load_kubeconfig(file);
  ::unsetenv("HTTPS_PROXY");
  ::unsetenv("NO_PROXY");
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, Catch::StartsWith(file + ": the environment's HTTPS_PROXY"));
  CHECK(accepted.has_value());
}
