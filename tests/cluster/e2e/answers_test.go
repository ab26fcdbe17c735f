package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTenantsAskTheScheduler has two tenants with rights in their own namespaces alone, on one node that pods of both fill. Each is told by `kubectl gpu why`
// why its own pod waits, and no name of the other's pods nor of the node; and by `kubectl gpu queue` and `quota` which of its pods wait, in the line of the quota that
// both share. A stranger, and each tenant about the other's pod, is told nothing.
func TestTenantsAskTheScheduler(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such answers")
	}
	red := newWorld(t)
	blue := red.beside(red.ns + "-neighbour")
	port, err := controlplane.FreePort()
	red.must(nil, err)
	server := fmt.Sprintf("https://127.0.0.1:%d", port)
	startSubject(t, func(with *setup) { with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port), "--answers") })

	red.addNode(fixture.GPUNode("shared-machine", fixture.H100, 8))
	shared := red.ns + "-shared"
	red.addQuota(shared, object{
		"namespaces": list{red.ns, blue.ns},
		"quotas":     list{object{"gpuType": "*", "guaranteed": "32"}},
	})
	names := map[*world]string{red: "red", blue: "blue"}
	for w, name := range names {
		w.addPod(name+"-runs", fixture.GPUs(4))
	}
	red.waitBinds(2)
	for w, name := range names {
		w.addPod(name+"-waits", fixture.GPUs(8))
		w.waitPod(name+"-waits", "refused", func(p *corev1.Pod) bool {
			c := condition(p)
			return c != nil && c.Reason == corev1.PodReasonUnschedulable
		})
		w.letReadPods("tenant")
	}

	why := func(w *world, pod, token string) page {
		return get(t, server+"/answers/why?"+url.Values{"namespace": {w.ns}, "pod": {pod}}.Encode(), token)
	}
	places := 0
	tokens := map[*world]string{}
	for own, name := range names {
		other, otherName := red, "red"
		if own == red {
			other, otherName = blue, "blue"
		}
		token := own.token("tenant")
		tokens[own] = token
		own.awaitPodRight("tenant")
		got := own.askedOfScheduler("tenant", server, "why", "pod/"+name+"-waits", "-n", own.ns)
		var answer struct {
			Verdict   string
			FreesWhen struct{ PodsEnd []string }
			Withheld  struct {
				Nodes       bool
				PodsThatEnd int
			}
		}
		own.must(nil, json.Unmarshal([]byte(got), &answer))
		if answer.Verdict != "Waits" || answer.Withheld.PodsThatEnd != 1 || !answer.Withheld.Nodes {
			t.Errorf("of a pod that waits for its own pod and another's: %s", got)
		}
		if want := own.ns + "/" + name + "-runs (4)"; !slices.Equal(answer.FreesWhen.PodsEnd, []string{want}) {
			t.Errorf("want %q in %s", want, got)
		}
		for _, hidden := range []string{"shared-machine", otherName + "-runs", otherName + "-waits", other.ns + "/"} {
			if strings.Contains(got, hidden) {
				t.Errorf("%q is named in %s", hidden, got)
			}
		}

		line := own.askedOfScheduler("tenant", server, "queue", "-n", own.ns)
		var queue struct {
			Pods []struct {
				Pod                     struct{ Name string }
				PlaceInLine, LineLength int
				BlockedBy, Quota        string
			}
		}
		own.must(nil, json.Unmarshal([]byte(line), &queue))
		if len(queue.Pods) != 1 || queue.Pods[0].Pod.Name != name+"-waits" || queue.Pods[0].LineLength != 2 ||
			queue.Pods[0].BlockedBy != "nodes" || queue.Pods[0].Quota != shared {
			t.Fatalf("of one pod in a line of two: %s", line)
		}
		places += queue.Pods[0].PlaceInLine
		account := own.askedOfScheduler("tenant", server, "quota", "-n", own.ns)
		var quotas struct {
			Quotas []struct {
				Name  string
				Lines []struct{ Use quotaUse }
			}
			Line struct{ Pods, FirstOfNamespace int }
		}
		own.must(nil, json.Unmarshal([]byte(account), &quotas))
		if len(quotas.Quotas) != 1 || quotas.Quotas[0].Name != shared || quotas.Quotas[0].Lines[0].Use.Used != "8" ||
			quotas.Line.Pods != 2 || quotas.Line.FirstOfNamespace != queue.Pods[0].PlaceInLine {
			t.Errorf("of the quota that both share: %s", account)
		}
		for _, hidden := range []string{"shared-machine", otherName + "-waits", other.ns + "/"} {
			if strings.Contains(line+account, hidden) {
				t.Errorf("%q is named in %s%s", hidden, line, account)
			}
		}
		if got := get(t, server+"/answers/queue?"+url.Values{"namespace": {other.ns}}.Encode(), token); got.status != http.StatusForbidden {
			t.Errorf("about the other's queue: %+v", got)
		}

		there, nothing := why(other, otherName+"-waits", token), why(other, "unheard-of", token)
		if there.status != http.StatusForbidden || there != nothing {
			t.Errorf("about the other's pod: %+v, about one that there is not: %+v", there, nothing)
		}
	}
	if places != 1+2 {
		t.Errorf("the two pods have places that sum up to %d", places)
	}
	stranger := red.token("stranger")
	for w, name := range names {
		if got := why(w, name+"-waits", stranger); got.status != http.StatusForbidden || strings.Contains(got.body, "-waits") {
			t.Errorf("a stranger: %+v", got)
		}
	}

	// Four free GPUs do not help a pod that needs eight, so nothing is decided on it; its status says so once somebody asks.
	blue.deletePod("blue-runs")
	var answer page
	until(t, "the scheduler to see that GPUs are free", func() bool {
		time.Sleep(2 * time.Second) // the account's budget
		answer = why(red, "red-waits", tokens[red])
		return strings.Contains(answer.body, "most free is 4 of 8")
	})
	red.waitPod("red-waits", "told what the answer says", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, "most free is 4 of 8 (shared-machine)")
	})
	for w, name := range names {
		w.deletePod(name + "-waits")
	}
}

// awaitPodRight waits until the API server lets an account of the test's namespace get its pods. The scheduler is not asked: it remembers a no for ten
// seconds, and each question takes from the account's budget.
func (w *world) awaitPodRight(account string) {
	w.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + w.ns + ":" + account,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: w.ns, Verb: "get", Resource: "pods"},
	}}
	until(w.t, "the API server to know the role", func() bool {
		got, err := w.client.AuthorizationV1().SubjectAccessReviews().Create(w.t.Context(), review, metav1.CreateOptions{})
		return err == nil && got.Status.Allowed
	})
}

// askedOfScheduler is the JSON that the plugin prints for an account of the test's namespace, which may not list the cluster.
func (w *world) askedOfScheduler(account, server string, args ...string) string {
	w.t.Helper()
	kubeconfig, err := w.cluster.TokenKubeconfig(w.t.Context(), w.ns, account)
	w.must(nil, err)
	command := exec.Command(programBeside(w.t, "kubectl-gpu"), append(args, "--kubeconfig", kubeconfig, "--server", server, "--insecure-skip-tls-verify", "-o", "json")...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		w.t.Fatalf("kubectl-gpu %v: %v", args, err)
	}
	if code := command.ProcessState.ExitCode(); code != 0 || !strings.Contains(complaints.String(), "so the scheduler answered") && args[0] != "why" {
		w.t.Fatalf("kubectl-gpu %v ended with %d: %s\n%s", args, code, complaints.String(), output)
	}
	return string(output)
}
