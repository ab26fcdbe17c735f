package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	mig1g = corev1.ResourceName("nvidia.com/mig-1g.10gb")
	mig3g = corev1.ResourceName("nvidia.com/mig-3g.40gb")
)

// device asks for devices of any name, by limit and request.
func device(name corev1.ResourceName, n int) fixture.PodOption {
	return func(p *corev1.Pod) {
		fixture.Requests(name, fmt.Sprint(n))(p)
		p.Spec.Containers[0].Resources.Limits[name] = p.Spec.Containers[0].Resources.Requests[name]
	}
}

// mixed makes a node one of MIG strategy mixed.
func mixed() fixture.NodeOption { return fixture.Label("nvidia.com/mig.strategy", "mixed") }

// waitSaid waits until a pod is refused with a message that contains all the parts.
func (w *world) waitSaid(name string, parts ...string) {
	w.t.Helper()
	w.waitPod(name, fmt.Sprintf("refused with %q", parts), func(p *corev1.Pod) bool {
		c := condition(p)
		if c == nil || c.Status != corev1.ConditionFalse {
			return false
		}
		for _, part := range parts {
			if !strings.Contains(c.Message, part) {
				return false
			}
		}
		return true
	})
}

// ask makes a pod that is refused with a message that contains all the parts, and leaves it waiting under the name. Nodes and pods
// come to the scheduler by watches of their own, so it may be judged by the node that was; such a pod is taken back and made anew, and if
// it was bound the verdict excuses it.
func (w *world) ask(name string, asks fixture.PodOption, parts ...string) {
	w.t.Helper()
	var message string
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); {
		w.addPod(name, asks)
		p := w.waitPod(name, "bound or refused", func(p *corev1.Pod) bool { return bound(p) || condition(p) != nil })
		if c := condition(p); c != nil {
			message = c.Message
		}
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) }) {
			return
		}
		if bound(p) {
			w.byNodesThatWere++
		}
		w.deletePod(name)
		w.catchUp() // the next one is another pod of the same name
	}
	w.t.Fatalf("%s was told %q, not %q", name, message, parts)
}

// waitNodeEvent waits for an event about a node that contains the text.
func (w *world) waitNodeEvent(node, reason, text string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	watch, err := w.client.EventsV1().Events("default").Watch(ctx, metav1.ListOptions{}) // begins with those that exist
	if err != nil {
		w.t.Fatal(err)
	}
	defer watch.Stop()
	for change := range watch.ResultChan() {
		e, ok := change.Object.(*eventsv1.Event)
		if ok && e.Regarding.Kind == "Node" && e.Regarding.Name == node && e.Reason == reason && strings.Contains(e.Note, text) {
			return
		}
	}
	w.t.Fatalf("no %s event about node %s with %q", reason, node, text)
}

// TestMIGReconfiguration goes with a node through every end that a change of its MIG configuration can have.
func TestMIGReconfiguration(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("mig-node", fixture.H100, 1, mixed()))
	manager := &migManager{&devicePlugin{w, "mig-node", devices{fixture.GPUResource: "1"}}}

	// A pod is told why it waits when it is refused, and told again when it is tried again: so each state is asked with a new one.
	manager.begin("all-1g.10gb")
	// The device plugin is paused: kube-scheduler's word is first, and what it means is added.
	w.ask("paused", device(mig1g, 1), "0/1 nodes are available: 1 Insufficient nvidia.com/mig-1g.10gb.",
		"a change of the MIG configuration on 1 node (first mig-node: all-1g.10gb is pending)")
	// A plugin that comes back before the manager is done offers what may be taken away again.
	manager.plugin.has = devices{mig1g: "7"}
	manager.plugin.start()
	w.ask("pending", device(mig1g, 1), "0/1 nodes are available: 1 node(s) had a MIG configuration that is pending.",
		"nvidia.com/mig.config=all-1g.10gb, nvidia.com/mig.config.state=pending")
	manager.reboot()
	w.ask("rebooting", device(mig1g, 1), "1 node(s) were rebooting for a MIG configuration.")
	manager.succeed(devices{mig1g: "7"})
	for _, name := range []string{"paused", "pending", "rebooting"} {
		w.waitPod(name, "bound once the change has succeeded", bound)
	}

	manager.begin("all-3g.40gb")
	w.ask("big", device(mig3g, 1), "all-3g.40gb is pending") // and would wait for ever, were the manager stuck
	manager.fail()
	w.ask("failed", device(mig1g, 1), "1 node(s) had a MIG configuration that failed.", "nvidia.com/mig.config=all-3g.40gb")
	w.addPod("no-gpu", fixture.Requests("cpu", "1"))
	w.waitPod("no-gpu", "bound: it needs no GPU", bound)

	for _, name := range []string{"paused", "pending", "rebooting", "failed"} {
		w.deletePod(name)
	}
	manager.begin("all-3g.40gb")
	manager.succeed(devices{mig3g: "2"})
	w.waitPod("big", "bound after all", bound)
	w.verdict()
}

