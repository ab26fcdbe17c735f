package parity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Preemption says on which nodes room would be made for a pod that no node takes, and who would have to go there. All pods are of one
// scheduler.
type Preemption struct {
	Best    []string            `json:"best"`    // sorted; kube-scheduler chooses any of them, the program under test gives its choice
	Victims map[string][]string `json:"victims"` // by node, at least of the best: namespace/name, sorted
}

func (p *Preemption) String() string {
	if p == nil || len(p.Best) == 0 {
		return "evicts nobody"
	}
	text := ""
	for _, node := range p.Best {
		if text != "" {
			text += ", or "
		}
		text += fmt.Sprintf("on %s %v", node, p.Victims[node])
	}
	return text
}

// agrees says whether the program's choice is one of kube-scheduler's.
func (p *Preemption) agrees(ours *Preemption) bool {
	if ours == nil || len(p.Best) == 0 || len(ours.Best) != 1 {
		return ours != nil && len(p.Best) == 0 && len(ours.Best) == 0
	}
	node := ours.Best[0]
	return slices.Contains(p.Best, node) && slices.Equal(p.Victims[node], ours.Victims[node])
}

// nobodyNominated has no pod that waits for room on a node.
type nobodyNominated struct{ fwk.PodNominator }

func (nobodyNominated) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// candidate is a node with its victims, as kube-scheduler's choice takes it.
type candidate struct {
	node    string
	victims *extenderv1.Victims
}

func (c candidate) Victims() *extenderv1.Victims { return c.victims }
func (c candidate) Name() string                 { return c.node }

// preempt does what DefaultPreemption does, but for all nodes, not for a tenth of them, and for all of equally good ones.
func (s *Scheduler) preempt(ctx context.Context, c *Case, nodes []fwk.NodeInfo, a asked) (*Preemption, error) {
	plugin, ok := s.made[defaultpreemption.Name].(*defaultpreemption.DefaultPreemption)
	if !ok {
		return nil, fmt.Errorf("%s is not in the profile", defaultpreemption.Name)
	}
	budgets := make([]*policyv1.PodDisruptionBudget, len(c.Budgets))
	for i := range c.Budgets {
		budgets[i] = &c.Budgets[i]
	}
	made := &Preemption{Best: []string{}, Victims: map[string][]string{}}
	var candidates []preemption.Candidate
	for _, node := range nodes {
		name := node.Node().Name
		if a.answer.Verdicts[name].Code != fwk.Unschedulable.String() {
			continue
		}
		victims, violations, status := plugin.SelectVictimsOnNode(ctx, a.state.Clone(), &c.Pod, node.Snapshot(), budgets)
		if !status.IsSuccess() {
			if !status.IsRejected() {
				return nil, status.AsError()
			}
			continue
		}
		candidates = append(candidates, candidate{name, &extenderv1.Victims{Pods: victims, NumPDBViolations: int64(violations)}})
		made.Victims[name] = namesOf(victims)
	}
	if len(candidates) == 0 {
		return made, nil
	}
	best := plugin.Evaluator.SelectCandidate(ctx, candidates)
	for _, other := range candidates {
		if other.Name() == best.Name() || isTied(ctx, plugin, best, other) {
			made.Best = append(made.Best, other.Name())
		}
	}
	slices.Sort(made.Best)
	return made, nil
}

// isTied says whether kube-scheduler would as well choose the other. Of equal ones it takes the first of a map, which is another each time.
func isTied(ctx context.Context, plugin *defaultpreemption.DefaultPreemption, best, other preemption.Candidate) bool {
	for range 64 {
		if plugin.Evaluator.SelectCandidate(ctx, []preemption.Candidate{best, other}).Name() == other.Name() {
			return true
		}
	}
	return false
}

func namesOf(pods []*corev1.Pod) []string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Namespace + "/" + pod.Name
	}
	slices.Sort(names)
	return names
}
