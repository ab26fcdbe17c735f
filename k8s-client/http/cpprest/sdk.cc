#include "k8s-client/http/cpprest/sdk.h"

#include <openssl/crypto.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>

namespace k8s::http::sdk {
namespace {

// Cancelled operations end as soon as their thread runs, except a name that is being resolved:
// nothing can speed that up, so it needs a limit. A program that takes as long for its own shutdown
// still ends within the half minute that Kubernetes allows.
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
    // cpprestsdk joins its thread late in the exit of the program, and until then the thread needs
    // OpenSSL. So OpenSSL must not clean up at exit. This call has no effect if the program has
    // used OpenSSL before, because its clean-up is registered then. The call applies to the whole
    // program: memory that OpenSSL would have freed at exit is left to the operating system.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    try {
      crossplat::threadpool::initialize_with_threads(1);
    } catch (const std::runtime_error&) {
      // Other code has started it, with more threads: connections may then exceed the pool's limit
      // for a moment.
    }
    // As `top -H` shows it. A process with this thread has a transport on cpprestsdk.
    post([] { ::pthread_setname_np(::pthread_self(), "cpprest"); });
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
