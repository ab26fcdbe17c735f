#include "k8s-client/http/cpprest/sdk.h"

#include <openssl/crypto.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>

namespace k8s::http::sdk {
namespace {

// What is cancelled ends as soon as its thread is given the time, but for a name that is being
// resolved: nothing hastens that, so it needs a bound. A program that takes as long for its own
// shutdown still ends within the half minute that Kubernetes leaves it.
constexpr std::chrono::seconds kLongestEnd{10};

struct Uses {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

// Never destroyed: the last use may end after everything else.
Uses& uses() {
  static auto* all = new Uses;
  return *all;
}

class Thread {
 public:
  Thread() {
    // cpprestsdk joins the thread late while the program ends; OpenSSL, which would clean up before
    // that, must still be there for it. This does nothing if OpenSSL was used before: by then it
    // has registered its clean-up. And it holds for the whole program: one that has TLS of its own
    // beside this library leaves what OpenSSL would have freed at the end to the system.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    try {
      crossplat::threadpool::initialize_with_threads(1);
    } catch (const std::runtime_error&) {
      // Somebody else has started it, with more: connections may then outnumber the pool's bound
      // for a moment.
    }
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() {
    std::unique_lock lock(uses().mutex);
    uses().changed.wait_for(lock, kLongestEnd, [] { return uses().count == 0; });
    lock.unlock();
    std::promise<void> idle;
    post([&idle] { idle.set_value(); });
    idle.get_future().wait();
  }
};

}  // namespace

void start() { static const Thread thread; }

InUse::InUse() {
  const std::lock_guard lock(uses().mutex);
  ++uses().count;
}

InUse::~InUse() {
  const std::lock_guard lock(uses().mutex);
  if (--uses().count == 0) uses().changed.notify_all();
}

}  // namespace k8s::http::sdk
