package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// One team has a webhook on binds in its namespace, failurePolicy Fail, and it is down. Its pods cannot be bound, and are told why; all
// others must hardly notice. What "hardly" is was promised: a bind of others takes so much longer at most.

// TestWebhookRefusesBinds has the webhook's server refuse connections, so that each bind is answered with 500 at once.
func TestWebhookRefusesBinds(t *testing.T) {
	failBinds(t, (*webhook).refuse, "500 Internal Server Error: Internal error occurred: failed calling webhook")
}

// TestWebhookHangsOnBinds has it accept them and say nothing, so that each bind is answered when its deadline has passed.
func TestWebhookHangsOnBinds(t *testing.T) { failBinds(t, (*webhook).hang, "deadline") }

func failBinds(t *testing.T, fail func(*webhook, net.Conn), answer string) {
	const others, theirs, most = 10, 40, 2 * time.Second
	w := newWorld(t)
	team := w.beside(w.ns + "-team")
	w.addGPUNodes(10)
	hook := team.startWebhookOnBinds(fail)
	s := startSubject(t)
	w.addPod("first", fixture.GPUs(1))
	w.waitBinds(1)
	usual := w.bindOthers("before", others)

	w.parallel(theirs, func(i int) { team.addPod(podNumber(i), fixture.GPUs(1)) })
	until(t, "binds that fail", func() bool { return hook.calls() >= 8 })
	fresh := w.bindOthers("new", others)
	t.Logf("%d pods of others are bound %v after the first of them was made, with %d that cannot be bound %v", others, usual, theirs, fresh)

	// Those are told, in a condition and an event: the answer, or that binds before theirs have none.
	team.waitFor("a pod to be told the answer", func(j *history.Judge) bool {
		return slices.ContainsFunc(j.Pods(team.ns), func(p *corev1.Pod) bool {
			c := condition(p)
			return c != nil && strings.HasPrefix(c.Message, "binding to node ") && strings.Contains(c.Message, answer)
		})
	})
	for i := range theirs {
		team.waitPod(podNumber(i), "told why it is not bound", func(p *corev1.Pod) bool {
			c := condition(p)
			return c != nil && c.Reason == "SchedulerError" && c.Status == corev1.ConditionFalse
		})
	}
	team.waitEvent(podNumber(0), "FailedScheduling")
	known := w.bindOthers("known", others)
	t.Logf("when those are known: %v", known)
	// However slow this machine is: as slow it was before.
	if fresh > usual+most {
		t.Errorf("the first %d pods of others were bound after %v, without the webhook after %v; it may cost them %v", others, fresh, usual, most)
	}
	if known > usual+most {
		t.Errorf("later %d pods of others were bound after %v, without the webhook after %v", others, known, usual)
	}

	hook.remove()
	w.waitBinds(1 + 3*others + theirs)
	s.check()
	w.verdict(of(team))
}

// bindOthers makes pods and returns how long it took from the first of them until all were bound.
func (w *world) bindOthers(name string, pods int) time.Duration {
	w.t.Helper()
	since := time.Now()
	w.parallel(pods, func(i int) { w.addPod(fmt.Sprintf("%s-%d", name, i), fixture.GPUs(1)) })
	w.waitFor(name+" pods to be bound", func(j *history.Judge) bool {
		for i := range pods {
			if p := j.Pod(fmt.Sprintf("%s/%s-%d", w.ns, name, i)); p == nil || p.Spec.NodeName == "" {
				return false
			}
		}
		return true
	})
	return time.Since(since).Round(time.Millisecond)
}

// webhook is one with a server that does something wrong.
type webhook struct {
	w        *world
	listener net.Listener
	met      atomic.Int64

	mu   sync.Mutex
	open []net.Conn
}

// startWebhookOnBinds has the API server ask a webhook about each bind in the world's namespace, and returns when that is so.
func (w *world) startWebhookOnBinds(fail func(*webhook, net.Conn)) *webhook {
	w.t.Helper()
	hook := w.startWebhook("pods/binding", admissionregistrationv1.Create, fail)
	until(w.t, "the webhook to be asked", func() bool {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		nowhere := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Target: corev1.ObjectReference{Kind: "Node", Name: "nowhere"}}
		_ = w.client.CoreV1().Pods(w.ns).Bind(ctx, nowhere, metav1.CreateOptions{})
		return hook.met.Load() > 0
	})
	hook.met.Store(0)
	return hook
}

// startWebhook has the API server ask a webhook about such operations in the world's namespace, soon.
func (w *world) startWebhook(resource string, operation admissionregistrationv1.OperationType, fail func(*webhook, net.Conn)) *webhook {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(listener, err)
	hook := &webhook{w: w, listener: listener}
	go hook.serve(fail)
	w.t.Cleanup(hook.close)
	w.must(w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(w.t.Context(), hook.configuration(resource, operation), metav1.CreateOptions{}))
	w.t.Cleanup(hook.remove)
	return hook
}

func (h *webhook) configuration(resource string, operation admissionregistrationv1.OperationType) *admissionregistrationv1.ValidatingWebhookConfiguration {
	url, policy, none, seconds := "https://"+h.listener.Addr().String(), admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, int32(30)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: h.w.ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "webhook.team.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: h.w.ns}},
			FailurePolicy:           &policy,
			SideEffects:             &none,
			TimeoutSeconds:          &seconds,
			AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{operation},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
			}},
		}},
	}
}

func (h *webhook) serve(fail func(*webhook, net.Conn)) {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.met.Add(1)
		fail(h, conn)
	}
}

// refuse ends a connection.
func (h *webhook) refuse(conn net.Conn) { conn.Close() }

// hang keeps a connection and says nothing.
func (h *webhook) hang(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = append(h.open, conn)
}

// calls are the connections that the API server has made. It may ask several times on one, and does not on one that fails.
func (h *webhook) calls() int64 { return h.met.Load() }

// remove has the API server ask no more.
func (h *webhook) remove() {
	hooks := h.w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if err := hooks.Delete(context.Background(), h.w.ns, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		h.w.t.Errorf("clean up the webhook: %v", err)
	}
}

func (h *webhook) close() {
	h.listener.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conn := range h.open {
		conn.Close()
	}
}
