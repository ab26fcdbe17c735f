#include "k8s-client/http/cpprest_transport.h"

#include "k8s-client/http/cpprest/cpprest_connection.h"
#include "k8s-client/http/pooled/pooled_transport.h"

#include <chrono>
#include <utility>

namespace k8s {
namespace http {
namespace {

class CpprestConnectionFactory final : public ConnectionFactory {
 public:
  CpprestConnectionFactory(EventLoop& loop, Endpoint endpoint, const TransportOptions& options)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        maker_(endpoint_, options.user_agent),
        unacknowledged_limit_(options.unacknowledged_limit) {}

  std::shared_ptr<Connection> make(std::shared_ptr<TlsContext> tls) override {
    return std::make_shared<CpprestConnection>(loop_, endpoint_, maker_, std::move(tls),
                                               unacknowledged_limit_);
  }

 private:
  EventLoop& loop_;
  const Endpoint endpoint_;
  const RequestMaker maker_;
  const std::chrono::milliseconds unacknowledged_limit_;
};

}  // namespace
}  // namespace http

bool has_cpprest_transport() { return true; }

std::unique_ptr<Transport> make_cpprest_transport(EventLoop& loop, Endpoint endpoint,
                                                  Credentials& credentials,
                                                  TransportOptions options) {
  http::sdk::start();
  auto factory = std::make_unique<http::CpprestConnectionFactory>(loop, endpoint, options);
  return http::make_pooled_transport(loop, endpoint, credentials, options, std::move(factory));
}

}  // namespace k8s
