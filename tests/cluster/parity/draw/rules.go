package draw

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeRules are node selectors and node affinity.
func (d *drawer) nodeRules(pod *corev1.Pod, affinity *corev1.Affinity) {
	if d.chance(d.nodeTerms * .5) {
		pod.Spec.NodeSelector = map[string]string{}
		for range 1 + d.IntN(2) {
			key := d.pick("gpu-type", zone, rack, "kubernetes.io/arch")
			pod.Spec.NodeSelector[key] = d.nodeValue(key)
		}
	}
	rules := &corev1.NodeAffinity{}
	if d.chance(d.nodeTerms * .7) {
		rules.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		for range 1 + d.IntN(3) {
			term := d.nodeTerm()
			d.misspell(&term)
			rules.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms =
				append(rules.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, term)
		}
	}
	if d.chance(d.preferences) {
		for range 1 + d.IntN(3) {
			rules.PreferredDuringSchedulingIgnoredDuringExecution = append(rules.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: d.weight(), Preference: d.nodeTerm()})
		}
	}
	if rules.RequiredDuringSchedulingIgnoredDuringExecution != nil || rules.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		affinity.NodeAffinity = rules
	}
}

func (d *drawer) nodeTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	if d.chance(.04) {
		return term // matches nothing
	}
	if d.chance(.12) {
		for range 1 + d.IntN(2) {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{Key: "metadata.name",
				Operator: corev1.NodeSelectorOperator(d.pick("In", "In", "NotIn")), Values: []string{d.pick("node-0", "node-1", "node-2", "gone")}})
		}
		if d.chance(.6) {
			return term
		}
	}
	for range 1 + d.IntN(2) {
		key := d.pick("gpu-type", zone, rack, "kubernetes.io/arch", "nvidia.com/gpu.count", "nvidia.com/gpu.memory", "absent")
		requirement := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOperator(d.pick("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
		switch requirement.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			for range 1 + d.IntN(3) {
				requirement.Values = append(requirement.Values, d.nodeValue(key))
			}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			requirement.Values = []string{d.pick("0", "1", "4", "40960", "81919", "081919")}
		}
		term.MatchExpressions = append(term.MatchExpressions, requirement)
	}
	return term
}

// misspell makes some numbers of a required term ones that cannot be read: such a term matches nothing. In a preferred term they are an error of
// kube-scheduler's, so none is drawn there.
func (d *drawer) misspell(term *corev1.NodeSelectorTerm) {
	for i := range term.MatchExpressions {
		requirement := &term.MatchExpressions[i]
		compares := requirement.Operator == corev1.NodeSelectorOpGt || requirement.Operator == corev1.NodeSelectorOpLt
		if compares && d.chance(.15) {
			requirement.Values = []string{d.pick("x", "1.5", "1_0", "9223372036854775808", "")}
		}
	}
}

func (d *drawer) nodeValue(key string) string {
	switch key {
	case "gpu-type":
		return d.pick("a100", "h100", "t4")
	case zone:
		return d.pick("z-a", "z-b", "z-c")
	case rack:
		return d.pick("0", "1", "2", "3", "")
	case "kubernetes.io/arch":
		return d.pick("amd64", "amd64", "arm64")
	case "nvidia.com/gpu.count":
		return d.pick("0", "1", "2", "4", "8")
	}
	return d.pick("15360", "40960", "81920", "040960", "x", "")
}

func (d *drawer) weight() int32 { return []int32{1, 2, 50, 100}[d.IntN(4)] }

// topology is the key of a domain: a node, or several, or one that no node has.
func (d *drawer) topology() string {
	if d.chance(.03) {
		return "absent"
	}
	return d.pick(hostname, hostname, hostname, zone, zone, zone, rack, rack, region)
}

// selector looks for pods by the labels that pods have here. Nil looks for none, an empty one for all.
func (d *drawer) selector() *metav1.LabelSelector {
	switch x := d.Float64(); {
	case x < .03:
		return nil
	case x < .1:
		return &metav1.LabelSelector{}
	}
	selector := &metav1.LabelSelector{}
	if d.chance(.65) {
		selector.MatchLabels = map[string]string{"app": d.pick("train", "train", "serve", "etl")}
		if d.chance(.15) {
			selector.MatchLabels["job"] = d.pick("j1", "j2", "")
		}
		if d.chance(.8) {
			return selector
		}
	}
	for range 1 + d.IntN(2) {
		requirement := metav1.LabelSelectorRequirement{Key: d.pick("app", "app", "job", "absent"),
			Operator: metav1.LabelSelectorOperator(d.pick("In", "NotIn", "NotIn", "Exists", "DoesNotExist"))}
		if requirement.Operator == metav1.LabelSelectorOpIn || requirement.Operator == metav1.LabelSelectorOpNotIn {
			if requirement.Key == "app" {
				requirement.Values = d.some("train", "serve", "etl")
			} else {
				requirement.Values = d.some("j1", "j2", "")
			}
		}
		selector.MatchExpressions = append(selector.MatchExpressions, requirement)
	}
	return selector
}

