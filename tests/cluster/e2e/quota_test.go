package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// What the tests of GPU quotas share. The custom resource is written as maps and read as a struct, for there is no generated client of it.

// object is a part of an API object.
type object = map[string]any

// list is one in it.
type list = []any

// quotaObject is a GpuQuota with the status that the scheduler wrote.
type quotaObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Total              quotaUse           `json:"total"`
		Quotas             []quotaLine        `json:"quotas"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type quotaLine struct {
	GPUType string `json:"gpuType"`
	quotaUse
}

type quotaUse struct {
	Guaranteed string `json:"guaranteed"`
	Used       string `json:"used"`
	Borrowed   string `json:"borrowed"`
	Lent       string `json:"lent"`
	Pending    string `json:"pending"`
}

func (u quotaUse) String() string {
	return fmt.Sprintf("guaranteed %s, used %s, borrowed %s, lent %s, pending %s", u.Guaranteed, u.Used, u.Borrowed, u.Lent, u.Pending)
}

// account is the use of all lines, each behind its type.
func (q *quotaObject) account() string {
	var text []string
	for _, line := range q.Status.Quotas {
		text = append(text, line.GPUType+": "+line.String())
	}
	return strings.Join(text, "; ")
}

// condition is the status, reason and message of one of its conditions.
func (q *quotaObject) condition(name string) string {
	for _, c := range q.Status.Conditions {
		if c.Type == name {
			return strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message))
		}
	}
	return ""
}

var quotaResource = schema.GroupVersionResource{Group: "gpu-scheduler.io", Version: "v1alpha1", Resource: "gpuquotas"}

// quotas is the API of GpuQuota, as its administrator has it; the custom resource is installed. It skips the test of a scheduler that does
// not know it.
func quotas(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	if !isGPUScheduler() {
		t.Skip("GpuQuota is gpu-scheduler's own, and comes with its manifests")
	}
	if _, err := lent(t).identity(); err != nil { // applies manifests/base
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(lent(t).cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	api := client.Resource(quotaResource)
	deadline := time.Now().Add(waitLimit)
	for { // a new resource is served a moment after it was made
		_, err := api.List(t.Context(), metav1.ListOptions{})
		if err == nil {
			return api
		}
		if time.Now().After(deadline) {
			t.Fatalf("gpuquotas are not served: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// quota is a GpuQuota of a name and a spec.
func quota(name string, spec object) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "gpu-scheduler.io/v1alpha1", "kind": "GpuQuota", "metadata": object{"name": name}, "spec": spec,
	}}
}

// addQuota makes a GpuQuota until the test ends, and returns when the scheduler enforces it.
func (w *world) addQuota(name string, spec object) {
	w.t.Helper()
	w.createQuota(quota(name, spec))
	w.waitQuota(name, "enforced", (*quotaObject).enforced)
}

// addQuotas makes those of a file in manifests/examples/quota.
func (w *world) addQuotas(file string) {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "manifests/examples/quota", file))
	w.must(nil, err)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	var names []string
	for {
		made := &unstructured.Unstructured{}
		if documents.Decode(made) != nil {
			break
		}
		w.createQuota(made)
		names = append(names, made.GetName())
	}
	for _, name := range names {
		w.waitQuota(name, "enforced", (*quotaObject).enforced)
	}
}

func (w *world) createQuota(made *unstructured.Unstructured) {
	w.t.Helper()
	api := quotas(w.t)
	w.must(api.Create(w.t.Context(), made, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}))
	w.t.Cleanup(func() {
		_ = api.Delete(context.Background(), made.GetName(), metav1.DeleteOptions{}) // the test may have done so itself
	})
}

// patchQuota changes a quota's spec, or with the subresource status what stands there.
func (w *world) patchQuota(name, field string, to object, subresource ...string) {
	w.t.Helper()
	patch, err := json.Marshal(object{field: to})
	w.must(nil, err)
	w.must(quotas(w.t).Patch(w.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, subresource...))
}

// deleteQuota deletes it, if it is there.
func (w *world) deleteQuota(name string) {
	w.t.Helper()
	if err := quotas(w.t).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
}

func (q *quotaObject) enforced() bool {
	ready := q.condition("Ready")
	return q.Status.ObservedGeneration == q.Generation && ready != "" && !strings.HasPrefix(ready, "False InvalidSpec")
}

// waitQuota waits for a condition of a quota and returns it.
func (w *world) waitQuota(name, what string, condition func(*quotaObject) bool) *quotaObject {
	w.t.Helper()
	api := quotas(w.t)
	deadline := time.Now().Add(waitLimit)
	for {
		q := &quotaObject{}
		found, err := api.Get(w.t.Context(), name, metav1.GetOptions{})
		if err == nil {
			var text []byte
			if text, err = found.MarshalJSON(); err == nil {
				err = json.Unmarshal(text, q)
			}
		}
		if err == nil && condition(q) {
			return q
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waiting for quota %s to be %s: %v; it has %s, and conditions %+v", name, what, err, q.account(), q.Status.Conditions)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// waitAccount waits until a quota's status gives this account of its lines.
func (w *world) waitAccount(name, account string) {
	w.t.Helper()
	w.waitQuota(name, account, func(q *quotaObject) bool { return q.account() == account })
}

// waitOverQuota waits until a pod says in its condition that its quota keeps it waiting, in these words. The reason is not
// Unschedulable, which tells a cluster autoscaler to add nodes.
func (w *world) waitOverQuota(name, message string) {
	w.t.Helper()
	p := w.waitPod(name, "over quota: "+message, func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && c.Status == corev1.ConditionFalse && strings.HasPrefix(c.Message, message)
	})
	if c := condition(p); c.Reason != "GpuQuotaExceeded" {
		w.t.Errorf("%s: reason %q, want GpuQuotaExceeded", name, c.Reason)
	}
}
