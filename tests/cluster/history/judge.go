// Package history judges schedulers by what the API server remembers, and by nothing that they say themselves.
//
// Every change of a pod, a node, a namespace or a GpuQuota is a revision in the API server's store. A Recorder reads them there, in order, from the first
// on, and feeds a Judge, which keeps the cluster as it was at each revision and checks every bind when it comes by:
//
//   - over-commit: does the node still have room, for each resource that the pod asks for, counting every pod bound to it
//     that has not finished (terminating ones until they are gone)?
//   - placement: does the node exist, does the pod tolerate its taints, match its labels, may it be scheduled to?
//   - over-quota: does the GpuQuota of the pod's namespace allow the GPUs, counting the pods of every scheduler, and if they are
//     borrowed, does the cohort have as many to lend?
//   - anti-affinity, affinity, spread: do the pods that run allow it, by the pod's rules across nodes and by theirs (pod_rules.go)?
//   - double bind: was the pod bound before? The API server refuses that, so what was tried in vain is read in its audit log (attempts.go).
//
// and at the end
//
//   - lost: is there a pod that names the scheduler and is neither bound, finished nor gone, nor has been told why (a
//     current condition PodScheduled=False)?
//   - stuck: is there a pod told that it does not fit, while a node has room?
//
// A scheduler cannot know what happened a moment ago. A bind that breaks a rule only because of something that others did shortly before
// is *explained*: counted, and not held against it. The excuses are in excuses.go, the clock for them in clock.go. A test states how many
// violations may be explained: where only the scheduler did anything, none.
//
// Requests, tolerations and selectors are computed by Kubernetes' own libraries. Not judged: host ports, volumes, resource claims, and
// preferences of any kind.
package history

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Event is one change of one object: its state from this revision on. The object's field is nil if it is gone.
type Event struct {
	Revision  int64
	Kind      Kind
	Key       string // namespace/name of a pod, name of all others
	Pod       *corev1.Pod
	Node      *corev1.Node
	Namespace *corev1.Namespace
	Quota     *GpuQuota
	Tick      time.Time // of the clock: what the time is from now on
}

// Kind of an event's object.
type Kind int

// The kinds that are recorded.
const (
	PodKind Kind = iota
	NodeKind
	NamespaceKind
	QuotaKind
	ClockKind // all events until the next of this kind have its time (clock.go)
)

// Options of a Judge.
type Options struct {
	// Schedulers are the scheduler names that are judged. Binds of other pods are foreign: they fill nodes and explain.
	Schedulers []string
	// Window is how far back something that others did explains a violation. Default 2 s.
	Window time.Duration
	// UnderWay is how long a bind may take to land: what was true of the quotas when it was decided may be as old. Default 5 s, the
	// deadline that the scheduler gives its binds.
	UnderWay time.Duration
	// Attempts is the path of the API server's audit log of binds (controlplane.AuditLog). "": it is not known what was tried in vain.
	Attempts string
}

// Judge follows a history event by event. It is not safe for concurrent use; a Recorder locks it.
type Judge struct {
	options Options
	ours    map[string]bool
	now     time.Time     // of the last tick
	late    time.Duration // how long what happens may take to reach a scheduler just now, if longer than the window
	pods    map[string]*podState
	nodes   map[string]*nodeState
	book    *quotaBook
	books   []pastBook           // replaced while binds of now were under way
	binds   map[types.UID]landed // every bind ever
	waiting map[string]*podState // ours, not bound: the ones that could be lost
	marks   map[string]bool      // pods, by namespace/name, for which a bind without their uid was tried
	exceeds map[string]bool      // namespaces of which a pod was ever told that its quota is exceeded
	guards  map[types.UID]bool   // pods that run and have anti-affinity
	changes changes              // of late, of what rules across nodes read
	appeals []*appeal            // binds that broke one, and may still be found right

	testimony *testimony // of what a scheduler was shown; nil without a witness

	counts     counts
	violations []Violation
	dated      int   // of them those before the last tick
	progress   int64 // moves whenever something happens that is not merely a scheduler repeating itself
}

