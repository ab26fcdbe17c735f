#include "scheduler/server/serving_certificate.h"

#include "scheduler/server/serving_tls.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"
#include "tests/support/certificates.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

using sched::server::CertificateFiles;
using sched::server::ServingCertificate;
using sched::server::ServingTls;
using namespace std::chrono_literals;

namespace {

std::string pem_of(ServingTls& tls) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  REQUIRE(PEM_write_bio_X509(bio.get(), SSL_CTX_get0_certificate(tls.context.native_handle())) ==
          1);
  char* text = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &text);
  return {text, static_cast<std::size_t>(size)};
}

// A directory with a certificate and its key, as a secret that is mounted.
struct Secret {
  tests::TemporaryDirectory directory;
  tests::Authority authority{"authority"};
  tests::ManualTime time;
  CertificateFiles files;
  std::vector<std::string> problems;

  Secret() { write(authority.issue_server()); }
  void write(const tests::Identity& identity) {
    files = {.certificate = directory.write("tls.crt", identity.certificate_pem),
             .key = directory.write("tls.key", identity.key_pem)};
  }
  k8s::Result<std::unique_ptr<ServingCertificate>> make() {
    return ServingCertificate::make(
        files, "127.0.0.1", time.now(),
        [this](const k8s::Error& error) { problems.push_back(error.message); });
  }
};

}  // namespace

TEST_CASE("a certificate of our own is for its address and its host, and another at each start") {
  const auto make = [] {
    auto made = ServingCertificate::make({}, "127.0.0.1", std::chrono::steady_clock::now, {});
    REQUIRE(made);
    return (*made)->current();
  };
  const auto tls = make();
  X509* certificate = SSL_CTX_get0_certificate(tls->context.native_handle());
  CHECK(X509_check_ip_asc(certificate, "127.0.0.1", 0) == 1);
  CHECK(X509_check_ip_asc(certificate, "127.0.0.2", 0) == 0);
  std::array<char, 256> host{};
  REQUIRE(gethostname(host.data(), host.size() - 1) == 0);
  CHECK(X509_check_host(certificate, host.data(), 0, 0, nullptr) == 1);
  CHECK(X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0);
  CHECK(X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0);
  CHECK(pem_of(*tls) != pem_of(*make()));
}

TEST_CASE("files that change are in use a minute later") {
  Secret secret;
  const tests::Identity first = secret.authority.issue_server();
  const tests::Identity second = secret.authority.issue_server();
  secret.write(first);
  const auto certificate = secret.make();
  REQUIRE(certificate);
  const auto tls = (*certificate)->current();
  CHECK(pem_of(*tls) == first.certificate_pem);
  secret.write(second);
  secret.time.pass(59s);
  CHECK((*certificate)->current() == tls);
  secret.time.pass(1s);
  CHECK(pem_of(*(*certificate)->current()) == second.certificate_pem);
  CHECK(secret.problems.empty());
}

TEST_CASE("files that cannot be used leave the old in use, until they can") {
  Secret secret;
  const auto certificate = secret.make();
  REQUIRE(certificate);
  const auto before = (*certificate)->current();
  const tests::Identity next = secret.authority.issue_server();
  secret.directory.write("tls.crt", next.certificate_pem);  // and the key not yet
  secret.time.pass(60s);
  CHECK((*certificate)->current() == before);
  REQUIRE(secret.problems.size() == 1);
  CHECK_THAT(secret.problems[0], Catch::Contains("must be that of the certificate in"));
  secret.directory.write("tls.key", next.key_pem);
  secret.time.pass(60s);
  CHECK(pem_of(*(*certificate)->current()) == next.certificate_pem);
  CHECK(secret.problems.size() == 1);
}

TEST_CASE(
    "files that cannot be used at the start are an error that names them, and nothing in them") {
  Secret secret;
  const auto message = [&] {
    const auto made = secret.make();
    return made ? std::string("made") : made.error().message;
  };
  secret.directory.write("tls.crt", "secret words");
  CHECK_THAT(message(), Catch::Contains("tls.crt\" cannot be used: "));
  CHECK_THAT(message(), !Catch::Contains("secret words"));

  secret.write(secret.authority.issue({.pass_phrase = "secret words"}));
  CHECK_THAT(message(), Catch::Contains("tls.key\", which must be that of the certificate"));

  secret.directory.remove("tls.key");
  CHECK_THAT(message(), Catch::Contains("tls.key\": No such file or directory"));
}
