package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// Of the commands of pages, those that ask the scheduler with curl, and those that compute again what it recorded, or what a cluster has.
var (
	bareBlock   = regexp.MustCompile("(?ms)^```\n(.*?)^```$")
	toOperators = regexp.MustCompile(`^(curl|gunzip|kubectl get nodes,pods|bench replay --recording|bench replay --nodes cluster\.json) `)
)

// leaderPod is the command of docs/alerts.md that names the pod of the replica that leads.
var leaderPod = regexp.MustCompile("`kubectl -n gpu-scheduler logs \"\\$\\((kubectl -n gpu-scheduler get lease .*)\\)\"`")

// TestPodOfTheLeaderIsFound: it does so by the lease. Here replicas are processes, and the name that a pod would have is the machine's.
func TestPodOfTheLeaderIsFound(t *testing.T) {
	e := newElection(t)
	e.startLeader()
	text, err := os.ReadFile(filepath.Join(root, "docs/alerts.md"))
	e.w.must(nil, err)
	command := leaderPod.FindSubmatch(text)
	if command == nil {
		t.Fatal("docs/alerts.md does not say how to find the log any more")
	}
	shell := exec.CommandContext(t.Context(), "bash", "-euc", string(command[1]))
	shell.Env = append(os.Environ(), "KUBECONFIG="+e.w.cluster.Kubeconfig(), "PATH="+e.w.cluster.Bin()+":"+os.Getenv("PATH"))
	pod, err := shell.CombinedOutput()
	e.w.must(nil, err)
	if host, err := os.Hostname(); err != nil || strings.TrimSpace(string(pod)) != host {
		t.Errorf("%s names the pod %q, want %q (%v)", command[1], pod, host, err)
	}
	e.w.verdict()
}

// TestCommandsOfPages types them, in the order of the pages, about a pod that waits. curl fails where the answer is no success.
func TestCommandsOfPages(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such pages")
	}
	bench, err := filepath.Abs(os.Getenv("BENCH_BIN"))
	if _, missing := os.Stat(bench); err != nil || missing != nil {
		t.Fatalf("BENCH_BIN is no program: %v, %v", err, missing)
	}
	w := newWorld(t)
	w.addGPUNodes(2)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	startSubject(t, func(with *setup) {
		with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port), "--flight-recording=64Mi")
	})
	w.addPod("runs", fixture.GPUs(1))
	w.waitPod("runs", "bound", bound)
	w.addPod("train-0", fixture.GPUs(9))
	w.waitPod("train-0", "refused", func(p *corev1.Pod) bool { return condition(p) != nil })

	token := w.token("engineer")
	w.letReadMetrics("engineer")
	w.letReadPods("engineer")
	w.bindClusterRole("gpu-scheduler-explainer", "engineer")
	w.bindClusterRole("gpu-scheduler-recording-reader", "engineer")
	for _, page := range []string{"/metrics", "/debug/recording", "/explain?namespace=" + w.ns + "&pod=train-0"} {
		until(t, "the API server to know the roles", func() bool { return get(t, fmt.Sprintf("https://127.0.0.1:%d%s", port, page), token).status == 200 })
	}

	folder := t.TempDir()
	w.must(nil, os.WriteFile(filepath.Join(folder, ".curlrc"), []byte("fail\nsilent\nshow-error\n"), 0o600))
	standIns := strings.NewReplacer("POD:10259", fmt.Sprintf("127.0.0.1:%d", port), "namespace=ml", "namespace="+w.ns, "FILE", "recording.jsonl", "…", "")
	typed := 0
	for _, page := range []string{"docs/operate.md", "bench/replay/README.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		w.must(nil, err)
		for _, block := range bareBlock.FindAllStringSubmatch(string(text), -1) {
			for command := range strings.Lines(block[1]) {
				if !toOperators.MatchString(command) {
					continue
				}
				typed++
				shell := exec.CommandContext(t.Context(), "bash", "-euc", standIns.Replace(command))
				shell.Dir = folder
				shell.Env = append(os.Environ(), "TOKEN="+token, "CURL_HOME="+folder, "KUBECONFIG="+w.cluster.Kubeconfig(),
					"PATH="+strings.Join([]string{w.cluster.Bin(), filepath.Dir(bench), os.Getenv("PATH")}, ":"))
				if output, err := shell.CombinedOutput(); err != nil {
					t.Errorf("%s: %s: %v\n%s", page, command, err, output)
				}
			}
		}
	}
	if typed != 10 {
		t.Errorf("%d commands were typed: are they still found?", typed)
	}
	w.verdictWithout("train-0")
}
