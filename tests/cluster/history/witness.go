package history

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Witness is a judge's source for what a scheduler was shown, if something between it and the API server, such as a fault proxy, reads along.
// With a witness, a change of a node is news from the moment when the scheduler was shown it, not from when it happened. And what counts is
// when the scheduler first asked for the bind of that pod to that node, not when that landed: it asks again if it cannot learn the outcome.
// Its methods may be called from several goroutines.
type Witness struct{ recorder *Recorder }

// Witness begins to count. There is one at a time, until its End.
func (r *Recorder) Witness() *Witness {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge.testimony = &testimony{asked: map[string]time.Time{}}
	return &Witness{r}
}

// End of it: what is judged later is judged as usual.
func (w *Witness) End() {
	w.recorder.mu.Lock()
	defer w.recorder.mu.Unlock()
	w.recorder.judge.testimony = nil
}

// NodesShown says that the scheduler has been shown all changes of nodes up to a revision.
func (w *Witness) NodesShown(revision int64) {
	w.add(func(to *testimony, now time.Time) { to.nodesShown(revision, now) })
}

// BindAsked says that the scheduler asks to bind a pod, namespace/name, to a node.
func (w *Witness) BindAsked(pod, node string) {
	w.add(func(to *testimony, now time.Time) { to.bindAsked(pod, node, now) })
}

// Shown is the revision up to which the scheduler has been shown all changes of nodes; 0: nothing yet.
func (w *Witness) Shown() int64 {
	w.recorder.mu.Lock()
	defer w.recorder.mu.Unlock()
	if t := w.recorder.judge.testimony; t != nil && len(t.shown) > 0 {
		return t.shown[len(t.shown)-1].revision
	}
	return 0
}

func (w *Witness) add(what func(to *testimony, now time.Time)) {
	r := w.recorder
	now := r.clock.read(time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.judge.testimony != nil {
		what(r.judge.testimony, now)
	}
}

// testimony is what a witness has said so far.
type testimony struct {
	shown []shown              // of nodes, in the order of the revisions
	asked map[string]time.Time // by bindKey
}

func bindKey(pod, node string) string { return pod + " on " + node }

// shown is the moment from which a scheduler had been shown everything up to a revision.
type shown struct {
	at       time.Time
	revision int64
}

func (t *testimony) nodesShown(revision int64, at time.Time) {
	if n := len(t.shown); n == 0 || t.shown[n-1].revision < revision {
		t.shown = append(t.shown, shown{at, revision})
	}
}

func (t *testimony) bindAsked(pod, node string, at time.Time) {
	if _, before := t.asked[bindKey(pod, node)]; !before {
		t.asked[bindKey(pod, node)] = at
	}
}

// shownAt is when a change of a node was shown. false: not yet.
func (t *testimony) shownAt(revision int64) (time.Time, bool) {
	i, _ := slices.BinarySearchFunc(t.shown, revision, func(s shown, revision int64) int { return int(s.revision - revision) })
	if i == len(t.shown) {
		return time.Time{}, false
	}
	return t.shown[i].at, true
}

// askedAt is when the bind of a pod, which lands now, was first asked for.
func (j *Judge) askedAt(pod *corev1.Pod) time.Time {
	if j.testimony != nil {
		if at, known := j.testimony.asked[bindKey(pod.Namespace+"/"+pod.Name, pod.Spec.NodeName)]; known && at.Before(j.now) {
			return at
		}
	}
	return j.now
}

// isNews returns whether a scheduler that asked for a bind at that time need not have been shown a change of a node.
func (j *Judge) isNews(change pastNode, asked time.Time) bool {
	since := change.until
	if j.testimony != nil {
		at, shown := j.testimony.shownAt(change.revision)
		if !shown {
			return true
		}
		since = at
	}
	return !since.Before(asked.Add(-j.window()))
}
