package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A bind is judged by what is so when it lands; it was decided a little earlier, and then the scheduler may have known less, or the cluster
// may have been another. What of that is accepted is said here, once. Each excuse names the revisions that caused it: changes that are in
// the history, without which the bind would have been right. There is none without a cause.
//
// A scheduler knows its own binds at once, whether or not they have landed. So its own binds excuse nothing, except in two cases. A quota takes
// its guarantee back by a bind that was decided later than the borrower's, and lands earlier. And binds land in another order than they were
// decided in, so that a pod lands beside fewer pods than it was decided beside; affinity and spread may need the missing ones. Two pods that must
// not be together were never decided so, so none of this excuses a bind that breaks anti-affinity.

// Excuse is why a bind that broke a rule was right when it was decided.
type Excuse string

// The excuses there are. The window is Options.Window; a bind is under way for Options.UnderWay at most, and never since before its pod
// could be decided.
const (
	// ForeignBind: pods that others bound, or that grew, within the window: the watch need not have shown them. Of a bind that over-commits
	// a node, on that node; of one that is over quota, on the lines that count.
	ForeignBind Excuse = "foreign bind"
	// NodeChange: the node shrank, was tainted, cordoned, relabelled or deleted within the window, or, where a Witness tells, was shown to the
	// scheduler within the window before it asked for the bind, or never.
	NodeChange Excuse = "node change"
	// OwnerTookBack: the scheduler bound a pod of another quota of the cohort within that quota's guarantee while this bind was under way. Only a
	// bind that borrows has it.
	OwnerTookBack Excuse = "owner took back"
	// QuotaChange: a GpuQuota that counts, or a namespace, was changed while this bind was under way, or within the window: the watch of
	// quotas may be behind that of pods.
	QuotaChange Excuse = "quota change"
	// PodChange: pods ended, were deleted or relabelled within the window. Of a bind that breaks a rule across nodes, by which pods count that are not
	// there any more; so do ForeignBind and NodeChange, which includes nodes that are new, and namespaces. The changes are taken back the newest
	// first, as a watch that is behind shows them.
	PodChange Excuse = "pod change"
	// BindUnderWay: the scheduler's own binds landed out of order: after this one, while it counts as under way, such as it was to be with or in
	// the other domains; or before it, such as the rule does not bind itself. Of affinity and spread.
	BindUnderWay Excuse = "bind under way"
	// BindCutShort: pods of the scheduler's own, which counted as those under way do, were deleted before they were bound, or waited when the
	// scheduler was killed (Recorder.Killed), while this bind was under way or within the window before. Of affinity and spread.
	BindCutShort Excuse = "bind cut short"
)

// excuses in the order in which they are reported.
var excuses = []Excuse{ForeignBind, NodeChange, OwnerTookBack, QuotaChange, PodChange, BindUnderWay, BindCutShort}

// excuse is one of a bind, with the revisions that it rests on.
type excuse struct {
	kind   Excuse
	causes []int64
	words  string
}

// ownBind is a bind of ours as it was when it landed.
type ownBind struct {
	at       time.Time
	revision int64
	quota    string // that counts it; "" if none does
	within   bool   // its guarantee
}

// pastBook is a book of quotas that was replaced.
type pastBook struct {
	until    time.Time
	revision int64 // that replaced it
	book     *quotaBook
}

// turn replaces the book of quotas.
func (j *Judge) turn(e Event, next *quotaBook) {
	j.books = append(j.books, pastBook{j.now, e.Revision, j.book})
	j.forgetBooks()
	j.book = next
}

// forgetBooks drops what the quotas were before any bind of now was decided.
func (j *Judge) forgetBooks() {
	since := j.now.Add(-max(j.options.UnderWay, j.window()))
	for len(j.books) > 0 && j.books[0].until.Before(since) {
		j.books = j.books[1:]
	}
}

// belief is the best a scheduler may have thought of a node, not having seen yet what others did within the window.
type belief struct {
	allocatable amounts
	usage       map[string]amounts // by uid, for pods of others that came or grew
}

// excuseForOverCommit names what others did to the node within the window, if the bind would have been right without it; nil if it would not.
func (j *Judge) excuseForOverCommit(n *nodeState, p *podState) *excuse {
	b := &belief{allocatable: amounts{}, usage: map[string]amounts{}}
	why := &excuse{kind: ForeignBind}
	var reasons []string
	if n.node != nil {
		b.allocatable = amountsOf(n.node.Status.Allocatable)
	}
	asked := j.askedAt(p.pod)
	for _, past := range n.past {
		if !j.isNews(past, asked) {
			continue
		}
		if earlier := amountsOf(past.node.Status.Allocatable); earlier.exceed(b.allocatable) {
			why.kind, why.causes = NodeChange, append(why.causes, past.revision)
			reasons = append(reasons, fmt.Sprintf("the node shrank %v before", j.now.Sub(past.until).Round(time.Millisecond)))
			for name, amount := range earlier {
				b.allocatable[name] = max(b.allocatable[name], amount)
			}
		}
	}
	for _, g := range n.grown {
		if _, seen := b.usage[string(g.uid)]; g.uid != p.pod.UID && !seen {
			b.usage[string(g.uid)] = g.before
			why.causes = append(why.causes, g.revision)
			reasons = append(reasons, fmt.Sprintf("%s was bound or grew %v before", g.key, j.now.Sub(g.at).Round(time.Millisecond)))
		}
	}
	if len(reasons) == 0 || overfull(n, p.requests, b) != "" {
		return nil
	}
	why.words = strings.Join(reasons, "; ")
	return why
}

