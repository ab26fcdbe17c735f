package ecosystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// setConfiguration is that of the controllers of JobSet and of LeaderWorkerSet outside a pod, after its apiVersion.
const setConfiguration = `
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:HEALTH"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: WEBHOOK, certDir: CERTS}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
`

// TestJobSet: the JobSet of the examples, with its own controller. Its pods are placed one by one: two workers run while two wait for a node. The pod without
// GPU keeps off the GPU nodes. When all pods have ended, the JobSet has.
func TestJobSet(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.startController("jobset", "apiVersion: config.jobset.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/jobset.yaml"), ".spec.successPolicy.operator", "All")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/jobset.yaml"))

	const set, workers = "jobset.sigs.k8s.io/jobset-name=pretrain", "jobset.sigs.k8s.io/replicatedjob-name=worker"
	p.waitRunning("default", set+",jobset.sigs.k8s.io/replicatedjob-name=coordinator", 1, "node-")
	p.waitRunning("default", set+","+workers, 2, "gpu-0")
	p.waitWaiting("default", set+","+workers, 2, corev1.PodReasonUnschedulable,
		"0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.waitRunning("default", set+","+workers, 4, "gpu-")
	p.wantPerNode(set+","+workers, map[string]int{"gpu-0": 2, "gpu-1": 2})
	p.end(p.pods("default", set)...)
	p.kubectl("wait", "--for=condition=Completed", "jobset/pretrain", "--timeout=120s")
}

// TestLeaderWorkerSet: the LeaderWorkerSet of the examples, with its own controller, which keeps each group on one node of its own by affinity and
// anti-affinity of the leader and by node selectors of its workers. A third group waits until there is a third node, although there is room for it on the two.
func TestLeaderWorkerSet(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100), taintedGPUs("gpu-1", fixture.H100))
	p.startController("lws", "apiVersion: config.lws.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/leaderworkerset.yaml"), ".spec.networkConfig.subdomainPolicy", "Shared")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/leaderworkerset.yaml"))

	const set, group = "leaderworkerset.sigs.k8s.io/name=serve", "leaderworkerset.sigs.k8s.io/group-index"
	p.waitRunning("default", set, 6, "gpu-")
	p.wantGroupsOnNodesOfTheirOwn(set, group, 3)
	p.kubectl("wait", "--for=condition=Available", "leaderworkerset/serve", "--timeout=120s")

	p.kubectl("scale", "leaderworkerset", "serve", "--replicas=3")
	p.waitWaiting("default", set+","+group+"=2", 1, corev1.PodReasonUnschedulable, "2 node(s) didn't match pod anti-affinity rules")
	p.addNodes(taintedGPUs("gpu-2", fixture.H100))
	p.waitRunning("default", set, 9, "gpu-")
	p.wantGroupsOnNodesOfTheirOwn(set, group, 3)
}

// TestGangOfAJobSet: the pods of a JobSet, of two pod templates, start together. With room for all but one none gets a node, the coordinator without GPU neither.
func TestGangOfAJobSet(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100), fixture.GPUNode("gpu-1", fixture.H100, 4, fixture.Tainted()))
	p.startController("jobset", "apiVersion: config.jobset.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/jobset-gang.yaml"), ".spec.successPolicy.operator", "All")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/jobset-gang.yaml"))

	const set = "jobset.sigs.k8s.io/jobset-name=pretrain-gang"
	p.waitWaiting("default", set, 5, corev1.PodReasonUnschedulable, "There is room for 4 of the 5 pods that start together as group pretrain.")
	p.addNodes(taintedGPUs("gpu-2", fixture.H100))
	p.waitRunning("default", set+",jobset.sigs.k8s.io/replicatedjob-name=coordinator", 1, "node-")
	p.waitRunning("default", set+",jobset.sigs.k8s.io/replicatedjob-name=worker", 4, "gpu-")
	p.end(p.pods("default", set)...)
	p.kubectl("wait", "--for=condition=Completed", "jobset/pretrain-gang", "--timeout=120s")

	p.applyChanged("workloads/jobset-gang.yaml", "pretrain", "in-order", "\n  replicatedJobs:", "\n  startupPolicy: {startupPolicyOrder: InOrder}\n  replicatedJobs:")
	p.waitWaiting("default", "jobset.sigs.k8s.io/jobset-name=in-order-gang", 1, "WaitingForPods", "1 of the 5 pods that start together as group in-order are there")
}

