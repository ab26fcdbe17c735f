// Any bytes as what a credential plugin prints, and its token as a part of a request.
#include "k8s-client/auth/exec_credential.h"
#include "k8s-client/http/asio/request_writer.h"
#include "tests/fuzz/fuzz_target.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace {

using k8s::auth::ExecCredential;

const std::string kVersion = "client.authentication.k8s.io/v1";

// Where and what, as errors may tell it. What a plugin prints is secret, so there is nothing else.
const std::set<std::string_view> kPlaces = {"kind",
                                            "apiVersion",
                                            "status",
                                            "status.token",
                                            "status.clientCertificateData",
                                            "status.clientKeyData",
                                            "status.expirationTimestamp"};
const std::set<std::string_view> kProblems = {
    "has neither a token nor a client certificate",
    "is missing: a client certificate and its key must be given together",
    "must be ExecCredential",
    "must be PEM",
    "must be a string, found a boolean; put it in quotes",
    "must be a string, found a list",
    "must be a string, found a map",
    "must be a string, found a number; put it in quotes",
    "must be a string, found an integer; put it in quotes",
    "must be a time as in RFC 3339",
    "must be an object",
    "must be client.authentication.k8s.io/v1, as the kubeconfig says",
    "must be one of ExecCredential",
    "must be one of client.authentication.k8s.io/v1"};

// Takes `prefix` off; an error begins with nothing else.
void skip(std::string_view& text, std::string_view prefix) {
  fuzz::require(text.starts_with(prefix), "an error is made of words that are known");
  text.remove_prefix(prefix.size());
}

void check_error(std::string_view message) {
  if (message == "its output must be one JSON object, an ExecCredential") return;
  skip(message, "its output:");
  if (!message.starts_with(' ')) {
    message.remove_prefix(std::min(message.find_first_not_of("0123456789"), message.size()));
    skip(message, ":");
  }
  skip(message, " ");
  const std::size_t colon = message.find(": ");
  fuzz::require(colon != std::string_view::npos && kPlaces.contains(message.substr(0, colon)) &&
                    kProblems.contains(message.substr(colon + 2)),
                "an error is made of words that are known");
}

void check_token(const std::string& token) {
  static const k8s::http::RequestWriter writer(k8s::Endpoint(), "fuzz");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::string written;
  if (writer.write({.target = "/"}, token, written)) return;
  fuzz::require(std::none_of(token.begin(), token.end(), is_control),
                "a token that is sent ends no line");
}

// What is no UTF-8 cannot be printed.
void check_again(const ExecCredential& credential) try {
  nlohmann::json status;
  if (credential.token) status["token"] = *credential.token;
  if (!credential.key_pem.empty()) {
    status["clientCertificateData"] = credential.certificate_pem;
    status["clientKeyData"] = credential.key_pem;
  }
  const nlohmann::json printed = {
      {"kind", "ExecCredential"}, {"apiVersion", kVersion}, {"status", status}};
  const auto again = k8s::auth::parse_exec_credential(printed.dump(), kVersion);
  fuzz::require(again && again->token == credential.token &&
                    again->certificate_pem == credential.certificate_pem &&
                    again->key_pem == credential.key_pem,
                "a credential that is printed again is the same");
} catch (const nlohmann::json::type_error&) {
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto credential = k8s::auth::parse_exec_credential(fuzz::as_text(data, size), kVersion);
  if (!credential) return check_error(credential.error().message);
  fuzz::require(credential->token || !credential->key_pem.empty(), "a credential holds something");
  fuzz::require(credential->key_pem.empty() == credential->certificate_pem.empty(),
                "a key comes with its certificate");
  if (credential->token) check_token(*credential->token);
  check_again(*credential);
}
