package lockstep

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// operation is one of a JSON patch (RFC 6902). Schedulers write the status of pods meanwhile: a patch touches what it names alone.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (o *side) patchNode(ctx context.Context, name string, operations []operation, subresource ...string) error {
	_, err := o.client.CoreV1().Nodes().Patch(ctx, name, types.JSONPatchType, encode(operations), metav1.PatchOptions{}, subresource...)
	return o.patched(err, "node "+name)
}

func (o *side) patchNamespace(ctx context.Context, name string, operations []operation) error {
	_, err := o.client.CoreV1().Namespaces().Patch(ctx, name, types.JSONPatchType, encode(operations), metav1.PatchOptions{})
	return o.patched(err, "namespace "+name)
}

func (o *side) patchPod(ctx context.Context, namespace, name string, operations []operation, subresource ...string) error {
	_, err := o.client.CoreV1().Pods(namespace).Patch(ctx, name, types.JSONPatchType, encode(operations), metav1.PatchOptions{}, subresource...)
	return o.patched(err, "pod "+namespace+"/"+name)
}

func (o *side) patched(err error, what string) error {
	if err != nil {
		return fmt.Errorf("%s: patch %s: %w", o.name, what, err)
	}
	return nil
}

func encode(operations []operation) []byte {
	text, err := json.Marshal(operations)
	if err != nil {
		panic(err) // nothing in a patch refuses to be written
	}
	return text
}
