#include "scheduler/framework/cluster_change.h"

namespace sched {
namespace {

struct ChangedObject {
  template <typename Object>
  ObjectKey operator()(const ObjectUpserted<Object>& change) const {
    return object_key<Object>(change.object.metadata.name, change.object.metadata.namespace_);
  }
  template <typename Object>
  ObjectKey operator()(const ObjectGone<Object>& change) const {
    return object_key<Object>(change.name, change.namespace_);
  }
  template <typename Change>
  ObjectKey operator()(const Change&) const {
    return {.kind = Change::kKind};
  }
};

}  // namespace

ObjectKey changed_object(const ClusterChange& change) {
  return std::visit(ChangedObject{}, change);
}

}  // namespace sched
