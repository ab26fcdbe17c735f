package ecosystem

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/internal/measure"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pool = "example.com/pool"

// TestSharding: the two schedulers of the examples at once, with the account, rights and policies of the examples, on nodes of two pools that are alike.
// Every pod is on a node of the pool whose scheduler it names, quotas hold, and a pod that is too large for its pool waits although both together have room.
func TestSharding(t *testing.T) {
	p := newSite(t)
	for i := range 2 {
		for _, name := range []string{"a", "b"} {
			p.addNodes(fixture.GPUNode(fmt.Sprintf("%s-%d", name, i), fixture.H100, 4, fixture.Tainted(), fixture.Label(pool, name)))
		}
	}
	p.startShards()
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
	p.kubectl("apply", "-f", example("sharding/workload.yaml"))
	for _, name := range []string{"a", "b"} {
		p.waitInPool("team-"+name, name, 6)
	}

	// The pool has eight GPUs, of which six are the team's.
	p.kubectl("-n", "team-b", "patch", "job", "train", "--type=merge", `-p={"spec":{"parallelism":8}}`)
	p.waitWaiting("team-b", "app=train", 2, "GpuQuotaExceeded", "quota team-b: * needs 1, 6 of 6 in use")
	p.waitInPool("team-b", "b", 6)

	// Two GPUs are left in each pool, four in both.
	large := fixture.Pod("default", "large", "gpu-pool-a", fixture.GPUs(4), fixture.ToleratesGPUTaint())
	if _, err := p.cluster.Client().CoreV1().Pods("default").Create(t.Context(), large, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the pod that no node of its pool has room for waits", func() (bool, string) {
		pod, err := p.cluster.Client().CoreV1().Pods("default").Get(t.Context(), "large", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		c := scheduled(pod)
		return pod.Spec.NodeName == "" && strings.Contains(c.Message, "node(s) didn't match scheduler-enforced node affinity"), c.Message
	})
	p.wantFewWrites("team-b")
}

// startShards applies the example, and starts its two schedulers with their configurations, as their account.
func (p *plane) startShards() (shards []*controlplane.Process) {
	p.t.Helper()
	p.kubectl("apply", "-k", example("sharding"))
	for _, name := range []string{"a", "b"} {
		shards = append(shards, p.startConfigured("gpu-scheduler-"+name, example("sharding/pool-"+name+"/config.yaml")))
	}
	return shards
}

