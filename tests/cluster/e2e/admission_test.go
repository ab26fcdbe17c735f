package e2e

import (
	"fmt"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// These tests are of the ValidatingAdmissionPolicies in manifests/base. Everything is tried without being done (dry run). That the policies let
// through what the scheduler does is what all other tests show, too.

var dryRun = []string{metav1.DryRunAll}

// TestPriorityClassIsTheSchedulersOwn: no tenant jumps the queue with the PriorityClass of the scheduler's own pods.
func TestPriorityClassIsTheSchedulersOwn(t *testing.T) {
	w, _ := withPolicies(t)
	create := func(namespace, class string) error {
		pod := fixture.Pod(namespace, "a", schedulerName, restricted)
		pod.Spec.PriorityClassName = class
		_, err := w.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	const refusal = "the PriorityClass gpu-scheduler is for the scheduler's own pods, in the namespace gpu-scheduler"
	until(t, "the policy to be in force", func() bool { return create(w.ns, "gpu-scheduler") != nil })
	for _, c := range []struct{ namespace, class, refusal string }{
		{w.ns, "gpu-scheduler", refusal},
		{"kube-system", "gpu-scheduler", refusal},
		{"gpu-scheduler", "gpu-scheduler", ""},
		{w.ns, "", ""},
		{w.ns, "system-cluster-critical", ""}, // Kubernetes' own, open to every namespace by its own choice
	} {
		expectRefusal(t, fmt.Sprintf("a pod in %s with the class %q", c.namespace, c.class), create(c.namespace, c.class), c.refusal)
	}
}

// TestAccountDoesWhatTheSchedulerDoes: whoever holds the scheduler's credentials does no more with pods than the scheduler does.
func TestAccountDoesWhatTheSchedulerDoes(t *testing.T) {
	w, account := withPolicies(t)
	w.addPodOf(schedulerName, "ours")
	w.addPodOf("default-scheduler", "theirs")
	patch := func(pod, patch string) error {
		_, err := account.CoreV1().Pods(w.ns).Patch(t.Context(), pod, types.StrategicMergePatchType, []byte(patch),
			metav1.PatchOptions{DryRun: dryRun}, "status")
		return err
	}
	bind := func(namespace, pod string, annotations map[string]string) error {
		return account.CoreV1().Pods(namespace).Bind(t.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod, Annotations: annotations},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "a"},
		}, metav1.CreateOptions{DryRun: dryRun})
	}
	const unschedulable = `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no"}]}}`
	until(t, "the policies to be in force", func() bool {
		return apierrors.IsForbidden(patch("theirs", unschedulable)) && apierrors.IsForbidden(bind("kube-system", "ours", nil)) &&
			apierrors.IsForbidden(bind(w.ns, "ours", map[string]string{"a": "b"}))
	})
	for _, c := range []struct {
		what    string
		err     error
		refusal string
	}{
		{"the condition of a pod that names it", patch("ours", unschedulable), ""},
		{"the condition of another's pod", patch("theirs", unschedulable),
			`the scheduler's account tells of pods that name it alone; this one names "default-scheduler"`},
		{"another condition", patch("ours", `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`),
			"the scheduler's account writes the condition PodScheduled alone"},
		{"a phase", patch("ours", `{"status":{"phase":"Failed"}}`), "the scheduler's account writes of a pod's status its conditions alone"},
		{"an address", patch("ours", `{"status":{"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}]}}`),
			"the scheduler's account writes of a pod's status its conditions alone"},
		{"a nomination", patch("ours", `{"status":{"nominatedNodeName":"a"}}`), "the scheduler's account writes of a pod's status its conditions alone"},
		{"a label", patch("ours", `{"metadata":{"labels":{"app":"other"}}}`),
			"the scheduler's account changes no labels, annotations or finalizers of pods"},
		{"a bind", bind(w.ns, "ours", nil), ""},
		{"a bind with its own annotation", bind(w.ns, "ours", map[string]string{"gpu-scheduler.io/charged-as": "H100"}), ""},
		{"a bind with another annotation", bind(w.ns, "ours", map[string]string{"example.com/a": "b"}),
			"the scheduler's account gives pods no annotations but its own"},
		{"a bind in kube-system", bind("kube-system", "ours", nil), "the scheduler's account binds no pods in the namespace kube-system"},
	} {
		expectRefusal(t, c.what, c.err, c.refusal)
	}
	// The policies are about this account alone.
	kubelet := []byte(`{"status":{"phase":"Failed"}}`)
	_, err := w.client.CoreV1().Pods(w.ns).Patch(t.Context(), "theirs", types.StrategicMergePatchType, kubelet, metav1.PatchOptions{DryRun: dryRun}, "status")
	expectRefusal(t, "anybody else", err, "")
}

// withPolicies is a world in which manifests/base has been applied, and a client that is the scheduler for the API server.
func withPolicies(t *testing.T) (*world, kubernetes.Interface) {
	t.Helper()
	if !isGPUScheduler() {
		t.Skip("the manifests are gpu-scheduler's own")
	}
	w := newWorld(t)
	who, err := lent(t).identity()
	w.must(nil, err)
	kubeconfig, err := w.cluster.KubeconfigFor(who)
	w.must(nil, err)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	w.must(nil, err)
	client, err := kubernetes.NewForConfig(config)
	w.must(nil, err)
	return w, client
}

// restricted is what a pod must be to be let into the scheduler's namespace.
func restricted(p *corev1.Pod) {
	yes, no := true, false
	p.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}

// expectRefusal checks that something was refused in these words, or not at all ("").
func expectRefusal(t *testing.T, what string, err error, words string) {
	t.Helper()
	switch {
	case words == "" && err != nil:
		t.Errorf("%s is refused: %v", what, err)
	case words != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words)):
		t.Errorf("%s: got %v, want it forbidden with %q", what, err, words)
	}
}
