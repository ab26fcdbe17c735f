// Who we are to the API server, and whom we trust to be it: contents, not paths.
//
// A transport asks for the token and the TLS material for each request, so that rotated files and
// renewed tokens take effect at once. What takes time to get (a credential plugin has to run) is
// got ahead, in prepare(): no other function waits for anything.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace k8s {

// How both sides of a TLS connection prove who they are.
struct TlsMaterial {
  std::string ca_pem;           // the only trusted authorities; empty: the system's
  std::string certificate_pem;  // client certificate chain; empty: none
  std::string key_pem;
  bool insecure_skip_verify = false;  // only when the kubeconfig asks for it
  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

// Credentials as they are now. Connections made with older TLS material are not used again;
// implementations cache, and look again by time. Called on the loop.
class Credentials {
 public:
  using OnProblem = std::function<void(const Error&)>;

  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  // True: bearer_token() and tls() can be asked now. False: `ready` is called on `loop`, once and
  // not from within this call, when they can be asked, if only for an error. `loop` outlives this.
  [[nodiscard]] virtual bool prepare(EventLoop& loop, std::function<void()> ready);

  // The bearer token; nullopt: none is used.
  [[nodiscard]] virtual Result<std::optional<std::string>> bearer_token() = 0;
  [[nodiscard]] virtual Result<TlsMaterial> tls() = 0;
  // The server answered 401 to what bearer_token() and tls() return now: forget what is cached.
  virtual void rejected() {}

  // Whom to tell of what is wrong and fails no request: new material that cannot be used, while
  // the old still can. Once for each cause.
  void on_problem(OnProblem handler) { on_problem_ = std::move(handler); }
  void report(const Error& problem) const {
    if (on_problem_) on_problem_(problem);
  }

 private:
  OnProblem on_problem_;
};

inline bool Credentials::prepare(EventLoop&, std::function<void()>) { return true; }

}  // namespace k8s
