// Who is talked to: the server's certificate, its name, and ours.
#include "k8s-client/http/base/tls_context.h"
#include "tests/k8s-client/http/transport_fixture.h"

#include <openssl/x509_vfy.h>

#include <memory>
#include <string>

using k8s::ErrorKind;
using namespace tests;

namespace {

ServerOptions server_with(const Identity& identity) {
  ServerOptions how;
  how.identity = identity;
  return how;
}

Identity server_for(const std::string& alternative_names, bool expired = false) {
  CertificateWish wish;
  wish.common_name = "127.0.0.1";  // must not help: only alternative names count
  wish.alternative_names = alternative_names;
  wish.expired = expired;
  return cluster_authority().issue(wish);
}

}  // namespace

TEST_CASE("transport: a server that cannot prove who it is gets nothing of the request") {
  struct Case {
    std::string name;
    Identity identity;
    std::string host;
    std::string server_name;
    std::string want;  // within the message; empty: accepted
  };
  const Authority stranger("cluster-ca");  // same name, other key
  const auto c = GENERATE_REF(values<Case>({
      {"address among the names", server_for("IP:127.0.0.1"), "127.0.0.1", "", ""},
      {"name among the names", server_for("DNS:localhost"), "localhost", "", ""},
      {"wildcard", server_for("DNS:*.example.com"), "127.0.0.1", "api.example.com", ""},
      {"name given apart", server_for("DNS:kubernetes"), "127.0.0.1", "kubernetes", ""},
      {"name with a dot at its end", server_for("DNS:localhost"), "127.0.0.1", "localhost.", ""},
      {"unknown authority", stranger.issue_server(), "127.0.0.1", "", "certificate"},
      {"expired", server_for("IP:127.0.0.1", true), "127.0.0.1", "", "expired"},
      {"another address", server_for("IP:127.0.0.2"), "127.0.0.1", "", "IP address mismatch"},
      {"another name", server_for("DNS:other"), "localhost", "", "hostname mismatch"},
      {"no name at all", server_for(""), "127.0.0.1", "", "IP address mismatch"},
      {"name of another", server_for("DNS:localhost"), "localhost", "kubernetes", "mismatch"},
      {"wildcard of a part", server_for("DNS:ku*.example.com"), "localhost", "kub.example.com",
       "mismatch"},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(server_with(c.identity),
                                    answering([](const ReceivedRequest&) { return ok("yes"); }));
  fixture.endpoint.host = c.host;
  fixture.endpoint.server_name = c.server_name;
  const auto sent = fixture.exchange(get("/version"));
  if (c.want.empty()) {
    CHECK(sent->response().body == "yes");
    return;
  }
  CHECK(sent->error().kind == ErrorKind::kTls);
  CHECK_THAT(sent->error().message, Catch::Contains(c.want));
  CHECK_FALSE(sent->error().may_have_acted);
  CHECK(server.requests().empty());
}

TEST_CASE("no server can prove a name that is empty, as OpenSSL would have it") {
  const std::string name = GENERATE(as<std::string>{}, "", ".");
  const std::unique_ptr<X509_VERIFY_PARAM, decltype(&X509_VERIFY_PARAM_free)> param(
      X509_VERIFY_PARAM_new(), &X509_VERIFY_PARAM_free);
  CHECK_FALSE(k8s::http::verify_server_name(param.get(), name));
}

TEST_CASE("transport: a server is believed unseen only when that is asked for") {
  FOR_EACH_TRANSPORT(fixture);
  const Authority stranger("stranger");
  fixture.serve(server_with(stranger.issue({.expired = true})),
                answering([](const ReceivedRequest&) { return ok("yes"); }));
  fixture.credentials.material.ca_pem.clear();
  fixture.credentials.material.insecure_skip_verify = true;
  CHECK(fixture.exchange(get("/version"))->response().body == "yes");
}

TEST_CASE("transport: the name of the server is sent to it, an address is not") {
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve([](ServerConnection& connection) {
    if (!connection.handshake()) return;
    while (connection.read_request()) connection.send(ok("[" + connection.server_name() + "]"));
  });
  SECTION("name") {
    fixture.endpoint.server_name = "test.local";
    CHECK(fixture.exchange(get("/"))->response().body == "[test.local]");
  }
  SECTION("name with a dot at its end") {
    fixture.endpoint.server_name = "test.local.";
    CHECK(fixture.exchange(get("/"))->response().body == "[test.local]");
  }
  SECTION("address") { CHECK(fixture.exchange(get("/"))->response().body == "[]"); }
}

TEST_CASE("transport: a client certificate is presented where the server wants one") {
  FOR_EACH_TRANSPORT(fixture);
  ServerOptions how;
  how.identity = cluster_authority().issue_server();
  how.client_ca_pem = cluster_authority().pem();
  TlsServer& server =
      fixture.serve(how, answering([](const ReceivedRequest&) { return ok("known"); }));
  auto& material = fixture.credentials.material;

  SECTION("none") {
    const auto sent = fixture.exchange(get("/"));
    CHECK(sent->error().kind == ErrorKind::kTls);
    CHECK(server.requests().empty());
  }
  SECTION("of another authority") {
    const auto identity = Authority("stranger").issue({.common_name = "me"});
    material.certificate_pem = identity.certificate_pem;
    material.key_pem = identity.key_pem;
    CHECK(fixture.exchange(get("/"))->error().kind == ErrorKind::kTls);
    CHECK(server.requests().empty());
  }
  SECTION("the right one") {
    const auto identity = cluster_authority().issue({.common_name = "me"});
    material.certificate_pem = identity.certificate_pem;
    material.key_pem = identity.key_pem;
    CHECK(fixture.exchange(get("/"))->response().body == "known");
  }
}

TEST_CASE("transport: unusable TLS material is an error that says which") {
  struct Case {
    std::string name;
    std::function<void(k8s::TlsMaterial&)> spoil;
    std::string want;
  };
  const auto mine = cluster_authority().issue({.common_name = "me"});
  const auto other = cluster_authority().issue({.common_name = "other"});
  const auto locked = cluster_authority().issue({.common_name = "me", .pass_phrase = "secret"});
  const auto c = GENERATE_REF(values<Case>({
      {"no PEM", [](auto& m) { m.ca_pem = "garbage"; }, "certificate authority"},
      {"broken PEM",
       [](auto& m) {
         m.ca_pem += "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
       },
       "certificate authority"},
      {"no key", [=](auto& m) { m.certificate_pem = mine.certificate_pem; }, "no key"},
      {"broken certificate",
       [=](auto& m) {
         m.certificate_pem = "garbage";
         m.key_pem = mine.key_pem;
       },
       "client certificate"},
      {"broken key",
       [=](auto& m) {
         m.certificate_pem = mine.certificate_pem;
         m.key_pem = "garbage";
       },
       "client key"},
      {"key with a pass phrase, which nobody is asked for",
       [=](auto& m) {
         m.certificate_pem = locked.certificate_pem;
         m.key_pem = locked.key_pem;
       },
       "client key is encrypted"},
      {"key of another",
       [=](auto& m) {
         m.certificate_pem = mine.certificate_pem;
         m.key_pem = other.key_pem;
       },
       "client key"},
  }));
  CAPTURE(c.name);
  FOR_EACH_TRANSPORT(fixture);
  fixture.serve(answering([](const ReceivedRequest&) { return ok("never"); }));
  c.spoil(fixture.credentials.material);
  const auto sent = fixture.exchange(get("/"));
  CHECK(sent->error().kind == ErrorKind::kConfig);
  CHECK_THAT(sent->error().message, Catch::Contains(c.want));
  CHECK_FALSE(sent->error().may_have_acted);
}

TEST_CASE("transport: new TLS material leaves the connections of the old behind") {
  FOR_EACH_TRANSPORT(fixture);
  TlsServer& server = fixture.serve(answering([](const ReceivedRequest&) { return ok("yes"); }));
  CHECK(fixture.exchange(get("/1"))->response().status == 200);
  CHECK(fixture.exchange(get("/2"))->response().status == 200);
  CHECK(server.accepted() == 1);

  auto& material = fixture.credentials.material;
  SECTION("usable") {
    const auto identity = cluster_authority().issue({.common_name = "me"});
    material.certificate_pem = identity.certificate_pem;
    material.key_pem = identity.key_pem;
    CHECK(fixture.exchange(get("/3"))->response().status == 200);
    CHECK(server.accepted() == 2);
  }
  SECTION("an authority that did not sign this server") {
    material.ca_pem = Authority("new").pem();
    CHECK(fixture.exchange(get("/3"))->error().kind == ErrorKind::kTls);
  }
  SECTION("a certificate whose key has yet to follow: the old serves on until it has") {
    const auto identity = cluster_authority().issue({.common_name = "me"});
    material.certificate_pem = identity.certificate_pem;
    CHECK(fixture.exchange(get("/3"))->response().status == 200);
    CHECK(server.accepted() == 1);
    material.key_pem = identity.key_pem;
    CHECK(fixture.exchange(get("/4"))->response().status == 200);
    CHECK(server.accepted() == 2);
  }
}
