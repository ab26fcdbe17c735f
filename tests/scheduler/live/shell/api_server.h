// A small API server inside a test, over TLS: what a shell reads, and what it writes.
//
// It lists and watches the objects that the test puts there. A bind sets the pod's node; leases and
// config maps are stored; other writes are only noted. Everybody may do everything.
#pragma once

#include "k8s-client/api/encode.h"
#include "k8s-client/auth/cluster_access.h"
#include "tests/support/certificates.h"
#include "tests/support/tls_server.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tests {

class ApiServer {
 public:
  using Json = nlohmann::json;
  struct Write {
    std::string method;
    std::string path;  // without the query
    Json body;
  };
  // The answer to a request; nullopt: the usual one.
  using Answer = std::function<std::optional<std::string>(const ReceivedRequest&)>;

  // `changed` is called from other threads after each write.
  explicit ApiServer(std::function<void()> changed);

  [[nodiscard]] k8s::ClusterAccess access() const;

  // Puts an object there, in place of one of its name, and shows it to watches.
  void has(const k8s::Node& node);
  void has(const k8s::Pod& pod);
  void has(const k8s::PersistentVolumeClaim& claim);
  void has(const k8s::PersistentVolume& volume);
  void has(const k8s::StorageClass& storage_class);
  void has(const k8s::GpuQuota& quota);
  void has(const k8s::Lease& lease);
  void has(const k8s::ConfigMap& map);
  void has_pod(Json pod);  // which may be one that cannot be read
  void gone(const k8s::Pod& pod);
  // What is asked for first is answered by this from now on.
  void answer_first(Answer answer);

  // All so far, in order.
  [[nodiscard]] std::vector<Write> writes() const;

 private:
  // A change of a list, for watches: each waits for the next one.
  struct Change {
    std::string path;  // of the list
    std::string line;
    Gate happened;
    std::shared_ptr<Change> next;
  };

  void serve(ServerConnection& connection);
  void watch(ServerConnection& connection, const std::string& path, bool with_all);
  std::string answer(const ReceivedRequest& request);
  std::string get(const std::string& path);
  std::string write(const ReceivedRequest& request, const std::string& path);
  void put(const std::string& list, Json object, const std::string& type = "ADDED");
  // The same with mutex_ held, so that nothing comes between a check and it.
  Json store(const std::string& list, Json object, const std::string& type);

  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  int version_ = 100;
  std::set<std::string> lists_;                 // paths of kinds that there are
  std::map<std::string, Json> objects_;         // by path
  std::map<std::string, std::string> list_of_;  // by path of an object
  std::shared_ptr<Change> last_ = std::make_shared<Change>();
  Answer answer_first_;
  std::vector<Write> writes_;

  Authority authority_{"authority"};
  TlsServer server_;  // last: its threads use the others
};

}  // namespace tests