type counts struct {
	events, podsSeen, nodesSeen, binds, foreignBinds, foreignOverCommits int
	attempts                                                             int // to bind any pod, in the audit log
	first, last                                                          int64
	step                                                                 time.Duration
}

// landed is a bind that did.
type landed struct {
	node string
	ours bool
}

// podState is a pod as of the latest revision.
type podState struct {
	pod               *corev1.Pod
	requests          amounts
	rules             *podRules // across nodes; nil if it has none
	chargedAs         string    // what the scheduler noted when it bound it; "" of others' pods: their notes do not count
	specRevision      int64     // of the last change of its spec
	conditionRevision int64     // of the last change of its PodScheduled condition
	decidable         int64     // the revision from which it could be decided as it is
	bound             ownBind   // by the scheduler, if it was
}

// nodeState is what is on a node, and what others did to it lately. It outlives the node object: pods do, too.
type nodeState struct {
	node  *corev1.Node // nil while there is none
	pods  map[types.UID]*podState
	past  []pastNode   // versions replaced within the window, or while a witness counted
	grown []grownUsage // what others added within the window
}

type pastNode struct {
	until    time.Time
	revision int64 // that replaced it
	node     *corev1.Node
}

// grownUsage is what a pod that is not ours to place asked for before it came or grew.
type grownUsage struct {
	at       time.Time
	revision int64
	uid      types.UID
	key      string
	before   amounts
}

// NewJudge makes a judge of an empty cluster.
func NewJudge(options Options) *Judge {
	if options.Window == 0 {
		options.Window = 2 * time.Second
	}
	if options.UnderWay == 0 {
		options.UnderWay = 5 * time.Second
	}
	j := &Judge{
		options: options,
		ours:    map[string]bool{}, pods: map[string]*podState{}, nodes: map[string]*nodeState{}, book: &quotaBook{},
		binds: map[types.UID]landed{}, waiting: map[string]*podState{}, exceeds: map[string]bool{}, marks: map[string]bool{},
		guards: map[types.UID]bool{},
	}
	for _, name := range options.Schedulers {
		j.ours[name] = true
	}
	return j
}

// Apply takes the next event. Events come in the order of their revisions.
func (j *Judge) Apply(e Event) {
	if e.Kind == ClockKind {
		j.tick(e.Tick)
		return
	}
	j.counts.events++
	if j.counts.first == 0 {
		j.counts.first = e.Revision
	}
	j.counts.last = e.Revision
	switch e.Kind {
	case PodKind:
		j.applyPod(e)
	case NodeKind:
		j.applyNode(e)
	case NamespaceKind:
		j.applyNamespace(e)
	case QuotaKind:
		j.turn(e, j.book.with(e.Key, e.Quota))
	}
}

func (j *Judge) tick(now time.Time) {
	if !j.now.IsZero() {
		j.counts.step = max(j.counts.step, now.Sub(j.now))
		for i := j.dated; i < len(j.violations); i++ {
			j.violations[i].Step = now.Sub(j.now)
		}
	}
	j.now, j.dated = now, len(j.violations)
	j.forgetBooks()
	j.hearAppeals(false)
}

// window is how far back something that others did explains a violation.
func (j *Judge) window() time.Duration { return max(j.options.Window, j.late) }

func (j *Judge) applyNamespace(e Event) {
	before, known := j.book.namespaces[e.Key]
	switch {
	case e.Namespace == nil && known:
		j.noteNamespace(e, before)
		j.turn(e, j.book.withNamespace(e.Key, nil))
	case e.Namespace != nil && (!known || !labels.Equals(before, e.Namespace.Labels)):
		j.noteNamespace(e, before)
		j.turn(e, j.book.withNamespace(e.Key, labels.Merge(e.Namespace.Labels, nil)))
	}
}

