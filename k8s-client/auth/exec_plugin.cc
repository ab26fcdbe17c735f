#include "k8s-client/auth/exec_plugin.h"

#include "k8s-client/auth/base64.h"
#include "k8s-client/shown.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <system_error>

extern char** environ;

namespace k8s::auth {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The first folder of $PATH that has it. Relative folders are left out.
std::optional<std::string> find_in_path(const std::string& command) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view() : std::string_view(path);
  while (!rest.empty()) {
    const auto colon = std::min(rest.find(':'), rest.size());
    const fs::path folder(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    if (folder.is_absolute() && is_executable(folder / command)) return (folder / command).string();
  }
  return std::nullopt;
}

// The path of the executable; empty: there is none.
std::string find_program(const std::string& command, const fs::path& directory) {
  if (command.find('/') == std::string::npos) return find_in_path(command).value_or("");
  const fs::path path = (directory / command).lexically_normal();
  return is_executable(path) ? path.string() : std::string();
}

void read_interactive_mode(yaml::ObjectReader& reader, const ExecPlugin& plugin) {
  const auto mode = reader.one_of("interactiveMode", {"Never", "IfAvailable", "Always"});
  if (mode == "Always") {
    reader.complain("interactiveMode",
                    "Always means that a question is asked at a terminal, and there is none; use "
                    "credentials that ask nothing");
  }
  if (!mode && plugin.api_version == "client.authentication.k8s.io/v1") {
    reader.complain("interactiveMode", "is missing: Never, IfAvailable or Always");
  }
}

void read_command(yaml::ObjectReader& reader, const fs::path& directory, ExecPlugin& plugin) {
  plugin.command = reader.string("command").value_or("");
  if (plugin.command.empty()) return reader.complain("command", "is missing");
  plugin.program = find_program(plugin.command, directory);
  if (!plugin.program.empty()) return;
  const bool is_path = plugin.command.find('/') != std::string::npos;
  const std::string hint = shown(plugin.install_hint, 512);
  reader.complain("command", std::string("is not an executable file") +
                                 (is_path ? "" : " in any folder of $PATH") +
                                 (hint.empty() ? "" : "; " + hint));
}

}  // namespace

ExecPlugin read_exec_plugin(yaml::ObjectReader& reader, const fs::path& directory) {
  ExecPlugin plugin;
  plugin.api_version = reader
                           .one_of("apiVersion", {"client.authentication.k8s.io/v1",
                                                  "client.authentication.k8s.io/v1beta1"})
                           .value_or("");
  if (plugin.api_version.empty()) reader.complain("apiVersion", "is missing");
  read_interactive_mode(reader, plugin);
  plugin.install_hint = reader.string("installHint").value_or("");
  read_command(reader, directory, plugin);
  plugin.arguments = reader.strings("args");
  reader.objects("env", [&](yaml::ObjectReader& entry) {
    entry.allow_unknown();
    const std::string name = entry.string("name").value_or("");
    if (name.empty() || name.find('=') != std::string::npos) {
      entry.complain("name", "must be the name of a variable");
    }
    plugin.environment.emplace_back(name, entry.string("value").value_or(""));
  });
  plugin.provide_cluster_info = reader.boolean("provideClusterInfo").value_or(false);
  return plugin;
}

std::string exec_info(const ExecPlugin& plugin, const ExecCluster& cluster,
                      const TlsMaterial& tls) {
  nlohmann::json spec = {{"interactive", false}};
  if (plugin.provide_cluster_info) {
    nlohmann::json& to = spec["cluster"];
    to["server"] = url_of(cluster.endpoint);
    if (!cluster.endpoint.server_name.empty()) {
      to["tls-server-name"] = cluster.endpoint.server_name;
    }
    if (tls.insecure_skip_verify) to["insecure-skip-tls-verify"] = true;
    if (!tls.ca_pem.empty()) to["certificate-authority-data"] = encode_base64(tls.ca_pem);
    if (!cluster.config_json.empty()) to["config"] = nlohmann::json::parse(cluster.config_json);
  }
  return nlohmann::json{
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}}
      .dump();
}

Command command_of(const ExecPlugin& plugin, const std::string& exec_info) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.environment) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = exec_info;
  Command command;
  command.program = plugin.program;
  command.arguments = plugin.arguments;
  for (const auto& [name, value] : variables) command.environment.push_back(name + "=" + value);
  return command;
}

}  // namespace k8s::auth
