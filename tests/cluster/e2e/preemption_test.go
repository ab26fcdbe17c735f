package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestPreemption: a pod of high priority that no node takes gets a node whose pods of lower priority are evicted: not those that a
// PodDisruptionBudget protects, and none without a controller. It is bound when they are gone, and nobody else gets the room before.
func TestPreemption(t *testing.T) {
	w := newWorld(t)
	high := w.addPriorityClass("high", 1000)
	set := w.addReplicaSet("low")
	w.mayPreempt()
	startSubject(t, preempting)

	nodes := w.addGPUNodes(3)
	guarded, bare, taken := nodes[0].Name, nodes[1].Name, nodes[2].Name
	w.addPod("guarded", fixture.GPUs(8), fixture.On(hostname, guarded), app("guarded"), ownedBy(set))
	w.protect("guarded")
	w.addPod("bare", fixture.GPUs(8), fixture.On(hostname, bare))
	for i := range 2 {
		w.addPod(fmt.Sprintf("low-%d", i), fixture.GPUs(4), fixture.On(hostname, taken), ownedBy(set), withGrace(3600))
	}
	w.waitBinds(4)

	w.addPod("urgent", fixture.GPUs(8), ofClass(high))
	w.waitPod("urgent", "nominated", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName == taken })
	w.waitPod("urgent", "told", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && strings.Contains(c.Message, "placement for pod on node "+taken+", preempting 2 victims")
	})
	uid := w.waitPod("urgent", "there", func(*corev1.Pod) bool { return true }).UID
	for i := range 2 {
		victim := fmt.Sprintf("low-%d", i)
		p := w.waitPod(victim, "deleted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
		at := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
		if at < 0 {
			t.Fatalf("%s has no condition DisruptionTarget", victim)
		}
		c := p.Status.Conditions[at]
		if want := schedulerName + ": preempting to accommodate a higher priority pod"; c.Status != corev1.ConditionTrue ||
			c.Reason != corev1.PodReasonPreemptionByScheduler || c.Message != want {
			t.Errorf("%s: condition %+v", victim, c)
		}
		e := w.waitEvent(victim, "Preempted")
		if want := fmt.Sprintf("Preempted by pod %s on node %s", uid, taken); e.Note != want {
			t.Errorf("event of %s: %q, want %q", victim, e.Note, want)
		}
	}
	// Half of the room is there; it is kept.
	w.deletePod("low-0")
	w.addPod("small", fixture.GPUs(4))
	w.waitRefused("small", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
	if p := w.waitPod("urgent", "there", func(*corev1.Pod) bool { return true }); bound(p) {
		t.Fatal("bound while a victim still runs")
	}
	w.deletePod("low-1")
	w.expectOn("urgent", taken)
	for _, name := range []string{"guarded", "bare"} {
		if p := w.waitPod(name, "there", func(*corev1.Pod) bool { return true }); p.DeletionTimestamp != nil {
			t.Errorf("%s was evicted", name)
		}
	}
	w.verdict()
}

// TestPreemptionRefusedForOneVictim: an admission policy refuses that one of two victims is deleted. Then neither is, nor told that it will be.
func TestPreemptionRefusedForOneVictim(t *testing.T) {
	w := newWorld(t)
	high := w.addPriorityClass("high", 1000)
	set := w.addReplicaSet("low")
	w.mayPreempt()
	w.addGPUNodes(1)
	startSubject(t, preempting)
	for _, name := range []string{"free", "kept"} {
		w.addPod(name, fixture.GPUs(4), ownedBy(set), app(name))
	}
	w.waitBinds(2)
	w.mayNotDelete("kept")

	w.addPod("urgent", fixture.GPUs(8), ofClass(high))
	w.waitPod("urgent", "told", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && c.Reason == "SchedulerError" && strings.Contains(c.Message, "kept is not deleted here")
	})
	for _, name := range []string{"free", "kept"} {
		p := w.waitPod(name, "there", func(*corev1.Pod) bool { return true })
		marked := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
		if p.DeletionTimestamp != nil || marked {
			t.Errorf("%s: deleted at %v, marked: %t", name, p.DeletionTimestamp, marked)
		}
	}
	w.verdict()
}

