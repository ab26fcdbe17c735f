#include "bench/what_if/manifests.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/yaml/value.h"

#include <string_view>
#include <utility>

namespace bench {
namespace {

std::string_view kind_of(const k8s::yaml::Value& document) {
  const k8s::yaml::Value* kind = document.find("kind");
  if (kind == nullptr || kind->string() == nullptr) return {};
  return *kind->string();
}

void complete(k8s::Pod& pod, const std::string& namespace_) {
  k8s::set_defaults(pod, namespace_);
  if (pod.metadata.uid.empty()) {
    pod.metadata.uid = "what-if/" + pod.metadata.namespace_ + "/" + pod.metadata.name;
  }
}

// Of a kind to which nothing is added.
template <typename Object>
void complete(Object& /*object*/, const std::string& /*namespace_*/) {}

void into_namespace(k8s::ObjectMeta& metadata, const std::string& namespace_) {
  if (metadata.namespace_.empty()) metadata.namespace_ = namespace_;
}
void complete(k8s::PersistentVolumeClaim& claim, const std::string& namespace_) {
  into_namespace(claim.metadata, namespace_);
  if (claim.phase.empty()) claim.phase = "Pending";
}
void complete(k8s::CsiStorageCapacity& capacity, const std::string& namespace_) {
  into_namespace(capacity.metadata, namespace_);
}
void complete(k8s::StorageClass& storage_class, const std::string& /*namespace_*/) {
  if (!storage_class.binding_mode) storage_class.binding_mode = "Immediate";
}

class Reader {
 public:
  Reader(const std::string& default_namespace, Manifests& into)
      : default_namespace_(default_namespace), into_(into) {}

  k8s::Result<void> read(const k8s::yaml::Value& document) {
    const std::string_view kind = kind_of(document);
    if (kind == "Pod") {
      return add<k8s::Pod>(document,
                           [this](k8s::Pod pod) { into_.pods.push_back(std::move(pod)); });
    }
    if (kind == "PersistentVolumeClaim") return tell<k8s::PersistentVolumeClaim>(document);
    if (kind == "PersistentVolume") return tell<k8s::PersistentVolume>(document);
    if (kind == "StorageClass") return tell<k8s::StorageClass>(document);
    if (kind == "CSINode") return tell<k8s::CsiNode>(document);
    if (kind == "CSIDriver") return tell<k8s::CsiDriver>(document);
    if (kind == "CSIStorageCapacity") return tell<k8s::CsiStorageCapacity>(document);
    if (kind == "VolumeAttachment") return tell<k8s::VolumeAttachment>(document);
    return k8s::decode_error(
        "want an object of kind Pod, PersistentVolumeClaim, PersistentVolume, StorageClass, "
        "CSINode, CSIDriver, CSIStorageCapacity or VolumeAttachment");
  }

 private:
  template <typename Object, typename Take>
  k8s::Result<void> add(const k8s::yaml::Value& document, const Take& take) {
    auto object = decoder_.object<Object>(k8s::yaml::to_json(document));
    if (!object) return tl::unexpected(std::move(object.error()));
    complete(*object, default_namespace_);
    take(std::move(*object));
    return {};
  }
  template <typename Object>
  k8s::Result<void> tell(const k8s::yaml::Value& document) {
    return add<Object>(document, [this](Object object) {
      into_.storage.emplace_back(sched::event::Upserted<Object>{std::move(object)});
    });
  }

  const std::string& default_namespace_;
  Manifests& into_;
  k8s::Decoder decoder_;
};

}  // namespace

k8s::Result<Manifests> load_manifests(const std::string& file, const std::string& namespace_) {
  auto documents = k8s::yaml::parse_file(file);
  if (!documents) return tl::unexpected(documents.error());
  Manifests manifests;
  Reader reader(namespace_, manifests);
  for (const k8s::yaml::Value& document : *documents) {
    if (auto read = reader.read(document); !read) {
      return tl::unexpected(
          k8s::with_context(read.error(), file + ":" + std::to_string(document.line)));
    }
  }
  return manifests;
}

}  // namespace bench
