package history

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// A bind is judged by what is so when it lands; it was decided a little earlier, and then the scheduler may have known less, or the cluster
// may have been another. What of that is accepted is said here, once. Each excuse names the revisions that caused it: changes that are in
// the history, without which the bind would have been right. There is none without a cause.
//
// What a scheduler has bound itself it knows at once, whether or not the bind has landed. So its own binds excuse nothing, but for one case:
// an owner takes his guarantee back by a bind that was decided later and lands earlier than the borrower's.

// Excuse is why a bind that broke a rule of its quota was right when it was decided.
type Excuse string

// The excuses of binds that are over quota.
const (
	// ForeignBind: pods that others bound, or that grew, on the lines that count, within the window: the watch need not have shown them.
	ForeignBind Excuse = "foreign bind"
	// OwnerTookBack: the scheduler bound a pod of another quota of the cohort within that quota's guarantee while this bind was under way: since
	// its pod could be decided, and no longer before than a bind takes to land. Only a bind that borrows has it.
	OwnerTookBack Excuse = "owner took back"
	// QuotaChange: a GpuQuota that counts, or a namespace, was changed while this bind was under way.
	QuotaChange Excuse = "quota change"
)

// excuse is one, with the revisions that it rests on.
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
	j.books = append(j.books, pastBook{e.Time, e.Revision, j.book})
	j.forgetBooks(e.Time)
	j.book = next
}

// forgetBooks drops what the quotas were before any bind of now was decided.
func (j *Judge) forgetBooks(now time.Time) {
	since := now.Add(-j.options.UnderWay)
	for len(j.books) > 0 && j.books[0].until.Before(since) {
		j.books = j.books[1:]
	}
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
	made := ownBind{at: e.Time, revision: e.Revision}
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
func (j *Judge) excuseForOverQuota(n *nodeState, p *podState, now time.Time) *excuse {
	foreign, causes := j.foreignLately(p, now)
	right := func(book *quotaBook, without map[string]bool) bool {
		return book.objection(p, n, book.account(j.nodes, without)) == ""
	}
	if len(foreign) > 0 && right(j.book, foreign) {
		return &excuse{ForeignBind, causes, fmt.Sprintf("%d pods of others were bound or grew within %v before", len(foreign), j.options.Window)}
	}
	without, takenBack := j.takenBackLately(p, n, now)
	maps.Copy(without, foreign)
	if len(takenBack) > 0 && right(j.book, without) {
		return &excuse{OwnerTookBack, takenBack, fmt.Sprintf("%d pods were bound within the guarantees of the cohort's other quotas while this bind was under way", len(takenBack))}
	}
	j.forgetBooks(now)
	for _, past := range slices.Backward(j.books) {
		if right(past.book, foreign) || right(past.book, without) {
			return &excuse{QuotaChange, []int64{past.revision}, fmt.Sprintf("the quotas changed %v before", now.Sub(past.until).Round(time.Millisecond))}
		}
	}
	return nil
}

// foreignLately finds the pods that others bound within the window, or that grew, by uid, and the revisions of that.
func (j *Judge) foreignLately(p *podState, now time.Time) (uids map[string]bool, causes []int64) {
	uids = map[string]bool{}
	for _, other := range j.nodes {
		j.forget(other, now)
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
func (j *Judge) takenBackLately(p *podState, n *nodeState, now time.Time) (uids map[string]bool, causes []int64) {
	uids = map[string]bool{}
	q, line, _ := j.book.chargeOf(p, n)
	if q == nil || line < 0 {
		return uids, nil
	}
	lenders := map[string]bool{}
	j.book.eachInPool(q, line, func(other *GpuQuota, _ int) { lenders[other.Name] = other != q })
	since := now.Add(-j.options.UnderWay)
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

// violateQuota notes a bind that is over quota, with its excuse.
func (j *Judge) violateQuota(e Event, p *podState, detail string, why *excuse) {
	if why == nil {
		j.violate(e, p, OverQuota, detail, "")
		return
	}
	j.violate(e, p, OverQuota, detail, why.words)
	v := &j.violations[len(j.violations)-1]
	v.Excuse, v.Causes = why.kind, why.causes
}

// happened tells whether all causes of a violation's excuse are revisions of the history before it; there must be some.
func (j *Judge) happened(v Violation) bool {
	earlier := func(revision int64) bool { return revision >= j.counts.first && revision < v.Revision }
	return len(v.Causes) > 0 && !slices.ContainsFunc(v.Causes, func(revision int64) bool { return !earlier(revision) })
}
