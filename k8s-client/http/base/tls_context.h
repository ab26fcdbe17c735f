// From the PEM texts of TlsMaterial to what OpenSSL wants, and back when they change.
//
// The server is verified against the given authorities alone (not the system's besides), TLS 1.2 at
// least. As in Go's client, any given certificate is a trust anchor, an intermediate one too, and a
// name counts only as a subject alternative name, never as the subject's common name.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/credentials.h"

#include <openssl/types.h>

#include <memory>
#include <string>

namespace k8s::http {

// Immutable once made; connections that were made with the same material share one.
struct TlsContext {
  explicit TlsContext(bool verify)
      : context(asio::ssl::context::tls_client), verify_server(verify) {}
  asio::ssl::context context;
  bool verify_server;
};

// Has a client's handshake send `name` to the server (SNI), unless it is an IP address. False: not
// a usable name.
[[nodiscard]] bool ask_for_server_name(SSL* ssl, const std::string& name);
// Has a verification fail unless the certificate is for `name`, a DNS name or an IP address. False:
// not a usable name.
[[nodiscard]] bool verify_server_name(X509_VERIFY_PARAM* param, const std::string& name);

// Gives `to` the authorities and the identity of `from`, and its oldest version of TLS.
void copy_tls_context(const TlsContext& from, SSL_CTX* to);

// kConfig when a PEM text cannot be used; the message says which.
[[nodiscard]] Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsMaterial& material);

// The context of the material as it is now, rebuilt when that changes.
//
// New material that cannot be used (a certificate replaced a moment before its key) leaves the
// context of the old in use: the credentials are asked again, so it is settled with the next
// change; Credentials::report() is told once.
class CurrentTlsContext {
 public:
  explicit CurrentTlsContext(Credentials& credentials) : credentials_(credentials) {}

  [[nodiscard]] Result<std::shared_ptr<TlsContext>> get();

 private:
  Credentials& credentials_;
  TlsMaterial material_;  // of context_, or newer and unusable
  std::shared_ptr<TlsContext> context_;
};

}  // namespace k8s::http
