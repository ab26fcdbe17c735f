package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// What tenants try to get more GPUs than their quota says, and what stops it: manifests/policies/admission, and the scheduler. The tenants
// here may write pods with all their subresources and namespaces, which is more than most clusters give them.

const (
	chargedAs  = "gpu-scheduler.io/charged-as"
	chargedAt  = "gpu-scheduler.io/charged-at"
	ourManaged = "gpu-scheduler.io/managed"
	ourTeam    = "gpu-scheduler.io/team"
)

// TestTenantsAreKeptToTheScheduler tries, without doing it, what the policies forbid, and what they must let through.
func TestTenantsAreKeptToTheScheduler(t *testing.T) {
	w, account := withPolicies(t)
	w.label(w.ns, map[string]string{ourTeam: "poor"})
	exempt := w.beside(w.ns + "-exempt")
	w.label(exempt.ns, map[string]string{ourManaged: "false"})
	tenant, _ := w.tenant()
	otherScheduler := w.clientOf("system:kube-scheduler")
	some, none := int64(30), int64(0)
	runs := fixture.Pod(w.ns, "runs", schedulerName, fixture.GPUs(1), onNode("a"))
	runs.Spec.TerminationGracePeriodSeconds = &some
	w.must(w.client.CoreV1().Pods(w.ns).Create(t.Context(), runs, metav1.CreateOptions{}))
	w.must(w.client.CoreV1().Pods(w.ns).Create(t.Context(), fixture.Pod(w.ns, "without", "", onNode("a")), metav1.CreateOptions{}))
	finished := fixture.Pod(w.ns, "finished", schedulerName, fixture.GPUs(1), onNode("a"))
	finished.Spec.TerminationGracePeriodSeconds = &some
	w.must(w.client.CoreV1().Pods(w.ns).Create(t.Context(), finished, metav1.CreateOptions{}))
	w.changeStatus(w.client, "finished", func(s *corev1.PodStatus) { s.Phase = corev1.PodSucceeded })
	brief := fixture.Pod(w.ns, "brief", schedulerName, fixture.GPUs(1), onNode("a"))
	brief.Spec.TerminationGracePeriodSeconds = &none
	w.must(w.client.CoreV1().Pods(w.ns).Create(t.Context(), brief, metav1.CreateOptions{}))
	w.must(w.client.CoreV1().Pods(w.ns).Create(t.Context(), fixture.Pod(w.ns, "network", schedulerName, fixture.Limits("example.com/hca", "1"), onNode("a")), metav1.CreateOptions{}))
	w.applyAdmissionPolicies(tenant)

	with := func(scheduler string, options ...fixture.PodOption) *corev1.Pod {
		return fixture.Pod(w.ns, "a", scheduler, options...)
	}
	create := func(pod *corev1.Pod) error {
		_, err := tenant.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	elsewhere := with("default-scheduler", fixture.GPUs(1))
	elsewhere.Namespace = exempt.ns
	w.addPodOf("default-scheduler", "theirs")
	change := func(kind types.PatchType, patch string, subresource ...string) error {
		_, err := tenant.CoreV1().Pods(w.ns).Patch(t.Context(), "theirs", kind, []byte(patch), metav1.PatchOptions{DryRun: dryRun}, subresource...)
		return err
	}
	bind := func(by kubernetes.Interface, annotation string) error {
		return by.CoreV1().Pods(w.ns).Bind(t.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "theirs", Annotations: map[string]string{annotation: "L4"}},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "a"},
		}, metav1.CreateOptions{DryRun: dryRun})
	}
	remove := func(by kubernetes.Interface, pod string, grace int64) error {
		return by.CoreV1().Pods(w.ns).Delete(t.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &grace, DryRun: dryRun})
	}
	removePlainly := func(by kubernetes.Interface, pod string) error {
		return by.CoreV1().Pods(w.ns).Delete(t.Context(), pod, metav1.DeleteOptions{DryRun: dryRun})
	}
	evict := func(grace *int64) error {
		return tenant.CoreV1().Pods(w.ns).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "runs"},
			DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: grace, DryRun: dryRun}})
	}
	end := func(by kubernetes.Interface, pod, status string) error {
		_, err := by.CoreV1().Pods(w.ns).Patch(t.Context(), pod, types.MergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{DryRun: dryRun}, "status")
		return err
	}
	now := int64(0)
	relabel := func(by kubernetes.Interface, labels, subresource string) error {
		var into []string
		if subresource != "" {
			into = append(into, subresource)
		}
		_, err := by.CoreV1().Namespaces().Patch(t.Context(), w.ns, types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`),
			metav1.PatchOptions{DryRun: dryRun}, into...)
		return err
	}
	makeNamespace := func(labels map[string]string) error {
		_, err := tenant.CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-new", Labels: labels}}, metav1.CreateOptions{DryRun: dryRun})
		return err
	}

	const asks, tolerates, claims = "a pod that asks for GPUs must have spec.schedulerName gpu-scheduler; this one has ",
		"a pod that tolerates the taint of GPU nodes must have spec.schedulerName gpu-scheduler; this one has default-scheduler",
		"a pod that has resource claims must have spec.schedulerName gpu-scheduler; this one has default-scheduler"
	const named = "a pod may not name its node (spec.nodeName); use spec.nodeSelector or node affinity"
	const note = "the annotations gpu-scheduler.io/charged-as and charged-at are written by the scheduler alone"
	const atOnce = "a pod with GPUs may not be deleted at once (grace period 0), because its processes may go on with them; delete it without --force"
	const evictsAtOnce = "a pod, with GPUs or without, may not be evicted at once (grace period 0), because its processes may go on"
	const saysEnded = "whether a pod with devices has ended is said by its kubelet alone"
	const binds = "pods are bound by their scheduler alone"
	const labels = "who may not write GpuQuotas may not change these labels of a namespace: "
	for _, c := range []struct {
		what    string
		err     error
		refusal string
	}{
		{"GPUs", create(with(schedulerName, fixture.GPUs(1))), ""},
		{"GPUs without a scheduler's name", create(with("", fixture.GPUs(1))), asks + "default-scheduler"},
		{"GPUs of another scheduler", create(with("other", fixture.GPUs(1))), asks + "other"},
		{"a MIG instance", create(with("", fixture.Limits("nvidia.com/mig-1g.10gb", "1"))), asks + "default-scheduler"},
		{"GPUs of an init container", create(with("", fixture.GPUs(1), inInitContainer)), asks + "default-scheduler"},
		{"GPUs by the name of a device class", create(with("", fixture.Limits("deviceclass.resource.kubernetes.io/gpu.example.com", "1"))),
			asks + "default-scheduler"},
		{"a resource claim", create(with("", withClaim)), claims},
		{"a resource claim, with the scheduler's name", create(with(schedulerName, withClaim)), ""},
		{"the toleration of GPU nodes", create(with("", fixture.ToleratesGPUTaint())), tolerates},
		{"the toleration of all nodes", create(with("", tolerating(""))), tolerates},
		{"another toleration", create(with("", tolerating("example.com/a"))), ""},
		{"no GPUs", create(with("", fixture.Requests("cpu", "1"))), ""},
		{"a node's name", create(with(schedulerName, fixture.GPUs(1), onNode("a"))), named},
		{"a node's name without GPUs", create(with("", onNode("a"))), named},
		{"GPUs of another scheduler in a namespace that is not managed", create(elsewhere), ""},
		{"a toleration afterwards", change(types.JSONPatchType, `[{"op":"add","path":"/spec/tolerations/-","value":{"operator":"Exists"}}]`), tolerates},
		{"a label afterwards", change(types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`), ""},

		{"a note at creation", create(with(schedulerName, fixture.Annotated(chargedAs, "L4"))), note},
		{"a note afterwards", change(types.MergePatchType, `{"metadata":{"annotations":{"`+chargedAs+`":"L4"}}}`), note},
		{"a note by the status", change(types.MergePatchType, `{"metadata":{"annotations":{"`+chargedAs+`":"L4"}}}`, "status"), note},
		{"a note by a bind", bind(otherScheduler, chargedAs), note},
		{"a note of the time at creation", create(with(schedulerName, fixture.Annotated(chargedAt, "2026-01-02T03:04:05.000000Z"))), note},
		{"a note of the time afterwards", change(types.MergePatchType, `{"metadata":{"annotations":{"`+chargedAt+`":"2026-01-02T03:04:05.000000Z"}}}`), note},
		{"a note of the time by a bind", bind(otherScheduler, chargedAt), note},
		{"another annotation by a bind", bind(otherScheduler, "example.com/a"), ""},
		{"a bind of one's own", bind(tenant, "example.com/a"), binds},
		{"the scheduler's note", bind(account, chargedAs), ""},
		{"the scheduler's note of the time", bind(account, chargedAt), ""},

		{"the end of a pod", remove(tenant, "runs", 30), ""},
		{"the end of a pod at once", remove(tenant, "runs", now), atOnce},
		{"the end of a pod at once, by who may write quotas", remove(w.client, "runs", now), ""},
		{"the end of a pod without GPUs at once", remove(tenant, "without", now), ""},
		{"the end of a finished pod", removePlainly(tenant, "finished"), ""},
		{"the end of a pod that needs no time", removePlainly(tenant, "brief"), ""},
		{"an eviction", evict(nil), ""},
		{"an eviction at once", evict(&now), evictsAtOnce},
		{"a status that says the pod has ended", end(tenant, "runs", `{"phase":"Succeeded"}`), saysEnded},
		{"a status that says the pod was rejected", end(tenant, "runs", `{"reason":"UnexpectedAdmissionError"}`), saysEnded},
		{"a status that says a pod with another device was rejected", end(tenant, "network", `{"reason":"UnexpectedAdmissionError"}`), saysEnded},
		{"another status", end(tenant, "runs", `{"message":"a"}`), ""},
		{"a status of a pod without GPUs", end(tenant, "without", `{"phase":"Succeeded"}`), ""},

		{"a namespace that is managed no more", relabel(tenant, `{"`+ourManaged+`":"false"}`, ""), labels + ourManaged},
		{"a namespace of another team", relabel(tenant, `{"`+ourTeam+`":"rich"}`, ""), labels + ourTeam},
		{"a namespace of another team by its status", relabel(tenant, `{"`+ourTeam+`":"rich"}`, "status"), labels + ourTeam},
		{"a namespace of no team", relabel(tenant, `{"`+ourTeam+`":null}`, ""), labels + ourTeam},
		{"another label of a namespace", relabel(tenant, `{"example.com/a":"b"}`, ""), ""},
		{"a namespace of another team, by who may write quotas", relabel(w.client, `{"`+ourTeam+`":"rich"}`, ""), ""},
		{"a new namespace of a team", makeNamespace(map[string]string{ourTeam: "rich"}), labels + ourTeam},
		{"a new namespace", makeNamespace(map[string]string{"example.com/a": "b"}), ""},
	} {
		expectRefusal(t, c.what, c.err, c.refusal)
	}

	kubectl(t, "patch", "validatingadmissionpolicy", "gpu-scheduler-running-pods", "--type=json", "--patch",
		`[{"op": "replace", "path": "/spec/variables/1/expression", "value": "['`+w.ns+`-tenant']"}]`)
	until(t, "the tenant to be one that drains nodes", func() bool { return remove(tenant, "runs", now) == nil })
	expectRefusal(t, "an eviction at once, by one that drains nodes", evict(&now), "")
	expectRefusal(t, "a status that says the pod has ended, by one that drains nodes", end(tenant, "runs", `{"phase":"Succeeded"}`), saysEnded)
}

