package e2e

import (
	"fmt"
	"slices"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
)

// TestKilledUnderLoad kills the scheduler with SIGKILL at random points of a load and starts it again. The cluster is smaller than the load,
// so that nearly every bind goes to a node that is nearly full: a scheduler that forgets or repeats a bind gives a GPU twice.
func TestKilledUnderLoad(t *testing.T) {
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	s := startSubject(t)
	load := w.startLoad(sizes.pods, int64(nodes)*8)

	w.killAtRandom(s, sizes.pods)
	load.wait()
	report := w.verdict()
	w.expectAllBound(report)
	t.Logf("%d pods through %d kills", sizes.pods, sizes.kills)
}

// killAtRandom kills the scheduler and starts it again, at random numbers of binds of that many.
func (w *world) killAtRandom(s *subject, binds int) {
	w.t.Helper()
	var points []int
	for range sizes.kills {
		points = append(points, 1+w.random.IntN(binds-1))
	}
	slices.Sort(points)
	for _, point := range points {
		w.waitBinds(point)
		s.kill()
		s.start()
	}
}

// load makes pods and, when the cluster is nearly full, deletes bound ones, until every pod has been bound once.
type load struct {
	w        *world
	spaces   []*world // owners of the pods, in turn
	capacity int64
	created  chan struct{}
	reaped   chan struct{}
	failure  error // set before reaped is closed
}

// startLoad starts it. Some pods, asking for more than any node has, are added that can never be placed. Where more namespaces are
// given, the pods are spread over them instead.
func (w *world) startLoad(pods int, capacity int64, spaces ...*world) *load {
	if len(spaces) == 0 {
		spaces = []*world{w}
	}
	l := &load{w: w, spaces: spaces, capacity: capacity, created: make(chan struct{}), reaped: make(chan struct{})}
	demands := make([]int64, pods)
	for i := range demands {
		demands[i] = []int64{1, 1, 1, 1, 2, 2, 4, 8}[w.random.IntN(8)]
	}
	go func() {
		defer close(l.created)
		add := func(i int, name string, gpus int64) {
			spaces[i%len(spaces)].addPod(fmt.Sprintf("%s-%d", name, i), fixture.GPUs(gpus))
		}
		w.parallel(pods, func(i int) { add(i, "pod", demands[i]) })
		w.parallel(impossiblePods, func(i int) { add(i, "impossible", 9) })
	}()
	go func() {
		defer close(l.reaped)
		l.failure = l.reap(pods)
	}()
	w.t.Cleanup(l.end) // also where the test has given up: its context has ended, and so will these
	return l
}

const impossiblePods = 5

// reap deletes bound pods, the oldest first, whenever there is little room left, until all have been bound. It is not on the test's
// goroutine, which alone may end the test: what goes wrong it returns.
func (l *load) reap(pods int) error {
	w := l.w
	for {
		var victims []victim
		all := false
		err := w.await("binds, or all pods bound", func(j *history.Judge) bool {
			all = j.Binds()-w.first >= pods
			victims = l.victims(j)
			return all || len(victims) > 0
		})
		if err != nil || all || w.t.Failed() {
			return err
		}
		w.parallel(len(victims), func(i int) { victims[i].of.deletePod(victims[i].name) })
		err = w.await("the deleted to be gone", func(j *history.Judge) bool {
			return !slices.ContainsFunc(victims, func(v victim) bool { return j.Pod(v.of.ns+"/"+v.name) != nil })
		})
		if err != nil {
			return err
		}
	}
}

// victim is a pod to delete, and its owner.
type victim struct {
	of   *world
	name string
}

// victims are the older half of the bound pods, by GPUs, if the cluster is more than two thirds full, or a pod that it could take has been refused.
func (l *load) victims(j *history.Judge) (victims []victim) {
	used, refused := int64(0), false
	var boundPods []*corev1.Pod
	of := map[string]*world{}
	for _, space := range l.spaces {
		of[space.ns] = space
		for _, p := range j.Pods(space.ns) {
			if p.Spec.NodeName != "" {
				used += gpusOf(p)
				boundPods = append(boundPods, p)
			} else if gpusOf(p) <= 8 && condition(p) != nil {
				refused = true
			}
		}
	}
	if used*3 < l.capacity*2 && !refused {
		return nil
	}
	left := used / 2
	slices.SortFunc(boundPods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, p := range boundPods {
		if used <= left {
			break
		}
		used -= gpusOf(p)
		victims = append(victims, victim{of[p.Namespace], p.Name})
	}
	return victims
}

// wait returns when every pod of the load has been made and bound.
func (l *load) wait() {
	l.w.t.Helper()
	if l.end(); l.failure != nil {
		l.w.t.Fatal(l.failure)
	}
}

// end returns when nothing more is made or deleted, whatever the reason.
func (l *load) end() {
	<-l.created
	<-l.reaped
}

// expectAllBound fails the test if any pod is pending but those that no node can take.
func (w *world) expectAllBound(report history.Report) {
	w.t.Helper()
	if report.Pending != impossiblePods {
		w.t.Errorf("%d pods are pending; only the %d impossible ones should be", report.Pending, impossiblePods)
	}
}

// parallel calls do(0) … do(n-1) from a few goroutines and returns when all have returned.
func (w *world) parallel(n int, do func(i int)) {
	const workers = 8
	next := make(chan int)
	finished := make(chan struct{})
	for range workers {
		go func() {
			for i := range next {
				do(i)
			}
			finished <- struct{}{}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		<-finished
	}
}

func gpusOf(p *corev1.Pod) int64 {
	return p.Spec.Containers[0].Resources.Requests.Name(fixture.GPUResource, "").Value()
}
