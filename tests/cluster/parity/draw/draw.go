// Package draw makes clusters and pending pods for comparing schedulers.
//
// Everything is drawn from small vocabularies, so that things meet: labels match, taints are almost tolerated, resources fit to the unit or
// miss by one. A focus says what a case stresses; the rest is there, too, but seldom. Pods go through the API server's own defaulting,
// validation and changes on creation (package stored), so a case has only what an API server would store.
//
// The same seed, focus and number give the same case with the same vocabulary, whatever was drawn before.
package draw

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"gpu-scheduler.io/tests/cluster/parity"
)

// rates say how likely each kind of thing is in a case of a focus, from 0 to 1.
type rates struct {
	scarce      float64 // the nodes are small, so that resources are what a pod lacks
	gpus        float64 // of a pod's container that asks for some device
	tainted     float64 // of a node
	cordoned    float64 // of a node
	tolerations float64 // of a pod
	nodeTerms   float64 // node selectors and required node affinity of the pending pod
	ports       float64 // of a pod's container
	volumes     float64 // of a pod; 0: there are none at all
	spread      float64 // of the pending pod
	podTerms    float64 // required (anti-)affinity of a pod, each direction
	preferences float64 // of a pod, each kind: preferred terms, ScheduleAnyway
	unlabelled  float64 // of a node, each topology key
	resized     float64 // of a pod that runs
	huge        float64 // of a quantity
	owned       float64 // of a pod; 0: there are no Services and controllers at all, and the profile's default constraints are upstream's
	features    float64 // of a pod that needs one of kubelet's; 0: no node declares any
	inTree      float64 // of a disk that CSI drivers on some nodes have taken over
	configured  float64 // arguments of a plugin
	preempts    bool    // pods have priorities, and some a PodDisruptionBudget; none is being deleted
	overflow    float64 // of a quantity that is beyond 64 bits, or is so when counted in thousandths
}

var foci = map[string]rates{
	"resources": {scarce: 1, gpus: .2, tainted: .05, cordoned: .05, tolerations: .1, nodeTerms: .05, ports: .05, unlabelled: .1,
		preferences: .1, resized: .3, huge: .01, configured: .4},
	"gpu":      {configured: .2, scarce: .7, gpus: .9, tainted: .1, cordoned: .05, tolerations: .3, nodeTerms: .3, unlabelled: .1, preferences: .1},
	"taints":   {tainted: .7, cordoned: .3, tolerations: .9, nodeTerms: .1, gpus: .1, unlabelled: .1, preferences: .1},
	"affinity": {configured: .2, tainted: .1, cordoned: .05, tolerations: .3, nodeTerms: .95, gpus: .1, unlabelled: .2, preferences: .3},
	"ports":    {tainted: .05, cordoned: .05, tolerations: .1, nodeTerms: .05, ports: .8, unlabelled: .1, podTerms: .05},
	"spread": {tainted: .12, cordoned: .05, tolerations: .4, nodeTerms: .15, spread: 1, podTerms: .03, preferences: .15,
		unlabelled: .05},
	"interpod": {configured: .2, tainted: .05, cordoned: .03, tolerations: .2, nodeTerms: .08, podTerms: .5, preferences: .15, unlabelled: .08},
	"volumes":  {tainted: .05, cordoned: .05, tolerations: .1, nodeTerms: .1, volumes: .7, unlabelled: .1, preferences: .05},
	"preferences": {scarce: .3, gpus: .2, tainted: .3, cordoned: .03, tolerations: .3, nodeTerms: .1, spread: .1, podTerms: .05,
		preferences: .8, unlabelled: .15, configured: .3},
	"combined": {scarce: .1, gpus: .2, tainted: .15, cordoned: .03, tolerations: .8, nodeTerms: .5, ports: .25, volumes: .6, spread: .8,
		podTerms: .4, preferences: .8, unlabelled: .04, resized: .1, owned: .3, features: .05},
	"defaults": {owned: .75, tainted: .12, cordoned: .05, tolerations: .4, nodeTerms: .15, spread: .08, podTerms: .03, preferences: .12,
		unlabelled: .12},
	"features": {features: .7, tainted: .1, tolerations: .3, nodeTerms: .1, ports: .1, spread: .2, podTerms: .1, preferences: .1, unlabelled: .1},
	"in-tree":  {volumes: .8, inTree: .4, nodeTerms: .05, unlabelled: .1},
	"overflow": {scarce: 1, gpus: .2, resized: .3, overflow: .1},
	parity.PreemptionFocus: {preempts: true, scarce: .6, gpus: .3, tainted: .05, cordoned: .03, tolerations: .6, nodeTerms: .05, ports: .3, spread: .25,
		podTerms: .15, preferences: .05, unlabelled: .05, volumes: .2, owned: .1, features: .05, resized: .1},
	"mixed": {configured: .1, scarce: .4, gpus: .3, tainted: .2, cordoned: .1, tolerations: .5, nodeTerms: .3, ports: .2, volumes: .3, spread: .4,
		podTerms: .25, preferences: .3, unlabelled: .12, resized: .1, huge: .002, owned: .3, features: .05},
}