// TestPreemptionGoesOnAfterAKill: of a scheduler that is killed while victims leave, the next one goes on: no second pod is evicted.
func TestPreemptionGoesOnAfterAKill(t *testing.T) {
	w := newWorld(t)
	high := w.addPriorityClass("high", 1000)
	set := w.addReplicaSet("low")
	w.mayPreempt()
	s := startSubject(t, preempting)
	w.addGPUNodes(2)
	for i := range 2 {
		w.addPod(fmt.Sprintf("low-%d", i), fixture.GPUs(8), ownedBy(set), withGrace(3600))
	}
	w.waitBinds(2)
	w.addPod("urgent", fixture.GPUs(8), ofClass(high))
	leaving := func() (names []string) {
		return w.podsThat(func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	}
	until(t, "a victim", func() bool { return len(leaving()) == 1 })
	victim := leaving()[0]
	s.kill()
	s.start()
	w.addPod("later", fixture.GPUs(1))
	w.waitRefused("later", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")
	w.waitPod("urgent", "told", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && strings.Contains(c.Message, "where 1 pods are being deleted")
	})
	if now := leaving(); len(now) != 1 || now[0] != victim {
		t.Fatalf("evicted: %v, and before the kill %s", now, victim)
	}
	w.deletePod(victim)
	w.waitPod("urgent", "bound", bound)
	w.verdict()
}

// TestPreemptionWithoutTheRight: without the role nothing is evicted, and the pod is told what is missing.
func TestPreemptionWithoutTheRight(t *testing.T) {
	withoutTheRight(t, newWorld(t), func(c *corev1.PodCondition) bool {
		return strings.Contains(c.Message, "preemption: 0/1 nodes are available: 1 PodDisruptionBudgets cannot be read.")
	})
}

// TestPreemptionWithHalfOfTheRight: budgets may be read, and no pod may be deleted.
func TestPreemptionWithHalfOfTheRight(t *testing.T) {
	w := newWorld(t)
	w.mayReadBudgets()
	withoutTheRight(t, w, func(c *corev1.PodCondition) bool {
		return c.Reason == "SchedulerError" && strings.Contains(c.Message, "403 Forbidden")
	})
}

func withoutTheRight(t *testing.T, w *world, told func(*corev1.PodCondition) bool) {
	t.Helper()
	high := w.addPriorityClass("high", 1000)
	set := w.addReplicaSet("low")
	startSubject(t, preempting)
	w.addGPUNodes(1)
	w.addPod("low", fixture.GPUs(8), ownedBy(set))
	w.waitBinds(1)
	w.addPod("urgent", fixture.GPUs(8), ofClass(high))
	w.waitPod("urgent", "told", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && told(c)
	})
	if p := w.waitPod("low", "there", func(*corev1.Pod) bool { return true }); p.DeletionTimestamp != nil {
		t.Error("evicted")
	}
	w.verdict()
}

// preempting enables preemption in the profile.
func preempting(with *setup) {
	with.config += "  plugins: {postFilter: {enabled: [{name: DefaultPreemption}]}}\n"
}

// mayPreempt gives the scheduler's account the rights until the test ends.
func (w *world) mayPreempt() {
	w.t.Helper()
	if _, err := lent(w.t).identity(); err != nil { // makes the namespace
		w.t.Fatal(err)
	}
	folder := filepath.Join(root, "manifests/policies/preemption")
	kubectl(w.t, "apply", "-k", folder)
	w.t.Cleanup(func() { kubectl(w.t, "delete", "-k", folder) })
}

// mayReadBudgets gives the scheduler's account that right alone, until the test ends.
func (w *world) mayReadBudgets() {
	w.t.Helper()
	if _, err := lent(w.t).identity(); err != nil { // makes the namespace
		w.t.Fatal(err)
	}
	name := w.ns + "-budgets"
	roles := w.client.RbacV1()
	w.must(roles.ClusterRoles().Create(w.t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: []string{"list", "watch"}}}},
		metav1.CreateOptions{}))
	w.must(roles.ClusterRoleBindings().Create(w.t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "gpu-scheduler", Namespace: "gpu-scheduler"}}}, metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		w.must(nil, roles.ClusterRoleBindings().Delete(context.Background(), name, metav1.DeleteOptions{}))
		w.must(nil, roles.ClusterRoles().Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
}

func (w *world) addPriorityClass(name string, value int32) string {
	w.t.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-" + name}, Value: value}
	w.must(w.client.SchedulingV1().PriorityClasses().Create(w.t.Context(), class, metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		w.must(nil, w.client.SchedulingV1().PriorityClasses().Delete(context.Background(), class.Name, metav1.DeleteOptions{}))
	})
	return class.Name
}

// mayNotDelete has an admission policy refuse, until the test ends, that a pod is deleted.
func (w *world) mayNotDelete(name string) {
	w.t.Helper()
	policies := w.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	bindings := w.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	meta := metav1.ObjectMeta{Name: w.ns + "-" + name}
	w.must(policies.Create(w.t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Delete},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}}}},
		Validations: []admissionv1.Validation{{Expression: fmt.Sprintf("request.namespace != %q || request.name != %q", w.ns, name), Message: name + " is not deleted here"}},
	}}, metav1.CreateOptions{}))
	w.must(bindings.Create(w.t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}, metav1.CreateOptions{}))
	try := func() error {
		return w.client.CoreV1().Pods(w.ns).Delete(context.Background(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	}
	w.t.Cleanup(func() {
		w.must(nil, bindings.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
		w.must(nil, policies.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
		until(w.t, "the policy is gone", func() bool { return try() == nil })
	})
	until(w.t, "the policy is in force", func() bool { return try() != nil })
}

// protect makes a budget of an app that lets none of its pods go: no controller counts which could.
func (w *world) protect(app string) {
	w.t.Helper()
	none := intstr.FromInt32(0)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: app}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
	w.must(w.client.PolicyV1().PodDisruptionBudgets(w.ns).Create(w.t.Context(), budget, metav1.CreateOptions{}))
}

func withGrace(seconds int64) fixture.PodOption {
	return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
}