// spreadConstraints are those of a pending pod. A key may stand there twice, once for each action.
func (d *drawer) spreadConstraints(pod *corev1.Pod) {
	if d.chance(d.spread) {
		for range 1 + d.IntN(3) {
			d.addConstraint(pod, corev1.DoNotSchedule)
		}
	}
	if d.chance(d.preferences) {
		for range 1 + d.IntN(2) {
			d.addConstraint(pod, corev1.ScheduleAnyway)
		}
	}
}

func (d *drawer) addConstraint(pod *corev1.Pod, action corev1.UnsatisfiableConstraintAction) {
	constraint := corev1.TopologySpreadConstraint{MaxSkew: []int32{1, 1, 1, 2, 3, 5}[d.IntN(6)], TopologyKey: d.topology(), WhenUnsatisfiable: action,
		LabelSelector: d.selector()}
	for _, other := range pod.Spec.TopologySpreadConstraints {
		if other.TopologyKey == constraint.TopologyKey && other.WhenUnsatisfiable == action {
			return // the API server refuses that
		}
	}
	// That a pod counts itself is what users mean most of the time.
	if app := pod.Labels["app"]; app != "" && d.chance(.65) {
		constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	if action == corev1.DoNotSchedule && d.chance(.3) {
		domains := []int32{1, 2, 2, 3, 4, 9}[d.IntN(6)]
		constraint.MinDomains = &domains
	}
	constraint.NodeAffinityPolicy = d.policy()
	constraint.NodeTaintsPolicy = d.policy()
	if constraint.LabelSelector != nil && d.chance(.25) {
		constraint.MatchLabelKeys = d.some("pod-template-hash", "job", "absent")
	}
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, constraint)
}

func (d *drawer) policy() *corev1.NodeInclusionPolicy {
	if d.chance(.5) {
		return nil
	}
	policy := corev1.NodeInclusionPolicy(d.pick("Honor", "Ignore"))
	return &policy
}

// podRules are inter-pod affinity and anti-affinity. Those of pods that run count too: their anti-affinity keeps others away.
func (d *drawer) podRules(affinity *corev1.Affinity) {
	near, far := &corev1.PodAffinity{}, &corev1.PodAntiAffinity{}
	if d.chance(d.podTerms) {
		near.RequiredDuringSchedulingIgnoredDuringExecution = d.podTermsOf()
	}
	if d.chance(d.podTerms * .7) {
		far.RequiredDuringSchedulingIgnoredDuringExecution = d.podTermsOf()
	}
	if d.chance(d.preferences * .6) {
		near.PreferredDuringSchedulingIgnoredDuringExecution = d.weighted()
	}
	if d.chance(d.preferences * .6) {
		far.PreferredDuringSchedulingIgnoredDuringExecution = d.weighted()
	}
	if near.RequiredDuringSchedulingIgnoredDuringExecution != nil || near.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		affinity.PodAffinity = near
	}
	if far.RequiredDuringSchedulingIgnoredDuringExecution != nil || far.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		affinity.PodAntiAffinity = far
	}
}

func (d *drawer) podTermsOf() []corev1.PodAffinityTerm {
	terms := []corev1.PodAffinityTerm{d.podTerm()}
	for d.chance(.35) && len(terms) < 3 {
		terms = append(terms, d.podTerm())
	}
	return terms
}

func (d *drawer) weighted() []corev1.WeightedPodAffinityTerm {
	var terms []corev1.WeightedPodAffinityTerm
	for range 1 + d.IntN(2) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: d.weight(), PodAffinityTerm: d.podTerm()})
	}
	return terms
}

func (d *drawer) podTerm() corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{LabelSelector: d.selector(), TopologyKey: d.topology()}
	if d.chance(.3) {
		term.Namespaces = d.some("ml", "team-a", "default", "gone")
	}
	if d.chance(.3) {
		term.NamespaceSelector = d.namespaceSelector()
	}
	if term.LabelSelector != nil && d.chance(.12) {
		term.MatchLabelKeys = d.some("pod-template-hash", "job")
	}
	if term.LabelSelector != nil && d.chance(.08) {
		term.MismatchLabelKeys = []string{d.pick("pod-template-hash", "job", "absent")}
	}
	return term
}

func (d *drawer) namespaceSelector() *metav1.LabelSelector {
	switch d.IntN(5) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"gold"}}}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": d.pick("gold", "silver")}}
}