// Foci are the names of what a case can stress, in the order in which they are reported. "overflow" is drawn only when asked for: its
// quantities make kube-scheduler's sums wrap around, and gpu-scheduler must not agree with that.
var Foci = []string{"resources", "gpu", "taints", "affinity", "ports", "spread", "defaults", "interpod", "volumes", "in-tree", "features",
	"preferences", parity.PreemptionFocus, "mixed", "combined"}

// Case draws the case with that number, without an answer.
func Case(seed uint64, focus string, number int) (*parity.Case, error) {
	chances, ok := foci[focus]
	if !ok {
		return nil, fmt.Errorf("focus %q is none of %v", focus, Foci)
	}
	name := fnv.New64a()
	fmt.Fprintf(name, "%s-%d", focus, number)
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, name.Sum64())), rates: chances}
	c := &parity.Case{ID: fmt.Sprintf("%s-%d-%d", focus, seed, number), Focus: focus}
	d.cluster(c)
	return c, d.err
}

// drawer draws one case.
type drawer struct {
	*rand.Rand
	rates
	err    error // the first pod that could not be made
	small  bool  // the nodes of this case
	claims []claim
	held   map[string]bool // host ports by node, and claims that are for one pod
}

func (d *drawer) cluster(c *parity.Case) {
	d.small = d.chance(d.scarce)
	c.Namespaces = d.namespaces()
	nodes := 1 + d.IntN(8)
	for i := range nodes {
		c.Nodes = append(c.Nodes, d.node(fmt.Sprintf("node-%d", i)))
	}
	if d.chance(d.volumes * 1.4) {
		d.storage(c)
	}
	pending := d.pick("ml", "ml", "team-a", "default")
	owned := d.chance(d.owned * 1.2)
	if owned {
		for _, namespace := range []string{pending, "bare"} {
			d.selecting(c, namespace)
		}
	}
	c.PluginConfig = d.configure(owned)
	c.Pod = d.pod("pending", pending, true)
	if d.preempts {
		c.Pod.Spec.NodeName = ""
		d.pressing(&c.Pod)
		c.Budgets = d.budgets(pending)
	}
	d.claimScratch(c, &c.Pod)
	// Most pods share the namespace of the pending one, and some nodes have more than their share of them.
	crowded := d.IntN(nodes)
	pods := d.IntN(1 + 3*nodes)
	var started []int
	if d.preempts {
		pods = nodes + d.IntN(1+5*nodes)
		started = d.Perm(pods)
		d.held = map[string]bool{}
	}
	if d.spread+d.podTerms+d.owned > .5 && d.chance(.7) {
		pods = 4 + d.IntN(22)
	}
	for i := range pods {
		namespace := pending
		if d.chance(.35) {
			namespace = d.pick("ml", "team-a", "default", "bare")
		}
		pod := d.pod(fmt.Sprintf("run-%d", i), namespace, false)
		on := d.IntN(nodes)
		if d.chance(.25) {
			on = crowded
		}
		pod.Spec.NodeName = c.Nodes[on].Name
		d.live(&pod)
		if d.preempts {
			d.evictable(&pod, started[i])
			d.oneHolder(c, &pod)
		}
		d.claimScratch(c, &pod)
		c.Pods = append(c.Pods, pod)
	}
}

func (d *drawer) chance(p float64) bool { return p > 0 && d.Float64() < p }

// pick gives one of the words; a word that stands there twice is twice as likely.
func (d *drawer) pick(words ...string) string { return words[d.IntN(len(words))] }

// some gives between one and three of the words, each at most once.
func (d *drawer) some(words ...string) []string {
	order := d.Perm(len(words))
	chosen := make([]string, 0, 3)
	for _, i := range order[:min(1+d.IntN(3), len(order))] {
		chosen = append(chosen, words[i])
	}
	return chosen
}
