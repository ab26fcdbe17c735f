package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// TestMetricsAreForThoseWhoMayGetThem asks for metrics with tokens of the API server, which decides which accounts may; then many allowed requests
// come at once, while pods are bound and probes are answered.
func TestMetricsAreForThoseWhoMayGetThem(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler's port is its own affair")
	}
	w := newWorld(t)
	w.addGPUNodes(3)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	s := startSubject(t, func(with *setup) { with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port)) })
	metrics := fmt.Sprintf("https://127.0.0.1:%d/metrics", port)

	reader, stranger := w.token("reader"), w.token("stranger")
	w.letReadMetrics("reader")
	until(t, "the API server to let the reader", func() bool { return get(t, metrics, reader).status == http.StatusOK })
	for _, c := range []struct {
		token  string
		status int
		body   string
	}{
		{"", http.StatusUnauthorized, "a bearer token is needed, of an account that may get \"/metrics\"\n"},
		{"made-up", http.StatusUnauthorized, "the API server does not know this token\n"},
		{stranger, http.StatusForbidden, fmt.Sprintf("%q cannot get \"/metrics\": a ClusterRole with that nonResourceURL would let it\n",
			"system:serviceaccount:"+w.ns+":stranger")},
	} {
		if got := get(t, metrics, c.token); got.status != c.status || got.body != c.body {
			t.Errorf("token %.10q: got %d %q, want %d %q", c.token, got.status, got.body, c.status, c.body)
		}
	}
	if got := get(t, metrics, reader); !strings.Contains(got.body, "\nscheduler_pending_pods{queue=\"active\"} ") {
		t.Errorf("no metrics of pending pods: %.500s", got.body)
	}

	// What the engine knows is asked for at each page, and stands on the next.
	for _, line := range []string{
		`gpu_scheduler_gpus\{form="",gpu_type="[^"]+",state="free"\} [1-9]`,
		`gpu_scheduler_gpu_largest_block\{form="",gpu_type="[^"]+"\} [1-9]`,
		`gpu_scheduler_gpu_whole_nodes_free\{form="",gpu_type="[^"]+"\} [1-9]`,
	} {
		pattern := regexp.MustCompile("(?m)^" + line)
		until(t, line, func() bool { return pattern.MatchString(get(t, metrics, reader).body) })
	}
	for _, name := range []string{"gpu_scheduler_build_info{version=", "process_resident_memory_bytes ", "process_cpu_seconds_total "} {
		if !strings.Contains(get(t, metrics, reader).body, "\n"+name) {
			t.Errorf("there is no %s", name)
		}
	}

	health := regexp.MustCompile(`http_port=(\d+)`).FindStringSubmatch(s.log())
	if health == nil {
		t.Fatalf("the log does not say where probes are answered: %s", s.keepLog())
	}
	if got := get(t, "http://127.0.0.1:"+health[1]+"/metrics", reader); got.status != http.StatusNotFound {
		t.Errorf("the port of probes shows metrics: %d", got.status)
	}
	livez := "http://127.0.0.1:" + health[1] + "/livez"
	scrapes, slowest := w.scrapeAndProbe(80, 3*time.Second, metrics, reader, livez)
	t.Logf("beside %d scrapes by 80 at a time in 3 s the slowest probe took %v", scrapes, slowest)
	w.verdict()
}

