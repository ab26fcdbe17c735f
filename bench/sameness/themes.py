"""The themes of random worlds (world.py): what the scheduler is configured with, what there is, and how often what happens."""

OURS = "gpu-scheduler"

# Several profiles: scores, ties and nodes of their own.
PROFILES = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 7
gpuQuota: {defaultQuota: %s, holdAfter: %s, podsWithoutQuota: %s}
profiles:
  - schedulerName: gpu-scheduler
    pluginConfig:
      - name: GpuHealth
        args: {unhealthyTaints: [sick], unhealthyConditions: [GpuUnhealthy, AcceleratedHardwareReady], rejectedPods: 2, initialBackoffSeconds: 30}
      - name: GpuSharing
        args: {defaultSharing: allowed, placement: spread, failRequestsGreaterThanOne: true}
  - schedulerName: spreads
    tieBreak: shuffled-nodes
    tieBreakSeed: 7
    plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}, {name: TaintToleration, weight: 3}, {name: NodeAffinity, weight: 2}]}}
    pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: LeastAllocated, resources: [{name: nvidia.com/gpu, weight: 3}, {name: cpu, weight: 1}]}}
  - schedulerName: draws
    tieBreak: random
    tieBreakSeed: 11
    plugins: {score: {disabled: [{name: "*"}], enabled: [{name: TaintToleration}, {name: NodeAffinity}]}}
  - schedulerName: owns
    tieBreak: fewest-gpus-first
    pluginConfig:
      - name: NodeAffinity
        args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [owned]}]}]}}}
"""
# Pods without constraints are spread with those of their Services and ReplicaSets.
SPREAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: gpu-scheduler
    pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: List
          defaultConstraints:
            - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
            - {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
"""
QUOTAS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
gpuQuota: {defaultQuota: %s, holdAfter: %s, podsWithoutQuota: %s}
"""

# Behind QUOTAS: pods that find no room evict, those of one profile as drawn, those of the other also pods on lent GPUs.
PREEMPTION = """\
profiles:
  - schedulerName: gpu-scheduler
    plugins: {postFilter: {enabled: [{name: DefaultPreemption}]}}
    pluginConfig:
      - name: DefaultPreemption
        args: {evictBarePods: %s, violateDisruptionBudgets: %s, reclaimWithinCohort: %s}
  - schedulerName: reclaims
    plugins: {postFilter: {enabled: [{name: DefaultPreemption}]}}
    pluginConfig:
      - name: DefaultPreemption
        args: {reclaimWithinCohort: Any, reclaimMinRuntimeSeconds: 60}
"""

BOUNDED = QUOTAS.replace("gpuQuota: {", "gpuQuota: {boundCohorts: true, ")

# How often what happens, in every theme that does not say otherwise.
OFTEN = {"pod_comes": 30, "pod_goes": 14, "bind_ends": 16, "watch_shows": 18, "node_changes": 3, "node_comes": 2, "node_goes": 1,
         "pod_changes": 4, "pod_starts": 4, "kubelet_rejects": 2, "others_bind": 2, "quota_changes": 1, "namespace_changes": 1,
         "storage_changes": 1, "class_changes": 0.3, "mig_changes": 1, "old_news": 2, "nothing": 3}
# theme → the configuration, the kinds of nodes, what share of pods is constrained, how often what happens, how much there is.
THEMES = {
    "default": {"kinds": "cpu h100 h100 a100 l4 shared renamed mig single unlabelled odd amd", "constrained": 0.1},
    "quota": {"config": QUOTAS, "kinds": "h100 h100 l4 a100 shared mig", "constrained": 0.02,
              "often": {"quota_changes": 4, "namespace_changes": 2}},
    "lending": {"config": QUOTAS, "kinds": "h100 h100 l4 a100", "constrained": 0, "nodes": 16, "often": {"quota_changes": 0.4, "node_changes": 5}},
    "mig": {"config": QUOTAS, "kinds": "mig mig mig h100 single", "constrained": 0.02, "mig_asks": 3, "often": {"mig_changes": 6}},
    "profiles": {"config": PROFILES, "kinds": "cpu h100 a100 l4 shared unlabelled odd", "constrained": 0.05,
                 "schedulers": [OURS, "spreads", "draws", "owns"], "often": {"others_bind": 5, "kubelet_rejects": 5}},
    "large": {"config": QUOTAS, "kinds": "cpu h100 h100 a100 l4 shared mig", "constrained": 0.02, "nodes": 400, "pods": 1200, "begins_with": 600,
              "quota_scale": 20, "often": {"node_changes": 8, "quota_changes": 0.3}},
    "constraints": {"kinds": "cpu h100 l4", "constrained": 0.5, "often": {"storage_changes": 6, "namespace_changes": 3, "class_changes": 1, "others_bind": 5}},
    "departments": {"config": BOUNDED, "kinds": "h100 h100 l4 a100", "constrained": 0, "nodes": 16, "departments": True,
                    "often": {"quota_changes": 2, "namespace_changes": 0.5}},
    "volumes": {"kinds": "cpu h100 l4", "constrained": 0, "volumes": 1,
                "often": {"storage_changes": 0, "class_changes": 0, "wanted_changes": 8, "plan_goes_on": 20}},
    "spread": {"config": SPREAD, "kinds": "cpu h100 h100 l4", "constrained": 0.1, "owners": 0.7, "often": {"owners_change": 3}},
    "preemption": {"config": QUOTAS, "kinds": "h100 h100 l4 a100 cpu", "constrained": 0.02, "nodes": 12, "mig_asks": 0,
                   "schedulers": [OURS, "reclaims"], "preempts": True, "owners": 0.9,
                   "often": {"quota_changes": 3, "namespace_changes": 0.3, "class_changes": 0, "budgets_change": 6, "plan_goes_on": 20,
                             "victims_go": 16, "pod_starts": 8, "pod_goes": 8, "others_bind": 0.7}},
    "groups": {"config": QUOTAS, "kinds": "h100 h100 l4 a100", "constrained": 0, "nodes": 20, "mig_asks": 0,
               "schedulers": [OURS, OURS, "reclaims"], "preempts": True, "owners": 0.9, "groups": True, "volumes": 0.5,
               "often": {"class_changes": 0, "storage_changes": 0, "budgets_change": 2, "others_bind": 1, "plan_goes_on": 24,
                         "victims_go": 8, "wanted_changes": 4}},
}
NODES, PODS, FIRST_PODS = 30, 150, 20  # at most, where a theme does not say; and those that are there when it begins


def configuration(random, theme):
    text = THEMES[theme].get("config", "")
    if "%s" not in text:
        return text
    text %= (random.choice(["Unlimited", "Unlimited", "None", "quota0"]), random.choice(["5s", "20s", "2m"]),
             random.choice(["First", "Last"]))
    if "preempts" in THEMES[theme]:
        text += PREEMPTION % (random.choice(["true", "false"]), random.choice(["true", "false"]),
                              random.choice(["Any", "Any", "LowerPriority"]))
    return text
