package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// Watch feeds a timeline with the pods and the Scheduled events of a namespace, as they are now and as they become, until ctx ends.
// It returns once it has read the present state; the channel gets an error if a watch broke for good, so that something may be missing.
func Watch(ctx context.Context, client kubernetes.Interface, namespace string, into *Timeline) (<-chan error, error) {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", namespace, err)
	}
	now := time.Now()
	for i := range pods.Items {
		into.Pod(pods.Items[i].Name, pods.Items[i].Spec.NodeName, now)
	}
	broken := make(chan error, 2)
	go func() {
		broken <- follow(ctx, pods.ResourceVersion, client.CoreV1().Pods(namespace).Watch, metav1.ListOptions{}, func(e watch.Event, at time.Time) {
			if p, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Deleted {
				into.Pod(p.Name, p.Spec.NodeName, at)
			}
		})
	}()
	scheduled := metav1.ListOptions{FieldSelector: "reason=Scheduled"}
	go func() {
		broken <- follow(ctx, pods.ResourceVersion, client.CoreV1().Events(namespace).Watch, scheduled, func(e watch.Event, at time.Time) {
			if event, ok := e.Object.(*corev1.Event); ok {
				into.Event(event, at)
			}
		})
	}()
	return broken, nil
}

type openWatch func(context.Context, metav1.ListOptions) (watch.Interface, error)

// follow reads a watch, and opens it again where it ended each time that it ends.
func follow(ctx context.Context, version string, open openWatch, options metav1.ListOptions, take func(watch.Event, time.Time)) error {
	for ctx.Err() == nil {
		options.ResourceVersion = version
		w, err := open(ctx, options)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("watch: %w", err)
		}
		for e := range w.ResultChan() {
			at := time.Now()
			if e.Type == watch.Error {
				w.Stop()
				return errors.Join(errors.New("the watch failed"), apierrors.FromObject(e.Object))
			}
			take(e, at)
			if object, err := meta.Accessor(e.Object); err == nil {
				version = object.GetResourceVersion()
			}
		}
		w.Stop()
	}
	return nil
}
