#include "scheduler/live/intake.h"

#include "scheduler/engine/backoffs/rejected_pod.h"
#include "scheduler/framework/long_lists.h"
#include "scheduler/framework/read_annotations.h"
#include "scheduler/live/read_back_off.h"
#include "scheduler/live/stand_in.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace sched::live {

namespace {

constexpr std::string_view kPods = k8s::Pod::kKind.plural;

// How soon quotas are in force after their definition has been installed.
constexpr std::chrono::seconds kQuotasAbsentInterval{10};

// A watch without events for the idle limit is opened again, which is a sign of life; twice that
// time without one means a server that does not answer.
constexpr std::chrono::seconds kIdleLimit{120};
constexpr std::chrono::seconds kContactLimit = 2 * kIdleLimit;

// Of the metadata of these objects no labels, annotations and owners are read or recorded.
template <typename Object>
constexpr bool kIsOnlyNamed =
    kWatched<Object>.change == kSelectorChanged || std::is_same_v<Object, k8s::PodDisruptionBudget>;

template <typename Object>
inline constexpr bool kLabelsAreRead =
    !kIsOnlyNamed<Object> && !std::is_same_v<Object, k8s::PersistentVolumeClaim>;

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
  if constexpr (kIsOnlyNamed<Object>) {
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
  bool optional = false;
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
  for_each_watched_kind([this](const auto& kind) { add(kind); });
}

Intake::~Intake() { stop(); }

Needed Intake::needed(std::string_view kind) {
  Needed found = Needed::kAlways;
  for_each_watched_kind([&]<typename Object>(const Watched<Object>& each) {
    if (Object::kKind.plural == kind) found = each.needed;
  });
  return found;
}

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
Intake::Observer<Object> Intake::observer_of() {
  if constexpr (std::is_same_v<Object, k8s::Pod>) {
    return {.seen = hooks_.on_pod, .gone = hooks_.on_pod_gone, .stand_in = stand_in_for_pod};
  } else if constexpr (std::is_same_v<Object, k8s::Node>) {
    return {.stand_in = stand_in_for_node};
  } else if constexpr (std::is_same_v<Object, k8s::PodDisruptionBudget>) {
    return {.presence = [this](bool readable) {
      hooks_.on_event(event::DisruptionBudgetsReadable{readable});
    }};
  } else if constexpr (std::is_same_v<Object, k8s::GpuQuota>) {
    return {.seen = hooks_.on_quota,
            .gone = hooks_.on_quota_gone,
            .presence = hooks_.on_quotas_presence,
            .stand_in = stand_in_for_quota};
  } else {
    return {};
  }
}

template <typename Object>
void Intake::add(const Watched<Object>& kind) {
  constexpr bool kIsPod = std::is_same_v<Object, k8s::Pod>;
  const bool used = std::is_same_v<Object, k8s::PodDisruptionBudget>
                        ? options_.disruption_budgets
                        : (options_.reads & kind.change) != 0;
  if (kind.needed == Needed::kIfUsed && !used) return;
  Observer<Object> observer = observer_of<Object>();
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
  add_watch<Object>(std::string(Object::kKind.plural),
                    kIsPod ? "status.phase!=Succeeded,status.phase!=Failed" : "",
                    std::move(handler));
  if constexpr (kIsPod) add_failed_pods();
}

void Intake::add_failed_pods() {
  k8s::ReflectorHandler<k8s::Pod> handler;
  handler.on_upsert = [this](const k8s::Pod& pod) {
    if (auto rejection = rejection_of(pod)) hooks_.on_event(*std::move(rejection));
  };
  handler.on_delete = [](const k8s::ObjectKey&) {};
  add_watch<k8s::Pod>("failedpods", "status.phase=Failed", std::move(handler));
}

template <typename Object>
void Intake::add_watch(const std::string& kind, std::string field_selector,
                       k8s::ReflectorHandler<Object> handler) {
  auto watch = std::make_unique<Watch>();
  handler.on_synced = [this, at = watch.get()] { on_watch_synced(*at); };
  handler.on_problem = [this, kind](const k8s::Error& error, std::chrono::milliseconds retry_in) {
    hooks_.on_problem(kind, error, retry_in);
  };
  handler.on_recovered = [this, kind] { hooks_.on_recovered(kind); };
  handler.on_unreadable = [this, kind](const k8s::Error& why) { hooks_.on_unreadable(kind, why); };
  k8s::ReflectorOptions options;
  constexpr Needed kNeeded = kWatched<Object>.needed;
  options.optional = kNeeded >= Needed::kIfThere;
  if (kNeeded >= Needed::kIfReadable) options.hidden_after = options_.hidden_after;
  if (std::is_same_v<Object, k8s::GpuQuota>) options.absent_interval = kQuotasAbsentInterval;
  options.idle_limit = kIdleLimit;
  options.back_off = kReadBackOff;
  options.seed = watches_.size();
  k8s::ResourcePath resource{.path = Object::kKind.path(),
                             .field_selector = std::move(field_selector),
                             .label_selector = {}};
  auto reflector = std::make_shared<k8s::Reflector<Object>>(transport_, loop_, std::move(resource),
                                                            std::move(handler), options, observer_);
  watch->kind = kind;
  watch->optional = options.optional;
  watch->start = [reflector] { reflector->start(); };
  watch->stop = [reflector] { reflector->stop(); };
  watch->reopen = [reflector] { reflector->reopen(); };
  watch->last_contact = [reflector] { return reflector->last_contact(); };
  watch->unreadable = [reflector] { return reflector->unreadable(); };
  watch->reflector = std::move(reflector);
  watches_.push_back(std::move(watch));
}

void Intake::start(std::chrono::milliseconds pods_after) {
  pods_timer_ = loop_.after(pods_after, [this] { start_pods(); });
  for (const auto& watch : watches_) {
    if (watch->kind != kPods && !watch->optional) begin(*watch);
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
  // The API server answers: from now on a 404 is its own.
  for (const auto& other : watches_) {
    if (other->optional && !other->started) begin(*other);
  }
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
