package ecosystem

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// What the tests with other projects' controllers have in common. Those controllers are the projects' own programs, with their definitions and their
// webhooks; only what a kubelet does is simulated.

// patience is how long such a test waits for one thing: the machine may have other work.
const patience = 4 * time.Minute

// eventually waits until ok, and fails with what was seen last.
func (p *plane) eventually(what string, ok func() (bool, string)) {
	p.t.Helper()
	p.within(patience, what, ok)
}

func (p *plane) within(limit time.Duration, what string, ok func() (bool, string)) {
	p.t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		done, seen := ok()
		if done {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not after %v; now: %s", what, limit, seen)
		}
	}
}

func example(path string) string { return filepath.Join(root, "manifests/examples", path) }

func (p *plane) addNodes(nodes ...*corev1.Node) {
	p.t.Helper()
	for _, node := range nodes {
		if _, err := p.cluster.Client().CoreV1().Nodes().Create(p.t.Context(), node, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

func taintedGPUs(name string, model fixture.Model) *corev1.Node {
	return fixture.GPUNode(name, model, 8, fixture.Tainted())
}

// startController starts another project's controller that reads a configuration file, with its webhooks. In its configuration HEALTH, WEBHOOK and CERTS stand for
// two ports and for the folder with the webhook's certificate.
func (p *plane) startController(name, configuration string) {
	p.t.Helper()
	health, webhook, certificates := p.freePort(), p.freePort(), filepath.Join(p.t.TempDir(), "certificates")
	if err := p.cluster.WriteServingCertificate(certificates); err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.t.TempDir(), name+".yaml")
	configuration = strings.NewReplacer("HEALTH", fmt.Sprint(health), "WEBHOOK", fmt.Sprint(webhook), "CERTS", certificates).Replace(configuration)
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.startDefined(name, nil, []string{"--config=" + file}, func() (bool, string) { return answers(health, webhook) })
	p.registerWebhooks(name, webhook)
}

// startDefined starts another project's controller as tests/cluster/build.sh --ecosystem left it in bin, NAME and NAME-crds.yaml, and waits until it is ready.
func (p *plane) startDefined(name string, env, args []string, ready func() (bool, string)) *controlplane.Process {
	p.t.Helper()
	p.define(name)
	process, err := p.cluster.StartChild(name, append(env, "KUBECONFIG="+p.cluster.Kubeconfig()), filepath.Join(bin, name), args...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if p.t.Failed() {
			p.t.Logf("%s said last:\n%s", name, lastLines(process.Log))
		}
	})
	p.eventually(name+" is ready", func() (bool, string) {
		if !process.Running() {
			p.t.Fatalf("%s ended: %v\n%s", name, process.Wait(), lastLines(process.Log))
		}
		return ready()
	})
	return process
}

// define brings a project's definitions, NAME-crds.yaml. They are large: a busy API server may give up a request that it answers when it is asked again.
func (p *plane) define(name string) {
	p.t.Helper()
	file := filepath.Join(bin, name+"-crds.yaml")
	p.eventually("the API server has the definitions of "+name, func() (bool, string) {
		_, err := run(p.t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "apply", "--server-side", "-f", file)
		return err == nil, fmt.Sprint(err)
	})
	p.waitEstablished("-f", file)
}

// waitEstablished waits until the API server serves definitions. kubectl takes one that has no conditions yet for a failure and waits no longer, so it is asked again.
func (p *plane) waitEstablished(definitions ...string) {
	p.t.Helper()
	p.eventually(strings.Join(definitions, " ")+" are established", func() (bool, string) {
		_, err := run(p.t, "kubectl", slices.Concat([]string{"--kubeconfig", p.cluster.Kubeconfig(), "wait", "--for=condition=Established", "--timeout=10s"}, definitions)...)
		return err == nil, fmt.Sprint(err)
	})
}

// answers asks a controller's probe, and whether its webhooks' port speaks TLS.
func answers(health, webhook int) (bool, string) {
	if ready, seen := probe(health, "/readyz"); !ready {
		return false, seen
	}
	dialer := &net.Dialer{Timeout: time.Second}
	connection, err := tls.DialWithDialer(dialer, "tcp", fmt.Sprintf("127.0.0.1:%d", webhook), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return false, err.Error()
	}
	connection.Close()
	return true, ""
}

func probe(port int, path string) (bool, string) {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return false, err.Error()
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK, response.Status
}

func lastLines(file string) string {
	text, _ := os.ReadFile(file)
	return string(text[max(0, len(text)-2000):])
}

func (p *plane) freePort() int {
	p.t.Helper()
	port, err := controlplane.FreePort()
	if err != nil {
		p.t.Fatal(err)
	}
	return port
}

func (p *plane) dynamic() dynamic.Interface {
	p.t.Helper()
	client, err := dynamic.NewForConfig(p.cluster.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	return client
}

func (p *plane) object(group, version, resource, namespace, name string) *unstructured.Unstructured {
	p.t.Helper()
	of := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	object, err := p.dynamic().Resource(of).Namespace(namespace).Get(p.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return object
}

// registerWebhooks registers a project's webhooks as its manifests have them, but by address: there is no Service here.
func (p *plane) registerWebhooks(name string, port int) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(bin, name+"-webhooks.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	registered := 0
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			p.t.Fatalf("%s-webhooks.yaml: %v", name, err)
		}
		resource, is := map[string]string{
			"MutatingWebhookConfiguration": "mutatingwebhookconfigurations", "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
		}[object.GetKind()]
		if !is {
			continue
		}
		for _, hook := range object.Object["webhooks"].([]any) {
			path, _, _ := unstructured.NestedString(hook.(map[string]any), "clientConfig", "service", "path")
			hook.(map[string]any)["clientConfig"] = map[string]any{
				"url":      fmt.Sprintf("https://127.0.0.1:%d%s", port, path),
				"caBundle": base64.StdEncoding.EncodeToString(p.cluster.Config().CAData),
			}
			registered++
		}
		object.SetName(name + "-" + object.GetName())
		of := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
		if _, err := p.dynamic().Resource(of).Create(p.t.Context(), &object, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
	if registered == 0 {
		p.t.Fatalf("%s-webhooks.yaml has no webhooks", name)
	}
}

// waitWebhooks waits until the API server asks a project's webhooks, by a field that they fill in an object which is not kept.
func (p *plane) waitWebhooks(file, jsonpath, want string) {
	p.t.Helper()
	p.eventually("webhooks fill "+jsonpath, func() (bool, string) {
		got, err := run(p.t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "create", "--dry-run=server", "-f", file, "-o", "jsonpath={"+jsonpath+"}")
		return strings.Contains(got, want), fmt.Sprintf("%q %v", got, err)
	})
}

// pods are those of a namespace that a selector of labels selects and that are not being deleted.
func (p *plane) pods(namespace, selector string) []corev1.Pod {
	p.t.Helper()
	list, err := p.cluster.Client().CoreV1().Pods(namespace).List(p.t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		p.t.Fatal(err)
	}
	var pods []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

// waitPodsThat waits until exactly so many pods of a selector are as asked, and returns them.
func (p *plane) waitPodsThat(are string, namespace, selector string, want int, asked func(*corev1.Pod) bool) (found []corev1.Pod) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%d pods of %s %s", want, selector, are), func() (bool, string) {
		found = nil
		var seen strings.Builder
		for _, pod := range p.pods(namespace, selector) {
			fmt.Fprintf(&seen, "\n%s of %q on %q, %s: %v", pod.Name, pod.Spec.SchedulerName, pod.Spec.NodeName, pod.Status.Phase, scheduled(&pod))
			if asked(&pod) {
				found = append(found, pod)
			}
		}
		return len(found) == want, seen.String()
	})
	return found
}

// waitRunning waits until exactly so many pods of gpu-scheduler run, on nodes whose names begin so.
func (p *plane) waitRunning(namespace, selector string, want int, on string) []corev1.Pod {
	p.t.Helper()
	return p.waitPodsThat("run on "+on, namespace, selector, want, func(pod *corev1.Pod) bool {
		if node := pod.Spec.NodeName; node != "" && !strings.HasPrefix(node, on) || pod.Spec.SchedulerName != "gpu-scheduler" {
			p.t.Fatalf("%s of %q is on %q, want a node %s…", pod.Name, pod.Spec.SchedulerName, node, on)
		}
		return pod.Status.Phase == corev1.PodRunning
	})
}

// waitWaiting waits until exactly so many pods of a selector wait for this reason and with these words in their message.
func (p *plane) waitWaiting(namespace, selector string, want int, reason, words string) []corev1.Pod {
	p.t.Helper()
	return p.waitPodsThat("wait with "+reason, namespace, selector, want, func(pod *corev1.Pod) bool {
		c := scheduled(pod)
		return pod.Spec.NodeName == "" && c.Status == corev1.ConditionFalse && c.Reason == reason && strings.Contains(c.Message, words)
	})
}

// scheduled is a pod's condition PodScheduled, empty if it has none.
func scheduled(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}

// end ends pods as their kubelets would when their programs have ended.
func (p *plane) end(pods ...corev1.Pod) {
	p.t.Helper()
	for _, pod := range pods {
		status := corev1.PodStatus{Phase: corev1.PodSucceeded}
		now := metav1.Now()
		for _, container := range pod.Spec.Containers {
			ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
			status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, Image: container.Image, State: ended})
		}
		patch, err := json.Marshal(map[string]any{"status": status})
		if err == nil {
			_, err = p.cluster.Client().CoreV1().Pods(pod.Namespace).Patch(p.t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// newSite is a plane with controllers, on which pods of Jobs run until the test ends them.
func newSite(t *testing.T, nodes ...*corev1.Node) *plane {
	t.Helper()
	p := newPlane(t)
	p.startControllers("pod-complete")
	p.addNodes(nodes...)
	return p
}
