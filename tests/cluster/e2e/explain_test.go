package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// explanation is an answer of /explain or /candidates.
type explanation struct {
	Pod, Node, Message, Details string
	Nodes                       []struct {
		Node, Code, Plugin string
		Reasons, Numbers   []string
	}
	Candidates []struct {
		Node       string
		TotalScore int
	}
}

// TestExplainsToThoseWhoMayAsk asks the scheduler about a pod that waits and one that is bound, with tokens of accounts that may, that may get the pages
// alone, that may get pods alone, and that may nothing.
func TestExplainsToThoseWhoMayAsk(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such pages")
	}
	w := newWorld(t)
	nodes := w.addGPUNodes(2)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	startSubject(t, func(with *setup) { with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port)) })
	base := fmt.Sprintf("https://127.0.0.1:%d", port)
	about := func(pod string) string { return "?" + url.Values{"namespace": {w.ns}, "pod": {pod}}.Encode() }
	explain := func(pod string) string { return base + "/explain" + about(pod) }
	candidates := func(pod string) string { return base + "/candidates" + about(pod) }

	w.addPod("runs", fixture.GPUs(1))
	bound := w.waitPod("runs", "bound", bound)
	w.addPod("waits", fixture.GPUs(9))
	waits := w.waitPod("waits", "refused", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && c.Reason == corev1.PodReasonUnschedulable
	})

	tokens := map[string]string{}
	for _, account := range []string{"engineer", "pages-alone", "pods-alone", "stranger"} {
		tokens[account] = w.token(account)
	}
	w.bindClusterRole("gpu-scheduler-explainer", "engineer", "pages-alone")
	w.letReadPods("engineer", "pods-alone")
	for token, want := range map[string]string{tokens["engineer"]: `"nodesLeftOut":0`, tokens["pages-alone"]: "cannot get pods"} {
		until(t, "the API server to know the roles", func() bool {
			return strings.Contains(get(t, explain("waits"), token).body, want)
		})
	}

	got := w.explained(explain("waits"), tokens["engineer"])
	if message := condition(waits).Message; got.Message == "" || !strings.HasPrefix(message, strings.TrimSuffix(got.Message, ".")) {
		t.Errorf("the message is %q, the condition's %q", got.Message, message)
	}
	if len(got.Nodes) != len(nodes) || got.Node != "" {
		t.Errorf("of a pod that waits, on %d nodes: %+v", len(nodes), got)
	}
	for _, node := range got.Nodes {
		if node.Plugin != "NodeResourcesFit" || !slices.Equal(node.Reasons, []string{"Insufficient nvidia.com/gpu"}) {
			t.Errorf("of a pod with more GPUs than a node has: %+v", node)
		}
	}

	got = w.explained(candidates("runs"), tokens["engineer"])
	var names []string
	for _, candidate := range got.Candidates {
		names = append(names, candidate.Node)
	}
	if got.Node != bound.Spec.NodeName || len(names) != len(nodes) || names[0] != bound.Spec.NodeName {
		t.Errorf("candidates of a pod on %s: %+v", bound.Spec.NodeName, got)
	}

	account := func(name string) string { return fmt.Sprintf("%q cannot get ", "system:serviceaccount:"+w.ns+":"+name) }
	missing := "a Role with that right would let it\n"
	for _, c := range []struct {
		url, token string
		status     int
		body       string
	}{
		{explain("waits"), "", http.StatusUnauthorized, "a bearer token is needed, of an account that may get \"/explain\"\n"},
		{explain("waits"), "made-up", http.StatusUnauthorized, "the API server does not know this token\n"},
		{explain("waits"), tokens["stranger"], http.StatusForbidden, account("stranger") + "\"/explain\": a ClusterRole with that nonResourceURL would let it\n"},
		{candidates("runs"), tokens["pods-alone"], http.StatusForbidden, account("pods-alone") + "\"/candidates\": a ClusterRole with that nonResourceURL would let it\n"},
		{explain("waits"), tokens["pages-alone"], http.StatusForbidden, account("pages-alone") + fmt.Sprintf("pods %q: ", w.ns+"/waits") + missing},
		{base + "/explain?namespace=kube-system&pod=x", tokens["engineer"], http.StatusForbidden, account("engineer") + "pods \"kube-system/x\": " + missing},
		{base + "/explain?pod=waits", tokens["engineer"], http.StatusBadRequest, "the parameter \"namespace\" is missing\n"},
	} {
		if got := get(t, c.url, c.token); got.status != c.status || got.body != c.body {
			t.Errorf("%s with token %.10q: got %d %q, want %d %q", c.url, c.token, got.status, got.body, c.status, c.body)
		}
	}
	if got := get(t, explain("unheard-of"), tokens["engineer"]); got.status != http.StatusNotFound {
		t.Errorf("a pod that there is not: %d %q", got.status, got.body)
	}
	w.deletePod("waits")
	w.verdict()
}

// explained reads an answer.
func (w *world) explained(url, token string) (got explanation) {
	w.t.Helper()
	answer := get(w.t, url, token)
	if answer.status != http.StatusOK {
		w.t.Fatalf("%s: %d %q", url, answer.status, answer.body)
	}
	w.must(nil, json.Unmarshal([]byte(answer.body), &got))
	return got
}

// letReadPods lets accounts of the test's namespace get and list its pods. By a role of its own: no controller fills Kubernetes' view here.
func (w *world) letReadPods(accounts ...string) {
	w.t.Helper()
	name := metav1.ObjectMeta{Name: "pod-reader"}
	role := &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}}}
	w.must(w.client.RbacV1().Roles(w.ns).Create(w.t.Context(), role, metav1.CreateOptions{}))
	binding := &rbacv1.RoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
		Subjects:   w.subjects(accounts...),
	}
	w.must(w.client.RbacV1().RoleBindings(w.ns).Create(w.t.Context(), binding, metav1.CreateOptions{}))
}

// bindClusterRole gives accounts of the test's namespace a role everywhere.
func (w *world) bindClusterRole(role string, accounts ...string) {
	w.t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   w.subjects(accounts...),
	}
	w.must(w.client.RbacV1().ClusterRoleBindings().Create(w.t.Context(), binding, metav1.CreateOptions{}))
}

func (w *world) subjects(accounts ...string) (subjects []rbacv1.Subject) {
	for _, account := range accounts {
		subjects = append(subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: account})
	}
	return subjects
}
