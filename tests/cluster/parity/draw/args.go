package draw

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// configure draws arguments for some plugins of the profile. spread: for PodTopologySpread, too.
func (d *drawer) configure(spread bool) []configv1.PluginConfig {
	var drawn []configv1.PluginConfig
	add := func(plugin string, args any) {
		raw, err := json.Marshal(args)
		if err != nil && d.err == nil {
			d.err = err
		}
		drawn = append(drawn, configv1.PluginConfig{Name: plugin, Args: runtime.RawExtension{Raw: raw}})
	}
	if d.chance(d.configured) {
		add(names.NodeResourcesFit, d.fitArgs())
	}
	if d.chance(d.configured * .5) {
		args := &configv1.NodeResourcesBalancedAllocationArgs{Resources: d.resources()}
		for i := range args.Resources {
			args.Resources[i].Weight = 1 // any other is refused
		}
		add(names.NodeResourcesBalancedAllocation, args)
	}
	if d.chance(d.configured * .5) {
		add(names.NodeAffinity, &configv1.NodeAffinityArgs{AddedAffinity: d.addedAffinity()})
	}
	if d.chance(d.configured) {
		weight := []int32{0, 1, 30, 100}[d.IntN(4)]
		add(names.InterPodAffinity, &configv1.InterPodAffinityArgs{HardPodAffinityWeight: &weight, IgnorePreferredTermsOfExistingPods: d.chance(.5)})
	}
	if spread {
		if args := d.spreadArgs(); args != nil {
			add(names.PodTopologySpread, args)
		}
	}
	return drawn
}

func (d *drawer) fitArgs() *configv1.NodeResourcesFitArgs {
	args := &configv1.NodeResourcesFitArgs{}
	if d.chance(.3) {
		args.IgnoredResources = d.some("nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "example.com/none")
	}
	if d.chance(.2) {
		args.IgnoredResourceGroups = d.some("nvidia.com", "example.com")
	}
	if d.chance(.1) {
		return args // kube-scheduler's strategy
	}
	strategy := &configv1.ScoringStrategy{Resources: d.resources(), Type: configv1.ScoringStrategyType(d.pick("LeastAllocated",
		"MostAllocated", "RequestedToCapacityRatio", "RequestedToCapacityRatio"))}
	if strategy.Type == configv1.RequestedToCapacityRatio {
		strategy.RequestedToCapacityRatio = &configv1.RequestedToCapacityRatioParam{Shape: d.shape()}
	}
	args.ScoringStrategy = strategy
	return args
}

// shape has points of rising utilization.
func (d *drawer) shape() []configv1.UtilizationShapePoint {
	var shape []configv1.UtilizationShapePoint
	at := d.Perm(101)[:1+d.IntN(4)]
	if d.chance(.5) {
		at = []int{0, 100}
	}
	slices.Sort(at)
	for _, utilization := range at {
		shape = append(shape, configv1.UtilizationShapePoint{Utilization: int32(utilization), Score: int32(d.IntN(11))}) //nolint:gosec // at most 100
	}
	return shape
}

// resources are some that pods ask for, with weights; none: kube-scheduler's.
func (d *drawer) resources() []configv1.ResourceSpec {
	var resources []configv1.ResourceSpec
	if d.chance(.1) {
		return resources
	}
	some := d.some(append([]string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi"}, devices...)...)
	slices.Sort(some)
	for _, name := range slices.Compact(some) {
		resources = append(resources, configv1.ResourceSpec{Name: name, Weight: []int64{0, 1, 3, 100}[d.IntN(4)]})
	}
	return resources
}

// addedAffinity is what each pod of the profile gets. Terms that match nothing are left out: gpu-scheduler refuses them, because nobody means them.
func (d *drawer) addedAffinity() *corev1.NodeAffinity {
	term := func() corev1.NodeSelectorTerm {
		for {
			term := d.nodeTerm()
			if len(term.MatchExpressions)+len(term.MatchFields) > 0 {
				return term
			}
		}
	}
	added := &corev1.NodeAffinity{}
	if d.chance(.6) {
		required := &corev1.NodeSelector{}
		for range 1 + d.IntN(2) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, term())
		}
		added.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	for range d.IntN(3) {
		added.PreferredDuringSchedulingIgnoredDuringExecution = append(added.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: d.weight(), Preference: term()})
	}
	return added
}

// spreadArgs: none, which is what System is, or a list.
func (d *drawer) spreadArgs() *configv1.PodTopologySpreadArgs {
	switch x := d.Float64(); {
	case x < .35:
		return nil
	case x < .4:
		return &configv1.PodTopologySpreadArgs{DefaultingType: configv1.SystemDefaulting}
	case x < .45:
		return &configv1.PodTopologySpreadArgs{DefaultingType: configv1.ListDefaulting}
	}
	var pod corev1.Pod
	for range 1 + d.IntN(2) {
		d.addConstraint(&pod, corev1.UnsatisfiableConstraintAction(d.pick("DoNotSchedule", "ScheduleAnyway")))
	}
	args := &configv1.PodTopologySpreadArgs{DefaultingType: configv1.ListDefaulting, DefaultConstraints: pod.Spec.TopologySpreadConstraints}
	for i := range args.DefaultConstraints {
		args.DefaultConstraints[i].LabelSelector, args.DefaultConstraints[i].MatchLabelKeys = nil, nil
	}
	return args
}
