// From a browser on this machine to the scheduler's page, with credentials that no browser has.
//
// A request to the proxy goes to the scheduler as the user of the kubeconfig. So it demands a
// secret: the first segment of every path, 256 random bits, which stands in the URL that is printed
// and nowhere else. It answers to the names 127.0.0.1 and localhost alone: a page of another name
// that resolves to this machine (DNS rebinding) gets nothing. Only GETs, of paths below /ui, are
// sent on; what comes back carries the page's own headers, which keep other pages from framing or
// reading it. There is no cookie: those of 127.0.0.1 are seen by every server there.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"
#include "scheduler/server/http_server.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sched::kubectl {

// Gets a target of the scheduler that leads: "/ui/state".
using Fetch =
    std::function<void(const std::string& target, std::function<void(k8s::Result<k8s::Response>)>)>;

// 256 bits, as 43 characters that a URL may have.
[[nodiscard]] std::string make_secret();

class UiProxy {
 public:
  UiProxy(std::string secret, Fetch fetch);

  // Sets the port on which it listens. Call it before the first request.
  void listens_at(std::uint16_t port);
  // Where a browser finds the page.
  [[nodiscard]] std::string url() const;

  void get(const server::Request& request, server::HttpServer::Answer answer) const;

 private:
  [[nodiscard]] bool is_own_name(std::string_view host) const;

  const std::string secret_;
  const Fetch fetch_;
  std::uint16_t port_ = 0;
};

// The message to the user if the scheduler, or the API server before it, refuses; empty: it did
// not. `role`: the Role in the scheduler's namespace that opens the way.
[[nodiscard]] std::string refusal_of(const k8s::Result<k8s::Response>& response,
                                     const std::string& role);

}  // namespace sched::kubectl