// TestMetricsSayWhatPodsWaitFor has pods that are bound, that no node has room for, that their quota keeps waiting and that have a gate, and
// reads what metrics say of each.
func TestMetricsSayWhatPodsWaitFor(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler's port is its own affair")
	}
	w := newWorld(t)
	w.addNode(fixture.GPUNode(w.ns+"-0", fixture.H100, 8))
	port, err := controlplane.FreePort()
	w.must(nil, err)
	startSubject(t, func(with *setup) { with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port)) })
	reader := w.token("reader")
	w.letReadMetrics("reader")

	team := w.beside(w.ns + "-team")
	team.addQuota(w.ns, team.anyType("1", nil))
	w.addPod("runs", fixture.GPUs(2))
	w.waitPod("runs", "bound", bound)
	team.addPod("runs", fixture.GPUs(1))
	team.waitPod("runs", "bound", bound)
	w.addPod("no-room", fixture.GPUs(7))
	w.waitRefused("no-room", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu")
	team.addPod("over-quota", fixture.GPUs(1))
	team.waitOverQuota("over-quota", "quota "+w.ns+": * needs 1, 1 of 1 in use, first in line; 1 more must be freed")
	w.addPod("gated", fixture.GPUs(3), func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	})

	const bindDuration = "scheduler_framework_extension_point_duration_seconds"
	binds := []string{`extension_point="Bind"`, `status="Success"`, `profile="` + schedulerName + `"`}
	for _, want := range []struct {
		metric      string
		labels      []string
		least, most float64 // of the sum of the series that have these labels
	}{
		{bindDuration + "_count", binds, 2, 2},
		{bindDuration + "_sum", binds, 1e-6, waitLimit.Seconds()},
		{"scheduler_queue_incoming_pods_total", []string{`queue="active"`, `event="PodAdd"`}, 4, 4},
		{"scheduler_queue_incoming_pods_total", []string{`queue="gated"`, `event="PodAdd"`}, 1, 1},
		{"scheduler_queue_incoming_pods_total", []string{`queue="unschedulable"`, `event="ScheduleAttemptFailure"`}, 2, 1000},
		{"gpu_scheduler_gpus", []string{`gpu_type="H100"`, `form=""`}, 8, 8},
		{"gpu_scheduler_gpus", []string{`gpu_type="H100"`, `form=""`, `state="held"`}, 0, 0},
		{"gpu_scheduler_free_gpus", []string{`gpu_type="H100"`}, 4.999, 5.001},
		{"gpu_scheduler_waiting_pods", []string{`queue="unschedulable"`, `reason="node"`}, 1, 1},
		{"gpu_scheduler_waiting_gpus", []string{`queue="unschedulable"`, `reason="node"`}, 7, 7},
		{"gpu_scheduler_waiting_pods", []string{`reason="quota"`}, 1, 1},
		{"gpu_scheduler_waiting_gpus", []string{`queue="gated"`, `reason="gates"`}, 3, 3},
		{"gpu_scheduler_namespace_gpus", []string{`namespace="` + w.ns + `"`}, 2, 2},
		{"gpu_scheduler_namespace_gpus", []string{`namespace="` + team.ns + `"`}, 1, 1},
		{"gpu_scheduler_quota_head_wait_seconds", []string{`quota="` + w.ns + `"`}, 1e-6, 2 * waitLimit.Seconds()},
		{"gpu_scheduler_quota_holds", []string{`quota="` + w.ns + `"`}, 0, 0},
		{"gpu_scheduler_refusals_total", []string{`plugin="NodeResourcesFit"`}, 1, 1000},
		{"gpu_scheduler_refusals_total", []string{`plugin="GpuQuota"`}, 1, 1000},
		{"gpu_scheduler_foreign_gpu_pods_total", nil, 0, 0},
		{"gpu_scheduler_watch_age_seconds", []string{`kind="pods"`}, 0, 240},
		{"gpu_scheduler_watch_age_seconds", []string{`kind="nodes"`}, 0, 240},
	} {
		// What the engine knows stands on the next page.
		until(t, fmt.Sprintf("%s with %v to be from %v to %v", want.metric, want.labels, want.least, want.most), func() bool {
			sum, found := get(t, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), reader).sumOf(want.metric, want.labels...)
			return found && want.least <= sum && sum <= want.most
		})
	}
	w.deletePod("gated")
	w.verdict(of(team))
}

