package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
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
	w.verdict(of(other))
}

// TestReplacedQuota: kubectl replace --force is a deletion and a creation. However often it is done, no pod exceeds the quota in between.
func TestReplacedQuota(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addGPUNodes(1)
	w.addQuota("replaced", w.anyType("2", nil))
	for i := range 6 {
		w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(2)
	for range 10 {
		w.deleteQuota("replaced")
		w.createQuota(quota("replaced", w.anyType("2", nil)))
		w.waitAccount("replaced", "*: guaranteed 2, used 2, borrowed 0, lent 0, pending 4")
	}
	if got := w.boundSoFar(); got != 2 {
		t.Errorf("%d pods are bound, want the 2 that the quota allows", got)
	}
	w.verdict()
}

// TestQuotaDeletedWhileNobodySchedules: a process that starts after the deletion knows of it, and keeps the namespaces closed.
func TestQuotaDeletedWhileNobodySchedules(t *testing.T) {
	e := newElection(t)
	w := e.w
	leader := e.startLeader()
	w.addGPUNodes(1)
	w.addQuota("remembered", w.anyType("2", nil))
	for i := range 4 {
		w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(2)
	remembers := func(text string) {
		t.Helper()
		deadline := time.Now().Add(waitLimit)
		for {
			memory, err := w.cluster.Client().CoreV1().ConfigMaps(leaseName).Get(t.Context(), leaseName+"-quotas", metav1.GetOptions{})
			if err == nil && strings.Contains(memory.Data["remembered"], text) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the memory is %v (%v), want %q in it", memory, err, text)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	remembers(w.ns)
	leader.stop()
	w.deleteQuota("remembered")
	second := e.startLeader()
	w.addPod("late", fixture.GPUs(1))
	w.waitOverQuota("late", "quota remembered was deleted: its namespaces get no GPUs until ")
	remembers("deletionTimestamp")
	// And one more, which knows it from the second.
	second.stop()
	e.startLeader()
	w.addPod("later", fixture.GPUs(1))
	w.waitOverQuota("later", "quota remembered was deleted: its namespaces get no GPUs until ")
	if got := w.boundSoFar(); got != 2 {
		t.Errorf("%d pods are bound, want the 2 from before", got)
	}
	w.addQuota("remembered", w.anyType("3", nil))
	w.waitBinds(3)
	w.verdict()
}

// TestQuotaStatusHasTwoWriters: what another client writes into a status is corrected, and what it writes elsewhere stays.
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

// TestQuotaWithAStrangeStatus: a status that is none of ours keeps no scheduler from starting, and is written anew.
func TestQuotaWithAStrangeStatus(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(1)
	w.createQuota(quota("strange", w.anyType("8", nil)))
	w.patchQuota("strange", "status", object{"total": object{"used": "a lot"}}, "status")
	startSubject(t)
	w.addPod("pod", fixture.GPUs(1))
	w.waitBinds(1)
	w.waitAccount("strange", "*: guaranteed 8, used 1, borrowed 0, lent 0, pending 0")
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
	if c := younger.condition("Ready"); !strings.HasPrefix(c, "False NoNamespace") {
		t.Errorf("Ready is %q; want it to say that the quota has no namespace", c)
	}
	if c := younger.condition("GuaranteesExceedGpus"); !strings.HasPrefix(c, "True") || !strings.Contains(c, "B200: all quotas guarantee 8, nodes have 0") {
		t.Errorf("GuaranteesExceedGpus is %q; want it to say how many B200 there are", c)
	}
	if c := younger.condition("UnknownGpuType"); !strings.HasPrefix(c, "True") || !strings.Contains(c, "B200") {
		t.Errorf("UnknownGpuType is %q; want it to name B200", c)
	}
	w.addPod("two", fixture.GPUs(2))
	w.waitPod("two", "bound", bound)
	w.patchQuota("elder", "spec", object{"quotas": list{object{"gpuType": "*", "guaranteed": "1"}}})
	w.waitQuota("elder", "over its limit", func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("OverLimit"), "True") &&
			q.account() == "*: guaranteed 1, used 2, borrowed 0, lent 0, pending 0"
	})
	w.addPod("more", fixture.GPUs(1))
	w.waitOverQuota("more", "quota elder: * needs 1, 2 of 1 in use, first in line")
	w.deleteQuota("elder") // the younger one has the namespace now, but no line for these GPUs
	w.waitOverQuota("more", "quota younger: ")
	w.deleteQuota("younger") // which opens nothing while its pods use some
	for _, deleted := range []string{"elder", "younger"} {
		w.waitOverQuota("more", "quota "+deleted+" was deleted: its namespaces get no GPUs until ")
		w.addQuota(deleted, w.anyType("2", object{"whenDeleted": "Open"}))
		w.waitOverQuota("more", "quota "+deleted+": * needs 1, 2 of 2 in use")
		w.deleteQuota(deleted)
	}
	w.waitPod("more", "bound: nothing limits it any more", bound)
	w.verdict()
}

// TestNamespacesWithoutQuota: where the configuration names a default quota, namespaces that no quota claims get no GPUs until it is there, and
// share it then.
func TestNamespacesWithoutQuota(t *testing.T) {
	w := newWorld(t)
	quotas(t)
	other := w.beside(w.ns + "-beside")
	w.startWithDefaultQuota("rest", other)
	w.addGPUNodes(1)
	w.addPod("first", fixture.GPUs(1))
	w.waitOverQuota("first", "namespace "+w.ns+" has no GPU quota, and pods without quota get no GPUs")
	w.addPod("without", fixture.Requests("cpu", "1"))
	w.waitPod("without", "bound: it asks for no GPU", bound)
	w.addQuota("rest", object{"namespaces": list{w.ns + "-nobody"}, "quotas": list{object{"gpuType": "*", "guaranteed": "2"}}})
	w.waitPod("first", "bound", bound)
	other.addPod("second", fixture.GPUs(1))
	other.waitPod("second", "bound", bound)
	w.addPod("third", fixture.GPUs(1))
	w.waitOverQuota("third", "quota rest: * needs 1, 2 of 2 in use, first in line; 1 more must be freed")
	w.waitAccount("rest", "*: guaranteed 2, used 2, borrowed 0, lent 0, pending 1")
	w.deleteQuota("rest")
	w.addPod("fourth", fixture.GPUs(1))
	w.waitOverQuota("fourth", "namespace "+w.ns+" has no GPU quota")
	w.verdict(of(other))
}

// TestNoGPUsWithoutQuota: the default None gives namespaces that no quota claims no GPUs, and takes nothing from what runs.
func TestNoGPUsWithoutQuota(t *testing.T) {
	w := newWorld(t)
	quotas(t)
	w.startWithDefaultQuota("None")
	w.addGPUNodes(1)
	w.addPod("first", fixture.GPUs(1))
	w.waitOverQuota("first", "namespace "+w.ns+" has no GPU quota, and pods without quota get no GPUs")
	w.addPod("without", fixture.Requests("cpu", "1"))
	w.waitPod("without", "bound: it asks for no GPU", bound)
	w.addQuota("claims", w.anyType("1", nil))
	w.waitPod("first", "bound", bound)
	w.deleteQuota("claims")
	w.addPod("second", fixture.GPUs(1))
	w.waitOverQuota("second", "quota claims was deleted: its namespaces get no GPUs until ")
	w.verdict()
}

// startWithDefaultQuota starts the scheduler with a default quota, by which the world's namespace and those beside it are judged from now on.
func (w *world) startWithDefaultQuota(name string, beside ...*world) {
	w.t.Helper()
	for _, each := range append(beside, w) {
		w.recorder.DefaultQuota(name, each.ns)
	}
	startSubject(w.t, func(with *setup) { with.config += "gpuQuota: {defaultQuota: " + name + "}\n" })
}

// TestQuotaOfANodeWithoutLabels: while a node has lost the label that says what it has, its pods stay charged as they were bound, by another process
// as well.
func TestQuotaOfANodeWithoutLabels(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	w.addNode(fixture.GPUNode("forgets", fixture.H100, 8))
	w.addQuota("forgets", object{"namespaces": list{w.ns}, "quotas": list{
		object{"gpuType": "H100", "guaranteed": "4"}, object{"gpuType": "*", "guaranteed": "8"},
	}})
	w.addPod("pod", fixture.GPUs(4))
	if p := w.waitPod("pod", "bound", bound); p.Annotations["gpu-scheduler.io/charged-as"] != fixture.H100.Product {
		t.Errorf("the pod's annotations are %v; want it to say what it is charged as", p.Annotations)
	}
	w.changeNode("forgets", func(n *corev1.Node) { delete(n.Labels, productLabel) })
	asBound := func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("UnknownGpuType"), "True") &&
			q.account() == "H100: guaranteed 4, used 4, borrowed 0, lent 0, pending 0; *: guaranteed 8, used 0, borrowed 0, lent 0, pending 0"
	}
	w.waitQuota("forgets", "without a node of its type, and charged as before", asBound)
	s.kill()
	w.patchQuota("forgets", "status", object{"quotas": list{}, "conditions": list{}}, "status")
	s.start()
	w.waitQuota("forgets", "charged as before by another process", asBound)

	w.changeNode("forgets", func(n *corev1.Node) { n.Labels[productLabel] = fixture.H100.Product })
	w.addPod("more", fixture.GPUs(1), fixture.On(productLabel, fixture.H100.Product))
	w.waitOverQuota("more", "quota forgets: H100 needs 1, 4 of 4 in use")
	w.verdict()
}

