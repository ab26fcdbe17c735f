package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// anyType is a spec of one line for the world's namespace.
func (w *world) anyType(guaranteed string, more object) object {
	spec := object{"namespaces": list{w.ns}, "quotas": list{object{"gpuType": "*", "guaranteed": guaranteed}}}
	for key, value := range more {
		spec[key] = value
	}
	return spec
}

// TestQuotaAfterARestart: what another process made of the status is written again as it was, from the API server alone.
func TestQuotaAfterARestart(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	w.addGPUNodes(1)
	cohort := object{"cohort": "restart"}
	w.addQuota("restart", w.anyType("2", cohort))
	other := w.beside(w.ns + "-beside")
	other.addQuota("restart-beside", other.anyType("4", cohort))
	for i := range 5 {
		w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(5)
	other.addPod("theirs", fixture.GPUs(1))
	other.waitPod("theirs", "bound", bound)
	w.addPod("waits", fixture.GPUs(2))
	accounts := map[string]string{
		"restart":        "*: guaranteed 2, used 5, borrowed 3, lent 0, pending 2",
		"restart-beside": "*: guaranteed 4, used 1, borrowed 0, lent 3, pending 0",
	}
	for name, account := range accounts {
		w.waitAccount(name, account)
	}
	s.kill()
	for name := range accounts {
		w.patchQuota(name, "status", object{"quotas": list{}, "conditions": list{}}, "status")
	}
	s.start()
	for name, account := range accounts {
		w.waitAccount(name, account)
	}
	w.waitOverQuota("waits", "quota restart: * needs 2, 5 of 6 in use (3 borrowed from cohort restart)")
	w.verdict(other)
}

// TestQuotaStatusHasTwoWriters: whatever somebody else writes into a status is put right, and what he writes elsewhere stays.
func TestQuotaStatusHasTwoWriters(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	w.addGPUNodes(1)
	w.addQuota("contested", w.anyType("8", nil))
	for i := range 8 {
		w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
		w.patchQuota("contested", "metadata", object{"labels": object{"round": fmt.Sprint(i)}})
		w.patchQuota("contested", "status", object{
			"total":      object{"used": "99"},
			"quotas":     list{object{"gpuType": "nonsense", "used": fmt.Sprint(i)}},
			"conditions": list{},
		}, "status")
	}
	w.waitAccount("contested", "*: guaranteed 8, used 8, borrowed 0, lent 0, pending 0")
	q := w.waitQuota("contested", "ready again", (*quotaObject).enforced)
	if q.Labels["round"] != "7" || q.Status.Total.Used != "8" {
		t.Errorf("labels %v, total used %s", q.Labels, q.Status.Total.Used)
	}
	if problems := s.logLines("write quota status"); len(problems) > 0 {
		t.Errorf("conflicts are nothing to complain of: %q", problems)
	}
	w.verdict()
}

// TestQuotaConditions: two quotas that claim one namespace, a type that no node has, and more in use than is allowed.
func TestQuotaConditions(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addGPUNodes(1)
	w.addQuota("elder", w.anyType("4", nil))
	w.addQuota("younger", w.anyType("8", object{"quotas": list{object{"gpuType": "B200", "guaranteed": "8"}}}))
	younger := w.waitQuota("younger", "overlapping", func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("NamespaceOverlap"), "True")
	})
	if c := younger.condition("NamespaceOverlap"); !strings.Contains(c, w.ns) || !strings.Contains(c, "elder") {
		t.Errorf("NamespaceOverlap is %q; want it to name the namespace and the older quota", c)
	}
	if c := younger.condition("UnknownGpuType"); !strings.HasPrefix(c, "True") || !strings.Contains(c, "B200") {
		t.Errorf("UnknownGpuType is %q; want it to name B200", c)
	}
	w.addPod("two", fixture.GPUs(2))
	w.waitPod("two", "bound", bound)
	w.patchQuota("elder", "spec", object{"quotas": list{object{"gpuType": "*", "guaranteed": "1"}}})
	w.waitQuota("elder", "over its limit", func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("OverLimit"), "True") &&
			q.account() == "*: guaranteed 1, used 2, borrowed 1, lent 0, pending 0"
	})
	w.addPod("more", fixture.GPUs(1))
	w.waitOverQuota("more", "quota elder: * needs 1, 2 of 1 in use")
	w.deleteQuota("elder") // the younger one has the namespace now, but no line for these GPUs
	w.waitOverQuota("more", "quota younger: ")
	w.deleteQuota("younger")
	w.waitPod("more", "bound: nothing limits it any more", bound)
	w.verdict()
}

