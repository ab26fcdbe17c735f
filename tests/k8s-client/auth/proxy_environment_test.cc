// Which proxy settings apply to which server.
#include "k8s-client/auth/proxy_environment.h"

#include "k8s-client/auth/server_url.h"
#include "tests/support/catch.h"

#include <map>

namespace {

using Variables = std::map<std::string, std::string>;

std::optional<k8s::Error> refused(const std::string& server, const Variables& variables) {
  return k8s::auth::refuse_proxy(k8s::auth::parse_server_url(server).value(),
                                 [&](const std::string& name) {
                                   const auto found = variables.find(name);
                                   return found == variables.end() ? "" : found->second;
                                 });
}

}  // namespace

TEST_CASE("proxy of the environment: which variable applies") {
  struct Case {
    std::string server;
    Variables variables;
    std::string want;  // the variable; empty: none
  };
  const auto c = GENERATE(values<Case>({
      {"https://10.0.0.1", {}, ""},
      {"https://10.0.0.1", {{"HTTPS_PROXY", "http://me:secret@p:3128"}}, "HTTPS_PROXY"},
      {"https://10.0.0.1", {{"https_proxy", "http://me:secret@p"}}, "https_proxy"},
      {"https://10.0.0.1", {{"HTTPS_PROXY", ""}, {"https_proxy", "p"}}, "https_proxy"},
      {"https://10.0.0.1", {{"HTTP_PROXY", "http://p"}, {"ALL_PROXY", "socks5://p"}}, ""},
      {"http://10.0.0.1", {{"HTTP_PROXY", "http://p"}}, "HTTP_PROXY"},
      {"http://10.0.0.1", {{"HTTPS_PROXY", "http://p"}}, ""},
      {"https://localhost:6443", {{"HTTPS_PROXY", "http://p"}}, ""},
      {"https://127.0.0.1:6443", {{"HTTPS_PROXY", "http://p"}}, ""},
      {"https://127.1.2.3", {{"HTTPS_PROXY", "http://p"}}, ""},
      {"https://[::1]:6443", {{"HTTPS_PROXY", "http://p"}}, ""},
      {"https://a", {{"HTTPS_PROXY", "p"}, {"no_proxy", "a"}}, ""},
      {"https://a", {{"HTTPS_PROXY", "p"}, {"NO_PROXY", "b"}, {"no_proxy", "a"}}, "HTTPS_PROXY"},
  }));
  CAPTURE(c.server, c.variables);
  const auto error = refused(c.server, c.variables);
  CHECK(error.has_value() == !c.want.empty());
  if (!error) return;
  CHECK(error->kind == k8s::ErrorKind::kConfig);
  CHECK_THAT(error->message, Catch::Contains(c.want + " applies"));
  CHECK_THAT(error->message, Catch::Contains("NO_PROXY"));
  CHECK_THAT(error->message, !Catch::Contains("secret"));
}

TEST_CASE("proxy of the environment: exceptions") {
  struct Case {
    std::string server;
    std::string no_proxy;
    bool direct;
  };
  const auto c = GENERATE(values<Case>({
      {"https://api.example.com", "*", true},
      {"https://api.example.com", "other, api.example.com", true},
      {"https://api.example.com", "other\t, api.example.com ", true},
      {"https://api.example.com", "API.Example.COM", true},
      {"https://API.example.com", "api.example.com", true},
      {"https://api.example.com", "example.com", true},
      {"https://api.example.com", ".example.com", true},
      {"https://api.example.com", "*.example.com", true},
      {"https://example.com", "example.com", true},
      {"https://example.com", ".example.com", false},
      {"https://myexample.com", "example.com", false},
      {"https://api.example.com", "api.example", false},
      {"https://api.example.com", "", false},
      {"https://api.example.com", " , ,", false},
      {"https://api.example.com:6443", "example.com:6443", true},
      {"https://api.example.com:6443", "example.com:443", false},
      {"https://api.example.com", "example.com:443", true},
      {"https://10.1.2.3", "10.1.2.3", true},
      {"https://10.1.2.3", "10.1.2.4", false},
      {"https://10.1.2.3:6443", "10.1.2.3:6443", true},
      {"https://10.1.2.3:6443", "10.1.2.3:443", false},
      {"https://10.1.2.3", "10.0.0.0/8", true},
      {"https://11.1.2.3", "10.0.0.0/8", false},
      {"https://10.1.2.3", "10.1.2.0/30", true},
      {"https://10.1.2.4", "10.1.2.0/30", false},
      {"https://10.1.2.3", "0.0.0.0/0", true},
      {"https://10.1.2.3", "10.0.0.0/33", false},
      {"https://10.1.2.3", "10.0.0.0/", false},
      {"https://10.1.2.3", "3", false},
      {"https://10.1.2.3", "::/0", false},
      {"https://[fd00::1]", "fd00::/8", true},
      {"https://[fd00::1]", "fd00::1", true},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", true},
      {"https://[fd00::1]:6443", "[fd00::1]:443", false},
      {"https://[fd00::1]", "0.0.0.0/0", false},
      {"https://kubernetes.default.svc", ".svc,.cluster.local", true},
  }));
  CAPTURE(c.server, c.no_proxy);
  const auto error = refused(c.server, {{"HTTPS_PROXY", "http://p"}, {"NO_PROXY", c.no_proxy}});
  CHECK(error.has_value() == !c.direct);
}
