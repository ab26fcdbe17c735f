package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// poolLabel confines a test's pods to its nodes.
const poolLabel = "e2e/pool"

// waitLimit is how long a test waits for what must come. It comes in seconds; but the machine may be busy with other things.
const waitLimit = 2 * time.Minute

// world is what one test has to itself: a namespace, nodes that only its pods select, and seeded randomness.
type world struct {
	t        *testing.T
	ns       string
	pool     string // of its nodes: the namespace that it began with
	cluster  *controlplane.ControlPlane
	recorder *history.Recorder
	client   kubernetes.Interface
	random   *rand.Rand
	first    int // binds before the test began
	foreign  int // binds of others before it began

	byNodesThatWere int // binds of pods that ask took back
}

// worlds counts them, so that a test that is run twice has two namespaces.
var worlds atomic.Int64

// newWorld makes the namespace. Everything in it, and its nodes, are removed at the end of the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	cluster, recorder := lent(t).cluster, lent(t).recorder
	name := fmt.Sprintf("%s-%d", strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(t.Name(), "Test"), "/", "-")), worlds.Add(1))
	w := &world{
		t: t, ns: name, pool: name, cluster: cluster, recorder: recorder,
		client: cluster.Client(), random: rand.New(rand.NewPCG(sizes.seed, uint64(len(t.Name())))),
	}
	w.catchUp() // with what the test before has bound
	w.first = w.read((*history.Judge).Binds)
	w.foreign = w.read((*history.Judge).ForeignBinds)
	t.Cleanup(w.removeNodes)
	w.makeNamespace()
	return w
}

// beside is the same world seen from another namespace, which it makes: the same nodes, other pods.
func (w *world) beside(ns string) *world {
	w.t.Helper()
	other := *w
	other.ns = ns
	other.makeNamespace()
	return &other
}

// makeNamespace makes the namespace, where it is not there from an earlier test; its pods are removed at the end of this one.
func (w *world) makeNamespace() {
	w.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	_, err := w.client.CoreV1().Namespaces().Create(w.t.Context(), namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.removePods)
}

func (w *world) removePods() {
	// The test's own context has ended.
	if err := w.client.CoreV1().Pods(w.ns).DeleteCollection(context.Background(), atOnce(), metav1.ListOptions{}); err != nil {
		w.t.Errorf("clean up pods: %v", err)
	}
}

func (w *world) removeNodes() {
	mine := metav1.ListOptions{LabelSelector: "e2e/of=" + w.pool}
	if err := w.client.CoreV1().Nodes().DeleteCollection(context.Background(), atOnce(), mine); err != nil {
		w.t.Errorf("clean up nodes: %v", err)
	}
}

func atOnce() metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none}
}

func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// mine are the labels of the test's nodes.
func (w *world) mine() fixture.NodeOption {
	return func(n *corev1.Node) { n.Labels[poolLabel], n.Labels["e2e/of"] = w.pool, w.pool }
}

func (w *world) addNode(n *corev1.Node) {
	w.t.Helper()
	w.mine()(n)
	w.must(w.client.CoreV1().Nodes().Create(w.t.Context(), n, metav1.CreateOptions{}))
}

// addGPUNodes makes nodes NAMESPACE-0, NAMESPACE-1, ... with eight GPUs, of several models.
func (w *world) addGPUNodes(count int) []*corev1.Node {
	w.t.Helper()
	var nodes []*corev1.Node
	for i := range count {
		n := fixture.GPUNode(fmt.Sprintf("%s-%d", w.ns, i), fixture.Models[i%len(fixture.Models)], 8)
		w.addNode(n)
		nodes = append(nodes, n)
	}
	return nodes
}

// addPod makes a pod of the scheduler under test, confined to the test's nodes.
func (w *world) addPod(name string, options ...fixture.PodOption) {
	w.t.Helper()
	w.addPodOf(schedulerName, name, options...)
}

func (w *world) addPodOf(scheduler, name string, options ...fixture.PodOption) {
	w.t.Helper()
	pod := fixture.Pod(w.ns, name, scheduler, append([]fixture.PodOption{fixture.On(poolLabel, w.pool)}, options...)...)
	w.persist(func(ctx context.Context) error {
		_, err := w.client.CoreV1().Pods(w.ns).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // an attempt with a lost answer had succeeded
		}
		return err
	})
}

