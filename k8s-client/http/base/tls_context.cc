#include "k8s-client/http/base/tls_context.h"

#include <boost/asio/ip/address.hpp>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <string>
#include <string_view>
#include <utility>

namespace k8s::http {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "not valid PEM" : reason;
}

// Otherwise OpenSSL would ask for a pass phrase on the terminal, and wait for it.
int no_pass_phrase(char*, int, int, void*) { return -1; }

// Replaces the trust store by the certificates of `pem`; false if there is none or one is broken.
bool trust_only(SSL_CTX* context, std::string_view pem) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::unique_ptr<X509_STORE, Free> store(X509_STORE_new());
  std::size_t certificates = 0;
  while (true) {
    const std::unique_ptr<X509, Free> certificate(
        PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr));
    if (!certificate) break;
    if (X509_STORE_add_cert(store.get(), certificate.get()) != 1) return false;
    ++certificates;
  }
  // The loop ends with "no start line" at the end of the text; any other error is a broken block.
  const unsigned long code = ERR_peek_last_error();
  if (ERR_GET_LIB(code) != ERR_LIB_PEM || ERR_GET_REASON(code) != PEM_R_NO_START_LINE) return false;
  if (certificates == 0) return false;
  ERR_clear_error();
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  SSL_CTX_set_cert_store(context, store.release());
  return true;
}

tl::unexpected<Error> unusable(const std::string& what) {
  return config_error(what + " cannot be used: " + openssl_reason());
}

// The client certificate and its key; empty on success, otherwise what is wrong.
Result<void> use_certificate(asio::ssl::context& context, const TlsMaterial& material) {
  if (material.key_pem.empty()) {
    return config_error("there is a client certificate, but no key for it");
  }
  ErrorCode error;
  context.use_certificate_chain(asio::buffer(material.certificate_pem), error);
  if (error) return unusable("the client certificate");
  context.use_private_key(asio::buffer(material.key_pem), asio::ssl::context::pem, error);
  if (error && material.key_pem.find("ENCRYPTED") != std::string::npos) {
    return config_error("the client key is encrypted; give one without a pass phrase");
  }
  if (error) return unusable("the client key");
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return unusable("the client key, which must be that of the client certificate,");
  }
  return {};
}

bool is_address(const std::string& name) {
  ErrorCode not_an_address;
  asio::ip::make_address(name, not_an_address);
  return !not_an_address.failed();
}

// "api.example.com." is a name for resolvers alone: with the dot at its end no search list is
// tried. Neither SNI (RFC 6066 §3) nor a certificate has it. Go's crypto/tls leaves it out, too.
std::string without_final_dot(const std::string& name) {
  return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

// What the macro SSL_set_tlsext_host_name does, without its C cast. OpenSSL copies the name.
bool ask_for_server_name(SSL* ssl, const std::string& name) {
  if (is_address(name)) return true;  // SNI is only for names (RFC 6066 §3)
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  without_final_dot(name).data()) == 1;
}

bool verify_server_name(X509_VERIFY_PARAM* param, const std::string& name) {
  if (name.empty()) return false;  // OpenSSL would then accept any name
  if (is_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const std::string host = without_final_dot(name);
  return !host.empty() && X509_VERIFY_PARAM_set1_host(param, host.c_str(), host.size()) == 1;
}

Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsMaterial& material) {
  ERR_clear_error();
  auto made = std::make_shared<TlsContext>(!material.insecure_skip_verify);
  SSL_CTX* native = made->context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_default_passwd_cb(native, no_pass_phrase);
  made->context.set_verify_mode(made->verify_server ? asio::ssl::verify_peer
                                                    : asio::ssl::verify_none);
  if (material.ca_pem.empty()) {
    ErrorCode error;
    made->context.set_default_verify_paths(error);
    if (error) return unusable("the system's certificate authorities");
  } else if (!trust_only(native, material.ca_pem)) {
    return unusable("the certificate authority (CA)");
  }
  if (!material.certificate_pem.empty()) {
    auto used = use_certificate(made->context, material);
    if (!used) return tl::unexpected<Error>(std::move(used.error()));
  }
  return made;
}

void copy_tls_context(const TlsContext& from, SSL_CTX* to) {
  SSL_CTX* native = const_cast<TlsContext&>(from).context.native_handle();
  SSL_CTX_set_min_proto_version(to, TLS1_2_VERSION);
  SSL_CTX_set1_cert_store(to, SSL_CTX_get_cert_store(native));
  X509* certificate = SSL_CTX_get0_certificate(native);
  if (certificate == nullptr) return;
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(native, &chain);
  // They matched in `from`, so they match here.
  SSL_CTX_use_cert_and_key(to, certificate, SSL_CTX_get0_privatekey(native), chain, 1);
}

Result<std::shared_ptr<TlsContext>> CurrentTlsContext::get() {
  auto material = credentials_.tls();
  if (!material) return tl::unexpected<Error>(std::move(material.error()));
  if (context_ && *material == material_) return context_;
  auto made = make_tls_context(*material);
  if (!made && !context_) return made;
  material_ = std::move(*material);
  if (made) {
    context_ = std::move(*made);
  } else {
    credentials_.report(
        with_context(made.error(),
                     "new TLS material cannot be used, the old one stays in use until it changes"));
  }
  return context_;
}

}  // namespace k8s::http
