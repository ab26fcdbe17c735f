package ecosystem

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDashboardsHaveData: a real Prometheus scrapes a running scheduler that has all that the dashboards show; then each of their queries
// returns something, and Prometheus can evaluate every rule. What dcgm-exporter and kube-state-metrics would say of that cluster, the test says.
func TestDashboardsHaveData(t *testing.T) {
	p := newPlane(t)
	p.fillCluster()
	target := p.startScrapedScheduler()
	exporters := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		io.WriteString(w, exporterPage())
	}))
	defer exporters.Close()
	prometheus := p.startPrometheus(target, strings.TrimPrefix(exporters.URL, "http://"))

	open := map[string][]query{}
	for file, d := range readDashboards(t) {
		open[file] = d.queries(t)
	}
	open["prometheus-rule.yaml"] = []query{{"GpuSchedulerGpusFreeWhilePodsWait compares what is free with what waits, type by type",
		`gpu_scheduler_gpus{form="", state="free"} and on (gpu_type) gpu_scheduler_waiting_gpus{queue="unschedulable"} > 0`}}
	deadline := time.Now().Add(90 * time.Second)
	for left(open) > 0 && time.Now().Before(deadline) {
		time.Sleep(500 * time.Millisecond)
		for file, queries := range open {
			var without []query
			for _, q := range queries {
				if !prometheus.hasData(q.expression) {
					without = append(without, q)
				}
			}
			open[file] = without
		}
	}
	for file, queries := range open {
		for _, q := range queries {
			t.Errorf("%s, %s: no data for %s%s", file, q.panel, q.expression, prometheus.missing(q.expression))
		}
	}
	prometheus.wantHealthyRules()
}

func left(open map[string][]query) (n int) {
	for _, queries := range open {
		n += len(queries)
	}
	return n
}