// TestQuotaDefinitionComesAndGoes: a cluster without the custom resource is scheduled without quotas, which is said once; the resource
// is found when it is installed, and may be deleted again. An object from before its rules gives nothing until it is repaired, and says why.
func TestQuotaDefinitionComesAndGoes(t *testing.T) {
	w := newWorld(t)
	quotas(t) // installs it, once for all tests
	t.Cleanup(func() {
		kubectl(t, "apply", "-f", definition())
		// "kubectl wait" takes a definition that has no conditions yet for a failure.
		until(t, "the definition of GpuQuota is served", func() bool {
			return kubectl(t, "get", "-f", definition(), "-o", `jsonpath={.status.conditions[?(@.type=="Established")].status}`) == "True"
		})
	})
	kubectl(t, "delete", "-f", definition())
	s := startSubject(t, func(with *setup) { with.config += "gpuQuota: {closedAfterDeletion: 0s}\n" })
	w.addGPUNodes(1)
	for i := range 2 {
		w.addPod(fmt.Sprintf("free-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(2)
	const off = "GPU quotas are off"
	until(t, "word that "+off, func() bool { return len(s.logLines(off)) > 0 })
	if said := s.logLines(off); len(said) != 1 {
		t.Errorf("that quotas are off was said %d times, want once: %q", len(said), said)
	}

	kubectl(t, "apply", "-f", w.definitionWithoutRules())
	w.createQuota(quota("comes-and-goes", w.anyType("4", object{"quotas": list{object{"gpuType": "*", "guaranteed": "4", "limit": "2"}}})))
	kubectl(t, "apply", "-f", definition())
	const why = "spec.quotas[0].limit: 2 is less than guaranteed, 4"
	w.waitQuota("comes-and-goes", "not ready", func(q *quotaObject) bool {
		return strings.HasPrefix(q.condition("Ready"), "False InvalidSpec: "+why)
	})
	w.addPod("limited", fixture.GPUs(1))
	w.waitOverQuota("limited", "quota comes-and-goes is not valid: "+why)

	w.patchQuota("comes-and-goes", "spec", w.anyType("1", nil))
	w.waitQuota("comes-and-goes", "enforced and over its limit", func(q *quotaObject) bool {
		return q.enforced() && strings.HasPrefix(q.condition("OverLimit"), "True")
	})
	w.waitOverQuota("limited", "quota comes-and-goes: * needs 1, 2 of 1 in use")

	kubectl(t, "delete", "-f", definition())
	w.waitPod("limited", "bound: there are no quotas any more", bound)
	w.verdict()
}

// definitionWithoutRules is the file of a definition that takes what the real one refuses, as an earlier one may have.
func (w *world) definitionWithoutRules() string {
	w.t.Helper()
	content, err := os.ReadFile(definition())
	w.must(nil, err)
	made := &unstructured.Unstructured{}
	w.must(nil, yaml.Unmarshal(content, &made.Object))
	dropRules(made.Object)
	content, err = made.MarshalJSON()
	w.must(nil, err)
	file := filepath.Join(w.t.TempDir(), "definition.json")
	w.must(nil, os.WriteFile(file, content, 0o600))
	return file
}

func dropRules(part any) {
	switch part := part.(type) {
	case object:
		delete(part, "x-kubernetes-validations")
		for _, each := range part {
			dropRules(each)
		}
	case list:
		for _, each := range part {
			dropRules(each)
		}
	}
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
	w.verdict(of(others))
}

// TestQuotaDecisionsCanBeRepeated: a recording has all that decisions under quotas came from, so that each is computed again alike.
func TestQuotaDecisionsCanBeRepeated(t *testing.T) {
	program := programBeside(t, "bench")
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
	w.verdict(of(other))
}
