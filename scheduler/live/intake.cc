#include "scheduler/live/intake.h"

#include "scheduler/engine/backoffs/rejected_pod.h"
#include "scheduler/framework/long_lists.h"
#include "scheduler/framework/read_annotations.h"
#include "scheduler/live/read_back_off.h"
#include "scheduler/live/stand_in.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace sched::live {

namespace {

constexpr std::string_view kPods = "pods";
constexpr std::string_view kQuotas = "gpuquotas";
// What a ClusterRole may leave out: device classes, the kinds of storage.k8s.io, objects that
// select pods, and disruption budgets.
constexpr std::array<std::string_view, 11> kHideable = {
    "deviceclasses", "storageclasses",         "csinodes",
    "csidrivers",    "csistoragecapacities",   "volumeattachments",
    "services",      "replicationcontrollers", "replicasets",
    "statefulsets",  "poddisruptionbudgets"};

// How soon quotas are in force after their definition has been installed.
constexpr std::chrono::seconds kQuotasAbsentInterval{10};

// A watch without events for the idle limit is opened again, which is a sign of life; twice that
// time without one means a server that does not answer.
constexpr std::chrono::seconds kIdleLimit{120};
constexpr std::chrono::seconds kContactLimit = 2 * kIdleLimit;

bool may_be_hidden(std::string_view kind) {
  return std::find(kHideable.begin(), kHideable.end(), kind) != kHideable.end();
}

// Of the metadata of these objects no labels, annotations and owners are read or recorded.
template <typename Object>
concept IsOnlyNamed = kWatched<Object>
.change == kSelectorChanged || std::is_same_v<Object, k8s::PodDisruptionBudget>;

template <typename Object>
inline constexpr bool kLabelsAreRead =
    !IsOnlyNamed<Object> && !std::is_same_v<Object, k8s::PersistentVolumeClaim>;

// The annotations that are read anywhere. Of waiting pods and of claims the whole object is stored,
// and a user who creates them may put 256 KiB of annotations on each. Other annotations also do not
// get into a recording.
bool is_read(const k8s::Pod& /*of*/, std::string_view annotation) {
  return is_read_annotation(annotation);
}
bool is_read(const k8s::PersistentVolumeClaim& /*of*/, std::string_view annotation) {
  return annotation == "pv.kubernetes.io/bind-completed" ||
         annotation == "volume.kubernetes.io/selected-node";
}
bool is_read(const k8s::CsiNode& /*of*/, std::string_view annotation) {
  return annotation == "storage.alpha.kubernetes.io/migrated-plugins";
}

template <typename Object>
void drop_unread(Object& object) {
  if constexpr (requires { drop_long_lists(object); }) drop_long_lists(object);
  // Of owners only the one that manages the object is read.
  std::vector<k8s::OwnerReference>& owners = object.metadata.owner_references;
  if (std::erase_if(owners, [](const auto& owner) { return !owner.controller; }) != 0) {
    owners.shrink_to_fit();
  }
  if constexpr (!kLabelsAreRead<Object>) object.metadata.labels = {};
  if constexpr (IsOnlyNamed<Object>) {
    object.metadata.annotations = {};
    object.metadata.owner_references.clear();
  } else if constexpr (requires { is_read(object, ""); }) {
    std::vector<k8s::StringMap::Entry> kept;
    for (const auto& entry : object.metadata.annotations) {
      if (is_read(object, entry.first)) kept.push_back(entry);
    }
    object.metadata.annotations = k8s::StringMap(std::move(kept));
  } else {
    object.metadata.annotations = {};
  }
}

template <typename Object>
event::Deleted<Object> deleted(const k8s::ObjectKey& key) {
  if constexpr (std::is_same_v<Object, k8s::Pod>) {
    return {{.namespace_ = key.namespace_, .name = key.name, .uid = key.uid}};
  } else {
    return {.name = key.name, .namespace_ = key.namespace_};
  }
}

}  // namespace