func (w *world) deletePod(name string) {
	w.t.Helper()
	w.persist(func(ctx context.Context) error {
		err := w.client.CoreV1().Pods(w.ns).Delete(ctx, name, atOnce())
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// changeNode reads a node, changes it and writes it back, its status too; conflicts are tried again. A node that is gone stays gone.
func (w *world) changeNode(name string, change func(*corev1.Node)) {
	w.t.Helper()
	w.persist(func(ctx context.Context) error {
		nodes := w.client.CoreV1().Nodes()
		n, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		change(n)
		status := n.Status
		if n, err = nodes.Update(ctx, n, metav1.UpdateOptions{}); err != nil {
			return err
		}
		n.Status = status
		_, err = nodes.UpdateStatus(ctx, n, metav1.UpdateOptions{})
		return err
	})
}

// persist tries again until it works: the API server may be away for a while, and that is none of the test's business.
func (w *world) persist(do func(context.Context) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil || w.t.Context().Err() != nil {
			return
		}
		if ctx.Err() != nil || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			w.t.Error(err)
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// read asks the recorder's judge.
func (w *world) read(ask func(j *history.Judge) int) (n int) {
	w.t.Helper()
	w.waitFor("the recorder", func(j *history.Judge) bool { n = ask(j); return true })
	return n
}

// waitFor waits for a condition of the history. Like all that may end the test, it is for the test's own goroutine.
func (w *world) waitFor(what string, condition func(j *history.Judge) bool) {
	w.t.Helper()
	if err := w.await(what, condition); err != nil {
		w.t.Fatal(err)
	}
}

// await is waitFor for any goroutine.
func (w *world) await(what string, condition func(j *history.Judge) bool) error {
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	if err := w.recorder.WaitFor(ctx, func(_ int64, j *history.Judge) bool { return condition(j) }); err != nil {
		return fmt.Errorf("waiting for %s: %w\n%s", what, err, w.recorder.Report(w.ns))
	}
	return nil
}

// waitPod waits for a condition of one pod and returns it.
func (w *world) waitPod(name, what string, condition func(*corev1.Pod) bool) (found *corev1.Pod) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	err := w.recorder.WaitFor(ctx, func(_ int64, j *history.Judge) bool {
		found = j.Pod(w.ns + "/" + name)
		return found != nil && condition(found)
	})
	if err != nil && found != nil {
		w.t.Fatalf("waiting for pod %s to be %s: %v; it is on node %q, with conditions %+v", name, what, err, found.Spec.NodeName, found.Status.Conditions)
	} else if err != nil {
		w.t.Fatalf("waiting for pod %s to be %s: %v; there is no such pod", name, what, err)
	}
	return found
}

// waitBinds waits until so many of the test's pods have been bound, ever.
func (w *world) waitBinds(n int) {
	w.t.Helper()
	w.waitFor(fmt.Sprintf("%d binds", n), func(j *history.Judge) bool { return j.Binds()-w.first >= n })
}

// boundSoFar counts the test's pods that have been bound, ever.
func (w *world) boundSoFar() int {
	w.t.Helper()
	return w.read(func(j *history.Judge) int { return j.Binds() - w.first })
}

// podsOn names the test's pods that are bound to a node, in order.
func (w *world) podsOn(node string) []string {
	w.t.Helper()
	return w.podsThat(func(p *corev1.Pod) bool { return p.Spec.NodeName == node })
}

// boundPods names the test's pods that are bound and have not finished, in order.
func (w *world) boundPods() []string {
	w.t.Helper()
	return w.podsThat(func(p *corev1.Pod) bool { return p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded })
}

func (w *world) podsThat(match func(*corev1.Pod) bool) (names []string) {
	w.t.Helper()
	w.catchUp()
	w.waitFor("the recorder", func(j *history.Judge) bool {
		for _, p := range j.Pods(w.ns) {
			if match(p) {
				names = append(names, p.Name)
			}
		}
		return true
	})
	slices.Sort(names)
	return names
}

// catchUp returns when the recorder has seen all that has been written so far.
func (w *world) catchUp() {
	w.t.Helper()
	revision, err := w.cluster.Mark(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.must(nil, w.recorder.Wait(w.t.Context(), revision))
}
