// In place of cpprest_transport where it is not built in (GPU_SCHEDULER_CPPREST=OFF).
#include "k8s-client/http/cpprest_transport.h"

#include <cstdio>
#include <cstdlib>

namespace k8s {

bool has_cpprest_transport() { return false; }

std::unique_ptr<Transport> make_cpprest_transport(EventLoop&, Endpoint, Credentials&,
                                                  TransportOptions) {
  std::fputs("make_cpprest_transport: not built in, and has_cpprest_transport() says so\n", stderr);
  std::abort();
}

}  // namespace k8s
