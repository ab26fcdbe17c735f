package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// section is what stands below a heading of a page, before the next one.
type section struct{ page, heading string }

// clusters are the commands of the pages, in the order in which a user of one cluster would type them.
var clusters = []struct {
	name     string
	sections []section
}{
	{"kustomize", []section{
		{"docs/install.md", "Build the image"}, {"docs/install.md", "With kustomize"}, {"docs/quotas.md", "GPU quotas"},
		{"docs/operate.md", "Who may read metrics"}, {"docs/operate.md", "Ask about a pod"}, {"docs/operate.md", "The recording of the last hour"},
		{"docs/ui.md", "Let people see it"}, {"docs/kubectl-gpu.md", "Install"}, {"docs/kubectl-gpu.md", "For tenants"}, {"docs/kubectl-gpu.md", "Flags"},
		{"docs/alerts.md", "Alerts and dashboards"}, {"docs/alerts.md", "Alerts of the scheduler"}, {"docs/alerts.md", "Alerts of GPUs"}, {"docs/preemption.md", "Preemption and reclaim"},
		{"docs/install.md", "Uninstall"},
	}},
	{"helm", []section{{"docs/install.md", "With Helm"}}},
}

// TestDocsCommands types the commands for kubectl and Helm of the pages on a cluster with controllers, kube-scheduler and simulated nodes, on
// which the Deployment's pods come to run.
func TestDocsCommands(t *testing.T) {
	for _, c := range clusters {
		t.Run(c.name, func(t *testing.T) {
			p := newPlane(t)
			p.startControllers()
			folder := copyManifests(t)
			for _, s := range c.sections {
				for _, command := range commandsOf(t, s) {
					p.typeIn(folder, s, command)
				}
			}
			if c.name == "kustomize" {
				p.wantLeftOfBase("")
				return
			}
			p.kubectl("-n", namespace, "rollout", "status", "deployment", "gpu-scheduler", "--timeout=120s")
		})
	}
}

// TestConfigurationIsRolledBack: a changed configuration starts new pods, and the Deployment's rollback goes back to the former ConfigMap.
func TestConfigurationIsRolledBack(t *testing.T) {
	p := newPlane(t)
	p.startControllers()
	folder := copyManifests(t)
	apply := func() string {
		p.kubectl("apply", "-k", filepath.Join(folder, "manifests/base"))
		return p.wantRolledOut()
	}
	first := apply()
	config := filepath.Join(folder, "manifests/base/config.yaml")
	text := readPage(t, config)
	changed := strings.Replace(text, "holdAfter: 10m", "holdAfter: 20m", 1)
	if err := os.WriteFile(config, []byte(changed), 0o644); err != nil || changed == text {
		t.Fatalf("config.yaml was not changed: %v", err)
	}
	if second := apply(); second == first {
		t.Fatalf("the pods still have %s", first)
	}
	p.kubectl("-n", namespace, "rollout", "undo", "deployment", "gpu-scheduler")
	if back := p.wantRolledOut(); back != first {
		t.Errorf("after the rollback the pods have %s, want %s", back, first)
	}
	kept, err := p.cluster.Client().CoreV1().ConfigMaps(namespace).Get(t.Context(), first, metav1.GetOptions{})
	if err != nil || kept.Data["config.yaml"] != text {
		t.Errorf("the former ConfigMap is not what it was: %v", err)
	}
}

// wantRolledOut waits until the pods are those of the Deployment, and returns the ConfigMap that they have.
func (p *plane) wantRolledOut() string {
	p.t.Helper()
	p.kubectl("-n", namespace, "rollout", "status", "deployment", "gpu-scheduler", "--timeout=120s")
	pods, err := p.cluster.Client().CoreV1().Pods(namespace).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	var configs []string
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			configs = append(configs, pod.Spec.Volumes[0].ConfigMap.Name)
		}
	}
	if configs = slices.Compact(configs); len(configs) != 1 {
		p.t.Fatalf("the pods have the configurations %q, want one", configs)
	}
	return configs[0]
}

// copyManifests copies them into a folder where they may be changed.
func copyManifests(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(root, "manifests"), folder).CombinedOutput(); err != nil {
		t.Fatalf("copy manifests: %v: %s", err, output)
	}
	return folder
}

// TestDocsCommandsAreAllTyped: no page has a command that is not among those above.
func TestDocsCommandsAreAllTyped(t *testing.T) {
	var typed []string
	for _, c := range clusters {
		for _, s := range c.sections {
			typed = append(typed, commandsOf(t, s)...)
		}
	}
	for page, commands := range commandsOfPages(t) {
		for _, command := range commands {
			if !slices.Contains(typed, command) {
				t.Errorf("%s: nothing tries: %s", page, command)
			}
		}
	}
}

