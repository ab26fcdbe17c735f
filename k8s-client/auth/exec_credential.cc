#include "k8s-client/auth/exec_credential.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "k8s-client/yaml/object_reader.h"

#include <algorithm>
#include <chrono>

namespace k8s::auth {
namespace {

bool is_pem(const std::string& text) { return text.find("-----BEGIN ") != std::string::npos; }

void read_certificate(yaml::ObjectReader& status, ExecCredential& credential) {
  credential.certificate_pem = status.string("clientCertificateData").value_or("");
  credential.key_pem = status.string("clientKeyData").value_or("");
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    status.complain(credential.key_pem.empty() ? "clientKeyData" : "clientCertificateData",
                    "is missing: a client certificate and its key must be given together");
    return;
  }
  if (credential.certificate_pem.empty()) return;
  if (!is_pem(credential.certificate_pem)) status.complain("clientCertificateData", "must be PEM");
  if (!is_pem(credential.key_pem)) status.complain("clientKeyData", "must be PEM");
}

// The clock counts nanoseconds and ends in the year 2262, while "9999-12-31T23:59:59Z" is a way to
// say that a credential does not expire. From 1970 on, so that differences fit, too.
std::chrono::system_clock::time_point on_clock(Timestamp time) {
  using Clock = std::chrono::system_clock;
  constexpr Timestamp kLast = std::chrono::floor<Timestamp::duration>(Clock::time_point::max());
  return std::clamp(time, Timestamp{}, kLast);
}

ExecCredential read_status(yaml::ObjectReader& status) {
  status.allow_unknown();
  ExecCredential credential;
  const auto token = status.string("token");
  if (token && !token->empty()) credential.token = *token;
  read_certificate(status, credential);
  if (!credential.token && credential.certificate_pem.empty()) {
    status.complain("", "has neither a token nor a client certificate");
  }
  if (const auto expires = status.string("expirationTimestamp"); expires && !expires->empty()) {
    const auto time = json::parse_rfc3339(*expires);
    if (!time) status.complain("expirationTimestamp", "must be a time as in RFC 3339");
    if (time) credential.expires = on_clock(*time);
  }
  return credential;
}

}  // namespace

Result<ExecCredential> parse_exec_credential(std::string_view text,
                                             const std::string& api_version) {
  const std::string output = "its output";
  const auto documents = yaml::parse(text, output, yaml::Contents::kSecret);
  const auto is_map = [](const yaml::Value* value) { return value && value->map() != nullptr; };
  if (!documents || documents->size() != 1 || !is_map(&documents->front())) {
    return decode_error(output + " must be one JSON object, an ExecCredential");
  }
  yaml::ObjectReader root(documents->front(), output, yaml::Contents::kSecret);
  root.allow_unknown();
  if (!root.one_of("kind", {"ExecCredential"})) root.complain("kind", "must be ExecCredential");
  if (!root.one_of("apiVersion", {api_version})) {
    root.complain("apiVersion", "must be " + api_version + ", as the kubeconfig says");
  }
  ExecCredential credential;
  if (is_map(root.raw("status"))) {
    root.object("status", [&](yaml::ObjectReader& status) { credential = read_status(status); });
  } else {
    root.complain("status", "must be an object");
  }
  if (auto error = root.finish()) return decode_error(std::move(error->message));
  return credential;
}

}  // namespace k8s::auth
