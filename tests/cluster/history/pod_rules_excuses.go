package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// A bind that breaks a rule across nodes is heard when the history has gone on: it may have been right by a bind of the scheduler's own that
// lands only later. What excuses it is said in excuses.go; here it is found.

// change is one that others made to what rules across nodes read.
type change struct {
	at       time.Time
	revision int64
	kind     Excuse
	undo     func(*standing)
}

// fate is what became of pods of ours that were not bound: they may have been decided before.
type fate struct {
	at       time.Time
	revision int64
	pods     []*podState
}

// changes are those that others made within the window, and fates those of as long as a bind may be under way, in order.
type changes struct {
	pods  []change
	nodes []change // and namespaces: they come by watches of their own
	fates []fate
}

// appeal is a bind that broke a rule, with what was known when it landed.
type appeal struct {
	violation int // among the judge's
	kind      ViolationKind
	pod       *podState
	node      string
	at        time.Time
	revision  int64
	standing  *standing
	changes   changes
	doubt     doubt
	heard     bool // nothing has happened since that might excuse it
}

// judgeRules judges a bind of ours that has just landed by the rules across nodes.
func (j *Judge) judgeRules(e Event, p *podState, n *nodeState) {
	if n.node == nil || p.rules == nil && len(j.guards) == 0 {
		return
	}
	s := j.standing()
	for _, b := range s.ask(p, doubt{}).breaches(n.node) {
		j.forgetChanges()
		a := &appeal{
			violation: len(j.violations), kind: b.kind, pod: p, node: n.node.Name, at: j.now, revision: e.Revision, standing: s,
			changes: changes{slices.Clone(j.changes.pods), slices.Clone(j.changes.nodes), nil},
			doubt:   doubt{overtook: s.decidableAfter(p, j.now.Add(-j.options.UnderWay))},
		}
		for _, f := range j.changes.fates {
			a.neverLanded(f)
		}
		j.appeals = append(j.appeals, a)
		j.violate(e, p, b.kind, b.detail, nil)
	}
}

// decidableAfter are the pods of ours that were bound since some time, and may have been decided after a pod that is bound now.
func (s *standing) decidableAfter(p *podState, since time.Time) map[types.UID]bool {
	found := map[types.UID]bool{}
	for uid, other := range s.pods {
		if b := other.bound; b.revision > p.decidable && !b.at.Before(since) {
			found[uid] = true
		}
	}
	return found
}

// noteForRules keeps what others did to a pod that runs, if rules across nodes read it, and which pods of ours are gone before they were bound.
func (j *Judge) noteForRules(e Event, before, after *podState) {
	was, is := runs(before), runs(after)
	if is && after.rules != nil && len(after.rules.antiAffinity) > 0 {
		j.guards[after.pod.UID] = true
	} else if was {
		delete(j.guards, before.pod.UID)
	}
	ours := before != nil && j.ours[before.pod.Spec.SchedulerName]
	switch {
	case was && is && labels.Equals(before.pod.Labels, after.pod.Labels) && (before.pod.DeletionTimestamp == nil) == (after.pod.DeletionTimestamp == nil):
	case was:
		j.changes.pods = append(j.changes.pods, change{j.now, e.Revision, PodChange, func(s *standing) { s.pods[before.pod.UID] = before }})
	case is && !ours:
		j.changes.pods = append(j.changes.pods, change{j.now, e.Revision, ForeignBind, func(s *standing) { delete(s.pods, after.pod.UID) }})
	case is:
		for _, a := range j.appeals {
			a.landed(j, after)
		}
	case ours && mayBeBound(before) && !mayBeBound(after):
		j.neverLanded(fate{j.now, e.Revision, []*podState{before}})
	}
	j.forgetChanges()
}

// mayBeBound tells whether the API server would bind the pod.
func mayBeBound(p *podState) bool {
	return p != nil && p.pod.Spec.NodeName == "" && p.pod.DeletionTimestamp == nil && !finished(p.pod)
}

// noteNode keeps what a node was before.
func (j *Judge) noteNode(e Event, n *nodeState) {
	if sameForScheduling(n.node, e.Node) {
		return
	}
	before := n.node
	j.changes.nodes = append(j.changes.nodes, change{j.now, e.Revision, NodeChange, func(s *standing) {
		if s.nodes[e.Key] = before; before == nil {
			delete(s.nodes, e.Key)
		}
	}})
	j.forgetChanges()
}

// noteNamespace keeps what a namespace's labels were before; they are not to be changed.
func (j *Judge) noteNamespace(e Event, before labels.Set) {
	j.changes.nodes = append(j.changes.nodes, change{j.now, e.Revision, NodeChange, func(s *standing) { s.namespaces[e.Key] = before }})
	j.forgetChanges()
}

// Killed says that a scheduler was killed, a moment ago at most: of the pods that wait, some may have been decided, and their binds not sent.
func (j *Judge) Killed() {
	f := fate{at: j.now, revision: j.counts.last}
	for _, p := range j.waiting {
		f.pods = append(f.pods, p)
	}
	j.neverLanded(f)
}

func (j *Judge) neverLanded(f fate) {
	j.changes.fates = append(j.changes.fates, f)
	for _, a := range j.appeals {
		if !f.at.After(a.at.Add(j.options.UnderWay)) {
			a.neverLanded(f)
		}
	}
}

func (a *appeal) neverLanded(f fate) {
	for _, p := range f.pods {
		if p.decidable < a.revision && p.pod.UID != a.pod.pod.UID {
			a.doubt.unsent, a.heard = append(a.doubt.unsent, unsent{p, f.revision}), false
		}
	}
}

// landed takes a bind of ours into account that landed later.
func (a *appeal) landed(j *Judge, p *podState) {
	if p.decidable < a.revision && !j.now.After(a.at.Add(j.options.UnderWay)) {
		a.doubt.underWay, a.heard = append(a.doubt.underWay, p), false
	}
}

// hearAppeals finds the excuses of the binds that broke a rule across nodes, as far as the history goes: of all, or of those that nothing can
// excuse any more that is still to come.
func (j *Judge) hearAppeals(all bool) {
	j.appeals = slices.DeleteFunc(j.appeals, func(a *appeal) bool {
		last := j.now.After(a.at.Add(j.options.UnderWay))
		if !a.heard && (all || last) {
			a.heard = true
			if why := a.excuse(); why != nil {
				v := &j.violations[a.violation]
				v.Excuse, v.Causes, v.Explained = why.kind, why.causes, why.words
				return true
			}
		}
		return last
	})
}

// excuse is the first that the bind has: what others did alone, then with the scheduler's own binds that were under way, then with those
// that may never have landed. Two of our own pods that must not be together never were, whatever was under way.
func (a *appeal) excuse() *excuse {
	if why := a.excuseBy(doubt{}, ""); why != nil || a.kind == AntiAffinity {
		return why
	}
	underWay := doubt{underWay: a.doubt.underWay, overtook: a.doubt.overtook}
	if why := a.excuseBy(underWay, BindUnderWay); why != nil {
		return why
	}
	cutShort := underWay
	for _, p := range a.doubt.unsent {
		landed := a.standing.pods[p.pod.UID] != nil || slices.ContainsFunc(underWay.underWay, func(other *podState) bool { return other.pod.UID == p.pod.UID })
		twice := slices.ContainsFunc(cutShort.unsent, func(other unsent) bool { return other.pod.UID == p.pod.UID })
		if !landed && !twice {
			cutShort.unsent = append(cutShort.unsent, p)
		}
	}
	return a.excuseBy(cutShort, BindCutShort)
}

// excuseBy takes back what others did, the newest first, one change after the other, until the bind would have been right; nil if it
// never would. kind is what the doubt is; "": there is none.
func (a *appeal) excuseBy(d doubt, kind Excuse) *excuse {
	for i := range len(a.changes.nodes) + 1 {
		s := a.standing.clone()
		nodes := a.changes.nodes[len(a.changes.nodes)-i:]
		for _, c := range slices.Backward(nodes) {
			c.undo(s)
		}
		for k := range len(a.changes.pods) + 1 {
			pods := a.changes.pods[len(a.changes.pods)-k:]
			if k > 0 {
				pods[0].undo(s)
			}
			if a.rightBy(s, d) {
				return a.excuseOf(kind, pods, nodes, d)
			}
		}
	}
	return nil
}

// rightBy tells whether the bind would have kept the rule as pods stood then.
func (a *appeal) rightBy(s *standing, d doubt) bool {
	node := s.nodes[a.node]
	return node != nil && !slices.ContainsFunc(s.ask(a.pod, d).breaches(node), func(b breach) bool { return b.kind == a.kind })
}

// excuseOf names what was taken back, of which the first is what the bind depends on, and what of the scheduler's own was in doubt.
func (a *appeal) excuseOf(kind Excuse, pods, nodes []change, d doubt) *excuse {
	why := &excuse{kind: kind}
	for _, undone := range [][]change{pods, nodes} {
		for _, c := range undone {
			why.causes = append(why.causes, c.revision)
		}
		if len(undone) > 0 {
			why.words += fmt.Sprintf("%d changes from %v before on; ", len(undone), a.at.Sub(undone[0].at).Round(time.Millisecond))
			if kind == "" {
				why.kind = undone[0].kind
			}
		}
	}
	for _, p := range d.underWay {
		why.causes = append(why.causes, p.bound.revision)
	}
	for uid := range d.overtook {
		why.causes = append(why.causes, a.standing.pods[uid].bound.revision)
	}
	for _, p := range d.unsent {
		why.causes = append(why.causes, p.revision)
	}
	if kind != "" {
		why.words += fmt.Sprintf("of its own pods %d were bound soon after and %d just before, %d were not", len(d.underWay), len(d.overtook), len(d.unsent))
	}
	why.words = strings.TrimSuffix(why.words, "; ")
	slices.Sort(why.causes)
	return why
}

// forgetChanges drops what happened too long ago to excuse a bind of now.
func (j *Judge) forgetChanges() {
	c := &j.changes
	old := func(within time.Duration) func(time.Time) bool { return j.now.Add(-within).After }
	for tooOld := old(j.window()); len(c.pods) > 0 && tooOld(c.pods[0].at); {
		c.pods = c.pods[1:]
	}
	for tooOld := old(j.window()); len(c.nodes) > 0 && tooOld(c.nodes[0].at); {
		c.nodes = c.nodes[1:]
	}
	for tooOld := old(max(j.window(), j.options.UnderWay)); len(c.fates) > 0 && tooOld(c.fates[0].at); {
		c.fates = c.fates[1:]
	}
}

// BrokenRules returns the pods of a namespace that run where they could not be placed now. There are none if nothing is deleted or changed and all
// binds have landed.
func (j *Judge) BrokenRules(namespace string) (found []string) {
	s := j.standing()
	for _, p := range s.pods {
		if node := s.nodes[p.pod.Spec.NodeName]; node != nil && p.pod.Namespace == namespace {
			for _, b := range s.ask(p, doubt{}).breaches(node) {
				found = append(found, fmt.Sprintf("%s: %s on %s: %s", b.kind, nameOf(p), node.Name, b.detail))
			}
		}
	}
	slices.Sort(found)
	return found
}
