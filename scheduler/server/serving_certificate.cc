#include "scheduler/server/serving_certificate.h"

#include "scheduler/server/serving_tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace sched::server {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr long kHourSeconds = 3600;
constexpr long kLifeSeconds = 10L * 365 * 24 * kHourSeconds;

struct Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};

tl::unexpected<k8s::Error> unusable(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return k8s::config_error(what + " cannot be used: " + (reason == nullptr ? "no PEM" : reason));
}

std::shared_ptr<ServingTls> new_tls() {
  auto made = std::make_shared<ServingTls>();
  SSL_CTX* native = made->context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  // For an encrypted key OpenSSL would otherwise ask for a pass phrase on the terminal, and wait.
  SSL_CTX_set_default_passwd_cb(native, [](char*, int, int, void*) { return -1; });
  return made;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool add_alternative_names(X509* certificate, const std::string& names) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, names.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Good for `host` and for this machine's name; no authority has signed it.
k8s::Result<std::shared_ptr<ServingTls>> self_signed(const std::string& host) {
  ERR_clear_error();
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const std::unique_ptr<X509, Free> certificate(X509_new());
  const std::string name = host_name();
  std::uint32_t serial = 0;
  const bool made =
      key != nullptr && certificate != nullptr && X509_set_version(certificate.get(), 2) == 1 &&
      RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1 &&
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial) == 1 &&
      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHourSeconds) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kLifeSeconds) != nullptr &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>("gpu-scheduler"), -1, -1,
                                 0) == 1 &&
      X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1 &&
      X509_set_pubkey(certificate.get(), key.get()) == 1 &&
      add_alternative_names(certificate.get(), fmt::format("DNS:{},IP:{}", name, host)) &&
      X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0;
  auto tls = new_tls();
  SSL_CTX* native = tls->context.native_handle();
  if (!made || SSL_CTX_use_certificate(native, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(native, key.get()) != 1) {
    return unusable("a certificate of our own");
  }
  return tls;
}

k8s::Result<std::shared_ptr<ServingTls>> from_pem(const CertificateFiles& files,
                                                  const CertificateFiles& contents) {
  ERR_clear_error();
  auto tls = new_tls();
  error_code error;
  tls->context.use_certificate_chain(asio::buffer(contents.certificate), error);
  if (error) return unusable(fmt::format("the certificate in \"{}\"", files.certificate));
  tls->context.use_private_key(asio::buffer(contents.key), asio::ssl::context::pem, error);
  if (error) {
    return unusable(
        fmt::format("the key in \"{}\", which must be that of the certificate in \"{}\" "
                    "and have no pass phrase,",
                    files.key, files.certificate));
  }
  return tls;
}

}  // namespace

// The two files, and what they contained when they were looked at last.
class ServingCertificate::Source {
 public:
  Source(const CertificateFiles& files, const k8s::auth::Now& now)
      : names_(files), certificate_(files.certificate, now), key_(files.key, now) {}

  // nullptr: they are as they were.
  k8s::Result<std::shared_ptr<ServingTls>> changed() {
    const auto certificate = certificate_.get();
    if (!certificate) return tl::unexpected<k8s::Error>(certificate.error());
    const auto key = key_.get();
    if (!key) return tl::unexpected<k8s::Error>(key.error());
    if (**certificate == used_.certificate && **key == used_.key) return nullptr;
    CertificateFiles contents{.certificate = **certificate, .key = **key};
    auto tls = from_pem(names_, contents);
    if (tls) used_ = std::move(contents);
    return tls;
  }

 private:
  CertificateFiles names_;
  k8s::auth::WatchedFile certificate_;
  k8s::auth::WatchedFile key_;
  CertificateFiles used_;
};

k8s::Result<std::unique_ptr<ServingCertificate>> ServingCertificate::make(
    const CertificateFiles& files, const std::string& host, k8s::auth::Now now,
    OnProblem on_problem) {
  std::unique_ptr<Source> source;
  if (!files.certificate.empty()) source = std::make_unique<Source>(files, now);
  auto tls = source ? source->changed() : self_signed(host);
  if (!tls) return tl::unexpected<k8s::Error>(std::move(tls.error()));
  std::unique_ptr<ServingCertificate> made(
      new ServingCertificate(std::move(source), std::move(on_problem)));
  made->tls_ = std::move(*tls);
  return made;
}

ServingCertificate::ServingCertificate(std::unique_ptr<Source> source, OnProblem on_problem)
    : source_(std::move(source)), on_problem_(std::move(on_problem)) {}

ServingCertificate::~ServingCertificate() = default;

std::shared_ptr<ServingTls> ServingCertificate::current() {
  if (!source_) return tls_;
  if (auto changed = source_->changed(); !changed) {
    on_problem_(changed.error());
  } else if (*changed) {
    tls_ = std::move(*changed);
  }
  return tls_;
}

}  // namespace sched::server
