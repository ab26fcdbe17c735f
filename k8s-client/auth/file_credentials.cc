#include "k8s-client/auth/file_credentials.h"

#include "k8s-client/ascii.h"

#include <utility>

namespace k8s::auth {

FileCredentials::Text::Text(const TextSource& source, const Now& now)
    : inline_text_(source.inline_text) {
  if (inline_text_.empty() && !source.file.empty()) file_.emplace(source.file, now);
}

Result<std::string> FileCredentials::Text::get() {
  if (!file_) return inline_text_;
  return file_->get().map([](const std::string* content) { return *content; });
}

void FileCredentials::Text::recheck() {
  if (file_) file_->recheck();
}

FileCredentials::FileCredentials(const CredentialSources& sources, const Now& now)
    : ca_(sources.ca, now),
      certificate_(sources.certificate, now),
      key_(sources.key, now),
      token_(sources.token),
      insecure_skip_verify_(sources.insecure_skip_verify) {
  if (!sources.token_file.empty()) token_file_.emplace(sources.token_file, now);
}

Result<std::optional<std::string>> FileCredentials::bearer_token() {
  if (token_file_) {
    const auto content = token_file_->get();
    // Files are written with `echo` as well as without.
    if (content) return std::string(trimmed(**content));
    if (token_.empty()) return tl::unexpected<Error>(with_context(content.error(), "bearer token"));
  }
  if (token_.empty()) return std::optional<std::string>();
  return token_;
}

Result<TlsMaterial> FileCredentials::tls() {
  auto ca = ca_.get();
  if (!ca) return tl::unexpected<Error>(with_context(ca.error(), "certificate authority"));
  auto certificate = certificate_.get();
  if (!certificate) {
    return tl::unexpected<Error>(with_context(certificate.error(), "client certificate"));
  }
  auto key = key_.get();
  if (!key) return tl::unexpected<Error>(with_context(key.error(), "client key"));
  TlsMaterial material;
  material.ca_pem = std::move(*ca);
  material.certificate_pem = std::move(*certificate);
  material.key_pem = std::move(*key);
  material.insecure_skip_verify = insecure_skip_verify_;
  return material;
}

void FileCredentials::rejected() {
  if (token_file_) token_file_->forget();
  ca_.recheck();
  certificate_.recheck();
  key_.recheck();
}

}  // namespace k8s::auth
