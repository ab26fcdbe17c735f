#include "tests/k8s-client/http/busy_cpprest_thread.h"

#include "k8s-client/http/cpprest/sdk.h"

namespace tests {

BusyCpprestThread::BusyCpprestThread() {
  k8s::http::sdk::start();
  k8s::http::sdk::post([end = end_.get_future().share()] { end.wait(); });
}

}  // namespace tests
