package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// Rules across nodes are what a pod demands of the pods that run in the same domain of nodes: required affinity and anti-affinity between
// pods, and topology spread with DoNotSchedule. They are read here as kube-scheduler's InterPodAffinity and PodTopologySpread read them, from the
// objects and by Kubernetes' selectors. matchLabelKeys and mismatchLabelKeys are in the selectors: the API server writes them there.

// podRules are the rules across nodes of one pod.
type podRules struct {
	affinity, antiAffinity []affinityTerm
	spread                 []spreadRule
}

// affinityTerm is one of affinity or of anti-affinity.
type affinityTerm struct {
	key          string   // of the domains
	namespaces   []string // in which it selects pods
	inNamespaces labels.Selector
	pods         labels.Selector
}

// spreadRule is a topology spread constraint.
type spreadRule struct {
	corev1.TopologySpreadConstraint
	pods labels.Selector
}

// rulesOf reads a pod's rules across nodes; nil if it has none.
func rulesOf(pod *corev1.Pod) *podRules {
	r := &podRules{}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		r.affinity = termsOf(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		r.antiAffinity = termsOf(pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			r.spread = append(r.spread, spreadRule{c, selector(c.LabelSelector)})
		}
	}
	if len(r.affinity)+len(r.antiAffinity)+len(r.spread) == 0 {
		return nil
	}
	return r
}

func termsOf(pod *corev1.Pod, terms []corev1.PodAffinityTerm) (found []affinityTerm) {
	for _, t := range terms {
		term := affinityTerm{key: t.TopologyKey, namespaces: t.Namespaces, inNamespaces: selector(t.NamespaceSelector), pods: selector(t.LabelSelector)}
		if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
			term.namespaces = []string{pod.Namespace}
		}
		found = append(found, term)
	}
	return found
}

// selector is one of labels. None selects nothing; nor does an invalid one, which the API server does not store.
func selector(s *metav1.LabelSelector) labels.Selector {
	found, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return found
}

func (t *affinityTerm) selects(pod *corev1.Pod, namespaces map[string]labels.Set) bool {
	here := slices.Contains(t.namespaces, pod.Namespace) || t.inNamespaces.Matches(namespaces[pod.Namespace])
	return here && t.pods.Matches(labels.Set(pod.Labels))
}

func allSelect(terms []affinityTerm, pod *corev1.Pod, namespaces map[string]labels.Set) bool {
	return !slices.ContainsFunc(terms, func(t affinityTerm) bool { return !t.selects(pod, namespaces) })
}

// counts tells whether a pod counts for a constraint of a pod in that namespace.
func (r *spreadRule) counts(pod *corev1.Pod, namespace string) bool {
	return pod.Namespace == namespace && pod.DeletionTimestamp == nil && !r.pods.Empty() && r.pods.Matches(labels.Set(pod.Labels))
}

// eligible tells whether a node is in a domain of the constraint, which a pod has beside others: it has the keys of all, and the policies let it
// count.
func (r *spreadRule) eligible(node *corev1.Node, pod *corev1.Pod, all []spreadRule) bool {
	for _, other := range all {
		if _, has := node.Labels[other.TopologyKey]; !has {
			return false
		}
	}
	if r.NodeAffinityPolicy == nil || *r.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !match {
			return false
		}
	}
	if r.NodeTaintsPolicy != nil && *r.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, isHard, false)
		return !untolerated
	}
	return true
}

// standing is which pods run where at one moment.
type standing struct {
	nodes      map[string]*corev1.Node
	pods       map[types.UID]*podState // that are bound and have not finished
	namespaces map[string]labels.Set
}

// standing of now.
func (j *Judge) standing() *standing {
	s := &standing{nodes: map[string]*corev1.Node{}, pods: map[types.UID]*podState{}, namespaces: j.book.namespaces}
	for name, n := range j.nodes {
		if n.node != nil {
			s.nodes[name] = n.node
		}
	}
	for _, p := range j.pods {
		if runs(p) {
			s.pods[p.pod.UID] = p
		}
	}
	return s
}

func (s *standing) clone() *standing {
	return &standing{maps.Clone(s.nodes), maps.Clone(s.pods), maps.Clone(s.namespaces)}
}

// runs tells whether a pod counts for the rules of others: it is bound and has not finished.
func runs(p *podState) bool { return p != nil && p.pod.Spec.NodeName != "" && !finished(p.pod) }

// doubt is what else a scheduler may have known of its own binds when it decided one (excuses.go). The zero value is none.
type doubt struct {
	underWay []*podState        // had been decided, and landed later: they count where that helps, as they count for a scheduler
	overtook map[types.UID]bool // landed earlier, but may have been decided later
	unsent   []unsent           // may have been decided, for an unknown node, and never landed
}

// unsent is a pod that was not bound, and the revision by which that was so.
type unsent struct {
	*podState
	revision int64
}