// TestDocsCommandsAreForEveryShell: bash, which types them above, takes a pattern that no file matches as it is written; zsh refuses the command.
func TestDocsCommandsAreForEveryShell(t *testing.T) {
	quoted := regexp.MustCompile(`'[^']*'|"[^"]*"`)
	for page, commands := range commandsOfPages(t) {
		for _, command := range commands {
			if bare := quoted.ReplaceAllString(command, ""); strings.ContainsAny(bare, "?*[") {
				t.Errorf("%s: a pattern of file names that is not quoted: %s", page, command)
			}
		}
	}
}

// commandsOfPages are the commands of each page for users.
func commandsOfPages(t *testing.T) map[string][]string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		commands[strings.TrimPrefix(page, root+"/")] = commandsIn(readPage(t, page))
	}
	return commands
}

func commandsOf(t *testing.T, s section) []string {
	t.Helper()
	page := readPage(t, filepath.Join(root, s.page))
	heading := regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(s.heading) + `$`).FindStringIndex(page)
	if heading == nil {
		t.Fatalf("%s has no heading %q", s.page, s.heading)
	}
	below := page[heading[1]:]
	if next := regexp.MustCompile(`(?m)^## `).FindStringIndex(below); next != nil {
		below = below[:next[0]]
	}
	return commandsIn(below)
}

// isCommand tells a command for kubectl, Helm or sed from what one prints: "kubectl gpu: …" is the plugin's.
func isCommand(line string) bool {
	return regexp.MustCompile(`^(kubectl|helm|sed) `).MatchString(line) && !strings.HasPrefix(line, "kubectl gpu: ")
}

// commandsIn are the lines of the blocks that are for kubectl, Helm or sed, with the lines after it where a quotation goes on there. A block that names its language has
// none.
func commandsIn(text string) []string {
	var found []string
	inBlock, isBare, isQuoting := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		wasQuoting := isQuoting
		isQuoting = inBlock && (isQuoting || isBare && isCommand(line)) && isQuoting != (strings.Count(line, "'")%2 == 1)
		switch language, isFence := strings.CutPrefix(line, "```"); {
		case isFence:
			inBlock, isBare = !inBlock, language == ""
		case wasQuoting && len(found) > 0:
			found[len(found)-1] += "\n" + line
		case inBlock && isBare && isCommand(line):
			found = append(found, line)
		}
	}
	return found
}

func TestCommandsIn(t *testing.T) {
	page := "kubectl in prose\n```yaml\nkind: Pod\n```\n```\nkubectl get pods\n$ kubectl gpu\nhelm list\nkubectl patch '[\n  {}]'\nhelm list\n```\nsed s\n```\n  sed -i s/a/b/ file\n```\n"
	want := []string{"kubectl get pods", "helm list", "kubectl patch '[\n{}]'", "helm list", "sed -i s/a/b/ file"}
	if got := commandsIn(page); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// typeIn runs a command of a page in a folder that has the manifests.
func (p *plane) typeIn(folder string, s section, command string) {
	p.t.Helper()
	shell := exec.CommandContext(p.t.Context(), "bash", "-euc", strings.ReplaceAll(command, "REGISTRY", "registry.example.com"))
	shell.Dir = folder
	path := strings.Join([]string{bin, filepath.Dir(scheduler()), os.Getenv("PATH")}, ":") // kubectl-gpu is beside the scheduler
	shell.Env = append(os.Environ(), "KUBECONFIG="+p.cluster.Kubeconfig(), "PATH="+path)
	if output, err := shell.CombinedOutput(); err != nil {
		p.t.Fatalf("%s, %s: %s: %v\n%s", s.page, s.heading, command, err, output)
	}
}

// startControllers makes the plane a cluster on which Deployments run and namespaces go, and makes what the pages take for granted: the
// namespaces of a team and of Prometheus, and its account. The simulated kubelets leave out the stages named in without.
func (p *plane) startControllers(without ...string) {
	p.t.Helper()
	ctx, client := p.t.Context(), p.cluster.Client()
	for i := range 2 {
		if _, err := client.CoreV1().Nodes().Create(ctx, fixture.CPUNode(fmt.Sprintf("node-%d", i)), metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
	p.kubectl("create", "clusterrolebinding", "controllers", "--clusterrole=cluster-admin", "--user="+controlplane.KubeControllerManager.User)
	p.kubectl("create", "namespace", "ml")
	p.kubectl("create", "namespace", "monitoring")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-k8s"}}
	if _, err := client.CoreV1().ServiceAccounts("monitoring").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.cluster.StartKwok(ctx, without...); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.cluster.StartKubeScheduler(ctx, controlplane.SchedulerOptions{}); err != nil {
		p.t.Fatal(err)
	}
	_, err := p.cluster.StartControllerManager(ctx, "deployment-controller", "replicaset-controller", "statefulset-controller",
		"job-controller", "cronjob-controller", "namespace-controller", "garbage-collector-controller")
	if err != nil {
		p.t.Fatal(err)
	}
}