// TestDevicePluginComesAndGoes takes a node's GPUs away and gives them back.
func TestDevicePluginComesAndGoes(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("plugin-node", fixture.H100, 8))
	w.addNode(fixture.CPUNode("plugin-cpu"))
	plugin := &devicePlugin{w, "plugin-node", devices{fixture.GPUResource: "8"}}

	plugin.stop()
	w.ask("waits", fixture.GPUs(1), "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
		"No node of 2 offers nvidia.com/gpu: device plugin absent on 1 node that carries GPU labels (first plugin-node).")
	plugin.start()
	w.waitPod("waits", "bound when the device plugin is back", bound)

	plugin.stop()
	w.ask("next", fixture.GPUs(1), "device plugin absent on 1")
	plugin.has = devices{"nvidia.com/gpu.shared": "32"}
	plugin.start()
	w.ask("last", fixture.GPUs(1), "1 node offers GPUs in another form (first plugin-node: nvidia.com/gpu.shared)")
	plugin.show(devices{fixture.GPUResource: "8"})
	w.waitPod("next", "bound", bound)
	w.waitPod("last", "bound", bound)
	w.verdict()
}

// complain sets the one condition of a node besides Ready.
func (w *world) complain(node string, kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) {
	w.t.Helper()
	w.changeNode(node, func(n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions[:1], corev1.NodeCondition{Type: kind, Status: status, Reason: reason})
	})
}

// TestUnhealthyNodes keeps GPU pods off nodes that node-problem-detector and its kin complain of.
func TestUnhealthyNodes(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("sick", fixture.H100, 8))
	w.complain("sick", "XIDErrors", corev1.ConditionTrue, "GPUHasXIDErrors")
	w.ask("train", fixture.GPUs(1), "1 node(s) had a condition that says they are unhealthy.", "XIDErrors (GPUHasXIDErrors)")
	w.complain("sick", "XIDErrors", corev1.ConditionFalse, "GPUHasXIDErrors")
	w.waitPod("train", "bound when the condition is gone", bound)
	w.verdict()
}

// TestConditionOfOnesOwn keeps them off for what a site itself looks after, such as memory that a crashed process has left taken.
func TestConditionOfOnesOwn(t *testing.T) {
	w := newWorld(t)
	startSubject(t, func(with *setup) {
		with.config += "  pluginConfig:\n  - name: GpuHealth\n    args: {unhealthyConditions: [GPUMemoryTaken]}\n"
	})
	w.addNode(fixture.GPUNode("leaks", fixture.H100, 8))
	w.complain("leaks", "GPUMemoryTaken", corev1.ConditionTrue, "NoProcess")
	w.ask("train", fixture.GPUs(1), "1 node(s) had a condition that says they are unhealthy.", "GPUMemoryTaken (NoProcess)")
	w.complain("leaks", "GPUMemoryTaken", corev1.ConditionFalse, "NoProcess")
	w.waitPod("train", "bound when the memory is free", bound)
	w.verdict()
}