// One reflector, with its type erased.
struct Intake::Watch {
  std::string kind;
  bool synced = false;
  bool started = false;
  std::shared_ptr<void> reflector;
  std::function<void()> start;
  std::function<void()> stop;
  std::function<void()> reopen;
  std::function<k8s::EventLoop::Clock::time_point()> last_contact;
  std::function<std::size_t()> unreadable;
};

Intake::Intake(k8s::Transport& transport, k8s::EventLoop& loop, Hooks hooks,
               const k8s::RequestObserver& observer, Options options)
    : transport_(transport),
      loop_(loop),
      hooks_(std::move(hooks)),
      observer_(observer),
      options_(options) {
  add_reflectors();
}

Intake::~Intake() { stop(); }

bool Intake::is_optional(std::string_view kind) { return may_be_hidden(kind) || kind == kQuotas; }

// Receivers of the objects of a kind, besides the engine.
template <typename Object>
struct Intake::Observer {
  std::function<void(const Object&)> seen = [](const Object&) {};
  std::function<void(const std::string& uid)> gone = [](const std::string&) {};
  std::function<void(bool)> presence = {};
  // See k8s::ReflectorHandler.
  std::function<std::optional<Object>(Object)> stand_in = {};
};

template <typename Object>
void Intake::add(std::string_view kind, std::string path, Observer<Object> observer) {
  k8s::ReflectorHandler<Object> handler;
  handler.on_upsert = [this, seen = std::move(observer.seen)](Object object) {
    seen(object);
    drop_unread(object);
    hooks_.on_event(event::Upserted<Object>{std::move(object)});
  };
  handler.on_delete = [this, gone = std::move(observer.gone)](const k8s::ObjectKey& key) {
    gone(key.uid);
    hooks_.on_event(deleted<Object>(key));
  };
  handler.on_presence = std::move(observer.presence);
  handler.stand_in = std::move(observer.stand_in);
  k8s::ResourcePath resource{.path = std::move(path), .field_selector = {}, .label_selector = {}};
  if (kind == kPods) resource.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  add_watch<Object>(std::string(kind), std::move(resource), std::move(handler));
}

void Intake::add_failed_pods() {
  const std::string kind = "failedpods";
  k8s::ReflectorHandler<k8s::Pod> handler;
  handler.on_upsert = [this](const k8s::Pod& pod) {
    if (auto rejection = rejection_of(pod)) hooks_.on_event(*std::move(rejection));
  };
  handler.on_delete = [](const k8s::ObjectKey&) {};
  add_watch<k8s::Pod>(
      kind, {.path = "/api/v1/pods", .field_selector = "status.phase=Failed", .label_selector = {}},
      std::move(handler));
}

template <typename Object>
void Intake::add_watch(const std::string& kind, k8s::ResourcePath resource,
                       k8s::ReflectorHandler<Object> handler) {
  auto watch = std::make_unique<Watch>();
  handler.on_synced = [this, at = watch.get()] { on_watch_synced(*at); };
  handler.on_problem = [this, kind](const k8s::Error& error, std::chrono::milliseconds retry_in) {
    hooks_.on_problem(kind, error, retry_in);
  };
  handler.on_recovered = [this, kind] { hooks_.on_recovered(kind); };
  handler.on_unreadable = [this, kind](const k8s::Error& why) { hooks_.on_unreadable(kind, why); };
  k8s::ReflectorOptions options;
  options.optional = is_optional(kind);
  if (may_be_hidden(kind)) options.hidden_after = options_.hidden_after;
  if (kind == kQuotas) options.absent_interval = kQuotasAbsentInterval;
  options.idle_limit = kIdleLimit;
  options.back_off = kReadBackOff;
  options.seed = watches_.size();
  auto reflector = std::make_shared<k8s::Reflector<Object>>(transport_, loop_, std::move(resource),
                                                            std::move(handler), options, observer_);
  watch->kind = kind;
  watch->start = [reflector] { reflector->start(); };
  watch->stop = [reflector] { reflector->stop(); };
  watch->reopen = [reflector] { reflector->reopen(); };
  watch->last_contact = [reflector] { return reflector->last_contact(); };
  watch->unreadable = [reflector] { return reflector->unreadable(); };
  watch->reflector = std::move(reflector);
  watches_.push_back(std::move(watch));
}

void Intake::add_reflectors() {
  add<k8s::Pod>(kPods, "/api/v1/pods",
                {.seen = hooks_.on_pod, .gone = hooks_.on_pod_gone, .stand_in = stand_in_for_pod});
  add_failed_pods();
  add<k8s::Node>("nodes", "/api/v1/nodes", {.stand_in = stand_in_for_node});
  add<k8s::Namespace>("namespaces", "/api/v1/namespaces");
  add<k8s::PersistentVolumeClaim>("persistentvolumeclaims", "/api/v1/persistentvolumeclaims");
  add<k8s::PersistentVolume>("persistentvolumes", "/api/v1/persistentvolumes");
  add<k8s::StorageClass>("storageclasses", "/apis/storage.k8s.io/v1/storageclasses");
  add<k8s::CsiNode>("csinodes", "/apis/storage.k8s.io/v1/csinodes");
  add<k8s::CsiDriver>("csidrivers", "/apis/storage.k8s.io/v1/csidrivers");
  add<k8s::CsiStorageCapacity>("csistoragecapacities",
                               "/apis/storage.k8s.io/v1/csistoragecapacities");
  add<k8s::VolumeAttachment>("volumeattachments", "/apis/storage.k8s.io/v1/volumeattachments");
  add<k8s::DeviceClass>("deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses");
  if ((options_.reads & kSelectorChanged) != 0) add_what_selects_pods();
  if (options_.disruption_budgets) {
    add<k8s::PodDisruptionBudget>("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets",
                                  {.presence = [this](bool readable) {
                                    hooks_.on_event(event::DisruptionBudgetsReadable{readable});
                                  }});
  }
  add<k8s::GpuQuota>(kQuotas, "/apis/gpu-scheduler.io/v1alpha1/gpuquotas",
                     {.seen = hooks_.on_quota,
                      .gone = hooks_.on_quota_gone,
                      .presence = hooks_.on_quotas_presence,
                      .stand_in = stand_in_for_quota});
}

void Intake::add_what_selects_pods() {
  add<k8s::Service>("services", "/api/v1/services");
  add<k8s::ReplicationController>("replicationcontrollers", "/api/v1/replicationcontrollers");
  add<k8s::ReplicaSet>("replicasets", "/apis/apps/v1/replicasets");
  add<k8s::StatefulSet>("statefulsets", "/apis/apps/v1/statefulsets");
}

void Intake::start(std::chrono::milliseconds pods_after) {
  pods_timer_ = loop_.after(pods_after, [this] { start_pods(); });
  for (const auto& watch : watches_) {
    if (watch->kind != kPods) begin(*watch);
  }
}

void Intake::start_pods() {
  if (!std::exchange(pods_timer_, nullptr)) return;
  for (const auto& watch : watches_) {
    if (watch->kind == kPods) begin(*watch);
  }
}

void Intake::begin(Watch& watch) {
  watch.started = true;
  watch.start();
}

void Intake::stop() {
  pods_timer_.reset();
  for (const auto& watch : watches_) watch->stop();
}

void Intake::reopen() {
  for (const auto& watch : watches_) watch->reopen();
}

void Intake::on_watch_synced(Watch& watch) {
  watch.synced = true;
  const bool all = std::all_of(watches_.begin(), watches_.end(),
                               [](const auto& other) { return other->synced; });
  if (!all || std::exchange(announced_, true)) return;
  hooks_.on_synced();
}

std::vector<Intake::Source> Intake::sources() const {
  std::vector<Source> sources;
  for (const auto& watch : watches_) {
    const auto contact = watch->last_contact();
    const auto age = loop_.now() - contact;
    const bool in_contact = watch->started && age < kContactLimit;
    const bool ever = contact != k8s::EventLoop::Clock::time_point{};
    sources.push_back({.kind = watch->kind,
                       .synced = watch->synced,
                       .age = ever ? std::optional(age) : std::nullopt,
                       .in_contact = in_contact,
                       .unreadable = watch->unreadable()});
  }
  return sources;
}

}  // namespace sched::live
