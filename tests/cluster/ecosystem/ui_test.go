package ecosystem

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostile is what a tenant may write anywhere; on the page it is a text.
const hostile = `<img src=x onerror=alert(1)>`

// TestPageInABrowser: Debian's chromium opens the scheduler's page by `kubectl gpu ui`, through a real API server's proxy of pods, with the rights
// of manifests/base alone. The page is readable, operable by keyboard and live, loads nothing from elsewhere, and its numbers are those of
// /metrics and of `kubectl gpu -o json`. Pictures are left in build/cluster/ui.
func TestPageInABrowser(t *testing.T) {
	p := newPlane(t)
	p.fillCluster()
	p.addOddPods()
	address := p.startSchedulerWithPage()
	kubeconfig := p.viewer()
	proxy, page := p.startProxy(kubeconfig)
	wantClosedToOthers(t, page)

	folder := filepath.Join(root, "build/cluster/ui")
	browser := exec.CommandContext(t.Context(), "node", filepath.Join(root, "tests/cluster/browser/ui.mjs"), page, folder)
	browser.Env = append(os.Environ(), "BROWSER_MODULES="+filepath.Join(bin, "browser"))
	browser.Stderr = os.Stderr
	output, err := browser.StdoutPipe()
	if err == nil {
		err = browser.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var seen struct {
		Say   string
		Tiles map[string]int
		Types [][]string
		Pods  [][]string
		Wrong []string
	}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		seen.Say = ""
		if err := json.Unmarshal(lines.Bytes(), &seen); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		switch seen.Say {
		case "change":
			p.addPod("late", fixture.GPUs(900))
		case "cut":
			if err := proxy.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := browser.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, sentence := range seen.Wrong {
		t.Error(sentence)
	}
	p.wantNumbers(seen.Tiles, address)
	wantSentences(t, seen.Pods)
	if len(seen.Types) != 3 {
		t.Errorf("there are three types of GPUs, the page has %v", seen.Types)
	}
}

func (p *plane) addPod(name string, options ...fixture.PodOption) {
	p.t.Helper()
	pod := fixture.Pod("default", name, "gpu-scheduler", options...)
	if _, err := p.cluster.Client().CoreV1().Pods(pod.Namespace).Create(p.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// addOddPods makes a node that is cordoned, a pod that can never start, with what would be HTML in why, one that is gated, and one
// with a misspelt scheduler.
func (p *plane) addOddPods() {
	p.t.Helper()
	node := fixture.GPUNode("h100-2", fixture.H100, 8)
	node.Spec.Unschedulable = true
	if _, err := p.cluster.Client().CoreV1().Nodes().Create(p.t.Context(), node, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	p.addPod("hostile", fixture.GPUs(1), fixture.Annotated("gpu-scheduler.io/min-gpu-memory", hostile))
	p.addPod("gated", fixture.GPUs(1), func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	})
	p.addPod("typo", fixture.GPUs(1), func(pod *corev1.Pod) { pod.Spec.SchedulerName = "gpu-schedular" })
}

// startSchedulerWithPage starts gpu-scheduler as the Deployment does: with leader election, at an address that the API server's proxy may connect
// to, and with a Pod of its own, of its host's name. It returns the address of the secure port.
func (p *plane) startSchedulerWithPage() string {
	p.t.Helper()
	ip := addressOfMachine(p.t)
	p.runScheduler("--ui", "--secure-port=10259", "--bind-address="+ip, "--leader-elect=true",
		"--leader-elect-resource-namespace="+namespace, "--leader-elect-resource-name=gpu-scheduler")
	host, err := os.Hostname()
	if err != nil {
		p.t.Fatal(err)
	}
	pods := p.cluster.Client().CoreV1().Pods(namespace)
	own := fixture.Pod(namespace, host, "default-scheduler", restricted)
	own, err = pods.Create(p.t.Context(), own, metav1.CreateOptions{})
	if err == nil {
		own.Status.PodIP, own.Status.PodIPs, own.Status.Phase = ip, []corev1.PodIP{{IP: ip}}, corev1.PodRunning
		_, err = pods.UpdateStatus(p.t.Context(), own, metav1.UpdateOptions{})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return net.JoinHostPort(ip, "10259")
}

// restricted is what Pod Security wants of a pod in the scheduler's namespace.
func restricted(pod *corev1.Pod) {
	yes, no := true, false
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no,
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	}
}

func addressOfMachine(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if ip, _, err := net.ParseCIDR(address.String()); err == nil && ip.To4() != nil && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	t.Fatal("the machine has no address but its own loopback's, to which the API server's proxy does not connect")
	return ""
}

// viewer is a kubeconfig of an account that has the two roles of manifests/base/ui-role.yaml, and those to read metrics and the cluster.
func (p *plane) viewer() string {
	p.t.Helper()
	kubeconfig, err := p.cluster.TokenKubeconfig(p.t.Context(), "vision", "viewer")
	if err != nil {
		p.t.Fatal(err)
	}
	p.kubectl("apply", "-f", filepath.Join(root, "manifests/monitoring/metrics-reader.yaml"))
	for _, role := range []string{"gpu-scheduler-ui", "gpu-scheduler-reader", "gpu-scheduler-metrics-reader"} {
		p.kubectl("create", "clusterrolebinding", "viewer-"+role, "--clusterrole="+role, "--serviceaccount=vision:viewer")
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "gpu-scheduler-ui"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "vision", Name: "viewer"}},
	}
	if _, err := p.cluster.Client().RbacV1().RoleBindings(namespace).Create(p.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	return kubeconfig
}

func besideScheduler(program string) string {
	scheduler := os.Getenv("GPU_SCHEDULER_BIN")
	if scheduler == "" {
		scheduler = filepath.Join(root, "build/release/bin/gpu-scheduler")
	}
	return filepath.Join(filepath.Dir(scheduler), program)
}

var printed = regexp.MustCompile(`http://127\.0\.0\.1:\d+/[\w-]{43}/ui/`)

// startProxy runs `kubectl gpu ui` until it prints the URL: the scheduler may not lead yet, and the API server not know the roles.
func (p *plane) startProxy(kubeconfig string) (*exec.Cmd, string) {
	p.t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		command := exec.CommandContext(p.t.Context(), besideScheduler("kubectl-gpu"), "ui", "--kubeconfig", kubeconfig)
		var complaints strings.Builder
		command.Stderr = &complaints
		output, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			p.t.Fatal(err)
		}
		line, _ := bufio.NewReader(output).ReadString('\n')
		if page := printed.FindString(line); page != "" {
			p.t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
			return command, page
		}
		_ = command.Wait()
		if time.Now().After(deadline) {
			p.t.Fatalf("kubectl gpu ui printed %q: %s", line, complaints.String())
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// wantClosedToOthers: without the secret, by another name, or with another method there is nothing to get.
func wantClosedToOthers(t *testing.T, page string) {
	t.Helper()
	parsed, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, url, host string
		want              int
	}{
		{"GET", page, "", http.StatusOK},
		{"GET", page + "state", "", http.StatusOK},
		{"GET", page, "rebound.example:" + parsed.Port(), http.StatusMisdirectedRequest},
		{"POST", page + "state", "", http.StatusMethodNotAllowed},
		{"OPTIONS", page + "state", "", http.StatusMethodNotAllowed},
		{"GET", "http://" + parsed.Host + "/ui/", "", http.StatusForbidden},
		{"GET", "http://" + parsed.Host + "/" + strings.Repeat("A", 43) + "/ui/", "", http.StatusForbidden},
		{"GET", strings.TrimSuffix(page, "ui/") + "metrics", "", http.StatusNotFound},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = c.host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s %s of %q: %d, want %d", c.method, c.url, c.host, response.StatusCode, c.want)
		}
		if allowed := response.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%s lets pages of %q read it", c.url, allowed)
		}
	}
}

var (
	pieces  = regexp.MustCompile(`(?m)^gpu_scheduler_gpus\{([^}]*)\} (\d+)$`)
	pending = regexp.MustCompile(`(?m)^scheduler_pending_pods\{[^}]*\} (\d+)$`)
)

// wantNumbers holds the page's tiles against /metrics and against `kubectl gpu -o json`, which nothing changes any more.
func (p *plane) wantNumbers(tiles map[string]int, scheduler string) {
	p.t.Helper()
	kubeconfig, err := p.cluster.TokenKubeconfig(p.t.Context(), "vision", "viewer")
	if err != nil {
		p.t.Fatal(err)
	}
	var overview struct {
		GPUs    struct{ Total, Used, Free int }
		Waiting struct{ Pods int }
	}
	output, err := exec.CommandContext(p.t.Context(), besideScheduler("kubectl-gpu"), "--kubeconfig", kubeconfig, "-o", "json").Output()
	if err == nil {
		err = json.Unmarshal(output, &overview)
	}
	if err != nil {
		p.t.Fatalf("kubectl gpu -o json: %v", err)
	}
	want := map[string]int{"gpus": overview.GPUs.Total, "gpus-used": overview.GPUs.Used, "gpus-free": overview.GPUs.Free, "waiting": overview.Waiting.Pods,
		"gpus-closed": overview.GPUs.Total - overview.GPUs.Used - overview.GPUs.Free}
	for tile, count := range want {
		if tiles[tile] != count {
			p.t.Errorf("the page says %d %s, kubectl gpu %d", tiles[tile], tile, count)
		}
	}
	if want["gpus-closed"] != 8 || want["gpus-used"] != 2 || want["waiting"] < 4 {
		p.t.Errorf("the cluster is not as it was made: %v", want)
	}
	page := p.metrics(scheduler)
	inState := map[string]int{}
	for _, line := range pieces.FindAllStringSubmatch(page, -1) {
		if state := regexp.MustCompile(`state="(\w+)"`).FindStringSubmatch(line[1]); strings.Contains(line[1], `form=""`) && state != nil {
			count, _ := strconv.Atoi(line[2])
			inState[state[1]] += count
		}
	}
	waiting := 0
	for _, line := range pending.FindAllStringSubmatch(page, -1) {
		count, _ := strconv.Atoi(line[1])
		waiting += count
	}
	for tile, count := range map[string]int{"gpus-used": inState["used"], "gpus-free": inState["free"], "gpus-closed": inState["cordoned"], "waiting": waiting} {
		if tiles[tile] != count {
			p.t.Errorf("the page says %d %s, /metrics %d", tiles[tile], tile, count)
		}
	}
}

// metrics is the page of /metrics; what it says of GPUs is as of the page before.
func (p *plane) metrics(scheduler string) string {
	p.t.Helper()
	token, err := p.cluster.BoundToken(p.t.Context(), "vision", "viewer", "viewer-token")
	if err != nil {
		p.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // this machine
	page := ""
	for range 3 {
		request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "https://"+scheduler+"/metrics", nil)
		if err != nil {
			p.t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		if err != nil {
			p.t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			p.t.Fatalf("/metrics: %d, %v", response.StatusCode, err)
		}
		page = string(text)
		time.Sleep(1100 * time.Millisecond) // it is made once a second
	}
	return page
}

// wantSentences: each row says why in a sentence, and what a tenant wrote is text.
func wantSentences(t *testing.T, rows [][]string) {
	t.Helper()
	want := map[string]string{
		"default/no-room":  "cpu: needs 900 on one node",
		"default/gated":    "scheduling gates",
		"default/hostile":  hostile,
		"default/late":     "needs 900 on one node",
		"vision/too-large": "",
	}
	for _, row := range rows {
		if words, known := want[row[0]]; known && !strings.Contains(row[1], words) {
			t.Errorf("%s waits since %q, which does not say %q", row[0], row[1], words)
		} else if known && row[1] == "" {
			t.Errorf("%s has no sentence", row[0])
		}
		delete(want, row[0])
	}
	if len(want) > 0 {
		t.Errorf("the page shows %d pods that wait, and not %v", len(rows), fmt.Sprint(want))
	}
}