func (j *Judge) applyNode(e Event) {
	n := j.node(e.Key)
	j.noteNode(e, n)
	if n.node == nil {
		j.counts.nodesSeen++
	} else {
		n.past = append(n.past, pastNode{j.now, e.Revision, n.node})
	}
	j.forget(n)
	if !sameForScheduling(n.node, e.Node) {
		j.progress++
	}
	n.node = e.Node
}

func (j *Judge) applyPod(e Event) {
	before := j.pods[e.Key]
	if before != nil && (e.Pod == nil || e.Pod.UID != before.pod.UID) {
		j.remove(e, before)
		before = nil
	}
	if e.Pod == nil {
		return
	}
	after := j.track(e, before)
	j.pods[e.Key] = after
	j.noteForRules(e, before, after)
	j.place(e, before, after)
	if j.ours[after.pod.Spec.SchedulerName] && after.pod.Spec.NodeName == "" && !finished(after.pod) {
		j.waiting[e.Key] = after
	} else {
		delete(j.waiting, e.Key)
	}
}

// track makes the pod's new state, carrying over what did not change.
func (j *Judge) track(e Event, before *podState) *podState {
	after := &podState{pod: e.Pod, requests: requestsOf(e.Pod), specRevision: e.Revision, conditionRevision: e.Revision, decidable: e.Revision}
	if j.ours[e.Pod.Spec.SchedulerName] {
		after.chargedAs = e.Pod.Annotations[chargedAsAnnotation]
	}
	if c := scheduledCondition(e.Pod); c != nil && c.Reason == "GpuQuotaExceeded" {
		j.exceeds[e.Pod.Namespace] = true
	}
	if before == nil {
		j.counts.podsSeen++
		j.progress++
		after.rules = rulesOf(e.Pod)
		return after
	}
	after.bound, after.decidable = before.bound, before.decidable
	if after.rules = before.rules; before.pod.Generation != e.Pod.Generation {
		after.rules = rulesOf(e.Pod)
	}
	if before.pod.Generation == e.Pod.Generation {
		after.specRevision = before.specRevision
	} else if e.Pod.Spec.NodeName == "" {
		after.decidable = e.Revision
	}
	if sameCondition(scheduledCondition(before.pod), scheduledCondition(e.Pod)) {
		after.conditionRevision = before.conditionRevision
	} else if !told(before) && told(after) {
		j.progress++
	}
	return after
}

// place accounts for the pod on its node, and judges it if this is the revision that bound it.
func (j *Judge) place(e Event, before, after *podState) {
	name := after.pod.Spec.NodeName
	old := ""
	if before != nil {
		old = before.pod.Spec.NodeName
	}
	if old != "" && old != name {
		delete(j.node(old).pods, after.pod.UID)
	}
	if name == "" {
		return
	}
	n := j.node(name)
	j.forget(n)
	if finished(after.pod) {
		delete(n.pods, after.pod.UID)
	} else {
		n.pods[after.pod.UID] = after
	}
	switch {
	case old != name:
		j.bound(e, before, after, n)
	case after.requests.exceed(before.requests):
		n.grown = append(n.grown, grownUsage{j.now, e.Revision, after.pod.UID, e.Key, before.requests})
	}
}

// bound judges a bind. A pod that was created bound was bound by its creator, not by the scheduler that it names.
func (j *Judge) bound(e Event, before, after *podState, n *nodeState) {
	j.progress++
	if first, again := j.binds[after.pod.UID]; again {
		j.violate(e, after, DoubleBind, fmt.Sprintf("it was bound to %q before", first.node), nil)
	}
	ours := before != nil && j.ours[after.pod.Spec.SchedulerName]
	j.binds[after.pod.UID] = landed{after.pod.Spec.NodeName, ours}
	if !ours {
		j.counts.foreignBinds++
		if overfull(n, after.requests, nil) != "" {
			j.counts.foreignOverCommits++
		}
		n.grown = append(n.grown, grownUsage{j.now, e.Revision, after.pod.UID, e.Key, nil})
		return
	}
	j.counts.binds++
	if detail := overfull(n, after.requests, nil); detail != "" {
		j.violate(e, after, OverCommit, detail, j.excuseForOverCommit(n, after))
	}
	after.bound = j.ownBindOf(e, after, n)
	if detail := j.overQuota(after, n); detail != "" {
		j.violate(e, after, OverQuota, detail, j.excuseForOverQuota(n, after))
	}
	if detail := misplaced(n.node, after.pod); detail != "" {
		j.violate(e, after, Placement, detail, j.excuseForPlacement(n, after.pod))
	}
	j.judgeRules(e, after, n)
}