// TestBlackHole has a node on which kubelet rejects all pods. A node as broken as this one is the emptiest of all, so
// without a guard it would take every pod that the controllers make anew.
func TestBlackHole(t *testing.T) {
	w := newWorld(t)
	hole, good := w.ns+"-hole", w.ns+"-good"
	startSubject(t)
	w.addNode(fixture.GPUNode(hole, fixture.H100, 8))
	broken := w.startKubelet(hole, true)
	for i := range 3 {
		name := fmt.Sprintf("victim-%d", i)
		w.addPod(name, fixture.GPUs(1))
		w.waitPod(name, "rejected by its node", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	}
	w.waitNodeEvent(hole, "RejectsGpuPods", "rejected 3 pod(s) with devices, the last with UnexpectedAdmissionError")

	w.ask("kept", fixture.GPUs(1), "0/1 nodes are available: 1 node(s) were backed off after rejecting pods with devices.",
		"3 rejected, the last with UnexpectedAdmissionError; backed off until ")
	w.addNode(fixture.GPUNode(good, fixture.L4, 8))
	w.startKubelet(good, false)
	if p := w.waitPod("kept", "bound to the node that works", bound); p.Spec.NodeName != good {
		t.Errorf("kept is on %q", p.Spec.NodeName)
	}
	w.addPod("wants-hole", fixture.GPUs(1), fixture.On(corev1.LabelHostname, hole))
	w.waitSaid("wants-hole", "1 node(s) were backed off after rejecting pods with devices")

	// Somebody repairs it, and a pod of another scheduler starts there: kubelets count time in seconds, so it is to be a later one.
	broken.broken.Store(false)
	w.startLater(hole, "proof")
	w.waitPod("wants-hole", "bound once a pod has started there", bound)
	w.waitNodeEvent(hole, "TakesGpuPodsAgain", "a pod with devices has started there")
	w.verdict(othersBind(1))
}

// startLater binds a GPU pod to the node without a scheduler, and says that it runs since the second after this one.
func (w *world) startLater(node, name string) {
	w.t.Helper()
	pod := fixture.Pod(w.ns, name, "nobody", fixture.GPUs(1))
	pod.Spec.NodeName = node
	w.must(w.client.CoreV1().Pods(w.ns).Create(w.t.Context(), pod, metav1.CreateOptions{}))
	w.persist(func(ctx context.Context) error {
		p, err := w.client.CoreV1().Pods(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		later := metav1.NewTime(time.Now().Truncate(time.Second).Add(time.Second))
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &later
		_, err = w.client.CoreV1().Pods(w.ns).UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	})
}

// TestBlackHoleOnTrial lets the time heal a node, and break it again.
func TestBlackHoleOnTrial(t *testing.T) {
	w := newWorld(t)
	trial := w.ns + "-trial"
	startSubject(t, func(with *setup) {
		with.config += "  pluginConfig:\n  - name: GpuHealth\n    args: {rejectedPods: 1, initialBackoffSeconds: 1, maxBackoffSeconds: 2}\n"
	})
	w.addNode(fixture.GPUNode(trial, fixture.H100, 8))
	kubelet := w.startKubelet(trial, true)
	w.addPod("first", fixture.GPUs(1))
	w.waitNodeEvent(trial, "RejectsGpuPods", "for 1 s (1 in a row)")
	w.addPod("second", fixture.GPUs(1)) // bound when the second is over, and rejected again
	w.waitNodeEvent(trial, "TakesGpuPodsAgain", "its back-off is over; it is on trial")
	w.waitNodeEvent(trial, "RejectsGpuPods", "for 2 s (2 in a row)")
	kubelet.broken.Store(false)
	w.addPod("third", fixture.GPUs(1))
	w.waitPod("third", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	w.verdict()
}

// TestRestartKnowsBlackHoles: what kubelets rejected in the last minutes is known to the next process.
func TestRestartKnowsBlackHoles(t *testing.T) {
	w := newWorld(t)
	remembered := w.ns + "-remembered"
	s := startSubject(t)
	w.addNode(fixture.GPUNode(remembered, fixture.H100, 8))
	w.startKubelet(remembered, true)
	for i := range 3 {
		w.addPod(fmt.Sprintf("victim-%d", i), fixture.GPUs(1))
	}
	w.waitNodeEvent(remembered, "RejectsGpuPods", "rejected 3 pod(s)")
	s.kill()
	w.addPod("kept", fixture.GPUs(1))
	s.start()
	w.waitSaid("kept", "1 node(s) were backed off after rejecting pods with devices")
	w.deletePod("kept")
	w.verdict()
}

// TestMIGRepartitionIsAdvised follows the advice that pods get which wait for instances, with the mig-manager's double.
func TestMIGRepartitionIsAdvised(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("idle", fixture.H100, 2, mixed()))
	w.addNode(fixture.GPUNode("busy", fixture.H100, 8, mixed()))
	w.addPod("whole", fixture.GPUs(1), fixture.On(corev1.LabelHostname, "busy"))
	w.waitPod("whole", "bound", bound)

	w.addPod("big-0", device(mig3g, 1))
	w.waitRefused("big-0", "0/2 nodes are available: 2 Insufficient nvidia.com/mig-3g.40gb.")
	advice := w.waitEvent("big-0", "MigRepartitionAdvised")
	for _, part := range []string{"label node idle with nvidia.com/mig.config=all-3g.40gb (now all-disabled)", "costs 2 nvidia.com/gpu that no pod uses"} {
		if !strings.Contains(advice.Note, part) {
			t.Errorf("the advice is %q, without %q", advice.Note, part)
		}
	}

	manager := &migManager{&devicePlugin{w, "idle", devices{fixture.GPUResource: "2"}}}
	manager.begin("all-3g.40gb")
	manager.succeed(devices{mig3g: "4"})
	for i := range 4 {
		w.addPod(fmt.Sprintf("big-%d", i), device(mig3g, 1))
	}
	for i := range 4 {
		if p := w.waitPod(fmt.Sprintf("big-%d", i), "bound as advised", bound); p.Spec.NodeName != "idle" {
			t.Errorf("%s is on %q", p.Name, p.Spec.NodeName)
		}
	}
	w.verdict()
}

// TestMIGRepartitionUnderSingle: under the strategy single the advice is for all GPUs of a node, and nvidia.com/gpu are instances then.
func TestMIGRepartitionUnderSingle(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("alike", fixture.H100, 2))
	big := fixture.Annotated(profileAnnotation, "3g.40gb")
	w.addPod("big-0", fixture.GPUs(1), big)
	advice := w.waitEvent("big-0", "MigRepartitionAdvised")
	if want := "label node alike with nvidia.com/mig.config=all-3g.40gb (now all-disabled)"; !strings.Contains(advice.Note, want) {
		t.Errorf("the advice is %q, without %q", advice.Note, want)
	}

	manager := &migManager{&devicePlugin{w, "alike", devices{fixture.GPUResource: "2"}}}
	manager.begin("all-3g.40gb")
	manager.label(map[string]string{ // as GPU feature discovery has it under single
		productLabel: fixture.H100.Product + "-MIG-3g.40gb", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "40448",
	})
	manager.succeed(devices{fixture.GPUResource: "4"})
	for i := range 4 {
		if i > 0 {
			w.addPod(fmt.Sprintf("big-%d", i), fixture.GPUs(1), big)
		}
		w.waitPod(fmt.Sprintf("big-%d", i), "bound to an instance", bound)
	}
	w.deletePod("big-3")
	w.addPod("whole", fixture.GPUs(1))
	w.waitSaid("whole", "1 node(s) had MIG instances as nvidia.com/gpu, and the pod names no such profile")
	w.verdictWithout("whole")
}