// TestMetricsOfAStandby compares the metrics of two replicas, of which one leads: what comes of decisions the other one does not have, as docs/metrics.md says.
func TestMetricsOfAStandby(t *testing.T) {
	e := newElection(t)
	w := e.w
	w.addNode(fixture.GPUNode(w.ns+"-0", fixture.H100, 8, fixture.Label("nvidia.com/gpu.replicas", "many")))
	reader := w.token("reader")
	w.letReadMetrics("reader")
	start := func() (r *replica, metrics func() page) {
		port, err := controlplane.FreePort()
		w.must(nil, err)
		r = e.startReplica(nil, fmt.Sprintf("--secure-port=%d", port))
		return r, func() page { return get(t, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), reader) }
	}
	leader, ofLeader := start()
	leader.waitLog("scheduling begins")
	standby, ofStandby := start()
	standby.waitLog("standing by")
	standby.waitLog("synced")
	w.addQuota(w.ns, w.anyType("1", nil))
	w.addPod("runs", fixture.GPUs(1))
	w.waitPod("runs", "bound", bound)
	w.addPod("over-quota", fixture.GPUs(1))
	w.waitOverQuota("over-quota", "quota "+w.ns+": * needs 1, 1 of 1 in use, first in line; 1 more must be freed")

	const none = -1 // no series
	for _, want := range []struct {
		metric          string
		labels          []string
		leader, standby float64
	}{
		{"leader_election_master_status", nil, 1, 0},
		{"gpu_scheduler_quota_gpus", []string{`quota="` + w.ns + `"`, `state="used"`}, 1, none},
		{"gpu_scheduler_quota_problems", []string{`quota="` + w.ns + `"`, `condition="Ready"`}, 0, none},
		{"gpu_scheduler_namespace_gpus", []string{`namespace="` + w.ns + `"`}, 1, none},
		{"gpu_scheduler_nodes_with_complaints", nil, 1, 0},
		{"scheduler_schedule_attempts_total", []string{`result="scheduled"`}, 1, 0},
		{"scheduler_pending_pods", []string{`queue="unschedulable"`}, 1, 0},
		{"scheduler_pending_pods", []string{`queue="active"`}, 0, 1},
	} {
		for name, of := range map[string]struct {
			metrics func() page
			want    float64
		}{"leader": {ofLeader, want.leader}, "standby": {ofStandby, want.standby}} {
			// What the engine knows stands on the next page.
			until(t, fmt.Sprintf("%s with %v to be %v on the %s", want.metric, want.labels, of.want, name), func() bool {
				sum, found := of.metrics().sumOf(want.metric, want.labels...)
				return found == (of.want != none) && (!found || sum == of.want)
			})
		}
	}
	if ages, found := ofStandby().sumOf("gpu_scheduler_watch_age_seconds", `kind="pods"`); !found || ages > 240 {
		t.Errorf("the standby's watch of pods is of %v s ago, there is one: %v", ages, found)
	}
	w.verdict()
}

// scrapeAndProbe has so many read metrics at a time for a while, while pods are bound; it returns how many pages were read, and how long the
// slowest probe took meanwhile.
func (w *world) scrapeAndProbe(readers int, long time.Duration, metrics, token, livez string) (scrapes int, slowest time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), long)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex
	for range readers {
		group.Go(func() {
			for ctx.Err() == nil {
				if got := get(w.t, metrics, token); got.status != http.StatusOK {
					w.t.Errorf("one of %d readers got %d: %s", readers, got.status, got.body)
					return
				}
				mu.Lock()
				scrapes++
				mu.Unlock()
			}
		})
	}
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		if got := get(w.t, livez, ""); got.status != http.StatusOK {
			w.t.Errorf("/livez: %d %s", got.status, got.body)
		}
		slowest = max(slowest, time.Since(began))
		if i < 20 {
			w.addPod(fmt.Sprintf("beside-%d", i), fixture.GPUs(1))
		}
	}
	w.waitBinds(20)
	group.Wait()
	return scrapes, slowest
}

type page struct {
	status int
	body   string
}

// sumOf adds the series of a metric that have all of these labels, such as `queue="active"`; false: there are none.
func (p page) sumOf(metric string, labels ...string) (sum float64, found bool) {
	for line := range strings.Lines(p.body) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, rest, _ := strings.Cut(series, "{")
		if name != metric {
			continue
		}
		has := strings.Split(strings.TrimSuffix(rest, "}"), ",")
		if slices.ContainsFunc(labels, func(label string) bool { return !slices.Contains(has, label) }) {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, false
		}
		sum, found = sum+number, true
	}
	return sum, found
}

// get asks for a page over a connection of its own, and accepts any certificate of the server. Status 0: no answer, and why.
func get(t *testing.T, url, token string) page {
	t.Helper()
	client := http.Client{Timeout: waitLimit, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return page{0, err.Error()}
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return page{0, err.Error()}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return page{0, err.Error()}
	}
	return page{response.StatusCode, string(body)}
}

// token makes an account in the test's namespace, and a token of it.
func (w *world) token(account string) string {
	w.t.Helper()
	token, err := w.cluster.BoundToken(w.t.Context(), w.ns, account, w.ns+"-"+account)
	w.must(nil, err)
	return token
}

// letReadMetrics gives an account of the test's namespace the role that manifests/monitoring has for Prometheus.
func (w *world) letReadMetrics(account string) {
	w.t.Helper()
	role := filepath.Join(root, "manifests/monitoring/metrics-reader.yaml")
	apply := exec.Command(filepath.Join(w.cluster.Bin(), "kubectl"), "--kubeconfig", w.cluster.Kubeconfig(), "apply", "-f", role)
	if output, err := apply.CombinedOutput(); err != nil {
		w.t.Fatalf("kubectl apply -f %s: %v\n%s", role, err, output)
	}
	w.bindClusterRole("gpu-scheduler-metrics-reader", account)
}
