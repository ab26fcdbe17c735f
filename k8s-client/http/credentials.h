// The client's identity for the API server, and the authorities that it trusts: contents, not
// paths.
//
// A transport asks for the token and the TLS material for each request, so that rotated files and
// renewed tokens take effect at once. What takes time (to run a credential plugin) is done before,
// in prepare(): no other function blocks.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace k8s {

// How both sides of a TLS connection prove their identity.
struct TlsMaterial {
  std::string ca_pem;           // the only trusted authorities; empty: the system's
  std::string certificate_pem;  // client certificate chain; empty: none
  std::string key_pem;
  bool insecure_skip_verify = false;  // only if the kubeconfig asks for it
  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

// The present credentials. Connections made with older TLS material are not used again.
// Implementations cache, and read again after some time. Called on the loop.
class Credentials {
 public:
  using OnProblem = std::function<void(const Error&)>;

  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  // True: bearer_token() and tls() can be called now. False: `ready` is called on `loop`, once and
  // not from within this call, when they can be called, even if they return an error. `loop`
  // outlives this.
  [[nodiscard]] virtual bool prepare(EventLoop& loop, std::function<void()> ready);

  // The bearer token; nullopt: none is used.
  [[nodiscard]] virtual Result<std::optional<std::string>> bearer_token() = 0;
  [[nodiscard]] virtual Result<TlsMaterial> tls() = 0;
  // The server answered 401 to the present results of bearer_token() and tls(), and not because an
  // admission webhook denies what was asked: drop what is cached.
  virtual void rejected() {}

  // Sets the handler of problems that make no request fail: new material cannot be used, while the
  // old still can. Called once for each cause.
  void on_problem(OnProblem handler) { on_problem_ = std::move(handler); }
  void report(const Error& problem) const {
    if (on_problem_) on_problem_(problem);
  }

 private:
  OnProblem on_problem_;
};

inline bool Credentials::prepare(EventLoop&, std::function<void()>) { return true; }

}  // namespace k8s
