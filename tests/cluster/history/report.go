package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ViolationKind is the rule that a bind broke.
type ViolationKind string

// The rules of binds.
const (
	OverCommit ViolationKind = "over-commit"
	DoubleBind ViolationKind = "double bind"
	Placement  ViolationKind = "placement"
	OverQuota  ViolationKind = "over-quota"
)

// Violation is a bind that broke a rule.
type Violation struct {
	Kind      ViolationKind
	Revision  int64
	Time      time.Time
	Pod, Node string
	Detail    string // with numbers
	Explained string // what others did just before, without which the bind would have been right; "" if nothing did
	Excuse    Excuse // of a bind over quota that is explained: which of the few that there are
	Causes    []int64
}

func (v Violation) String() string {
	text := fmt.Sprintf("revision %d: %s: pod %s on node %s: %s", v.Revision, v.Kind, v.Pod, v.Node, v.Detail)
	if v.Explained != "" {
		text += " (explained: " + v.Explained + ")"
	}
	return text
}

// Report is the verdict on a history, or on some namespaces' part of it.
type Report struct {
	First, Last                     int64 // revisions
	Events, PodsSeen, NodesSeen     int   // in the whole history
	Binds, ForeignBinds             int   // in the whole history
	ForeignOverCommits              int   // binds of others that over-committed: theirs, not held against ours
	Violations                      []Violation
	Pending                         int            // pods of ours that are not bound now
	Lost                            []string       // pods of ours that nobody has told anything
	Stuck                           []string       // pods of ours that are pending while a node has room, with the node
	Excuses                         map[Excuse]int // how often each served a bind over quota
	Gap                             string         // what of the history was not seen; "" if all was
	Explained, Unexplained, Doubled int            // numbers among Violations; Doubled counts double binds, which nothing explains
}

// Report judges what has been seen, for the pods in the namespaces given, or for all.
func (j *Judge) Report(namespaces ...string) Report {
	r := Report{
		First: j.counts.first, Last: j.counts.last, Events: j.counts.events, PodsSeen: j.counts.podsSeen, NodesSeen: j.counts.nodesSeen,
		Binds: j.counts.binds, ForeignBinds: j.counts.foreignBinds, ForeignOverCommits: j.counts.foreignOverCommits,
		Excuses: map[Excuse]int{},
	}
	for _, v := range j.violations {
		if !within(v.Pod, namespaces) {
			continue
		}
		r.Violations = append(r.Violations, v)
		switch {
		case v.Kind == DoubleBind:
			r.Doubled++
		case v.Explained != "" && (v.Excuse == "" || j.happened(v)):
			r.Explained++
			if v.Excuse != "" {
				r.Excuses[v.Excuse]++
			}
		default:
			r.Unexplained++
		}
	}
	for key, p := range j.waiting {
		if !within(key, namespaces) {
			continue
		}
		r.Pending++
		if p.pod.DeletionTimestamp == nil && !told(p) {
			r.Lost = append(r.Lost, key)
		} else if node := j.roomFor(p); node != "" {
			r.Stuck = append(r.Stuck, key+" (room on "+node+")")
		}
	}
	slices.Sort(r.Lost)
	slices.Sort(r.Stuck)
	return r
}

// lost counts the pods that nobody has told anything; cheaper than a report.
func (j *Judge) lost(namespaces []string) int {
	n := 0
	for key, p := range j.waiting {
		if within(key, namespaces) && p.pod.DeletionTimestamp == nil && !told(p) {
			n++
		}
	}
	return n
}