// startConfigured starts a scheduler with a configuration file, as the account of manifests/base.
func (p *plane) startConfigured(name, config string, args ...string) *controlplane.Process {
	p.t.Helper()
	kubeconfig, err := p.cluster.KubeconfigFor(controlplane.ServiceAccount(namespace, "gpu-scheduler"))
	if err != nil {
		p.t.Fatal(err)
	}
	args = append([]string{"--config", config, "--kubeconfig", kubeconfig, "--http-bind-address=0", "--secure-port=0"}, args...)
	process, err := p.cluster.StartChild(name, nil, scheduler(), args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return process
}

// waitInPool waits until so many pods of a job are on the nodes of a pool, and fails if one of them is elsewhere.
func (p *plane) waitInPool(namespace, name string, want int) {
	p.t.Helper()
	p.waitPodsThat("are in pool "+name, namespace, "app=train", want, func(pod *corev1.Pod) bool {
		if node := pod.Spec.NodeName; node != "" && !strings.HasPrefix(node, name+"-") {
			p.t.Fatalf("%s of %q is on %s, outside of its pool", pod.Name, pod.Spec.SchedulerName, node)
		}
		return pod.Spec.NodeName != ""
	})
}

// wantFewWrites: while pods of a quota wait, the two schedulers write its status in turn, since each knows of its own waiting pods alone; but neither
// does so more than once a second.
func (p *plane) wantFewWrites(name string) {
	p.t.Helper()
	const watched = 5 * time.Second
	version := func() string {
		return p.object("gpu-scheduler.io", "v1alpha1", "gpuquotas", "", name).GetResourceVersion()
	}
	last, changes := version(), 0
	begun := time.Now()
	for ; time.Since(begun) < watched; time.Sleep(50 * time.Millisecond) {
		if now := version(); now != last {
			last, changes = now, changes+1
		}
	}
	if most := 2 + int(2*time.Since(begun).Seconds()); changes > most {
		p.t.Errorf("the quota %s changed %d times in %v, at most %d are explained", name, changes, time.Since(begun), most)
	}
}

// TestShardingCost measures one scheduler for all nodes beside one for each half of them, on one API server: the time that they take to bind as many
// pods as there are nodes, half of them for either name, and their processor time and memory. SHARDING_NODES is the number of nodes; without it there is no such test.
func TestShardingCost(t *testing.T) {
	nodes, err := strconv.Atoi(os.Getenv("SHARDING_NODES"))
	if err != nil {
		t.Skip("SHARDING_NODES=5000 says how many nodes")
	}
	p := newPlane(t)
	p.kubectl("apply", "-k", example("sharding"))
	p.inParallel(nodes, func(i int) error {
		node := fixture.GPUNode(fmt.Sprintf("node-%05d", i), fixture.H100, 8, fixture.Label(pool, []string{"a", "b"}[i%2]))
		_, err := p.cluster.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
		return err
	})
	files := []string{example("sharding/pool-a/config.yaml"), example("sharding/pool-b/config.yaml")}
	whole := filepath.Join(t.TempDir(), "whole.yaml")
	if err := os.WriteFile(whole, []byte(wholeConfiguration), 0o600); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%d nodes with 8 GPUs, %d pods of one GPU\n", nodes, nodes)
	fmt.Println("| | pods bound per second | CPU until the first bind | CPU of binds, per pod | peak memory |\n| --- | --- | --- | --- | --- |")
	for round := range 2 {
		p.measureSchedulers(fmt.Sprintf("one-%d", round), nodes, whole)
		p.measureSchedulers(fmt.Sprintf("shards-%d", round), nodes, files...)
	}
}

// wholeConfiguration serves both names on all nodes.
const wholeConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: gpu-pool-a}, {schedulerName: gpu-pool-b}]
`

// measureSchedulers prints a row of the table: what these schedulers take for the pods of a namespace of that name, all of which are there when they start.
func (p *plane) measureSchedulers(name string, pods int, configs ...string) {
	p.t.Helper()
	p.kubectl("create", "namespace", name)
	p.inParallel(pods, func(i int) error {
		pod := fixture.Pod(name, fmt.Sprintf("pod-%05d", i), []string{"gpu-pool-a", "gpu-pool-b"}[i%2], fixture.GPUs(1),
			fixture.Requests(corev1.ResourceCPU, "1"))
		_, err := p.cluster.Client().CoreV1().Pods(name).Create(p.t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	seen := measure.NewTimeline()
	if _, err := measure.Watch(p.t.Context(), p.cluster.Client(), name, seen); err != nil {
		p.t.Fatal(err)
	}
	var started []*controlplane.Process
	for i, config := range configs {
		started = append(started, p.startConfigured(fmt.Sprintf("%s-%d", name, i), config, "--leader-elect=false"))
	}
	var before, after []time.Duration
	usage := func() (cpu []time.Duration) {
		for _, process := range started {
			used, err := measure.CPU(process.Pid())
			if err != nil {
				p.t.Fatal(err)
			}
			cpu = append(cpu, used)
		}
		return cpu
	}
	p.within(20*time.Minute, "all pods are bound", func() (bool, string) {
		now := seen.Summary()
		if now.Bound == 0 {
			before = usage()
		}
		after = usage()
		return now.Bound == pods, fmt.Sprintf("%+v", now)
	})
	var peaks []string
	var start, bind time.Duration
	for i, process := range started {
		peak, err := measure.PeakMemory(process.Pid())
		if err != nil {
			p.t.Fatal(err)
		}
		peaks = append(peaks, fmt.Sprintf("%d MiB", peak>>20))
		start, bind = start+before[i], bind+after[i]-before[i]
		if err := process.Stop(); err != nil {
			p.t.Fatal(err)
		}
	}
	s := seen.Summary()
	fmt.Printf("| %s | %.0f | %v | %.2f ms | %s |\n", name, float64(pods-1)/s.LastBind.Sub(s.FirstBind).Seconds(), start,
		bind.Seconds()*1000/float64(pods), strings.Join(peaks, " + "))
	p.inParallel(pods, func(i int) error {
		return p.cluster.Client().CoreV1().Pods(name).Delete(p.t.Context(), fmt.Sprintf("pod-%05d", i), metav1.DeleteOptions{})
	})
}

// inParallel calls do with 0 to count-1, several at a time.
func (p *plane) inParallel(count int, do func(int) error) {
	p.t.Helper()
	numbers, failures := make(chan int), make(chan error, count)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					failures <- err
				}
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	close(failures)
	for err := range failures {
		p.t.Fatal(err)
	}
}