// violate notes a bind that broke a rule, with its excuse if it has one.
func (j *Judge) violate(e Event, p *podState, kind ViolationKind, detail string, why *excuse) {
	v := Violation{Kind: kind, Revision: e.Revision, Time: j.now, Pod: e.Key, Node: p.pod.Spec.NodeName, Detail: detail}
	if why != nil {
		v.Excuse, v.Causes, v.Explained = why.kind, why.causes, why.words
	}
	j.violations = append(j.violations, v)
}

func (j *Judge) remove(e Event, p *podState) {
	j.progress++
	j.noteForRules(e, p, nil)
	delete(j.pods, e.Key)
	delete(j.waiting, e.Key)
	if p.pod.Spec.NodeName != "" {
		delete(j.node(p.pod.Spec.NodeName).pods, p.pod.UID)
	}
}

func (j *Judge) node(name string) *nodeState {
	n := j.nodes[name]
	if n == nil {
		n = &nodeState{pods: map[types.UID]*podState{}}
		j.nodes[name] = n
	}
	return n
}

// Pod returns the latest state of a pod by namespace/name, or nil. It is not to be changed.
func (j *Judge) Pod(key string) *corev1.Pod {
	if p := j.pods[key]; p != nil {
		return p.pod
	}
	return nil
}

// Pods returns the latest state of all pods of a namespace, in no order. They are not to be changed.
func (j *Judge) Pods(namespace string) []*corev1.Pod {
	var found []*corev1.Pod
	for key, p := range j.pods {
		if within(key, []string{namespace}) {
			found = append(found, p.pod)
		}
	}
	return found
}

// Answered returns whether a pod of ours needs nothing any more: it is gone, finished or bound, or has a message why it is not bound.
func (j *Judge) Answered(key string) bool {
	p := j.waiting[key]
	return p == nil || told(p)
}

// Unexcused tells whether nothing that others did is so recent that it might excuse a bind of now.
func (j *Judge) Unexcused() bool {
	for _, n := range j.nodes {
		if j.forget(n); len(n.past)+len(n.grown) > 0 {
			return false
		}
	}
	j.forgetChanges()
	return len(j.books)+len(j.changes.pods)+len(j.changes.nodes) == 0
}

// Binds counts the binds of pods that name one of the judged schedulers, ever.
func (j *Judge) Binds() int { return j.counts.binds }

// ForeignBinds counts the binds of all other pods, and of those that were made bound, ever.
func (j *Judge) ForeignBinds() int { return j.counts.foreignBinds }

// DefaultQuota tells what the scheduler's configuration says of a namespace that no quota claims, from now on: "None", or a quota's name. Without it
// such a namespace is not limited.
func (j *Judge) DefaultQuota(namespace, defaultQuota string) {
	j.book = j.book.withDefault(namespace, defaultQuota)
}

// ToldOverQuota tells whether any pod of the namespace was ever told that its quota is exceeded.
func (j *Judge) ToldOverQuota(namespace string) bool { return j.exceeds[namespace] }

// forget drops what happened to a node before the window. What a witness may still speak of is kept.
func (j *Judge) forget(n *nodeState) {
	since := j.now.Add(-j.window())
	for j.testimony == nil && len(n.past) > 0 && n.past[0].until.Before(since) {
		n.past = n.past[1:]
	}
	for len(n.grown) > 0 && n.grown[0].at.Before(since) {
		n.grown = n.grown[1:]
	}
}
