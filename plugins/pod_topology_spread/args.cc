#include "plugins/pod_topology_spread/args.h"

#include "plugins/support/args.h"
#include "scheduler/base/qualified_name.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace plugins {

namespace {

using k8s::TopologySpreadConstraint;
using k8s::yaml::ObjectReader;

void read_policy(ObjectReader& reader, std::string_view key, bool& honor) {
  if (const auto word = reader.one_of(key, {"Honor", "Ignore"})) honor = *word == "Honor";
}

void read_min_domains(ObjectReader& reader, TopologySpreadConstraint& constraint) {
  const auto domains =
      reader.integer("minDomains", {.min = 1, .max = std::numeric_limits<std::int32_t>::max()});
  if (!domains) return;
  constraint.min_domains = static_cast<std::int32_t>(*domains);
  if (!constraint.do_not_schedule) {
    reader.complain("minDomains", "means something with whenUnsatisfiable: DoNotSchedule alone");
  }
}

TopologySpreadConstraint read_constraint(ObjectReader& reader) {
  TopologySpreadConstraint constraint;
  const auto skew =
      reader.integer("maxSkew", {.min = 1, .max = std::numeric_limits<std::int32_t>::max()});
  if (!skew) reader.complain("maxSkew", "is missing; 1 or more");
  constraint.max_skew = static_cast<std::int32_t>(skew.value_or(1));
  constraint.topology_key = reader.string("topologyKey").value_or("");
  if (constraint.topology_key.empty()) {
    reader.complain("topologyKey", "is missing, such as topology.kubernetes.io/zone");
  } else if (!sched::is_qualified_name(constraint.topology_key)) {
    reader.complain("topologyKey", "'" + constraint.topology_key + "' is no name of a label");
  }
  const auto action = reader.one_of("whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"});
  if (!action) {
    reader.complain("whenUnsatisfiable", "is missing; one of DoNotSchedule, ScheduleAnyway");
  }
  constraint.do_not_schedule = action == "DoNotSchedule";
  read_min_domains(reader, constraint);
  read_policy(reader, "nodeAffinityPolicy", constraint.node_affinity_honor);
  read_policy(reader, "nodeTaintsPolicy", constraint.node_taints_honor);
  // kube-scheduler refuses the first, and does not read the second.
  for (const char* key : {"labelSelector", "matchLabelKeys"}) {
    if (reader.raw(key) == nullptr) continue;
    reader.complain(key,
                    "cannot be given: of each pod it follows from the Services that select it "
                    "and from its owner");
  }
  return constraint;
}

}  // namespace

PodTopologySpreadArgs read_pod_topology_spread_args(ObjectReader& args) {
  PodTopologySpreadArgs read;
  read_type(args, "PodTopologySpreadArgs");
  const auto type = args.one_of("defaultingType", {"System", "List"});
  read.system_defaults = !type || *type == "System";
  args.objects("defaultConstraints", [&](ObjectReader& reader) {
    TopologySpreadConstraint constraint = read_constraint(reader);
    const auto& known = read.default_constraints;
    if (std::any_of(known.begin(), known.end(), [&](const TopologySpreadConstraint& each) {
          return each.topology_key == constraint.topology_key &&
                 each.do_not_schedule == constraint.do_not_schedule;
        })) {
      reader.complain("topologyKey", "'" + constraint.topology_key +
                                         "' is there twice with the same whenUnsatisfiable");
    }
    read.default_constraints.push_back(std::move(constraint));
  });
  if (!read.system_defaults) return read;
  if (!read.default_constraints.empty()) {
    args.complain("defaultConstraints",
                  "need defaultingType: List; with System, which is meant "
                  "where none is given, there are others");
  }
  read.default_constraints = system_default_constraints();
  return read;
}

// Source: kube-scheduler podtopologyspread, plugin.go. Scores are summed up in this order.
std::vector<TopologySpreadConstraint> system_default_constraints() {
  TopologySpreadConstraint host;
  host.topology_key = "kubernetes.io/hostname";
  host.do_not_schedule = false;
  host.max_skew = 3;
  TopologySpreadConstraint zone = host;
  zone.topology_key = "topology.kubernetes.io/zone";
  zone.max_skew = 5;
  return {host, zone};
}

}  // namespace plugins
