// What a credential plugin may print, and what it may not.
#include "k8s-client/auth/exec_credential.h"

#include "tests/support/catch.h"

using k8s::auth::parse_exec_credential;

namespace {

constexpr auto kV1 = "client.authentication.k8s.io/v1";

std::string printed(const std::string& status, const std::string& version = kV1) {
  return R"({"kind": "ExecCredential", "apiVersion": ")" + version +
         R"(", "spec": {}, "status": )" + status + "}\n";
}

}  // namespace

TEST_CASE("exec credential: a token, a certificate, both") {
  struct Case {
    std::string name;
    std::string status;
    std::optional<std::string> token;
    std::string certificate;
    std::string key;
  };
  const auto c = GENERATE(values<Case>({
      {"token", R"({"token": "secret"})", "secret", "", ""},
      {"certificate",
       R"({"clientCertificateData": "-----BEGIN C-----\nA\/B\n", "clientKeyData": "-----BEGIN K-----\n"})",
       std::nullopt, "-----BEGIN C-----\nA/B\n", "-----BEGIN K-----\n"},
      {"both",
       R"({"token": "t", "clientCertificateData": "-----BEGIN C-----", "clientKeyData": "-----BEGIN K-----"})",
       "t", "-----BEGIN C-----", "-----BEGIN K-----"},
      {"what is not set",
       R"({"token": "t", "clientCertificateData": "", "expirationTimestamp": null})", "t", "", ""},
      {"what we do not know", R"({"token": "t", "refreshHint": {"a": [1]}})", "t", "", ""},
  }));
  CAPTURE(c.name);
  const auto credential = parse_exec_credential(printed(c.status), kV1);
  if (!credential) FAIL(credential.error().message);
  CHECK(credential->token == c.token);
  CHECK(credential->certificate_pem == c.certificate);
  CHECK(credential->key_pem == c.key);
  CHECK_FALSE(credential->expires.has_value());
}

TEST_CASE("exec credential: when it expires") {
  using namespace std::chrono;
  const auto credential = parse_exec_credential(
      printed(R"({"token": "t", "expirationTimestamp": "2026-03-04T05:06:07+01:00"})"), kV1);
  REQUIRE(credential.has_value());
  CHECK(credential->expires == sys_days(2026y / March / 4) + 4h + 6min + 7s);
}

TEST_CASE("exec credential: one that expires beyond the clock's last year is good until then") {
  using namespace std::chrono;
  const auto expires = [](const char* at) {
    const auto credential = parse_exec_credential(
        printed(std::string(R"({"token": "t", "expirationTimestamp": ")") + at + R"("})"), kV1);
    REQUIRE(credential.has_value());
    REQUIRE(credential->expires);
    return *credential->expires;
  };
  CHECK(expires("9999-12-31T23:59:59Z") > sys_days(2262y / January / 1));
  CHECK(expires("1013-03-04T05:06:07Z") == sys_days(1970y / January / 1));
}

TEST_CASE("exec credential: refused with what is wrong, and without the secret") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const auto c = GENERATE(values<Case>({
      {"nothing", "", "must be one JSON object"},
      {"broken", R"({"token": "secret)", "must be one JSON object"},
      {"text", "secret", "must be one JSON object"},
      {"two", printed(R"({"token": "a"})") + "---\n" + printed(R"({"token": "b"})"),
       "must be one JSON object"},
      {"kind", R"({"kind": "Pod", "status": {"token": "secret"}})", "kind: must be one of"},
      {"no kind", R"({"status": {"token": "secret"}})", "kind: must be ExecCredential"},
      {"another version", printed(R"({"token": "secret"})", "client.authentication.k8s.io/v1beta1"),
       "apiVersion: must be one of client.authentication.k8s.io/v1"},
      {"no status",
       R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"})",
       "status: must be an object"},
      {"status is text", printed(R"("secret")"), "status: must be an object"},
      {"empty status", printed("{}"), "status: has neither a token nor a client certificate"},
      {"empty token", printed(R"({"token": ""})"), "has neither"},
      {"token is no text", printed(R"({"token": {"secret": 1}})"),
       "status.token: must be a string"},
      {"no key", printed(R"({"clientCertificateData": "-----BEGIN secret"})"),
       "status.clientKeyData: is missing"},
      {"no certificate", printed(R"({"clientKeyData": "-----BEGIN secret"})"),
       "status.clientCertificateData: is missing"},
      {"no PEM", printed(R"({"clientCertificateData": "-----BEGIN X", "clientKeyData": "secret"})"),
       "status.clientKeyData: must be PEM"},
      {"no time", printed(R"({"token": "secret", "expirationTimestamp": "tomorrow"})"),
       "status.expirationTimestamp: must be a time"},
  }));
  CAPTURE(c.name);
  const auto credential = parse_exec_credential(c.text, kV1);
  REQUIRE_FALSE(credential.has_value());
  CHECK(credential.error().kind == k8s::ErrorKind::kDecode);
  CHECK_THAT(credential.error().message, Catch::StartsWith("its output"));
  CHECK_THAT(credential.error().message, Catch::Contains(c.want));
  CHECK_THAT(credential.error().message, !Catch::Contains("secret"));
}
