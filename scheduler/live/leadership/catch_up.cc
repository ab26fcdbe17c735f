#include "scheduler/live/leadership/catch_up.h"

#include "scheduler/live/read_back_off.h"

#include <algorithm>
#include <utility>

namespace sched::live {

namespace {

// If the watch closes a gap with a new list, it never shows a pod that was read and then deleted
// during the gap. So while pods are missing, they are read again after this time.
constexpr std::chrono::seconds kReadAgain{2};

// The watches are opened again at the second read that finds pods missing, and then at every fifth
// one after it, because a watch that is being opened needs time.
constexpr int kReopenEvery = 5;

// A value of a field selector, escaped as by apimachinery's fields.EscapeValue.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

k8s::ResourcePath pods_of(const std::string& scheduler_name) {
  return {.path = k8s::Pod::kKind.path(),
          .field_selector = "spec.schedulerName=" + escaped(scheduler_name) +
                            ",status.phase!=Succeeded,status.phase!=Failed",
          .label_selector = {}};
}

}  // namespace

CatchUp::CatchUp(k8s::Transport& transport, k8s::EventLoop& loop,
                 std::vector<std::string> scheduler_names, Hooks hooks,
                 k8s::RequestObserver observer)
    : transport_(transport),
      loop_(loop),
      scheduler_names_(std::move(scheduler_names)),
      hooks_(std::move(hooks)),
      observer_(std::move(observer)) {}

CatchUp::~CatchUp() { stop(); }

bool CatchUp::is_ours(const k8s::Pod& pod) const {
  return std::find(scheduler_names_.begin(), scheduler_names_.end(), pod.spec.scheduler_name) !=
         scheduler_names_.end();
}

void CatchUp::shown(const k8s::Pod& pod) {
  if (done_ || pod.spec.node_name.empty() || !is_ours(pod)) return;
  bound_.insert(pod.metadata.uid);
  if (missing_.erase(pod.metadata.uid) > 0) check_done();
}

void CatchUp::gone(const std::string& uid) {
  if (done_) return;
  bound_.erase(uid);
  if (missing_.erase(uid) > 0) check_done();
}

void CatchUp::stop() {
  done_ = true;
  again_.reset();
  for (const auto& read : reads_) read->stop();
  bound_ = {};
  missing_ = {};
}

void CatchUp::start() {
  missing_.clear();
  reads_.clear();
  open_reads_ = scheduler_names_.size();
  reading_ = true;
  for (const std::string& name : scheduler_names_) {
    k8s::ReflectorHandler<k8s::Pod> handler{
        .on_upsert = [this](const k8s::Pod& pod) { on_read_pod(pod); },
        .on_delete = [this](const k8s::ObjectKey& key) { missing_.erase(key.uid); },
        .on_synced =
            [this, index = reads_.size()] {
              reads_[index]->stop();
              on_read_complete();
            },
        .on_problem = hooks_.on_problem};
    k8s::ReflectorOptions options;
    options.back_off = kReadBackOff;
    options.seed = reads_.size();
    // The read, like the watch, may use a connection to a server that is dead, so it must fail
    // soon.
    options.deadline = std::chrono::seconds{10};
    options.idle_limit = std::chrono::seconds{20};
    reads_.push_back(std::make_unique<Read>(transport_, loop_, pods_of(name), std::move(handler),
                                            options, observer_));
  }
  for (const auto& read : reads_) read->start();
}

void CatchUp::on_read_pod(const k8s::Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  if (!pod.spec.node_name.empty() && !bound_.contains(uid)) missing_.insert(uid);
}

void CatchUp::on_read_complete() {
  if (--open_reads_ > 0) return;
  reading_ = false;
  again_ = loop_.after(kReadAgain, [this] { start(); });
  if (!missing_.empty() && ++rounds_ % kReopenEvery == 2) hooks_.on_behind();
  check_done();
}

void CatchUp::check_done() {
  if (done_ || reading_ || !missing_.empty()) return;
  stop();
  hooks_.on_done();
}

}  // namespace sched::live
