// The proxies in the environment of the tests are not for the servers that the tests start.
#include <cstdlib>
#include <initializer_list>

namespace {

struct NoProxy {
  NoProxy() {
    for (const char* name : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}) {
      ::unsetenv(name);
    }
  }
};
const NoProxy no_proxy;

}  // namespace
