package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// What the tests of GPU quotas share: the custom resource, as maps, for there is no generated client of it.

// object is a part of an API object.
type object = map[string]any

// list is one in it.
type list = []any

// quotas is the API of GpuQuota, as its administrator has it; the custom resource is installed.
func quotas(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	if _, err := identity(); err != nil { // applies manifests/base
		t.Fatal(err)
	}
	api := dynamicClient(t).Resource(schema.GroupVersionResource{Group: "gpu-scheduler.io", Version: "v1alpha1", Resource: "gpuquotas"})
	deadline := time.Now().Add(30 * time.Second)
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

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// quota is a GpuQuota of a name and a spec.
func quota(name string, spec object) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "gpu-scheduler.io/v1alpha1", "kind": "GpuQuota", "metadata": object{"name": name}, "spec": spec,
	}}
}

// addQuota makes a GpuQuota until the test ends.
func (w *world) addQuota(name string, spec object) {
	w.t.Helper()
	api := quotas(w.t)
	w.must(api.Create(w.t.Context(), quota(name, spec), metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		_ = api.Delete(context.Background(), name, metav1.DeleteOptions{}) // the test may have done so itself
	})
}
