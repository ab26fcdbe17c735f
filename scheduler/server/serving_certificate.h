// The certificate of the secure port: from files, which are read again when they change, or
// self-signed and made at the start, as kube-scheduler does if it gets none.
//
// The files are read again when a client connects and the last read is a minute old. If new files
// cannot be used (for example a certificate that was replaced a moment before its key), the old
// ones stay in use. TLS 1.2 at least.
#pragma once

#include "k8s-client/auth/watched_file.h"
#include "k8s-client/error.h"

#include <functional>
#include <memory>
#include <string>

namespace sched::server {

struct ServingTls;  // serving_tls.h

// PEM: a chain that begins with the server's own certificate, and its key. Both empty: none given.
struct CertificateFiles {
  std::string certificate;
  std::string key;
};

class ServingCertificate {
 public:
  using OnProblem = std::function<void(const k8s::Error&)>;

  // Reads the files, or makes a certificate for `host`, an IP address, and for this machine's name.
  // `on_problem` is called at each look that finds files which cannot be used.
  [[nodiscard]] static k8s::Result<std::unique_ptr<ServingCertificate>> make(
      const CertificateFiles& files, const std::string& host, k8s::auth::Now now,
      OnProblem on_problem);
  ~ServingCertificate();
  ServingCertificate(const ServingCertificate&) = delete;
  ServingCertificate& operator=(const ServingCertificate&) = delete;

  // The TLS context for a connection that begins now.
  [[nodiscard]] std::shared_ptr<ServingTls> current();

 private:
  class Source;
  ServingCertificate(std::unique_ptr<Source> source, OnProblem on_problem);

  std::unique_ptr<Source> source_;  // nullptr: made here, and stays
  OnProblem on_problem_;
  std::shared_ptr<ServingTls> tls_;
};

}  // namespace sched::server