// TestQuotaDefinitionComesAndGoes: a cluster without the custom resource is scheduled without quotas, which is said once; the resource
// is found when it is installed, and may be deleted again.
func TestQuotaDefinitionComesAndGoes(t *testing.T) {
	w := newWorld(t)
	quotas(t) // installs it, once for all tests
	t.Cleanup(func() { kubectl(t, "apply", "-f", definition()) })
	kubectl(t, "delete", "-f", definition())
	s := startSubject(t)
	w.addGPUNodes(1)
	for i := range 2 {
		w.addPod(fmt.Sprintf("free-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(2)
	if said := s.logLines("GPU quotas are off"); len(said) != 1 {
		t.Errorf("that quotas are off was said %d times, want once: %q", len(said), said)
	}

	kubectl(t, "apply", "-f", definition())
	w.addQuota("comes-and-goes", w.anyType("1", nil))
	w.waitQuota("comes-and-goes", "over its limit", func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("OverLimit"), "True")
	})
	w.addPod("limited", fixture.GPUs(1))
	w.waitOverQuota("limited", "quota comes-and-goes: * needs 1, 2 of 1 in use")

	kubectl(t, "delete", "-f", definition())
	w.waitPod("limited", "bound: there are no quotas any more", bound)
	w.verdict()
}

func definition() string { return filepath.Join(root, "manifests/base/crds/gpuquotas.yaml") }

// kubectl runs it, as an administrator, and returns what it prints.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	cluster := lent(t).cluster
	command := exec.Command(filepath.Join(cluster.Bin(), "kubectl"), append([]string{"--kubeconfig", cluster.Kubeconfig()}, args...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("kubectl %v: %v\n%s", args, err, output)
	}
	return string(output)
}

// logLines are the lines of the scheduler's log that have a text in them.
func (s *subject) logLines(text string) []string {
	content, err := os.ReadFile(s.process.Log)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return !strings.Contains(line, text) })
}

// TestQuotaLetsNobodyStarve: a large pod within its quota's guarantee, passed by small ones, holds the node after a while, says so, and gets it.
func TestQuotaLetsNobodyStarve(t *testing.T) {
	w := newWorld(t)
	startSubject(t, func(with *setup) { with.config += "gpuQuota: {holdAfter: 1s}\n" })
	w.addNode(fixture.GPUNode("patience", fixture.H100, 8))
	w.addQuota("patient", w.anyType("8", nil))
	others := w.beside(w.ns + "-others") // without quota
	for i := range 6 {
		others.addPod(fmt.Sprintf("small-%d", i), fixture.GPUs(1))
		others.waitPod(fmt.Sprintf("small-%d", i), "bound", bound)
	}
	w.addPod("large", fixture.GPUs(4))
	w.waitPod("large", "holding the node", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && strings.Contains(c.Message, "holds node patience until it has room")
	})
	others.addPod("late", fixture.GPUs(1))
	others.waitRefused("late", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.") // two are free, and kept
	for i := range 2 {
		others.deletePod(fmt.Sprintf("small-%d", i))
	}
	w.waitPod("large", "bound", bound)
	if late := others.waitPod("late", "there", func(*corev1.Pod) bool { return true }); bound(late) {
		t.Error("a pod that came later took what was kept")
	}
	w.verdict(others)
}

// TestQuotaDecisionsCanBeRepeated: a recording has all that decisions under quotas came from, so that each is computed again alike.
func TestQuotaDecisionsCanBeRepeated(t *testing.T) {
	program := benchProgram(t)
	w := newWorld(t)
	recording := filepath.Join(t.TempDir(), "recording.jsonl")
	s := newSubject(t, "")
	s.args = append(s.args, "--record", recording)
	s.start()
	w.addGPUNodes(2)
	cohort := object{"cohort": "recorded"}
	w.addQuota("recorded", w.anyType("2", cohort))
	other := w.beside(w.ns + "-beside")
	other.addQuota("recorded-beside", other.anyType("4", cohort))
	for i := range 8 {
		w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(6)
	other.addPod("theirs", fixture.GPUs(2))
	other.waitPod("theirs", "bound", bound)
	w.patchQuota("recorded", "spec", object{"quotas": list{object{"gpuType": "*", "guaranteed": "8"}}})
	w.waitBinds(9)
	s.end()
	output, err := exec.Command(program, "replay", "--recording", recording).CombinedOutput()
	if err != nil {
		t.Errorf("bench replay --recording: %v\n%s", err, output)
	}
	t.Logf("%s", output)
	w.verdict(other)
}
