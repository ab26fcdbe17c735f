// Certificates made by the test that uses them: an authority, and what it signs.
//
// Elliptic-curve keys, because they take a millisecond. Nothing touches the disk.
#pragma once

#include <memory>
#include <string>

namespace tests {

struct Identity {
  std::string certificate_pem;
  std::string key_pem;
};

struct CertificateWish {
  std::string common_name = "test";
  // As OpenSSL writes it: "DNS:localhost,IP:127.0.0.1". Empty: none, as for a client.
  std::string alternative_names = {};
  bool expired = false;
  std::string pass_phrase = {};  // not empty: the key is encrypted with it
};

class Authority {
 public:
  explicit Authority(const std::string& name);
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority();

  [[nodiscard]] const std::string& pem() const { return pem_; }
  [[nodiscard]] Identity issue(const CertificateWish& wish) const;
  // For servers on 127.0.0.1 under the names localhost and test.local.
  [[nodiscard]] Identity issue_server() const;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
  std::string pem_;
};

}  // namespace tests
