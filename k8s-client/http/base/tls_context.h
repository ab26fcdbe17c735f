// From the PEM texts of TlsMaterial to OpenSSL's contexts, and again when the texts change.
//
// The server is verified only against the given authorities (not against the system's), with at
// least TLS 1.2. As in Go's client, any given certificate is a trust anchor, even an intermediate
// one, and a name counts only as a subject alternative name, never as the subject's common name.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/credentials.h"

#include <openssl/types.h>

#include <memory>
#include <string>

namespace k8s::http {

// Immutable; connections that were made with the same material share one.
struct TlsContext {
  explicit TlsContext(bool verify)
      : context(asio::ssl::context::tls_client), verify_server(verify) {}
  asio::ssl::context context;
  bool verify_server;
};

// Makes a client's handshake send `name` to the server (SNI), unless it is an IP address. False:
// the name cannot be used.
[[nodiscard]] bool ask_for_server_name(SSL* ssl, const std::string& name);
// Makes a verification fail unless the certificate is for `name`, a DNS name or an IP address.
// False: the name cannot be used.
[[nodiscard]] bool verify_server_name(X509_VERIFY_PARAM* param, const std::string& name);

// Copies the authorities, the identity and the oldest version of TLS from `from` to `to`.
void copy_tls_context(const TlsContext& from, SSL_CTX* to);

// kConfig if a PEM text cannot be used; the message names it.
[[nodiscard]] Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsMaterial& material);

// The context of the present material, made again when that changes.
//
// If new material cannot be used (a certificate was replaced a moment before its key), the old
// context stays in use, and Credentials::report() is called once. Each get() reads the credentials
// again, so the new material is used as soon as it is complete.
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