// TestTenantsStayWithinTheirQuota has a team do what no policy forbids: not end, ask for what no node has, and use another namespace. Its
// neighbours are bound.
func TestTenantsStayWithinTheirQuota(t *testing.T) {
	w, _ := withPolicies(t)
	tenant, _ := w.tenant()
	w.applyAdmissionPolicies(tenant)
	neighbour, unclaimed := w.beside(w.ns+"-neighbour"), w.beside(w.ns+"-unclaimed")
	w.startWithDefaultQuota("None", unclaimed)
	w.addGPUNodes(1)
	w.addQuota("cheats", w.anyType("4", object{"order": "Strict"}))
	neighbour.addQuota("honest", neighbour.anyType("4", nil))

	unclaimed.addPod("pod", fixture.GPUs(1))
	unclaimed.waitOverQuota("pod", "namespace "+unclaimed.ns+" has no GPU quota, and pods without quota get no GPUs")

	// A pod that is being deleted, and stays: it counts until its containers have ended, finalizer or not.
	w.addPod("stays", fixture.GPUs(1), func(p *corev1.Pod) { p.Finalizers = []string{"example.com/stays"} })
	w.waitPod("stays", "bound", bound)
	forge := fmt.Sprintf(`{"metadata":{"annotations":{%q:"other"}}}`, chargedAs)
	_, err := tenant.CoreV1().Pods(w.ns).Patch(t.Context(), "stays", types.MergePatchType, []byte(forge), metav1.PatchOptions{})
	expectRefusal(t, "a note on a bound pod", err, "the annotations gpu-scheduler.io/charged-as and charged-at are written by the scheduler alone")
	w.deletePod("stays")
	w.addPod("four", fixture.GPUs(4))
	w.waitOverQuota("four", "quota cheats: * needs 4, 1 of 4 in use, first in line; 1 more must be freed")
	_, err = w.client.CoreV1().Pods(w.ns).Patch(t.Context(), "stays", types.StrategicMergePatchType, []byte(`{"status":{"phase":"Failed"}}`),
		metav1.PatchOptions{}, "status")
	w.must(nil, err)
	w.waitPod("four", "bound", bound)
	w.addPod("urgent", fixture.GPUs(1), ofClass("system-cluster-critical")) // jumps its own quota's line, and no more
	w.waitOverQuota("urgent", "quota cheats: * needs 1, 4 of 4 in use, first in line; 1 more must be freed")
	w.deletePod("urgent")
	_, err = w.client.CoreV1().Pods(w.ns).Patch(t.Context(), "stays", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(nil, err)

	// First in a strict line, and no node takes it: only its own team waits behind it.
	w.deletePod("four")
	w.addPod("never", fixture.GPUs(1), fixture.Requests(corev1.ResourceCPU, "100k"))
	w.waitPod("never", "refused", func(p *corev1.Pod) bool { return condition(p) != nil })
	w.addPod("behind", fixture.GPUs(1))
	w.waitPod("behind", "told to wait", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && strings.Contains(c.Message, "quota cheats")
	})
	neighbour.addPod("four", fixture.GPUs(4))
	neighbour.waitPod("four", "bound", bound)
	w.deletePod("never")
	w.waitPod("behind", "bound", bound)
	w.verdict(of(neighbour, unclaimed))
}

