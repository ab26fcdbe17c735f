#include "k8s-client/auth/file_credentials.h"

#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"

using k8s::auth::CredentialSources;
using k8s::auth::FileCredentials;
using namespace std::chrono_literals;
using namespace tests;

namespace {

std::string token_of(FileCredentials& credentials) {
  const auto token = credentials.bearer_token();
  REQUIRE(token.has_value());
  return token->value_or("(none)");
}

k8s::TlsMaterial tls_of(FileCredentials& credentials) {
  auto material = credentials.tls();
  REQUIRE(material.has_value());
  return *material;
}

}  // namespace

TEST_CASE("file credentials: nothing given is nothing used") {
  ManualTime time;
  FileCredentials credentials({}, time.now());
  CHECK(token_of(credentials) == "(none)");
  CHECK(tls_of(credentials) == k8s::TlsMaterial{});
}

TEST_CASE("file credentials: a token file is read again every minute, and not before") {
  const TemporaryDirectory directory;
  ManualTime time;
  CredentialSources sources;
  sources.token_file = directory.write("token", "one\n");
  FileCredentials credentials(sources, time.now());
  CHECK(token_of(credentials) == "one");
  directory.write("token", "two");
  time.pass(59s);
  CHECK(token_of(credentials) == "one");
  time.pass(1s);
  CHECK(token_of(credentials) == "two");
}

TEST_CASE("file credentials: a token file that cannot be read leaves the last token in use") {
  const TemporaryDirectory directory;
  ManualTime time;
  CredentialSources sources;
  sources.token_file = directory.write("token", "one");
  FileCredentials credentials(sources, time.now());
  CHECK(token_of(credentials) == "one");
  SECTION("gone") { directory.remove("token"); }
  SECTION("empty") { directory.write("token", ""); }
  SECTION("huge") { directory.write("token", std::string(2'000'000, 'x')); }
  time.pass(60s);
  CHECK(token_of(credentials) == "one");
  directory.write("token", "two");
  time.pass(60s);
  CHECK(token_of(credentials) == "two");
}

TEST_CASE("file credentials: a refused token is forgotten at once") {
  const TemporaryDirectory directory;
  ManualTime time;
  CredentialSources sources;
  sources.token_file = directory.write("token", "one");
  FileCredentials credentials(sources, time.now());
  CHECK(token_of(credentials) == "one");
  directory.write("token", "two");
  credentials.rejected();
  CHECK(token_of(credentials) == "two");

  directory.remove("token");
  credentials.rejected();
  const auto token = credentials.bearer_token();
  REQUIRE_FALSE(token.has_value());
  CHECK(token.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(token.error().message, Catch::Contains(sources.token_file));
  CHECK_THAT(token.error().message, Catch::Contains("No such file"));
}

TEST_CASE("file credentials: a token file wins over a token, which serves without it") {
  const TemporaryDirectory directory;
  ManualTime time;
  CredentialSources sources;
  sources.token = "inline";
  sources.token_file = directory.path("token");
  FileCredentials credentials(sources, time.now());
  CHECK(token_of(credentials) == "inline");
  directory.write("token", "from file");
  CHECK(token_of(credentials) == "from file");
}

TEST_CASE("file credentials: certificates are compared by content, through swapped symlinks") {
  // As kubelet projects volumes: name → ..data/name, ..data → a directory that is swapped whole.
  const TemporaryDirectory directory;
  ManualTime time;
  directory.write("v1/ca.crt", "ca 1");
  directory.write("v2/ca.crt", "ca 2");
  const auto same_time = std::filesystem::last_write_time(directory.path("v1/ca.crt"));
  std::filesystem::last_write_time(directory.path("v2/ca.crt"), same_time);
  std::filesystem::create_directory_symlink("v1", directory.path("..data"));
  std::filesystem::create_symlink("..data/ca.crt", directory.path("ca.crt"));

  CredentialSources sources;
  sources.ca.file = directory.path("ca.crt");
  sources.certificate.inline_text = "certificate";
  sources.key.file = directory.write("key", "key 1");
  FileCredentials credentials(sources, time.now());
  CHECK(tls_of(credentials) == k8s::TlsMaterial{"ca 1", "certificate", "key 1", false});

  directory.remove("..data");
  std::filesystem::create_directory_symlink("v2", directory.path("..data"));
  time.pass(59s);
  CHECK(tls_of(credentials).ca_pem == "ca 1");
  time.pass(1s);
  CHECK(tls_of(credentials).ca_pem == "ca 2");

  directory.remove("ca.crt");
  directory.write("key", "key 2");
  credentials.rejected();
  CHECK(tls_of(credentials) == k8s::TlsMaterial{"ca 2", "certificate", "key 2", false});
}

TEST_CASE("file credentials: a file that was never there is an error that names it") {
  const TemporaryDirectory directory;
  ManualTime time;
  CredentialSources sources;
  std::string want;
  SECTION("certificate authority") {
    sources.ca.file = directory.path("nowhere");
    want = "certificate authority: ";
  }
  SECTION("client certificate") {
    sources.certificate.file = directory.path("nowhere");
    want = "client certificate: ";
  }
  SECTION("client key, a directory") {
    sources.key.file = directory.path();
    want = "client key: ";
  }
  FileCredentials credentials(sources, time.now());
  const auto material = credentials.tls();
  REQUIRE_FALSE(material.has_value());
  CHECK(material.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(material.error().message, Catch::StartsWith(want + "cannot read \""));
  CHECK_THAT(material.error().message, Catch::Contains(directory.path()));
}