// roomFor names a node that would take a pending pod by all the rules judged here, or "". Pods with constraints that are not judged
// here are left alone.
func (j *Judge) roomFor(p *podState) string {
	if p.pod.DeletionTimestamp != nil || len(p.pod.Spec.SchedulingGates) > 0 || constrainedOtherwise(p.pod) {
		return ""
	}
	if quota := j.book.of(p.pod.Namespace); quota != nil && quota.Spec.Order == "Strict" && asksForGPUs(p.requests) {
		return "" // it may have to wait behind another
	}
	var names []string
	for name, n := range j.nodes {
		if n.node == nil || misplaced(n.node, p.pod) != "" {
			continue
		}
		n.pods["?"] = p // try it, and take it off again
		if overfull(n, p.requests, nil) == "" && j.overQuota(p, n) == "" {
			names = append(names, name)
		}
		delete(n.pods, "?")
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// constrainedOtherwise tells whether a pod has constraints that this package does not judge.
func constrainedOtherwise(pod *corev1.Pod) bool {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || len(pod.Spec.ResourceClaims) > 0 {
		return true
	}
	if a := pod.Spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil {
			return true
		}
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.HostPort != 0 {
				return true
			}
		}
	}
	return false
}

func within(key string, namespaces []string) bool {
	if len(namespaces) == 0 {
		return true
	}
	namespace, _, _ := strings.Cut(key, "/")
	return slices.Contains(namespaces, namespace)
}

// Err is nil if the scheduler did nothing wrong and the whole history was seen; else it says what is wrong.
func (r Report) Err() error {
	var wrong []string
	if r.Gap != "" {
		wrong = append(wrong, "part of the history was not seen: "+r.Gap)
	}
	if r.Unexplained > 0 {
		wrong = append(wrong, fmt.Sprintf("%d binds broke a rule, unexplained", r.Unexplained))
	}
	if r.Doubled > 0 {
		wrong = append(wrong, fmt.Sprintf("%d pods were bound twice", r.Doubled))
	}
	if len(r.Lost) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d pods are lost", len(r.Lost)))
	}
	if len(r.Stuck) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d pods are pending while a node has room", len(r.Stuck)))
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("history: %s\n%s", strings.Join(wrong, "; "), r)
}

// String is the report for people: the numbers, then the first of each thing that is wrong.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "revisions %d-%d: %d events, %d pods, %d nodes\n", r.First, r.Last, r.Events, r.PodsSeen, r.NodesSeen)
	fmt.Fprintf(&b, "binds %d, foreign binds %d (%d of them over-committed)\n", r.Binds, r.ForeignBinds, r.ForeignOverCommits)
	for _, kind := range []ViolationKind{OverCommit, OverQuota, Placement, DoubleBind} {
		explained, unexplained := 0, 0
		for _, v := range r.Violations {
			if v.Kind == kind && v.Explained != "" {
				explained++
			} else if v.Kind == kind {
				unexplained++
			}
		}
		fmt.Fprintf(&b, "%s: %d unexplained, %d explained\n", kind, unexplained, explained)
	}
	for _, kind := range []Excuse{ForeignBind, OwnerTookBack, QuotaChange} {
		if r.Excuses[kind] > 0 {
			fmt.Fprintf(&b, "  over-quota excused by %s: %d\n", kind, r.Excuses[kind])
		}
	}
	fmt.Fprintf(&b, "pending %d, lost %d, pending with room on a node %d\n", r.Pending, len(r.Lost), len(r.Stuck))
	if r.Gap != "" {
		fmt.Fprintf(&b, "GAP: %s\n", r.Gap)
	}
	r.details(&b)
	return b.String()
}

const detailsShown = 10

func (r Report) details(b *strings.Builder) {
	var shown, explained []Violation
	for _, v := range r.Violations {
		if v.Explained == "" {
			shown = append(shown, v)
		} else {
			explained = append(explained, v)
		}
	}
	shown = append(shown, explained...)
	for _, v := range shown[:min(len(shown), detailsShown)] {
		fmt.Fprintf(b, "  %s\n", v)
	}
	for _, key := range r.Lost[:min(len(r.Lost), detailsShown)] {
		fmt.Fprintf(b, "  lost: %s\n", key)
	}
	for _, key := range r.Stuck[:min(len(r.Stuck), detailsShown)] {
		fmt.Fprintf(b, "  pending with room: %s\n", key)
	}
}