// TestTenantsPodsAreBounded: the ResourceQuotas of the example keep a team to so many pods, and to fewer that go before others.
func TestTenantsPodsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.must(w.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:controller:resourcequota-controller"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: controlplane.KubeControllerManager.User}},
	}, metav1.CreateOptions{}))
	controllers, err := w.cluster.StartControllerManager(t.Context(), "resourcequota-controller")
	w.must(nil, err)
	t.Cleanup(func() { w.must(nil, controllers.Stop()) })
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}
	w.must(w.client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}))
	t.Cleanup(func() {
		w.must(nil, w.client.SchedulingV1().PriorityClasses().Delete(context.Background(), class.Name, metav1.DeleteOptions{}))
	})
	kubectl(t, "apply", "--namespace", w.ns, "-f", filepath.Join(root, "manifests/policies/admission/pods-per-namespace.yaml"))
	until(t, "the quotas to be in force", func() bool {
		found, err := w.client.CoreV1().ResourceQuotas(w.ns).List(t.Context(), metav1.ListOptions{})
		w.must(nil, err)
		for _, quota := range found.Items {
			if len(quota.Status.Hard) == 0 {
				return false
			}
		}
		return len(found.Items) == 3
	})
	const most, mostHigh = 500, 10
	more := func(class string) error {
		pod := fixture.Pod(w.ns, "more", schedulerName, fixture.GPUs(1), ofClass(class))
		_, err := w.client.CoreV1().Pods(w.ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	expectRefusal(t, "a pod of Kubernetes' own class", more("system-cluster-critical"), "exceeded quota: pods-system")
	expectRefusal(t, "a pod of a high class", more("high"), "")
	w.parallel(mostHigh, func(i int) { w.addPod(fmt.Sprintf("high-%d", i), fixture.GPUs(1), ofClass("high")) })
	expectRefusal(t, "one more of a high class", more("high"), "exceeded quota: pods-high")
	expectRefusal(t, "a pod of no class", more(""), "")
	w.parallel(most-mostHigh, func(i int) {
		w.addPod(podNumber(i), fixture.GPUs(1), fixture.Requests(corev1.ResourceCPU, fmt.Sprintf("%dm", i+1)))
	})
	expectRefusal(t, "one more of no class", more(""), "exceeded quota: pods,")
}

// TestTenantsSeeQuotasWhenTheyAreLet: only accounts with the right read GpuQuotas, and that right does not let them change any.
func TestTenantsSeeQuotasWhenTheyAreLet(t *testing.T) {
	w, _ := withPolicies(t)
	api := quotas(t)
	w.createQuota(quota("seen", w.anyType("4", nil)))
	_, config := w.tenant()
	client, err := dynamic.NewForConfig(config)
	w.must(nil, err)
	resource := client.Resource(quotaResource)
	if _, err := resource.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant lists quotas: %v", err)
	}
	viewers := filepath.Join(root, "manifests/policies/admission/quota-viewers.yaml")
	kubectl(t, "apply", "-f", viewers)
	t.Cleanup(func() { kubectl(t, "delete", "-f", viewers) })
	until(t, "the API server to know the binding", func() bool {
		_, err := resource.Get(t.Context(), "seen", metav1.GetOptions{})
		return err == nil
	})
	seen, err := resource.Get(t.Context(), "seen", metav1.GetOptions{})
	w.must(nil, err)
	for what, err := range map[string]error{
		"a change": func() error { _, err := resource.Update(t.Context(), seen, metav1.UpdateOptions{}); return err }(),
		"an end":   resource.Delete(t.Context(), "seen", metav1.DeleteOptions{}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s by a tenant: got %v, want it forbidden", what, err)
		}
	}
	w.must(api.Get(t.Context(), "seen", metav1.GetOptions{}))
}

