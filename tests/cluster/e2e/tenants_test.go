package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// One team makes many pods, or pods that are large, or does not stop changing them. Pods of others, which end and come meanwhile, may
// take so much longer to be bound than without, on whatever machine this is; and the scheduler may take so much memory for it.
const (
	mostForOthers = 15 * time.Second
	mebibyte      = 1 << 20
)

func TestTenantsUnplaceablePods(t *testing.T) {
	crowd(t, sizes.crowd, 32*mebibyte+10_000*sizes.crowd, func(int) []fixture.PodOption {
		return []fixture.PodOption{fixture.GPUs(100)}
	})
}

func TestTenantsDistinctShapes(t *testing.T) {
	crowd(t, sizes.crowd, 32*mebibyte+20_000*sizes.crowd, func(i int) []fixture.PodOption {
		return []fixture.PodOption{fixture.GPUs(100), fixture.Requests(corev1.ResourceCPU, fmt.Sprintf("%dm", i+1))}
	})
}

func TestTenantsAffinitySelectors(t *testing.T) {
	crowd(t, sizes.crowd, 32*mebibyte+40_000*sizes.crowd, func(i int) []fixture.PodOption {
		own := map[string]string{"own": strconv.Itoa(i)}
		return []fixture.PodOption{func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					LabelSelector:     &metav1.LabelSelector{MatchLabels: own},
					NamespaceSelector: &metav1.LabelSelector{MatchLabels: own},
					TopologyKey:       corev1.LabelHostname,
				}}}}
		}}
	})
}

// TestTenantsLargeAnnotations has as much on each pod as the API server takes: 256 KiB. What nothing reads is not kept.
func TestTenantsLargeAnnotations(t *testing.T) {
	large := strings.Repeat("x", 250<<10)
	crowd(t, sizes.crowd/5, 64*mebibyte, func(int) []fixture.PodOption {
		return []fixture.PodOption{fixture.GPUs(100), fixture.Annotated("example.com/large", large)}
	})
}

// crowd makes pods that no node takes, and then measures what others notice, and the scheduler's memory.
func crowd(t *testing.T, pods, mostBytes int, options func(i int) []fixture.PodOption) {
	n := newNeighbours(t)
	team := n.w.beside(n.w.ns + "-team")
	n.w.parallel(pods, func(i int) { team.addPod(podNumber(i), options(i)...) })
	n.expectBound(fmt.Sprintf("when %d pods had come", pods))
	team.waitFor("all to be told why they wait", func(j *history.Judge) bool {
		for _, p := range j.Pods(team.ns) {
			if condition(p) == nil {
				return false
			}
		}
		return len(j.Pods(team.ns)) == pods
	})
	n.expectBound(fmt.Sprintf("beside %d pods that wait", pods))
	n.expectMemory(mostBytes)
}

// TestTenantsRelabelling changes the labels of bound pods and of nodes a hundred times a second each. Turns of others are short, so there are
// as many as fit into three seconds of that, however long they take.
func TestTenantsRelabelling(t *testing.T) {
	const changes = 300
	n := newNeighbours(t)
	team := n.w.beside(n.w.ns + "-team")
	for i := range 10 {
		team.addPod(podNumber(i))
	}
	n.w.waitBinds(n.made + 10)
	began := time.Now()
	made, end := n.relabel(team)
	for made() < changes && !t.Failed() {
		n.expectBound(fmt.Sprintf("while labels change, %d times so far,", made()))
	}
	took := time.Since(began)
	end()
	t.Logf("%d changes of a pod and of a node, %.0f a second", made(), float64(made())/took.Seconds())
	n.expectMemory(32 * mebibyte)
}

// relabel gives the team's ten pods and as many nodes new labels, a hundred a second each, as far as the API server takes as many. made
// tells how many of each it has taken; end ends it.
func (n *neighbours) relabel(team *world) (made func() int64, end func()) {
	const workers = 20 // of which each waits for its answers
	ctx, stop := context.WithCancel(n.w.t.Context())
	every := time.NewTicker(10 * time.Millisecond) // for all of them: what one is too late for, another does
	var begun, taken atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-every.C:
				}
				err := n.relabelOne(ctx, team, begun.Add(1))
				switch {
				case err == nil:
					taken.Add(1)
				case ctx.Err() == nil && !apierrors.IsConflict(err): // with another that changes it
					n.w.t.Errorf("change labels: %v", err)
					return
				}
			}
		})
	}
	return taken.Load, func() {
		every.Stop()
		stop()
		all.Wait()
	}
}

func (n *neighbours) relabelOne(ctx context.Context, team *world, change int64) error {
	which := int(change % 10)
	patch := fmt.Appendf(nil, `{"metadata": {"labels": {"changed": "%d"}}}`, change)
	_, err := team.client.CoreV1().Pods(team.ns).Patch(ctx, podNumber(which), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	_, err = team.client.CoreV1().Nodes().Patch(ctx, fmt.Sprintf("%s-%d", n.w.ns, which), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// neighbours are the others: some pods, which end, so that there is room that others may wait for, and come anew.
type neighbours struct {
	w     *world
	s     *subject
	usual time.Duration
	made  int
	rss   int // before
}

func newNeighbours(t *testing.T, changes ...func(*setup)) *neighbours {
	n := &neighbours{w: newWorld(t)}
	n.w.addGPUNodes(10)
	n.s = startSubject(t, changes...)
	n.w.addPod("first", fixture.GPUs(1))
	n.w.waitBinds(1)
	n.made = 1
	n.usual = n.turn()
	n.rss = n.memory()
	return n
}

// turn returns how long it took until ten new pods were bound.
func (n *neighbours) turn() time.Duration {
	n.w.t.Helper()
	const pods = 10
	name := fmt.Sprintf("turn-%d", n.made)
	n.made += pods
	took := n.w.bindOthers(name, pods)
	n.w.parallel(pods, func(i int) { n.w.deletePod(fmt.Sprintf("%s-%d", name, i)) })
	return took
}

func (n *neighbours) expectBound(when string) {
	n.w.t.Helper()
	took := n.turn()
	n.w.t.Logf("%s others' ten pods were bound in %v, alone in %v", when, took, n.usual)
	if took > n.usual+mostForOthers {
		n.w.t.Errorf("%s others' ten pods were bound in %v, alone in %v; it may cost them %v", when, took, n.usual, mostForOthers)
	}
}

// expectMemory fails the test if the scheduler holds so many bytes more than at first; what sanitizers hold is not judged.
func (n *neighbours) expectMemory(most int) {
	n.w.t.Helper()
	now := n.memory()
	n.w.t.Logf("resident memory %d MiB, before %d MiB", now/mebibyte, n.rss/mebibyte)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", n.s.process.Pid()))
	n.w.must(maps, err)
	if !isGPUScheduler() || strings.Contains(string(maps), "libasan") {
		return
	}
	if now-n.rss > most {
		n.w.t.Errorf("resident memory grew from %d to %d MiB, by more than %d MiB", n.rss/mebibyte, now/mebibyte, most/mebibyte)
	}
}

// memory is what the scheduler has resident, in bytes.
func (n *neighbours) memory() int {
	n.w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.s.process.Pid()))
	n.w.must(status, err)
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	n.w.must(kib, err)
	return kib << 10
}
