#include "k8s-client/http/asio_transport.h"

#include "k8s-client/http/asio/asio_connection.h"
#include "k8s-client/http/asio/request_writer.h"
#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/pooled/pooled_transport.h"

#include <chrono>
#include <utility>

namespace k8s {
namespace http {
namespace {

class AsioConnectionFactory final : public ConnectionFactory {
 public:
  AsioConnectionFactory(EventLoop& loop, Endpoint endpoint, const TransportOptions& options)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        writer_(endpoint_, options.user_agent),
        unacknowledged_limit_(options.unacknowledged_limit) {}

  std::shared_ptr<Connection> make(std::shared_ptr<TlsContext> tls) override {
    return std::make_shared<AsioConnection>(loop_.context(), endpoint_, writer_, std::move(tls),
                                            unacknowledged_limit_);
  }

 private:
  EventLoop& loop_;
  const Endpoint endpoint_;
  const RequestWriter writer_;
  const std::chrono::milliseconds unacknowledged_limit_;
};

}  // namespace
}  // namespace http

std::unique_ptr<Transport> make_asio_transport(EventLoop& loop, Endpoint endpoint,
                                               Credentials& credentials, TransportOptions options) {
  auto factory = std::make_unique<http::AsioConnectionFactory>(loop, endpoint, options);
  return http::make_pooled_transport(loop, endpoint, credentials, options, std::move(factory));
}

}  // namespace k8s
