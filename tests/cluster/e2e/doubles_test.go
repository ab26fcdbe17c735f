package e2e

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Doubles of what runs on a GPU node and is seen of it in the API: NVIDIA's device plugin, its mig-manager, and the kubelet. Each
// does to the objects what the real one does, when the test says so.

// devices is what a device plugin offers: resource to amount.
type devices map[corev1.ResourceName]string

// devicePlugin is the device plugin of one node.
type devicePlugin struct {
	w    *world
	node string
	has  devices // while it runs
}

// stop takes the devices away as a plugin that dies does: kubelet keeps the names, at zero.
func (p *devicePlugin) stop() { p.show(nil) }

// start gives them back.
func (p *devicePlugin) start() { p.show(p.has) }

func (p *devicePlugin) show(offered devices) {
	p.w.t.Helper()
	p.w.changeNode(p.node, func(n *corev1.Node) {
		for name := range n.Status.Allocatable {
			if isNVIDIAs(name) {
				n.Status.Allocatable[name] = resource.MustParse("0")
			}
		}
		for name, amount := range offered {
			n.Status.Capacity[name], n.Status.Allocatable[name] = resource.MustParse(amount), resource.MustParse(amount)
		}
	})
}

func isNVIDIAs(name corev1.ResourceName) bool {
	return len(name) > len("nvidia.com/") && name[:len("nvidia.com/")] == "nvidia.com/"
}

// migManager is the mig-manager of one node. Source of its steps: NVIDIA/mig-parted, pkg/mig/reconfigure.
type migManager struct {
	plugin *devicePlugin
}

// begin takes up a new configuration: the state is pending, and the device plugin is paused.
func (m *migManager) begin(config string) {
	m.plugin.w.t.Helper()
	m.label(map[string]string{"nvidia.com/mig.config": config, "nvidia.com/mig.config.state": "pending"})
	m.plugin.stop()
}

// reboot takes the node down for it.
func (m *migManager) reboot() { m.label(map[string]string{"nvidia.com/mig.config.state": "rebooting"}) }

// succeed ends with GPUs that are partitioned into these devices.
func (m *migManager) succeed(into devices) {
	m.plugin.w.t.Helper()
	m.plugin.has = into
	m.plugin.start()
	m.label(map[string]string{"nvidia.com/mig.config.state": "success"})
}

// fail gives up; the device plugin comes back with what there was.
func (m *migManager) fail() {
	m.plugin.w.t.Helper()
	m.plugin.start()
	m.label(map[string]string{"nvidia.com/mig.config.state": "failed"})
}

func (m *migManager) label(labels map[string]string) {
	m.plugin.w.t.Helper()
	m.plugin.w.changeNode(m.plugin.node, func(n *corev1.Node) {
		for key, value := range labels {
			n.Labels[key] = value
		}
	})
}

// kubelet takes in the pods that are bound to one node: it runs them, or rejects those that ask for a GPU while its device plugin
// will not allocate.
type kubelet struct {
	node    string
	broken  atomic.Bool
	oneOnly atomic.Bool // the device plugin shares GPUs and is configured with failRequestsGreaterThanOne
	client  kubernetes.Interface
	stopped chan struct{}
}

// startKubelet runs until the test ends.
func (w *world) startKubelet(node string, broken bool) *kubelet {
	w.t.Helper()
	k := &kubelet{node: node, client: w.client, stopped: make(chan struct{})}
	k.broken.Store(broken)
	ctx, cancel := context.WithCancel(w.t.Context())
	watch, err := w.client.CoreV1().Pods(w.ns).Watch(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(k.stopped)
		for change := range watch.ResultChan() {
			if pod, ok := change.Object.(*corev1.Pod); ok && pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil {
				k.takeIn(ctx, w.t, pod)
			}
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		watch.Stop()
		<-k.stopped
	})
	return k
}

// takeIn writes what became of a pod. Like a kubelet, it dates it by the second.
func (k *kubelet) takeIn(ctx context.Context, t *testing.T, pod *corev1.Pod) {
	pod = pod.DeepCopy()
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	pod.Status.StartTime = &now
	gpus := pod.Spec.Containers[0].Resources.Limits[fixture.GPUResource]
	switch pod.Status.Phase = corev1.PodRunning; {
	case k.broken.Load():
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "UnexpectedAdmissionError"
		pod.Status.Message = "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"
	case k.oneOnly.Load() && gpus.Value() > 1:
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "UnexpectedAdmissionError"
		pod.Status.Message = "Pod was rejected: Allocate failed: a pod may have one of the shared nvidia.com/gpu"
	}
	if _, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil && ctx.Err() == nil {
		t.Logf("the kubelet of %s could not write the status of %s: %v; it will see it again", k.node, pod.Name, err)
	}
}