// excuseForPlacement names the change that made a good node a bad one within the window, if there was one.
func (j *Judge) excuseForPlacement(n *nodeState, pod *corev1.Pod) *excuse {
	asked := j.askedAt(pod)
	for _, past := range slices.Backward(n.past) {
		if j.isNews(past, asked) && misplaced(past.node, pod) == "" {
			return &excuse{NodeChange, []int64{past.revision}, fmt.Sprintf("the node changed %v before", j.now.Sub(past.until).Round(time.Millisecond))}
		}
	}
	return nil
}

// overQuota says which rule of its quota a pod on a node breaks, being among the node's pods; "" if none.
func (j *Judge) overQuota(p *podState, n *nodeState) string {
	if !asksForGPUs(p.requests) || j.book.of(p.pod.Namespace) == nil {
		return ""
	}
	return j.book.objection(p, n, j.book.account(j.nodes, nil))
}

// ownBindOf says what a bind of ours that has just landed is to its quota.
func (j *Judge) ownBindOf(e Event, p *podState, n *nodeState) ownBind {
	made := ownBind{at: j.now, revision: e.Revision}
	q, line, _ := j.book.chargeOf(p, n)
	if q == nil || line < 0 {
		return made
	}
	used := j.book.account(j.nodes, nil).used(q.Name, line)
	made.quota, made.within = q.Name, used.Cmp(rat(q.Spec.Quotas[line].Guaranteed)) <= 0
	return made
}

// excuseForOverQuota is the first excuse that a bind has which breaks a rule of its quota; nil if none. Each takes the pods out that it is
// about, or puts the quotas back, and asks the rule again.
func (j *Judge) excuseForOverQuota(n *nodeState, p *podState) *excuse {
	foreign, causes := j.foreignLately(p)
	right := func(book *quotaBook, without map[string]bool) bool {
		return book.objection(p, n, book.account(j.nodes, without)) == ""
	}
	if len(foreign) > 0 && right(j.book, foreign) {
		return &excuse{ForeignBind, causes, fmt.Sprintf("%d pods of others were bound or grew within %v before", len(foreign), j.window())}
	}
	without, takenBack := j.takenBackLately(p, n)
	maps.Copy(without, foreign)
	if len(takenBack) > 0 && right(j.book, without) {
		return &excuse{OwnerTookBack, takenBack, fmt.Sprintf("%d pods were bound within the guarantees of the cohort's other quotas while this bind was under way", len(takenBack))}
	}
	for _, past := range slices.Backward(j.books) {
		before := j.now.Sub(past.until)
		if past.revision < p.decidable && before > j.window() {
			continue // the change was known when this pod was decided
		}
		if right(past.book, foreign) || right(past.book, without) {
			return &excuse{QuotaChange, []int64{past.revision}, fmt.Sprintf("the quotas changed %v before", before.Round(time.Millisecond))}
		}
	}
	return nil
}

// foreignLately finds the pods that others bound within the window, or that grew, by uid, and the revisions of that.
func (j *Judge) foreignLately(p *podState) (uids map[string]bool, causes []int64) {
	uids = map[string]bool{}
	for _, other := range j.nodes {
		j.forget(other)
		for _, g := range other.grown {
			if g.uid != p.pod.UID {
				uids[string(g.uid)] = true
				causes = append(causes, g.revision)
			}
		}
	}
	slices.Sort(causes)
	return uids, causes
}

// takenBackLately finds the pods of ours that were bound within the guarantees of other quotas of the pod's pool while its bind was under way.
func (j *Judge) takenBackLately(p *podState, n *nodeState) (uids map[string]bool, causes []int64) {
	uids = map[string]bool{}
	q, line, _ := j.book.chargeOf(p, n)
	if q == nil || line < 0 {
		return uids, nil
	}
	lenders := map[string]bool{}
	j.book.eachInPool(q, line, func(other *GpuQuota, _ int) { lenders[other.Name] = other != q })
	since := j.now.Add(-j.options.UnderWay)
	for _, other := range j.pods {
		b := other.bound
		if b.within && lenders[b.quota] && b.revision > p.decidable && !b.at.Before(since) {
			uids[string(other.pod.UID)] = true
			causes = append(causes, b.revision)
		}
	}
	slices.Sort(causes)
	return uids, causes
}
