// protobufpods writes pods as the API server sends them, in JSON and in protobuf, for the tests of the decoders.
//
//	go run ./cmd/protobufpods > ../k8s-client/api/protobuf/pods.txt      in tests/cluster
//
// Each line is a document in JSON, a tab, and the same in protobuf, in base64: pods with every field that there is, set or not set by
// chance, the same at each run, and every source that a volume can have; then a page of a list, a Status, and events of a watch (these
// without their length); a Binding and two Events, which are what the scheduler writes; last a DeviceClass and a list of it. Both are made by Kubernetes' own serializers.
package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const pods = 14

var (
	inJSON     = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{})
	inProtobuf = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "protobufpods:", err)
		os.Exit(1)
	}
}

func write() error {
	fill := filler{rand.New(rand.NewSource(1))}
	list := corev1.PodList{TypeMeta: kind("PodList"), ListMeta: metav1.ListMeta{ResourceVersion: "17", Continue: "on"}}
	for i := range pods {
		pod := fill.pod(i)
		if err := line(&pod); err != nil {
			return err
		}
		if i < 3 {
			pod.TypeMeta = metav1.TypeMeta{} // as in lists
			list.Items = append(list.Items, pod)
		}
	}
	if err := line(&list); err != nil {
		return err
	}
	gone := metav1.Status{TypeMeta: kind("Status"), Status: "Failure", Reason: "Expired", Message: "too old", Code: 410,
		Details: &metav1.StatusDetails{RetryAfterSeconds: 7}}
	if err := line(&gone); err != nil {
		return err
	}
	if err := events(fill.pod(0), &gone); err != nil {
		return err
	}
	if err := written(); err != nil {
		return err
	}
	return deviceClass()
}

// deviceClass writes a class with a parameter of its driver that 64 bits cannot hold, alone and in a list.
func deviceClass() error {
	in := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: kind}
	}
	resource := "example.com/gpu"
	opaque := resourcev1.OpaqueDeviceConfiguration{Driver: "gpu.example.com",
		Parameters: runtime.RawExtension{Raw: []byte(`{"mask":12345678901234567890123,"least":-9223372036854775809,"most":1e400}`)}}
	class := resourcev1.DeviceClass{TypeMeta: in("DeviceClass"),
		ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com", UID: "u-1", ResourceVersion: "7"},
		Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &resource,
			Config: []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: resourcev1.DeviceConfiguration{Opaque: &opaque}}}}}
	if err := line(&class); err != nil {
		return err
	}
	class.TypeMeta = metav1.TypeMeta{} // as in lists
	return line(&resourcev1.DeviceClassList{TypeMeta: in("DeviceClassList"), ListMeta: metav1.ListMeta{ResourceVersion: "17"},
		Items: []resourcev1.DeviceClass{class}})
}

func kind(name string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: name} }

// line writes one document.
func line(object runtime.Object) error {
	first, second, err := encode(object)
	if err != nil {
		return err
	}
	fmt.Printf("%s\t%s\n", bytes.TrimSpace(first), base64.StdEncoding.EncodeToString(second))
	return nil
}

func encode(object runtime.Object) (first, second []byte, err error) {
	if first, err = runtime.Encode(inJSON, object); err != nil {
		return nil, nil, err
	}
	second, err = runtime.Encode(inProtobuf, object)
	return first, second, err
}

// written writes what a scheduler writes.
func written() error {
	at := metav1.NewMicroTime(time.Date(2026, 3, 4, 5, 6, 7, 890_123_000, time.UTC))
	binding := corev1.Binding{TypeMeta: kind("Binding"),
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train-0", UID: "u-1", Annotations: map[string]string{"example.com/a": "1", "example.com/b": "2"}},
		Target:     corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "gpu-7"}}
	event := eventsv1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train-0.17"}, EventTime: at,
		ReportingController: "gpu-scheduler", ReportingInstance: "gpu-scheduler-host", Action: "Binding", Reason: "Scheduled", Type: "Normal",
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "train-0", UID: "u-1"},
		Note:      "Successfully assigned ml/train-0 to gpu-7"}
	repeated := *event.DeepCopy()
	repeated.Series = &eventsv1.EventSeries{Count: 300, LastObservedTime: at}
	for _, object := range []runtime.Object{&binding, &event, &repeated} {
		if err := line(object); err != nil {
			return err
		}
	}
	return nil
}

// events writes events of a watch, one of each type.
func events(pod corev1.Pod, gone *metav1.Status) error {
	bookmark := corev1.Pod{TypeMeta: kind("Pod")}
	bookmark.ResourceVersion = "99"
	bookmark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	for _, event := range []struct {
		name   string
		object runtime.Object
	}{{"ADDED", &pod}, {"MODIFIED", &pod}, {"DELETED", &pod}, {"BOOKMARK", &bookmark}, {"ERROR", gone}} {
		first, second, err := encode(event.object)
		if err != nil {
			return err
		}
		inFrame := metav1.WatchEvent{Type: event.name, Object: runtime.RawExtension{Raw: second}}
		message, err := inFrame.Marshal()
		if err != nil {
			return err
		}
		fmt.Printf("{\"type\":%q,\"object\":%s}\t%s\n", event.name, bytes.TrimSpace(first), base64.StdEncoding.EncodeToString(message))
	}
	return nil
}
