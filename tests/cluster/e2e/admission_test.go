package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
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

// TestAccountPolicyKnowsPodStatus: the policy names each field of a pod's status that the scheduler does not write. A new version of Kubernetes may have more.
func TestAccountPolicyKnowsPodStatus(t *testing.T) {
	policy, err := os.ReadFile(filepath.Join(root, "manifests/base/account-policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	status := reflect.TypeFor[corev1.PodStatus]()
	for i := range status.NumField() {
		field, _, _ := strings.Cut(status.Field(i).Tag.Get("json"), ",")
		if field == "conditions" || field == "nominatedNodeName" {
			continue
		}
		if !regexp.MustCompile(`object\.status\.\?` + field + ` ==\s+oldObject\.status\.\?` + field + `\s`).Match(policy) {
			t.Errorf("manifests/base/account-policy.yaml lets the scheduler's account change status.%s", field)
		}
	}
}

// TestAccountDoesWhatTheSchedulerDoes: with the scheduler's credentials, a client can do no more with pods, claims and volumes than the scheduler
// does.
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
	w.createVolume("free", nil)
	w.createVolume("taken", &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: w.ns, Name: "other", UID: "u-1"})
	w.createVolume("meant", &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: w.ns, Name: w.ns})
	w.createVolume("elsewhere", &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "elsewhere", Name: w.ns})
	w.createClaim(w.ns)
	w.createClaim("kube-system")
	patchClaim := func(namespace, patch string) error {
		_, err := account.CoreV1().PersistentVolumeClaims(namespace).Patch(t.Context(), w.ns, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{DryRun: dryRun})
		return err
	}
	patchVolume := func(volume, patch string) error {
		_, err := account.CoreV1().PersistentVolumes().Patch(t.Context(), w.ns+"-"+volume, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{DryRun: dryRun})
		return err
	}
	// As the scheduler's client writes them (k8s-client/call_bodies.h), but for the version that was seen.
	const onNode = `{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"a"}}}`
	forClaim := fmt.Sprintf(`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{"claimRef":{"apiVersion":"v1",
		"kind":"PersistentVolumeClaim","namespace":%q,"name":%q,"uid":"u-2","resourceVersion":"7"}}}`, w.ns, w.ns)
	const otherSpec, otherVolumeLabels = "the scheduler's account writes of a volume's spec its claimRef alone",
		"the scheduler's account changes no labels, finalizers or owners of volumes"
	const otherClaimLabels = "the scheduler's account changes no labels, finalizers or owners of claims"
	const unschedulable = `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no"}]}}`
	until(t, "the policies to be in force", func() bool {
		return apierrors.IsForbidden(patch("theirs", unschedulable)) && apierrors.IsForbidden(bind("kube-system", "ours", nil)) &&
			apierrors.IsForbidden(bind(w.ns, "ours", map[string]string{"a": "b"})) &&
			apierrors.IsForbidden(patchClaim(w.ns, `{"metadata":{"labels":{"a":"b"}}}`)) &&
			apierrors.IsForbidden(patchVolume("free", `{"metadata":{"labels":{"a":"b"}}}`))
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
			"the scheduler's account writes the condition PodScheduled alone, and DisruptionTarget of pods that it evicts"},
		{"a phase", patch("ours", `{"status":{"phase":"Failed"}}`), "the scheduler's account writes of a pod's status its conditions and nominatedNodeName alone"},
		{"an address", patch("ours", `{"status":{"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}]}}`),
			"the scheduler's account writes of a pod's status its conditions and nominatedNodeName alone"},
		{"the generation that kubelet has seen", patch("ours", `{"status":{"observedGeneration":99}}`),
			"the scheduler's account writes of a pod's status its conditions and nominatedNodeName alone"},
		{"a nomination", patch("ours", `{"status":{"nominatedNodeName":"a"}}`), ""},
		{"a nomination of another's pod", patch("theirs", `{"status":{"nominatedNodeName":"a"}}`),
			`the scheduler's account tells of pods that name it alone; this one names "default-scheduler"`},
		{"that a pod is evicted", patch("ours", `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"m"}]}}`), ""},
		{"that a pod is evicted for another reason", patch("ours", `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}]}}`),
			"the scheduler's account writes the condition PodScheduled alone, and DisruptionTarget of pods that it evicts"},
		{"that another's pod is evicted", patch("theirs", `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}}`),
			`the scheduler's account tells of pods that name it alone; this one names "default-scheduler"`},
		{"a label", patch("ours", `{"metadata":{"labels":{"app":"other"}}}`),
			"the scheduler's account changes no labels, annotations or finalizers of pods"},
		{"a bind", bind(w.ns, "ours", nil), ""},
		{"a bind with its own annotation", bind(w.ns, "ours", map[string]string{"gpu-scheduler.io/charged-as": "H100"}), ""},
		{"a bind with another annotation", bind(w.ns, "ours", map[string]string{"example.com/a": "b"}),
			"the scheduler's account gives pods no annotations but its own"},
		{"a bind in kube-system", bind("kube-system", "ours", nil), "the scheduler's account binds no pods in the namespace kube-system"},
		{"a claim's node", patchClaim(w.ns, onNode), ""},
		{"a claim's node in kube-system", patchClaim("kube-system", onNode), "the scheduler's account binds no claims in the namespace kube-system"},
		{"another annotation of a claim", patchClaim(w.ns, `{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"a","a":"b"}}}`),
			"the scheduler's account writes of a claim's annotations volume.kubernetes.io/selected-node alone"},
		{"a changed annotation of a claim", patchClaim(w.ns, `{"metadata":{"annotations":{"kept":"not"}}}`),
			"the scheduler's account writes of a claim's annotations volume.kubernetes.io/selected-node alone"},
		{"an annotation of a claim gone", patchClaim(w.ns, `{"metadata":{"annotations":{"kept":null}}}`),
			"the scheduler's account writes of a claim's annotations volume.kubernetes.io/selected-node alone"},
		{"a claim's volume", patchClaim(w.ns, `{"spec":{"volumeName":"v"}}`), "the scheduler's account changes no claim's spec"},
		{"a label of a claim", patchClaim(w.ns, `{"metadata":{"labels":{"a":"b"}}}`), otherClaimLabels},
		{"a finalizer of a claim gone", patchClaim(w.ns, `{"metadata":{"finalizers":null}}`), otherClaimLabels},
		{"an owner of a claim", patchClaim(w.ns, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`),
			otherClaimLabels},
		{"a volume for a claim", patchVolume("free", forClaim), ""},
		{"a volume for the claim that it is meant for", patchVolume("meant", forClaim), ""},
		{"a volume that is another's", patchVolume("taken", forClaim), "the scheduler's account takes volumes from no claim"},
		{"a volume that is meant for another namespace", patchVolume("elsewhere", forClaim), "the scheduler's account takes volumes from no claim"},
		{"the end of a volume's claim", patchVolume("taken", `{"spec":{"claimRef":null}}`), "the scheduler's account takes volumes from no claim"},
		{"another uid of a volume's claim", patchVolume("taken", `{"spec":{"claimRef":{"uid":"u-2"}}}`),
			"the scheduler's account takes volumes from no claim"},
		{"another annotation of a volume", patchVolume("taken", `{"metadata":{"annotations":{"pv.kubernetes.io/provisioned-by":"me"}}}`),
			"the scheduler's account writes of a volume's annotations pv.kubernetes.io/bound-by-controller alone"},
		{"a volume's size", patchVolume("taken", `{"spec":{"capacity":{"storage":"2Gi"}}}`), otherSpec},
		{"a volume's reclaim policy", patchVolume("taken", `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`), otherSpec},
		{"a volume's class", patchVolume("taken", `{"spec":{"storageClassName":"other"}}`), otherSpec},
		{"a volume's access modes", patchVolume("taken", `{"spec":{"accessModes":["ReadWriteMany"]}}`), otherSpec},
		{"a volume's mount options", patchVolume("taken", `{"spec":{"mountOptions":["ro"]}}`), otherSpec},
		{"a secret of a volume", patchVolume("taken", `{"spec":{"csi":{"controllerExpandSecretRef":{"name":"s","namespace":"n"}}}}`), otherSpec},
		{"a volume's nodes", patchVolume("taken", `{"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
			{"key":"zone","operator":"Exists"}]}]}}}}`), otherSpec},
		{"a label of a volume", patchVolume("taken", `{"metadata":{"labels":{"topology.kubernetes.io/zone":"a"}}}`), otherVolumeLabels},
		{"a volume's finalizers", patchVolume("taken", `{"metadata":{"finalizers":["example.com/a"]}}`), otherVolumeLabels},
	} {
		expectRefusal(t, c.what, c.err, c.refusal)
	}
	// What the client counts on: nothing is written to a claim or a volume that is not as it was seen.
	const stale = `{"metadata":{"resourceVersion":"1"}}`
	for what, err := range map[string]error{"claim": patchClaim(w.ns, stale), "volume": patchVolume("meant", stale)} {
		if !apierrors.IsConflict(err) {
			t.Errorf("a %s at an old version: got %v, want a conflict", what, err)
		}
	}
	// The policies are about this account alone.
	kubelet := []byte(`{"status":{"phase":"Failed"}}`)
	_, err := w.client.CoreV1().Pods(w.ns).Patch(t.Context(), "theirs", types.StrategicMergePatchType, kubelet, metav1.PatchOptions{DryRun: dryRun}, "status")
	expectRefusal(t, "anybody else", err, "")
}

// TestAccountEvictsItsOwnPods: with what manifests/policies/preemption adds, the scheduler's credentials delete pods that name it, with some time to
// end, and no others; without it, none.
func TestAccountEvictsItsOwnPods(t *testing.T) {
	w, account := withPolicies(t)
	there := onNode(w.addZonedNode("0", "a")) // a pod without a node has no time to end
	ends := func(seconds int64) fixture.PodOption {
		return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
	}
	w.addPodOf(schedulerName, "ours", there, ends(30))
	w.addPodOf(schedulerName, "hasty", there, ends(0))
	w.addPodOf("default-scheduler", "theirs", there, ends(30))
	evict := func(client kubernetes.Interface, pod string, seconds *int64) error {
		return client.CoreV1().Pods(w.ns).Delete(t.Context(), pod, metav1.DeleteOptions{DryRun: dryRun, GracePeriodSeconds: seconds})
	}
	expectRefusal(t, "a pod without the right", evict(account, "ours", nil), `cannot delete resource "pods"`)

	folder := filepath.Join(root, "manifests/policies/preemption")
	kubectl(t, "apply", "-k", folder)
	t.Cleanup(func() { kubectl(t, "delete", "-k", folder) })
	const notTheirs = `the scheduler's account evicts pods that name it alone; this one names "default-scheduler"`
	until(t, "the right and the policy to be in force", func() bool {
		err := evict(account, "theirs", nil)
		return err != nil && strings.Contains(err.Error(), notTheirs)
	})
	now, later := int64(0), int64(5)
	const notAtOnce = "the scheduler's account removes no running pod at once"
	expectRefusal(t, "its own pod", evict(account, "ours", nil), "")
	expectRefusal(t, "its own pod, in some seconds", evict(account, "ours", &later), "")
	expectRefusal(t, "its own pod, at once", evict(account, "ours", &now), notAtOnce)
	expectRefusal(t, "its own pod that asks for no time", evict(account, "hasty", nil), "")
	expectRefusal(t, "another's pod", evict(account, "theirs", nil), notTheirs)
	expectRefusal(t, "anybody else", evict(w.client, "theirs", &now), "")
}

// createVolume makes a volume of a CSI driver, named after the world's namespace, too, which goes with the test.
func (w *world) createVolume(name string, claim *corev1.ObjectReference) {
	w.t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: aGibibyte, ClaimRef: claim,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example", VolumeHandle: name}},
		},
	}
	w.must(w.client.CoreV1().PersistentVolumes().Create(w.t.Context(), volume, metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		if err := w.client.CoreV1().PersistentVolumes().Delete(context.Background(), volume.Name, metav1.DeleteOptions{}); err != nil {
			w.t.Error(err)
		}
	})
}

// createClaim makes a claim named after the world's namespace, with an annotation of its own, which goes with the test.
func (w *world) createClaim(namespace string) {
	w.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.ns, Annotations: map[string]string{"kept": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: aGibibyte},
		},
	}
	claims := w.client.CoreV1().PersistentVolumeClaims(namespace)
	w.must(claims.Create(w.t.Context(), claim, metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		if err := claims.Delete(context.Background(), w.ns, metav1.DeleteOptions{}); err != nil {
			w.t.Error(err)
		}
	})
}

var aGibibyte = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}

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