// TestGangOfALeaderWorkerSet: leader and workers start together. With room for all but one none gets a node. Where the controller creates the workers after the
// leader has a node, or is ready, the leader waits and says for what.
func TestGangOfALeaderWorkerSet(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.startController("lws", "apiVersion: config.lws.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/leaderworkerset-gang.yaml"), ".spec.networkConfig.subdomainPolicy", "Shared")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/leaderworkerset-gang.yaml"))

	const set = "leaderworkerset.sigs.k8s.io/name="
	p.waitWaiting("default", set+"serve-gang", 3, corev1.PodReasonUnschedulable, "There is room for 2 of the 3 pods that start together as group serve.")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.waitRunning("default", set+"serve-gang", 3, "gpu-")
	p.kubectl("wait", "--for=condition=Available", "leaderworkerset/serve-gang", "--timeout=120s")

	p.addNodes(taintedGPUs("gpu-2", fixture.H100), taintedGPUs("gpu-3", fixture.H100))
	p.applyChanged("workloads/leaderworkerset-gang.yaml", "serve", "ready", "LeaderCreated", "LeaderReady")
	p.applyChanged("workloads/leaderworkerset-gang.yaml", "serve", "apart",
		"  name: serve-gang\n", "  name: serve-gang\n  annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}\n")
	for _, group := range []string{"ready", "apart"} {
		p.waitWaiting("default", set+group+"-gang", 1, "WaitingForPods", "1 of the 3 pods that start together as group "+group+" are there")
	}
}

// applyChanged applies an example under another name, which is that of its group, too, and with one more change.
func (p *plane) applyChanged(file, name, otherName, from, to string) {
	p.t.Helper()
	text, err := os.ReadFile(example(file))
	if err != nil {
		p.t.Fatal(err)
	}
	changed := strings.Replace(string(text), from, to, 1)
	if changed == string(text) {
		p.t.Fatalf("%s has no %q", file, from)
	}
	changed = strings.NewReplacer("name: "+name+"-gang", "name: "+otherName+"-gang", "pod-group: "+name, "pod-group: "+otherName).Replace(changed)
	copied := filepath.Join(p.t.TempDir(), otherName+".yaml")
	if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.kubectl("apply", "-f", copied)
}

// wantPerNode: so many pods of a selector are on each node.
func (p *plane) wantPerNode(selector string, want map[string]int) {
	p.t.Helper()
	got := map[string]int{}
	for _, pod := range p.pods("default", selector) {
		got[pod.Spec.NodeName]++
	}
	for node, n := range want {
		if got[node] != n {
			p.t.Errorf("%d pods are on %s, want %d: %v", got[node], node, n, got)
		}
	}
}

// wantGroupsOnNodesOfTheirOwn: the pods with one value of a label, so many, are on one node, and no others of the selector are there.
func (p *plane) wantGroupsOnNodesOfTheirOwn(selector, label string, size int) {
	p.t.Helper()
	groups, owner := map[string]int{}, map[string]string{}
	for _, pod := range p.pods("default", selector) {
		node, group := pod.Spec.NodeName, pod.Labels[label]
		if had, is := owner[node]; is && had != group {
			p.t.Errorf("pods of the groups %s and %s are on %s", had, group, node)
		}
		owner[node] = group
		groups[group]++
	}
	if len(groups) != len(owner) {
		p.t.Errorf("%d groups are on %d nodes: %v", len(groups), len(owner), owner)
	}
	for group, n := range groups {
		if n != size {
			p.t.Errorf("group %s has %d pods, want %d", group, n, size)
		}
	}
}