// fillCluster makes nodes with whole, shared and MIG GPUs, a quota, pods that run and pods that wait.
func (p *plane) fillCluster() {
	p.t.Helper()
	ctx, client := p.t.Context(), p.cluster.Client()
	p.kubectl("apply", "-k", filepath.Join(root, "manifests/base"))
	p.addQuota()
	p.kubectl("create", "namespace", "vision")
	mig := []fixture.NodeOption{fixture.Allocatable(fixture.GPUResource, "0"), fixture.Allocatable("nvidia.com/mig-1g.10gb", "7"),
		fixture.Label("nvidia.com/mig.strategy", "mixed"), fixture.Label("nvidia.com/mig.config", "all-1g.10gb"), fixture.Label("nvidia.com/mig-1g.10gb.count", "7")}
	for _, node := range []*corev1.Node{
		fixture.GPUNode("h100-0", fixture.H100, 8), fixture.GPUNode("h100-1", fixture.H100, 8), fixture.GPUNode("a100-0", fixture.A100, 1, mig...),
		fixture.GPUNode("l4-0", fixture.L4, 2, fixture.Shared(fixture.L4, 2, 4)), fixture.CPUNode("cpu-0"),
	} {
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, pod := range []*corev1.Pod{
		fixture.Pod("vision", "runs", "gpu-scheduler", fixture.GPUs(2), fixture.Annotated("gpu-scheduler.io/gpu-type", "H100")),
		fixture.Pod("vision", "too-large", "gpu-scheduler", fixture.GPUs(4), fixture.Annotated("gpu-scheduler.io/gpu-type", "H100")),
		fixture.Pod("default", "no-room", "gpu-scheduler", fixture.Requests("cpu", "900")),
	} {
		if _, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// startScrapedScheduler starts gpu-scheduler with leader election and a port for metrics, and returns that port's address.
func (p *plane) startScrapedScheduler() string {
	p.t.Helper()
	port, err := controlplane.FreePort()
	if err != nil {
		p.t.Fatal(err)
	}
	p.runScheduler(fmt.Sprintf("--secure-port=%d", port), "--leader-elect=true",
		"--leader-elect-resource-namespace="+namespace, "--leader-elect-resource-name=gpu-scheduler")
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// exporterPage is what dcgm-exporter and kube-state-metrics say of a pod that has two GPUs, of which one is idle, and of a node with eight.
func exporterPage() string {
	page := "kube_node_status_allocatable{node=\"h100-0\",resource=\"nvidia_com_gpu\",unit=\"integer\"} 8\n" +
		"kube_pod_container_resource_requests{namespace=\"vision\",pod=\"runs\",container=\"main\",node=\"h100-0\",resource=\"nvidia_com_gpu\",unit=\"integer\"} 2\n" +
		"kube_pod_status_phase{namespace=\"vision\",pod=\"runs\",phase=\"Running\"} 1\n"
	for gpu := range 8 {
		labels := fmt.Sprintf(`gpu="%d",UUID="GPU-%d",device="nvidia%d",modelName="NVIDIA H100 80GB HBM3",Hostname="h100-0"`, gpu, gpu, gpu)
		busy := 0
		if gpu < 2 {
			labels += `,container="main",namespace="vision",pod="runs"`
			busy = 90 * gpu
		}
		for series, value := range map[string]int{"GPU_UTIL": busy, "FB_USED": 1000, "FB_FREE": 80000, "GPU_TEMP": 60, "XID_ERRORS": 0} {
			page += fmt.Sprintf("DCGM_FI_DEV_%s{%s} %d\n", series, labels, value)
		}
	}
	return page
}

// wantTargetsFound: Prometheus' account may see what the Prometheus Operator has it look for targets in, of the scheduler's namespace and no other. (Debian's Prometheus,
// which runs here, was built without that.)
func (p *plane) wantTargetsFound() {
	p.t.Helper()
	may := func(namespace, verb, group, resource string) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:monitoring:prometheus-k8s",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource},
		}}
		answer, err := p.cluster.Client().AuthorizationV1().SubjectAccessReviews().Create(p.t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		return answer.Status.Allowed
	}
	for _, of := range []struct{ group, resource string }{
		{"", "services"}, {"", "endpoints"}, {"", "pods"}, {"discovery.k8s.io", "endpointslices"},
	} {
		for _, verb := range []string{"get", "list", "watch"} {
			p.eventually(fmt.Sprintf("prometheus-k8s may %s %s in the namespace %s", verb, of.resource, namespace),
				func() (bool, string) { return may(namespace, verb, of.group, of.resource), "" })
		}
		if may("default", "list", of.group, of.resource) {
			p.t.Errorf("prometheus-k8s may list %s of other namespaces, too", of.resource)
		}
	}
}

// prometheus is a running one.
type prometheus struct {
	t   *testing.T
	url string
}

// startPrometheus starts one that scrapes a scheduler as the account of manifests/monitoring, and the exporters, and has all rules.
func (p *plane) startPrometheus(scheduler, exporters string) prometheus {
	p.t.Helper()
	p.kubectl("apply", "-f", filepath.Join(root, "manifests/monitoring/metrics-reader.yaml"))
	p.wantTargetsFound()
	token, err := p.cluster.BoundToken(p.t.Context(), "monitoring", "prometheus-k8s", "prometheus-token")
	if err != nil {
		p.t.Fatal(err)
	}
	folder := p.t.TempDir()
	for _, file := range ruleFiles {
		extractRules(p.t, file, filepath.Join(folder, file))
	}
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs:
  - job_name: gpu-scheduler
    scheme: https
    honor_labels: true
    authorization: {credentials_file: token}
    tls_config: {insecure_skip_verify: true}
    static_configs: [{targets: ["%s"]}]
  - job_name: exporters
    honor_labels: true
    static_configs: [{targets: ["%s"]}]
`, strings.Join(ruleFiles, ", "), scheduler, exporters)
	for name, text := range map[string]string{"prometheus.yaml": config, "token": token} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	port, err := controlplane.FreePort()
	if err != nil {
		p.t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if _, err := p.cluster.StartChild("prometheus", nil, filepath.Join(bin, "prometheus"), "--config.file="+filepath.Join(folder, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address); err != nil {
		p.t.Fatal(err)
	}
	return prometheus{p.t, "http://" + address}
}

// ask reads an answer of the HTTP API into data.
func (p prometheus) ask(path string, data any) error {
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", path, answer.Error)
	}
	return nil
}

// hasData tells whether an expression has a value now; not yet, if Prometheus does not answer yet.
func (p prometheus) hasData(expression string) bool {
	found := struct{ Result []any }{}
	return p.ask("/api/v1/query?query="+url.QueryEscape(expression), &found) == nil && len(found.Result) > 0
}

// missing says which of the scheduler's metrics in an expression there are none of.
func (p prometheus) missing(expression string) (text string) {
	for _, name := range metricName.FindAllString(expression, -1) {
		if missing := fmt.Sprintf("; there is no %s", name); !p.hasData(name) && !strings.Contains(text, missing) {
			text += missing
		}
	}
	return text
}

// wantHealthyRules: Prometheus has evaluated each rule, and could.
func (p prometheus) wantHealthyRules() {
	p.t.Helper()
	found := struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}{}
	if err := p.ask("/api/v1/rules", &found); err != nil {
		p.t.Fatal(err)
	}
	if len(found.Groups) == 0 {
		p.t.Error("Prometheus has no rules")
	}
	for _, group := range found.Groups {
		for _, r := range group.Rules {
			if r.Health != "ok" {
				p.t.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError)
			}
		}
	}
}
