package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// manyPods is how many may come before the floor gets to them.
const manyPods = 10_000

// floorCommand makes this program the floor: a process of its own, so that its CPU can be told from the watcher's.
const floorCommand = "bind-without-thinking"

// floor binds the pods of a namespace to the nodes in turn. It lists both once and, where asked to, watches for more pods; it keeps no state
// and decides nothing.
type floor struct {
	client    *http.Client
	token     string
	url       string
	namespace string
	nodes     []string
	events    bool
	pending   chan pendingPod // in the order in which they came; closed when there will be no more
	taken     atomic.Int64
}

type pendingPod struct {
	name string
	uid  types.UID
}

// runFloor binds everything and then waits to be ended, so that its memory can still be read.
func runFloor(args []string) error {
	flags := flag.NewFlagSet(floorCommand, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	namespace := flags.String("namespace", "", "")
	connections := flags.Int("connections", 32, "")
	events := flags.Bool("events", false, "")
	watch := flags.Bool("watch", false, "")
	_ = flags.Parse(args)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	f := &floor{token: config.BearerToken, url: config.Host, namespace: *namespace, events: *events}
	if err := f.follow(config, *watch); err != nil {
		return err
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	tls.NextProtos = []string{"http/1.1"}
	f.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: tls, MaxConnsPerHost: *connections, MaxIdleConnsPerHost: *connections,
	}}
	if err := inTurn(*connections, f.bindNext); err != nil {
		return err
	}
	select {} // until SIGTERM
}

// follow lists nodes and pods, and has the pods that come later come too if `watching`.
func (f *floor) follow(config *rest.Config, watching bool) error {
	config = rest.CopyConfig(config)
	config.ContentType, config.QPS = "application/vnd.kubernetes.protobuf", -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(f.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		f.nodes = append(f.nodes, nodes.Items[i].Name)
	}
	f.pending = make(chan pendingPod, len(pods.Items)+manyPods)
	for i := range pods.Items {
		f.pending <- pendingPod{pods.Items[i].Name, pods.Items[i].UID}
	}
	if !watching {
		close(f.pending)
		return nil
	}
	added, err := client.CoreV1().Pods(f.namespace).Watch(context.Background(), metav1.ListOptions{ResourceVersion: pods.ResourceVersion})
	if err != nil {
		return err
	}
	go f.take(added)
	return nil
}

// take hands on what a watch brings. Should it end, the rest stays unbound, which is seen.
func (f *floor) take(added watch.Interface) {
	for event := range added.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == watch.Added {
			f.pending <- pendingPod{pod.Name, pod.UID}
		}
	}
}

// inTurn calls do from several goroutines at a time until it says that there is no more, or fails.
func inTurn(workers int, do func() (more bool, err error)) error {
	failures := make(chan error, workers)
	for range workers {
		go func() {
			for {
				if more, err := do(); err != nil || !more {
					failures <- err
					return
				}
			}
		}()
	}
	for range workers {
		if err := <-failures; err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) bindNext() (more bool, err error) {
	next, more := <-f.pending
	if !more {
		return false, nil
	}
	pod, uid, node := next.name, next.uid, f.nodes[int(f.taken.Add(1)-1)%len(f.nodes)]
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: f.namespace, UID: uid}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := f.post("/api/v1/namespaces/"+f.namespace+"/pods/"+pod+"/binding", binding); err != nil || !f.events {
		return true, err
	}
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", pod, time.Now().UnixNano()), Namespace: f.namespace},
		EventTime:  metav1.NowMicro(), ReportingController: floorName, ReportingInstance: floorName,
		Action: "Binding", Reason: "Scheduled", Type: corev1.EventTypeNormal,
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: f.namespace, Name: pod, UID: uid},
		Note:      fmt.Sprintf("Successfully assigned %s/%s to %s", f.namespace, pod, node),
	}
	return true, f.post("/apis/events.k8s.io/v1/namespaces/"+f.namespace+"/events", event)
}

// inProtobuf writes objects of any group in the version that they are of.
var inProtobuf = scheme.Codecs.CodecForVersions(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), nil,
	schema.GroupVersions{corev1.SchemeGroupVersion, eventsv1.SchemeGroupVersion}, nil)

func (f *floor) post(path string, object runtime.Object) error {
	body, err := runtime.Encode(inProtobuf, object)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, f.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", runtime.ContentTypeProtobuf)
	request.Header.Set("Accept", runtime.ContentTypeProtobuf)
	request.Header.Set("Authorization", "Bearer "+f.token)
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body) // to its end, or the connection is not used again
	if err == nil && response.StatusCode != http.StatusCreated {
		err = fmt.Errorf("POST %s: %s: %s", path, response.Status, answer)
	}
	return err
}
