// Credentials from files and inline text, re-read at run time.
//
// Both kubeconfig and the pod's service account end here. A token file has precedence over an
// inline token, which is used while the file cannot be read. After a 401 the cached token is
// dropped, and the certificates are read again with the next request.
#pragma once

#include "k8s-client/auth/watched_file.h"
#include "k8s-client/http/credentials.h"

#include <optional>
#include <string>

namespace k8s::auth {

// A text that is given inline, or in a file, or not at all (both empty).
struct TextSource {
  std::string inline_text;  // has precedence over the file
  std::string file;
  [[nodiscard]] bool is_given() const { return !inline_text.empty() || !file.empty(); }
};

struct CredentialSources {
  TextSource ca;  // PEM, as the next two
  TextSource certificate;
  TextSource key;
  std::string token;
  std::string token_file;
  bool insecure_skip_verify = false;
};

class FileCredentials final : public Credentials {
 public:
  FileCredentials(const CredentialSources& sources, const Now& now);

  [[nodiscard]] Result<std::optional<std::string>> bearer_token() override;
  [[nodiscard]] Result<TlsMaterial> tls() override;
  void rejected() override;

 private:
  // An inline text, or a watched file.
  class Text {
   public:
    Text(const TextSource& source, const Now& now);
    [[nodiscard]] Result<std::string> get();
    void recheck();

   private:
    std::string inline_text_;
    std::optional<WatchedFile> file_;
  };

  Text ca_;
  Text certificate_;
  Text key_;
  std::string token_;
  std::optional<WatchedFile> token_file_;
  bool insecure_skip_verify_;
};

}  // namespace k8s::auth