// question is where one pod may go as pods stand. What it reads is counted once, whichever nodes are asked about.
type question struct {
	*standing
	pod       *podState
	forbidden map[domain]string   // by the anti-affinity of a pod that runs: which
	apart     []map[string]string // for each term of its own anti-affinity, the values of the key where a pod runs that it selects: which
	together  []map[string]bool   // for each term of its affinity, those where one runs that all terms select
	alone     bool                // there is none of those in any domain
	expected  bool                // there may have been one that never landed
	spread    []spreadCounts      // for each constraint
}

type domain struct{ key, value string }

// spreadCounts are of the pods that a constraint counts, by the value of its key.
type spreadCounts struct {
	running  map[string]int // a domain with none is in it, too
	overtook map[string]int // of them those that may have been decided later, and do not have to keep to the constraint
	underWay map[string]int
	unsent   int
}

// ask prepares the question.
func (s *standing) ask(p *podState, d doubt) *question {
	q := &question{standing: s, pod: p, forbidden: map[domain]string{}, alone: true}
	if p.rules == nil {
		p = &podState{pod: p.pod, rules: &podRules{}}
		q.pod = p
	}
	for range p.rules.antiAffinity {
		q.apart = append(q.apart, map[string]string{})
	}
	for range p.rules.affinity {
		q.together = append(q.together, map[string]bool{})
	}
	for _, r := range p.rules.spread {
		q.spread = append(q.spread, spreadCounts{q.domains(&r), map[string]int{}, map[string]int{}, 0})
	}
	for uid, other := range s.pods {
		if node := s.nodes[other.pod.Spec.NodeName]; node != nil && uid != p.pod.UID {
			q.count(other, node, d.overtook[uid])
		}
	}
	for _, other := range d.underWay {
		if node := s.nodes[other.pod.Spec.NodeName]; node != nil {
			q.countUnderWay(other, node)
		}
	}
	for _, other := range d.unsent {
		q.countUnsent(other.podState)
	}
	return q
}

// domains of a constraint, with a count of 0 each.
func (q *question) domains(r *spreadRule) map[string]int {
	found := map[string]int{}
	for _, node := range q.nodes {
		if r.eligible(node, q.pod.pod, q.pod.rules.spread) {
			found[node.Labels[r.TopologyKey]] = 0
		}
	}
	return found
}

func (q *question) count(other *podState, node *corev1.Node, overtook bool) {
	if other.rules != nil {
		for _, t := range other.rules.antiAffinity {
			if value, has := node.Labels[t.key]; has && t.selects(q.pod.pod, q.namespaces) {
				q.forbidden[domain{t.key, value}] = nameOf(other)
			}
		}
	}
	for i, t := range q.pod.rules.antiAffinity {
		if value, has := node.Labels[t.key]; has && t.selects(other.pod, q.namespaces) {
			q.apart[i][value] = nameOf(other)
		}
	}
	if q.joins(other, node) && (!overtook || sameAffinity(q.pod.pod, other.pod)) {
		q.alone = false
	}
	for i, r := range q.pod.rules.spread {
		if r.counts(other.pod, q.pod.pod.Namespace) && r.eligible(node, q.pod.pod, q.pod.rules.spread) {
			q.spread[i].running[node.Labels[r.TopologyKey]]++
			if overtook && !sameSpread(q.pod.pod, other.pod) {
				q.spread[i].overtook[node.Labels[r.TopologyKey]]++
			}
		}
	}
}

// joins notes the domains in which a pod is that the affinity selects, and tells whether there are some.
func (q *question) joins(other *podState, node *corev1.Node) (some bool) {
	if !allSelect(q.pod.rules.affinity, other.pod, q.namespaces) {
		return false
	}
	for i, t := range q.pod.rules.affinity {
		if value, has := node.Labels[t.key]; has {
			q.together[i][value], some = true, true
		}
	}
	return some
}

func (q *question) countUnderWay(other *podState, node *corev1.Node) {
	q.joins(other, node)
	for i, r := range q.pod.rules.spread {
		if r.counts(other.pod, q.pod.pod.Namespace) && r.eligible(node, q.pod.pod, q.pod.rules.spread) {
			q.spread[i].underWay[node.Labels[r.TopologyKey]]++
		}
	}
}

func (q *question) countUnsent(other *podState) {
	q.expected = q.expected || len(q.pod.rules.affinity) > 0 && allSelect(q.pod.rules.affinity, other.pod, q.namespaces)
	for i, r := range q.pod.rules.spread {
		if r.counts(other.pod, q.pod.pod.Namespace) {
			q.spread[i].unsent++
		}
	}
}

// breach is a rule that a pod would break on a node.
type breach struct {
	kind   ViolationKind
	detail string
}