// applyAdmissionPolicies puts manifests/policies/admission in force until the test ends: other tests have pods that they refuse.
func (w *world) applyAdmissionPolicies(tenant kubernetes.Interface) {
	w.t.Helper()
	policies := filepath.Join(root, "manifests/policies/admission")
	inForce := func() (count int) {
		ctx, dry := context.Background(), metav1.CreateOptions{DryRun: dryRun}
		_, unnamed := tenant.CoreV1().Pods(w.ns).Create(ctx, fixture.Pod(w.ns, "try", "", fixture.GPUs(1)), dry)
		_, forged := tenant.CoreV1().Pods(w.ns).Create(ctx, fixture.Pod(w.ns, "try", schedulerName, fixture.Annotated(chargedAs, "L4")), dry)
		_, labelled := tenant.CoreV1().Namespaces().Create(ctx,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-try", Labels: map[string]string{ourTeam: "a"}}}, dry)
		bound := tenant.CoreV1().Pods(w.ns).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "try"},
			Target: corev1.ObjectReference{Kind: "Node", Name: "a"}}, dry)
		for _, err := range []error{unnamed, forged, labelled, bound} {
			if err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
				count++
			}
		}
		return count
	}
	kubectl(w.t, "apply", "-k", policies)
	w.t.Cleanup(func() {
		kubectl(w.t, "delete", "-k", policies)
		until(w.t, "the policies to be gone", func() bool { return inForce() == 0 })
	})
	until(w.t, "the policies to be in force", func() bool { return inForce() == 4 })
}

