package ecosystem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPrefect: flow runs of a Kubernetes work pool whose job template names gpu-scheduler. The pool's limit of three is smaller than the number of runs, four,
// and the quota has room for two. So Prefect makes three pods, of which two run on a GPU node and one waits for quota. When a run has completed, which
// the test brings about with the command of its pod, the third runs, and Prefect makes the pod of the fourth, which waits.
func TestPrefect(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.runScheduler("--secure-port=0")
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
	p.kubectl("apply", "-f", example("prefect/quota.yaml"))
	server := p.startPrefect()
	server.do("work-pool", "create", "gpus", "--type", "kubernetes", "--base-job-template", example("prefect/work-pool.json"))
	server.do("work-pool", "set-concurrency-limit", "gpus", "3")
	server.do("--no-prompt", "deploy", "--all")
	var deployment struct{ ID string }
	server.ask("GET", "deployments/name/train/two-gpus", nil, &deployment)
	var runs []string
	for range 4 {
		var created flowRun
		server.ask("POST", "deployments/"+deployment.ID+"/create_flow_run", map[string]any{}, &created)
		runs = append(runs, created.ID)
	}
	worker := server.start("prefect-worker", "worker", "start", "--pool", "gpus", "--type", "kubernetes")

	const all, overQuota = "app.kubernetes.io/managed-by=prefect", "quota flows: * needs 2, 4 of 4 in use"
	running := p.waitRunning("flows", all, 2, "gpu-0")
	waiting := p.waitWaiting("flows", all, 1, "GpuQuotaExceeded", overQuota)
	var fourth string
	for _, run := range runs {
		if len(p.pods("flows", "prefect.io/flow-run-id="+run)) == 0 {
			fourth = run
		}
	}
	server.waitState(flowRunOf(waiting[0]), "PENDING", "InfrastructurePending")
	server.waitState(fourth, "SCHEDULED", "")

	first := running[0]
	server.execute(first)
	ended := server.waitState(flowRunOf(first), "COMPLETED", "Completed")
	p.end(first)
	p.waitRunning("flows", "prefect.io/flow-run-id="+flowRunOf(waiting[0]), 1, "gpu-0")
	p.waitWaiting("flows", "prefect.io/flow-run-id="+fourth, 1, "GpuQuotaExceeded", overQuota)
	jobs, err := p.cluster.Client().BatchV1().Jobs("flows").List(t.Context(), metav1.ListOptions{LabelSelector: "prefect.io/flow-run-id=" + fourth})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("the fourth run has %d Jobs: %v", len(jobs.Items), err)
	}
	if created := jobs.Items[0].CreationTimestamp.Time; created.Before(ended.EndTime.Truncate(time.Second)) {
		t.Errorf("the fourth run, over the pool's limit, got its Job at %v, before the first run's end at %v", created, ended.EndTime)
	}
	if !worker() {
		t.Error("the worker has ended")
	}
}

// prefectServer is a Prefect server of the test's own, in a folder with the flow of the examples.
type prefectServer struct {
	p      *plane
	url    string // of its API
	folder string
	env    []string
}

type flowRun struct {
	ID      string
	EndTime time.Time                   `json:"end_time"`
	State   struct{ Type, Name string } `json:"state"`
}

func flowRunOf(pod corev1.Pod) string { return pod.Labels["prefect.io/flow-run-id"] }

// startPrefect starts a server with an empty store. The first start takes a minute where other programs run, as it makes all tables.
func (p *plane) startPrefect() *prefectServer {
	p.t.Helper()
	port := p.freePort()
	s := &prefectServer{p: p, url: fmt.Sprintf("http://127.0.0.1:%d/api", port), folder: p.t.TempDir()}
	s.env = []string{
		"PREFECT_API_URL=" + s.url, "PREFECT_HOME=" + p.t.TempDir(), "KUBECONFIG=" + p.cluster.Kubeconfig(), "PREFECT_WORKER_QUERY_SECONDS=1",
		"PREFECT_SERVER_ANALYTICS_ENABLED=false", "DO_NOT_TRACK=1", "PREFECT_SERVER_UI_ENABLED=false", "NO_PROXY=127.0.0.1",
		"PATH=" + filepath.Join(bin, "prefect/bin") + ":" + os.Getenv("PATH"),
	}
	for _, file := range []string{"prefect.yaml", "train.py"} {
		// The folder of the image stands in the example.
		text := strings.ReplaceAll(readPage(p.t, example("prefect/"+file)), "/opt/flows", s.folder)
		if err := os.WriteFile(filepath.Join(s.folder, file), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	alive := s.start("prefect-server", "server", "start", "--host", "127.0.0.1", "--port", fmt.Sprint(port))
	p.within(10*time.Minute, "Prefect's server answers", func() (bool, string) {
		if !alive() {
			p.t.Fatalf("Prefect's server ended:\n%s", lastLines(filepath.Join(p.cluster.Logs(), "prefect-server.log")))
		}
		response, err := http.Get(s.url + "/health")
		if err != nil {
			return false, err.Error()
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK, response.Status
	})
	return s
}

// start starts prefect as a server; it is killed before the plane ends, since a worker may wait for its flow runs at SIGTERM. It returns whether the process is still there.
func (s *prefectServer) start(name string, args ...string) func() bool {
	s.p.t.Helper()
	process, err := s.p.cluster.StartChild(name, s.env, filepath.Join(bin, "prefect/bin/prefect"), args...)
	if err != nil {
		s.p.t.Fatal(err)
	}
	s.p.t.Cleanup(process.Kill)
	return process.Running
}

// do runs a command of prefect in the folder with the flow.
func (s *prefectServer) do(args ...string) {
	s.p.t.Helper()
	s.run(s.env, append([]string{filepath.Join(bin, "prefect/bin/prefect")}, args...))
}

// execute runs the command of a flow run's pod with its environment, as the pod's container would in its image.
func (s *prefectServer) execute(pod corev1.Pod) {
	s.p.t.Helper()
	container := pod.Spec.Containers[0]
	env := s.env
	for _, variable := range container.Env {
		env = append(env, variable.Name+"="+variable.Value)
	}
	s.run(env, append([]string{"env"}, container.Args...)) // env finds the program on the PATH that it gets
}

func (s *prefectServer) run(env, command []string) {
	s.p.t.Helper()
	program := exec.CommandContext(s.p.t.Context(), command[0], command[1:]...)
	program.Dir = s.folder
	program.Env = append(os.Environ(), env...)
	if output, err := program.CombinedOutput(); err != nil {
		s.p.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
}

// ask calls Prefect's API.
func (s *prefectServer) ask(method, path string, body, answer any) {
	s.p.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		s.p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.p.t.Context(), method, s.url+"/"+path, bytes.NewReader(content))
	if err != nil {
		s.p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.p.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		s.p.t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		s.p.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// waitState waits until a flow run has a state of this type, and of this name unless that is empty, and returns it.
func (s *prefectServer) waitState(id, kind, name string) (got flowRun) {
	s.p.t.Helper()
	s.p.eventually("flow run "+id+" is "+kind+" "+name, func() (bool, string) {
		got = flowRun{}
		s.ask("GET", "flow_runs/"+id, nil, &got)
		return got.State.Type == kind && (name == "" || got.State.Name == name), fmt.Sprintf("%+v", got.State)
	})
	return got
}
