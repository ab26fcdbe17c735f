package main

import (
	"fmt"
	"math/rand"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler fills structs by chance, with words that mean something where a field has such.
type filler struct{ random *rand.Rand }

// words by the name of the type that has them. Of other texts there are some letters.
var words = map[string][]string{
	"TolerationOperator":            {"", "Equal", "Exists", "Lt", "New"},
	"TaintEffect":                   {"", "NoSchedule", "PreferNoSchedule", "NoExecute", "New"},
	"NodeSelectorOperator":          {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "New"},
	"LabelSelectorOperator":         {"In", "NotIn", "Exists", "DoesNotExist"},
	"PodPhase":                      {"", "Pending", "Running", "Succeeded", "Failed", "Unknown"},
	"UnsatisfiableConstraintAction": {"DoNotSchedule", "ScheduleAnyway"},
	"NodeInclusionPolicy":           {"Honor", "Ignore"},
	"ContainerRestartPolicy":        {"Always", "Never"},
	"ContainerRestartRuleAction":    {"Restart", "RestartAllContainers"},
	"ResourceName":                  {"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"},
	"Protocol":                      {"TCP", "UDP"},
}

var amounts = []string{"0", "1", "500m", "1500m", "3Gi", "2.5", "100M", "1e3"}

// pod is the i-th: of the first nothing is set but what every pod has.
func (f filler) pod(i int) corev1.Pod {
	var pod corev1.Pod
	if i > 0 {
		f.fill(reflect.ValueOf(&pod).Elem(), 0)
	}
	pod.TypeMeta = kind("Pod")
	pod.Name, pod.Namespace, pod.UID = fmt.Sprintf("pod-%d", i), "ml", "5d0c-4b6e"
	pod.ManagedFields = nil // as they are kept nowhere
	if i > 0 {
		pod.Spec.Volumes = f.volumes(i - 1)
	}
	return pod
}

// So many volumes of each pod but the first bring every source there is.
const volumesPerPod = 3

// volumes of the i-th pod that has some. Their sources are taken in turn, as chance leaves most of them out.
func (f filler) volumes(i int) (volumes []corev1.Volume) {
	for v := range volumesPerPod {
		volumes = append(volumes, corev1.Volume{Name: f.word("string"), VolumeSource: f.volumeSource(volumesPerPod*i + v)})
	}
	return volumes
}

// volumeSource has one field set, as all of them have: the i-th, and behind the last one the first again.
func (f filler) volumeSource(i int) (source corev1.VolumeSource) {
	fields := reflect.ValueOf(&source).Elem()
	field := fields.Field(i % fields.NumField())
	field.Set(reflect.New(field.Type().Elem()))
	f.fill(field.Elem(), 3)
	if claim := source.PersistentVolumeClaim; claim != nil {
		claim.ClaimName = fmt.Sprintf("claim-%d", i) // never empty, and read by schedulers
	}
	return source
}

func (f filler) fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(amounts[f.random.Intn(len(amounts))])))
		return
	case metav1.Time:
		if f.random.Intn(3) > 0 {
			v.Set(reflect.ValueOf(metav1.Unix(1_600_000_000+f.random.Int63n(100_000_000), 0).Rfc3339Copy()))
		}
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(1_600_000_000, 0))))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(8080)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if f.random.Intn(3) > 0 && depth < 9 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		f.fillSlice(v, depth)
	case reflect.Map:
		for range f.random.Intn(3) {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(f.word(v.Type().Name()))
	case reflect.Bool:
		v.SetBool(f.random.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.random.Int63n(70) - 3)
	}
}

func (f filler) fillSlice(v reflect.Value, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	for range f.random.Intn(3) {
		item := reflect.New(v.Type().Elem()).Elem()
		f.fill(item, depth+1)
		v.Set(reflect.Append(v, item))
	}
}

func (f filler) word(typeName string) string {
	if known := words[typeName]; known != nil {
		return known[f.random.Intn(len(known))]
	}
	if f.random.Intn(4) == 0 {
		return ""
	}
	return []string{"a", "bc", "zone", "gpu-scheduler.io/gpu-type", "größer"}[f.random.Intn(5)]
}
