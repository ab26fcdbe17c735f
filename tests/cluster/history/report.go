package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ViolationKind is the rule that a bind broke.
type ViolationKind string

// The rules of binds.
const (
	OverCommit   ViolationKind = "over-commit"
	DoubleBind   ViolationKind = "double bind"
	Placement    ViolationKind = "placement"
	OverQuota    ViolationKind = "over-quota"
	AntiAffinity ViolationKind = "anti-affinity" // the pod's own, or that of a pod that runs
	Affinity     ViolationKind = "affinity"      // to pods that run
	Spread       ViolationKind = "spread"
)

// violationKinds in the order in which they are reported.
var violationKinds = []ViolationKind{OverCommit, OverQuota, Placement, AntiAffinity, Affinity, Spread, DoubleBind}

// Violation is a bind that broke a rule.
type Violation struct {
	Kind      ViolationKind
	Revision  int64
	Time      time.Time
	Pod, Node string
	Detail    string        // with numbers
	Explained string        // what others did just before, without which the bind would have been right; "" if nothing did
	Step      time.Duration // of the clock in which it happened: it is late by no more than that
	Excuse    Excuse        // where it is explained: which of the few that there are
	Causes    []int64       // the revisions of what others did
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
	Attempts                        int   // to bind a pod, in the whole history, by any client; 0 where no audit log was read
	ForeignOverCommits              int   // binds of others that over-committed: theirs, not held against ours
	Violations                      []Violation
	Pending                         int            // pods of ours that are not bound now
	Lost                            []string       // pods of ours without a bind and without a message
	Stuck                           []string       // pods of ours that are pending while a node has room, with the node
	Excuses                         map[Excuse]int // how often each served
	Gap                             string         // what of the history was not seen; "" if all was
	Undated                         int            // of those explained, such that happened in a step of the clock longer than the window
	Step                            time.Duration  // the longest of the clock, in the whole history
	Window                          time.Duration  // the one of now
	Explained, Unexplained, Doubled int            // numbers among Violations; Doubled counts double binds, which nothing explains
}

// Report judges what has been seen, for the pods in the namespaces given, or for all.
func (j *Judge) Report(namespaces ...string) Report {
	j.hearAppeals(true)
	r := Report{
		First: j.counts.first, Last: j.counts.last, Events: j.counts.events, PodsSeen: j.counts.podsSeen, NodesSeen: j.counts.nodesSeen,
		Binds: j.counts.binds, ForeignBinds: j.counts.foreignBinds, ForeignOverCommits: j.counts.foreignOverCommits,
		Attempts: j.counts.attempts,
		Excuses:  map[Excuse]int{}, Step: j.counts.step, Window: j.window(),
	}
	for _, v := range j.violations {
		if !within(v.Pod, namespaces) {
			continue
		}
		r.Violations = append(r.Violations, v)
		switch {
		case v.Kind == DoubleBind:
			r.Doubled++
		case v.Explained != "":
			r.Explained++
			r.Excuses[v.Excuse]++
			if v.Step > r.Window {
				r.Undated++
			}
		default:
			r.Unexplained++
		}
	}
	room := &roomSearch{judge: j}
	for key, p := range j.waiting {
		if !within(key, namespaces) {
			continue
		}
		r.Pending++
		if p.pod.DeletionTimestamp == nil && !told(p) {
			r.Lost = append(r.Lost, key)
		} else if node := room.find(p); node != "" {
			r.Stuck = append(r.Stuck, key+" (room on "+node+")")
		}
	}
	slices.Sort(r.Lost)
	slices.Sort(r.Stuck)
	return r
}

// lost counts the pods without a bind and without a message; cheaper than a report.
func (j *Judge) lost(namespaces []string) int {
	n := 0
	for key, p := range j.waiting {
		if within(key, namespaces) && p.pod.DeletionTimestamp == nil && !told(p) {
			n++
		}
	}
	return n
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
	if r.Undated > 0 {
		wrong = append(wrong, fmt.Sprintf("%d violations have an excuse of which nobody knows how old it was: the clock stood still meanwhile", r.Undated))
	}
	if r.Unexplained > 0 {
		wrong = append(wrong, fmt.Sprintf("%d binds broke a rule, unexplained", r.Unexplained))
	}
	if r.Doubled > 0 {
		wrong = append(wrong, fmt.Sprintf("%d binds were of pods that were bound elsewhere", r.Doubled))
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
	fmt.Fprintf(&b, "binds %d of %d attempts, foreign binds %d (%d of them over-committed)\n", r.Binds, r.Attempts, r.ForeignBinds, r.ForeignOverCommits)
	for _, kind := range violationKinds {
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
	for _, kind := range excuses {
		if r.Excuses[kind] > 0 {
			fmt.Fprintf(&b, "  explained by %s: %d\n", kind, r.Excuses[kind])
		}
	}
	fmt.Fprintf(&b, "the clock's longest step %v\n", r.Step.Round(time.Millisecond))
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
