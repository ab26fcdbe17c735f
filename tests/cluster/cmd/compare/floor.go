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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// floorCommand makes this program the floor: a process of its own, so that its CPU can be told from the watcher's.
const floorCommand = "bind-without-thinking"

// floor binds the pods of a namespace to the nodes in turn. It lists both once, keeps no state and decides nothing.
type floor struct {
	client    *http.Client
	url       string
	namespace string
	pods      []string // names
	uids      []string
	nodes     []string
	events    bool
	next      atomic.Int64
}

// runFloor binds everything and then waits to be ended, so that its memory can still be read.
func runFloor(args []string) error {
	flags := flag.NewFlagSet(floorCommand, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	namespace := flags.String("namespace", "", "")
	connections := flags.Int("connections", 32, "")
	events := flags.Bool("events", false, "")
	_ = flags.Parse(args)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	f := &floor{url: config.Host, namespace: *namespace, events: *events}
	if err := f.list(config); err != nil {
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

func (f *floor) list(config *rest.Config) error {
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
	for i := range pods.Items {
		f.pods = append(f.pods, pods.Items[i].Name)
		f.uids = append(f.uids, string(pods.Items[i].UID))
	}
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		f.nodes = append(f.nodes, nodes.Items[i].Name)
	}
	return nil
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
	i := int(f.next.Add(1)) - 1
	if i >= len(f.pods) {
		return false, nil
	}
	pod, uid, node := f.pods[i], f.uids[i], f.nodes[i%len(f.nodes)]
	binding := fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q,"namespace":%q,"uid":%q},`+
		`"target":{"kind":"Node","name":%q}}`, pod, f.namespace, uid, node)
	if err := f.post("/api/v1/namespaces/"+f.namespace+"/pods/"+pod+"/binding", binding); err != nil || !f.events {
		return true, err
	}
	event := fmt.Sprintf(`{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"%s.%x","namespace":%q},"eventTime":%q,`+
		`"reportingController":"floor","reportingInstance":"floor","action":"Binding","reason":"Scheduled","type":"Normal",`+
		`"regarding":{"kind":"Pod","apiVersion":"v1","namespace":%q,"name":%q,"uid":%q},"note":"Successfully assigned %s/%s to %s"}`,
		pod, time.Now().UnixNano(), f.namespace, time.Now().UTC().Format(metav1.RFC3339Micro), f.namespace, pod, uid, f.namespace, pod, node)
	return true, f.post("/apis/events.k8s.io/v1/namespaces/"+f.namespace+"/events", event)
}

func (f *floor) post(path, body string) error {
	response, err := f.client.Post(f.url+path, "application/json", bytes.NewReader([]byte(body)))
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