// breaches are the rules that the pod would break on a node: the first of each kind.
func (q *question) breaches(node *corev1.Node) (found []breach) {
	for _, b := range []breach{
		{AntiAffinity, q.tooClose(node)}, {Affinity, q.tooFar(node)}, {Spread, q.skewed(node)},
	} {
		if b.detail != "" {
			found = append(found, b)
		}
	}
	return found
}

// tooClose says which pod runs in the node's domain that must not.
func (q *question) tooClose(node *corev1.Node) string {
	for i, t := range q.pod.rules.antiAffinity {
		if value, has := node.Labels[t.key]; has && q.apart[i][value] != "" {
			return fmt.Sprintf("%s=%s has %s, which its anti-affinity selects", t.key, value, q.apart[i][value])
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(q.forbidden), func(a, b domain) int { return cmp.Compare(a.key+"="+a.value, b.key+"="+b.value) }) {
		if value, has := node.Labels[at.key]; has && value == at.value {
			return fmt.Sprintf("%s=%s has %s, whose anti-affinity selects it", at.key, at.value, q.forbidden[at])
		}
	}
	return ""
}

// tooFar says in which of the node's domains no pod runs that must.
func (q *question) tooFar(node *corev1.Node) string {
	missing := ""
	for i, t := range q.pod.rules.affinity {
		value, has := node.Labels[t.key]
		if !has {
			return fmt.Sprintf("the node has no label %s, by which its affinity asks", t.key)
		}
		if !q.together[i][value] {
			missing = fmt.Sprintf("%s=%s has no pod that its affinity selects", t.key, value)
		}
	}
	first := q.alone && allSelect(q.pod.rules.affinity, q.pod.pod, q.namespaces)
	if first || q.expected {
		return ""
	}
	return missing
}

// skewed says in which of the node's domains there are too many pods.
func (q *question) skewed(node *corev1.Node) string {
	for i, r := range q.pod.rules.spread {
		value, has := node.Labels[r.TopologyKey]
		if !has {
			return fmt.Sprintf("the node has no label %s, by which it spreads", r.TopologyKey)
		}
		if fewest, there := q.spread[i].fewest(value, &r), q.spread[i].with(value, q.pod.pod, &r); there-fewest > int(r.MaxSkew) {
			return fmt.Sprintf("%s=%s has %d with it, the fewest of %d domains is %d, maxSkew %d",
				r.TopologyKey, value, there, len(q.spread[i].running), fewest, r.MaxSkew)
		}
	}
	return ""
}

// with is how many there are in a domain with the pod.
func (c *spreadCounts) with(value string, pod *corev1.Pod, r *spreadRule) int {
	self := 0
	if r.pods.Matches(labels.Set(pod.Labels)) {
		self = 1
	}
	return c.running[value] - c.overtook[value] + self
}

// fewest is how many there are at least in each domain for a pod that goes to one of them: what is in doubt counts in the others, and what never
// landed where there are fewest.
func (c *spreadCounts) fewest(value string, r *spreadRule) int {
	if r.MinDomains != nil && len(c.running) < int(*r.MinDomains) || len(c.running) == 0 {
		return 0
	}
	var others []int
	for domain, count := range c.running {
		if domain != value {
			others = append(others, count+c.underWay[domain])
		}
	}
	slices.Sort(others)
	for range c.unsent {
		if len(others) > 0 {
			others[0]++
			slices.Sort(others)
		}
	}
	if own, has := c.running[value]; has {
		others = append(others, own-c.overtook[value])
	}
	return slices.Min(others)
}

// sameAffinity returns whether a scheduler that decided both pods had to place the one where the other is.
func sameAffinity(a, b *corev1.Pod) bool {
	required := func(p *corev1.Pod) []corev1.PodAffinityTerm {
		if p.Spec.Affinity == nil || p.Spec.Affinity.PodAffinity == nil {
			return nil
		}
		return p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return a.Namespace == b.Namespace && equality.Semantic.DeepEqual(required(a), required(b))
}

// sameSpread tells whether two pods of a namespace have to keep to the same constraints, on the same nodes.
func sameSpread(a, b *corev1.Pod) bool {
	nodes := func(p *corev1.Pod) *corev1.NodeAffinity {
		if p.Spec.Affinity == nil {
			return nil
		}
		return p.Spec.Affinity.NodeAffinity
	}
	return equality.Semantic.DeepEqual(a.Spec.TopologySpreadConstraints, b.Spec.TopologySpreadConstraints) &&
		equality.Semantic.DeepEqual(a.Spec.NodeSelector, b.Spec.NodeSelector) &&
		equality.Semantic.DeepEqual(nodes(a), nodes(b)) && equality.Semantic.DeepEqual(a.Spec.Tolerations, b.Spec.Tolerations)
}

func nameOf(p *podState) string { return p.pod.Namespace + "/" + p.pod.Name }
