package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"
	"gpu-scheduler.io/tests/cluster/internal/naivescheduler"

	corev1 "k8s.io/api/core/v1"
)

// These tests are of the harness: a scheduler that is right must pass, and one that is wrong on purpose must be caught. They
// need no scheduler program.

func TestHarnessPassesAnHonestScheduler(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(2)
	w.addPods(naiveName, 20)
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(16)
	report := w.verdict()
	if report.Pending != 4 {
		t.Errorf("20 pods on 16 GPUs: want 4 pending, got %d", report.Pending)
	}
	w.deletePod("pod-0") // whether bound or not, room or one pod fewer
	w.verdict()
}

func TestHarnessCatchesACarelessScheduler(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(2)
	w.addPods(naiveName, 20)
	w.runNaive(naivescheduler.Options{Name: naiveName, Careless: true})
	w.waitBinds(20)
	w.expectCaught("nvidia.com/gpu: 9 taken of 8")
}

// A pod that no scheduler notices is lost. The checker does not forget that the pod got no answer, so that no test deletes it unnoticed.
func TestHarnessCatchesALostPod(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(1)
	w.addPods(naiveName, 9)
	w.runNaive(naivescheduler.Options{Name: naiveName, Overlooks: "pod-3"})
	w.waitFor("all others to be answered", func(j *history.Judge) bool {
		return !slices.ContainsFunc(j.Pods(w.ns), func(p *corev1.Pod) bool { return p.Name != "pod-3" && !j.Answered(w.ns+"/"+p.Name) })
	})
	w.expectCaught("lost: " + w.ns + "/pod-3")
	w.waitFor("the recorder", func(j *history.Judge) bool {
		if j.Answered(w.ns + "/pod-3") {
			t.Error("nobody has answered pod-3")
		}
		return true
	})
}

// A scheduler that knows of no quotas is over one with its first bind, however young the quota is: the pods are younger.
func TestHarnessCatchesAQuotaIgnored(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(1)
	w.createQuota(quota(w.ns, object{"namespaces": list{w.ns}, "quotas": list{object{"gpuType": "*", "guaranteed": "2"}}}))
	w.waitNoNews()
	w.addPods(naiveName, 3)
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(3)
	w.expectCaught("over-quota: 1 unexplained, 0 explained")
}

func TestHarnessCatchesABindToACordonedNode(t *testing.T) {
	w := newWorld(t)
	node := w.addGPUNodes(1)[0].Name
	w.changeNode(node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	w.waitNoNews()
	w.addPods(naiveName, 1)
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(1)
	w.expectCaught("the node is unschedulable")
}

// A scheduler that takes the first node with room for every pod keeps to no rule across nodes.
func TestHarnessCatchesRulesAcrossNodesIgnored(t *testing.T) {
	w := newWorld(t)
	for _, zone := range []string{"a", "b"} {
		w.addNode(fixture.CPUNode(w.ns+"-"+zone, fixture.Zone(zone)))
	}
	w.waitNoNews()
	even := []fixture.PodOption{app("web"), spread("web", 0)}
	w.addPodOf(naiveName, "pod-0", even...)
	w.addPodOf(naiveName, "pod-1", apart(hostname, "web"))
	w.addPodOf(naiveName, "pod-2", together(zone, "db"))
	w.addPodOf(naiveName, "pod-3", even...)
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(4)
	// pod-3, too, has the label that pod-1 is not to be with.
	w.expectCaught("anti-affinity: 2 unexplained, 0 explained\naffinity: 1 unexplained, 0 explained\nspread: 1 unexplained, 0 explained")
}

// What is explained is no violation, and yet no test is content with it that does not expect it.
func TestHarnessCatchesAnExcuseThatNobodyExpected(t *testing.T) {
	w := newWorld(t)
	w.recorder.Late(time.Minute) // however long all this takes
	defer w.recorder.Late(0)
	node := w.addGPUNodes(1)[0].Name
	w.addPods(naiveName, 1)
	w.changeNode(node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(1)
	w.expectCaught(`1 binds broke a rule and have the excuse "node change"; 0 may`)
}

func TestHarnessCatchesABindOfAnothersPod(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(1)
	w.addPods("another-scheduler", 1)
	w.runNaive(naivescheduler.Options{Name: naiveName, Greedy: true})
	w.waitFor("a bind", func(j *history.Judge) bool { return j.ForeignBinds() > w.foreign })
	w.expectCaught("1 pods were bound that are not the scheduler's; others bind 0")
}

// expectCaught fails the test if the verdict does not say something.
func (w *world) expectCaught(want string) {
	w.t.Helper()
	w.catchUp()
	err := w.judge(w.recorder.Report(w.ns), w.expect())
	if err == nil || !strings.Contains(err.Error(), want) {
		w.t.Fatalf("want %q caught, got: %v", want, err)
	}
	w.t.Logf("caught, as it must be: %v", err)
}

func (w *world) addPods(scheduler string, count int) {
	w.t.Helper()
	for i := range count {
		w.addPodOf(scheduler, fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
}

// runNaive runs the stand-in until the test ends.
func (w *world) runNaive(options naivescheduler.Options) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error)
	go func() { done <- naivescheduler.Run(ctx, w.client, options) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

func bound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }
