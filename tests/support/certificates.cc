#include "tests/support/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdlib>

namespace tests {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

constexpr long kHourSeconds = 3600;

void must(bool condition) {
  if (!condition) std::abort();  // OpenSSL cannot do what it always can: the test is no test
}

template <typename Write>
std::string pem_of(const Write& write) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  must(write(bio.get()) == 1);
  char* text = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string certificate_pem(X509* certificate) {
  return pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

Key make_key() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  must(key != nullptr);
  return key;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Everything but the extensions and the signature.
Certificate blank(EVP_PKEY* key, const CertificateWish& wish) {
  static std::atomic<long> serial{1};
  Certificate made(X509_new());
  must(X509_set_version(made.get(), 2) == 1);  // which means version 3
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -2 * kHourSeconds);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), wish.expired ? -kHourSeconds : kHourSeconds);
  X509_NAME* name = X509_get_subject_name(made.get());
  must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(wish.common_name.c_str()),
                                  -1, -1, 0) == 1);
  must(X509_set_pubkey(made.get(), key) == 1);
  return made;
}

}  // namespace

struct Authority::Keys {
  Key key;
  Certificate certificate;
};

Authority::Authority(const std::string& name) : keys_(std::make_unique<Keys>()) {
  keys_->key = make_key();
  CertificateWish wish;
  wish.common_name = name;
  keys_->certificate = blank(keys_->key.get(), wish);
  X509* self = keys_->certificate.get();
  must(X509_set_issuer_name(self, X509_get_subject_name(self)) == 1);
  add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(self, self, NID_key_usage, "critical,keyCertSign");
  add_extension(self, self, NID_subject_key_identifier, "hash");
  must(X509_sign(self, keys_->key.get(), EVP_sha256()) > 0);
  pem_ = certificate_pem(self);
}

Authority::~Authority() = default;

Identity Authority::issue(const CertificateWish& wish) const {
  const Key key = make_key();
  const Certificate made = blank(key.get(), wish);
  X509* issuer = keys_->certificate.get();
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) == 1);
  if (!wish.alternative_names.empty()) {
    add_extension(made.get(), issuer, NID_subject_alt_name, wish.alternative_names);
  }
  must(X509_sign(made.get(), keys_->key.get(), EVP_sha256()) > 0);
  Identity identity;
  identity.certificate_pem = certificate_pem(made.get());
  identity.key_pem = pem_of([&](BIO* bio) {
    const EVP_CIPHER* cipher = wish.pass_phrase.empty() ? nullptr : EVP_aes_256_cbc();
    return PEM_write_bio_PrivateKey(bio, key.get(), cipher, nullptr, 0, nullptr,
                                    const_cast<char*>(wish.pass_phrase.c_str()));
  });
  return identity;
}

Identity Authority::issue_server() const {
  CertificateWish wish;
  wish.alternative_names = "DNS:localhost,DNS:test.local,IP:127.0.0.1";
  return issue(wish);
}

}  // namespace tests
