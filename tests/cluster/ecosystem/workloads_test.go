package ecosystem

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWorkloads: the examples of manifests/examples/workloads on the GPU nodes of a real API server; Kubernetes' own controllers make their pods.
// What is scaled up is placed, what is scaled down gives its GPUs back.
func TestWorkloads(t *testing.T) {
	p := newPlaneWithGPUs(t)
	examples := filepath.Join(root, "manifests/examples/workloads")
	for _, file := range []string{"deployment", "statefulset", "job", "indexed-job", "cronjob"} {
		p.kubectl("apply", "-f", filepath.Join(examples, file+".yaml"))
	}
	p.kubectl("create", "job", "--from=cronjob/evaluate", "evaluate-now")
	p.kubectl("patch", "cronjob", "evaluate", "-p", `{"spec":{"schedule":"* * * * *"}}`) // the next minute comes sooner than the next night
	for _, set := range []string{"deployment/inference", "statefulset/shards"} {
		p.kubectl("rollout", "status", set, "--timeout=120s")
	}
	ofMinute := p.waitJobOf("evaluate")
	p.kubectl("patch", "cronjob", "evaluate", "-p", `{"spec":{"suspend":true}}`)
	for _, job := range []string{"train", "sweep", "evaluate-now", ofMinute} {
		p.kubectl("wait", "--for=condition=Complete", "job/"+job, "--timeout=120s")
	}
	p.wantOnGPUs(map[string]int{"Deployment": 2, "StatefulSet": 3, "Job": 1 + 6 + 2})

	p.kubectl("scale", "deployment", "inference", "--replicas=13") // with the three shards all sixteen GPUs
	p.kubectl("rollout", "status", "deployment/inference", "--timeout=120s")
	p.kubectl("scale", "deployment", "inference", "--replicas=1")
	p.waitPods("inference", 1)
	p.kubectl("scale", "statefulset", "shards", "--replicas=15") // on the GPUs that were given back
	p.kubectl("rollout", "status", "statefulset/shards", "--timeout=120s")
	p.wantOnGPUs(map[string]int{"Deployment": 1, "StatefulSet": 15, "Job": 1 + 6 + 2})
}

// waitJobOf waits until the CronJob has one running that its controller has made when its minute came, and returns the name.
func (p *plane) waitJobOf(cronJob string) string {
	p.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		of, err := p.cluster.Client().BatchV1().CronJobs("default").Get(p.t.Context(), cronJob, metav1.GetOptions{})
		if err == nil && of.Status.LastScheduleTime != nil {
			jobs, err := p.cluster.Client().BatchV1().Jobs("default").List(p.t.Context(), metav1.ListOptions{})
			if err != nil {
				p.t.Fatal(err)
			}
			for _, job := range jobs.Items {
				if owner := metav1.GetControllerOf(&job); owner != nil && owner.Kind == "CronJob" && job.Annotations["cronjob.kubernetes.io/instantiate"] == "" {
					return job.Name
				}
			}
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("CronJob %s made no Job: %v", cronJob, err)
		}
	}
}

// TestGangOfAJob: the pods of a Job that start together wait for room for all of them, though there is room for three; then all run.
func TestGangOfAJob(t *testing.T) {
	p := newPlaneWithGPUs(t)
	examples := filepath.Join(root, "manifests/examples/workloads")
	p.kubectl("apply", "-f", filepath.Join(examples, "statefulset.yaml"))
	p.kubectl("rollout", "status", "statefulset/shards", "--timeout=120s")
	p.kubectl("apply", "-f", filepath.Join(examples, "gang.yaml"))
	p.waitPods("gang", 4)
	p.kubectl("wait", "--for=jsonpath={.status.conditions[?(@.type=='PodScheduled')].reason}=Unschedulable", "pod", "-l", "app=gang", "--timeout=60s")
	pods, err := p.cluster.Client().CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=gang"})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" {
			t.Errorf("%s is on %s, and the others have no room", pod.Name, pod.Spec.NodeName)
		}
	}
	p.kubectl("scale", "statefulset", "shards", "--replicas=0")
	p.kubectl("wait", "--for=condition=Complete", "job/gang", "--timeout=120s")
	p.waitPods("shards", 0)
	p.wantOnGPUs(map[string]int{"Job": 4})
}

// newPlaneWithGPUs has Kubernetes' controllers, two nodes of eight GPUs, and the scheduler.
func newPlaneWithGPUs(t *testing.T) *plane {
	t.Helper()
	p := newPlane(t)
	p.startControllers()
	for _, name := range []string{"gpu-0", "gpu-1"} {
		node := fixture.GPUNode(name, fixture.H100, 8, fixture.Tainted())
		if _, err := p.cluster.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.runScheduler("--secure-port=0")
	return p
}

// scheduler is the program that is tried.
func scheduler() string {
	if program := os.Getenv("GPU_SCHEDULER_BIN"); program != "" {
		return program
	}
	return filepath.Join(root, "build/release/bin/gpu-scheduler")
}

// applyScheduler applies manifests/base, and returns the scheduler's account.
func (p *plane) applyScheduler() controlplane.Identity {
	p.t.Helper()
	account, err := p.cluster.ApplyScheduler(p.t.Context(), filepath.Join(root, "manifests/base"))
	if err != nil {
		p.t.Fatal(err)
	}
	return account
}

// runScheduler starts gpu-scheduler as the account of manifests/base.
func (p *plane) runScheduler(args ...string) {
	p.t.Helper()
	account := p.applyScheduler()
	kubeconfig, err := p.cluster.KubeconfigFor(account)
	if err != nil {
		p.t.Fatal(err)
	}
	config := filepath.Join(p.t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(controlplane.SchedulerConfiguration("gpu-scheduler", kubeconfig, 5000, 10_000)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	args = append([]string{"--config", config, "--http-bind-address=127.0.0.1:0"}, args...)
	if _, err := p.cluster.StartChild("gpu-scheduler", nil, scheduler(), args...); err != nil {
		p.t.Fatal(err)
	}
}

// wantOnGPUs: so many pods of each kind of owner name gpu-scheduler, and each of them is or was on a node with GPUs.
func (p *plane) wantOnGPUs(want map[string]int) {
	p.t.Helper()
	pods, err := p.cluster.Client().CoreV1().Pods("default").List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	got := map[string]int{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		kind := metav1.GetControllerOf(&pod).Kind
		if kind == "ReplicaSet" {
			kind = "Deployment"
		}
		got[kind]++
		if pod.Spec.SchedulerName != "gpu-scheduler" || pod.Spec.NodeName != "gpu-0" && pod.Spec.NodeName != "gpu-1" {
			p.t.Errorf("%s of %q is on %q", pod.Name, pod.Spec.SchedulerName, pod.Spec.NodeName)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Errorf("there are %v pods, want %v", got, want)
	}
}

// waitPods waits until so many pods of an app are left.
func (p *plane) waitPods(app string, want int) {
	p.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		pods, err := p.cluster.Client().CoreV1().Pods("default").List(p.t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
		if err == nil && len(pods.Items) == want {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("there are %d pods of %s, want %d: %v", len(pods.Items), app, want, err)
		}
	}
}
