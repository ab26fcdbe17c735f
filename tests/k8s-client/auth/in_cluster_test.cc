#include "k8s-client/auth/cluster_access.h"
#include "tests/k8s-client/auth/temporary_directory.h"
#include "tests/support/catch.h"

#include <cstdlib>

using namespace std::chrono_literals;
using namespace tests;

namespace {

// The variables that kubelet gives a pod, for one test.
class PodEnvironment {
 public:
  PodEnvironment(const char* host, const char* port) {
    set("KUBERNETES_SERVICE_HOST", host);
    set("KUBERNETES_SERVICE_PORT", port);
  }
  PodEnvironment(const PodEnvironment&) = delete;
  PodEnvironment& operator=(const PodEnvironment&) = delete;
  ~PodEnvironment() {
    set("KUBERNETES_SERVICE_HOST", nullptr);
    set("KUBERNETES_SERVICE_PORT", nullptr);
  }

 private:
  static void set(const char* name, const char* value) {
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }
};

}  // namespace

TEST_CASE("in cluster: the service account of the pod") {
  const PodEnvironment environment("10.96.0.1", "443");
  const TemporaryDirectory directory;
  directory.write("token", "one");
  directory.write("ca.crt", "-----BEGIN CERTIFICATE-----");
  directory.write("namespace", "gpu-scheduler");
  ManualTime time;
  const auto access = k8s::load_in_cluster(directory.path(), time.now());
  REQUIRE(access.has_value());
  CHECK(access->endpoint.tls);
  CHECK(access->endpoint.host == "10.96.0.1");
  CHECK(access->endpoint.port == 443);
  CHECK(access->default_namespace == "gpu-scheduler");
  CHECK_THAT(access->description, Catch::Contains(directory.path()));
  CHECK(access->credentials->bearer_token().value() == "one");
  CHECK(access->credentials->tls()->ca_pem == "-----BEGIN CERTIFICATE-----");
  directory.write("token", "two");
  time.pass(60s);
  CHECK(access->credentials->bearer_token().value() == "two");
}

TEST_CASE("in cluster: a proxy is refused, unless the server is excepted from it") {
  const PodEnvironment environment("10.96.0.1", "443");
  const TemporaryDirectory directory;
  directory.write("token", "one");
  directory.write("ca.crt", "-----BEGIN CERTIFICATE-----");
  ::setenv("HTTPS_PROXY", "http://proxy:3128", 1);
  const auto refused = k8s::load_in_cluster(directory.path());
  ::setenv("NO_PROXY", "10.96.0.1", 1);
  const auto excepted = k8s::load_in_cluster(directory.path());
  ::unsetenv("HTTPS_PROXY");
  ::unsetenv("NO_PROXY");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(refused.error().message, Catch::Contains("HTTPS_PROXY"));
  CHECK(excepted.has_value());
}

TEST_CASE("in cluster: what is missing is said") {
  struct Case {
    std::string name;
    const char* host;
    const char* port;
    std::vector<std::string> files;
    std::string want;
  };
  const auto c = GENERATE(values<Case>({
      {"not in a pod", nullptr, nullptr, {"token", "ca.crt"}, "not running in a pod"},
      {"no port", "10.0.0.1", nullptr, {"token", "ca.crt"}, "not running in a pod"},
      {"bad port", "10.0.0.1", "tcp://", {"token", "ca.crt"}, "KUBERNETES_SERVICE_PORT"},
      {"no token", "10.0.0.1", "443", {"ca.crt"}, "/token\": No such file"},
      {"no authority", "10.0.0.1", "443", {"token"}, "/ca.crt\": No such file"},
  }));
  CAPTURE(c.name);
  const PodEnvironment environment(c.host, c.port);
  const TemporaryDirectory directory;
  for (const auto& file : c.files) directory.write(file, "content");
  const auto access = k8s::load_in_cluster(directory.path());
  REQUIRE_FALSE(access.has_value());
  CHECK(access.error().kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(access.error().message, Catch::Contains(c.want));
}
