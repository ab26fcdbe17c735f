package lockstep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// patience is how long a scheduler may take to answer.
const patience = 30 * time.Second

// featureGates let in what is drawn beyond the defaults: a pod with hostNetwork and hostUsers: false.
const featureGates = "--feature-gates=UserNamespacesHostNetworkSupport=true"

// side is an API server with the scheduler behind it.
type side struct {
	name    string
	cluster *controlplane.ControlPlane
	client  kubernetes.Interface
	process *controlplane.Process // the scheduler

	mu      sync.Mutex
	pods    map[string]*corev1.Pod // as a watch shows them, by namespace/name
	changed chan struct{}          // closed at the next change of a pod
}

// start starts the API server, and the watch of its pods.
func (o *side) start(ctx context.Context, s Settings) (err error) {
	o.pods, o.changed = map[string]*corev1.Pod{}, make(chan struct{})
	o.cluster, err = controlplane.Start(ctx, controlplane.Options{Dir: filepath.Join(s.Dir, o.name), Bin: s.Bin, APIServerArgs: []string{
		// RuntimeClass takes a pod's overhead for a mistake unless a class says so. PodTopologyLabels copies a node's zone to its pods, as it was some time ago.
		"--disable-admission-plugins=TaintNodesByCondition,ServiceAccount,RuntimeClass,PodTopologyLabels", featureGates}})
	if err != nil {
		return err
	}
	config := o.cluster.Config()
	config.WarningHandler = rest.NoWarnings{} // much that is drawn is legal and unwise
	if o.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	return o.watch(ctx)
}

func (o *side) watch(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(o.client, 0)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { o.note(object, false) },
		UpdateFunc: func(_, object any) { o.note(object, false) },
		DeleteFunc: func(object any) { o.note(object, true) },
	})
	factory.Start(ctx.Done())
	return err
}

func (o *side) note(object any, gone bool) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if gone {
		delete(o.pods, keyOf(pod))
	} else {
		o.pods[keyOf(pod)] = pod
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// seen is the pod as the watch shows it, nil if it does not, or shows one that was there before with the same name.
func (o *side) seen(pod *corev1.Pod) (*corev1.Pod, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.pods[keyOf(pod)]; now != nil && now.UID == pod.UID {
		return now, o.changed
	}
	return nil, o.changed
}

// await gives the pod's answer once it is one that will do. When patience is over it gives what there is.
func (o *side) await(ctx context.Context, pod *corev1.Pod, will func(Answer) bool) (Answer, error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		now, changed := o.seen(pod)
		var answer Answer
		if now != nil {
			answer = answerOf(now)
		}
		if will(answer) {
			return answer, nil
		}
		select {
		case <-changed:
		case <-over.C:
			return answer, nil
		case <-o.process.Done():
			return answer, fmt.Errorf("%s ended by itself: %w; its log is %s", o.name, errors.Join(o.process.Wait()), o.process.Log)
		case <-ctx.Done():
			return answer, ctx.Err()
		}
	}
}

func answered(a Answer) bool { return a.Node != "" || a.Reason != "" }
func bound(a Answer) bool    { return a.Node != "" }

func (o *side) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created, err := o.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: create pod %s: %w", o.name, keyOf(pod), err)
	}
	return created, nil
}

// remove deletes a pod so that it is gone at once, as no kubelet would confirm that it has ended.
func (o *side) remove(ctx context.Context, namespace, name string) error {
	err := o.client.CoreV1().Pods(namespace).Delete(ctx, name, *metav1.NewDeleteOptions(0))
	if err != nil {
		return fmt.Errorf("%s: delete pod %s/%s: %w", o.name, namespace, name, err)
	}
	return nil
}