// tenant is an account that may write the pods of all namespaces, and namespaces.
func (w *world) tenant() (kubernetes.Interface, *rest.Config) {
	w.t.Helper()
	name, all := metav1.ObjectMeta{Name: w.ns + "-tenant"}, []string{"*"}
	role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Verbs: all,
		Resources: []string{"pods", "pods/status", "pods/binding", "pods/eviction", "namespaces", "namespaces/status"}}}}
	w.must(w.client.RbacV1().ClusterRoles().Create(w.t.Context(), role, metav1.CreateOptions{}))
	w.must(w.client.RbacV1().ClusterRoleBindings().Create(w.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name.Name}},
	}, metav1.CreateOptions{}))
	config := w.configOf(name.Name)
	client, err := kubernetes.NewForConfig(config)
	w.must(nil, err)
	until(w.t, "the API server to know the tenant's role", func() bool {
		_, err := client.CoreV1().Pods(w.ns).List(w.t.Context(), metav1.ListOptions{})
		return err == nil
	})
	return client, config
}

// configOf is a connection of the user of that name.
func (w *world) configOf(user string) *rest.Config {
	w.t.Helper()
	kubeconfig, err := w.cluster.KubeconfigFor(controlplane.Identity{User: user})
	w.must(nil, err)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	w.must(nil, err)
	return config
}

func (w *world) clientOf(user string) kubernetes.Interface {
	w.t.Helper()
	client, err := kubernetes.NewForConfig(w.configOf(user))
	w.must(nil, err)
	return client
}

// label gives a namespace labels, as its administrator may.
func (w *world) label(namespace string, labels map[string]string) {
	w.t.Helper()
	patch, err := json.Marshal(object{"metadata": object{"labels": labels}})
	w.must(nil, err)
	w.must(w.client.CoreV1().Namespaces().Patch(w.t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{}))
}

// inInitContainer has an init container ask for what the container asked for.
func inInitContainer(p *corev1.Pod) {
	first := p.Spec.Containers[0]
	first.Name = "first"
	p.Spec.InitContainers = []corev1.Container{first}
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
}

func withClaim(p *corev1.Pod) {
	name := "gpu"
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: name, ResourceClaimName: &name}}
}

func onNode(name string) fixture.PodOption { return func(p *corev1.Pod) { p.Spec.NodeName = name } }

func ofClass(name string) fixture.PodOption {
	return func(p *corev1.Pod) { p.Spec.PriorityClassName = name }
}

// tolerating is a toleration of a taint of that key, whatever its value; without a key of all.
func tolerating(key string) fixture.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}
