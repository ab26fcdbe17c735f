// A value that a plugin derives from the cluster's statistics, once per version of them, shared by
// all shapes.
#pragma once

#include "scheduler/framework/cluster_context.h"

#include <memory>

namespace plugins {

template <class Derived>
class PerVersion {
 public:
  // The result of `derive(context)` for this version; derive is called only if the version differs
  // from that of the last call.
  template <class Derive>
  [[nodiscard]] std::shared_ptr<const Derived> get(const sched::ClusterContextPtr& context,
                                                   const Derive& derive) {
    if (context_ != context) {
      derived_ = std::make_shared<const Derived>(derive(*context));
      context_ = context;
    }
    return derived_;
  }

 private:
  sched::ClusterContextPtr context_;
  std::shared_ptr<const Derived> derived_;
};

}  // namespace plugins
