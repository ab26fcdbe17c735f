package draw

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gpu-scheduler.io/tests/cluster/parity/stored"
)

const (
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
	region   = "topology.kubernetes.io/region"
	rack     = "rack"

	digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

var (
	taintKeys   = []string{"dedicated", "dedicated", "nvidia.com/gpu", "spot", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"}
	taintValues = []string{"", "true", "team-a", "10"}
	devices     = []string{"nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb", "amd.com/gpu"}
	// Sorted. The first is needed by no pod that is to be placed, the last is of a version to come.
	features = []string{"InPlacePodLevelResourcesVerticalScaling", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "Zeroth"}
	// The last one is asked for without its tag.
	images = []string{"registry.example/pause:1", "registry.example/train:2", "registry.example/serve:latest", "registry.example/serve" + digest,
		"registry.example:5000/etl"}
	imagesOfNodes = []string{"registry.example/pause:1", "registry.example/train:2", "registry.example/serve:latest", "registry.example:5000/etl:latest"}
)

func (d *drawer) namespaces() []corev1.Namespace {
	var all []corev1.Namespace
	for _, name := range []string{"default", "ml", "team-a", "bare"} {
		if d.chance(.02) {
			continue // a watch may show a pod before its namespace
		}
		labels := map[string]string{"kubernetes.io/metadata.name": name}
		if name != "bare" {
			labels["tier"] = d.pick("gold", "silver")
		}
		all = append(all, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	return all
}

// node draws one that the API server would store.
func (d *drawer) node(name string) corev1.Node {
	for {
		if node := d.anyNode(name); stored.CheckNode(&node) == nil {
			return node
		}
	}
}

func (d *drawer) anyNode(name string) corev1.Node {
	labels := map[string]string{hostname: name, "kubernetes.io/os": "linux", region: "r1"}
	drawn := map[string]string{
		zone: d.pick("z-a", "z-a", "z-b", "z-c"), rack: d.pick("0", "1", "2", "3", ""), "gpu-type": d.pick("a100", "h100", "t4"),
		"kubernetes.io/arch": d.pick("amd64", "amd64", "arm64"), "nvidia.com/gpu.count": d.pick("0", "1", "2", "4", "8"),
		"nvidia.com/gpu.memory": d.pick("15360", "40960", "81920", "040960", "9223372036854775808", "x", ""), region: d.pick("r1", "r1", "r2"),
	}
	for _, key := range []string{zone, rack, "gpu-type", "kubernetes.io/arch", "nvidia.com/gpu.count", "nvidia.com/gpu.memory", region} {
		if !d.chance(d.unlabelled) {
			labels[key] = drawn[key]
		}
	}
	for _, kind := range disks {
		if kind.zone != "" && d.chance(d.inTree*1.5) {
			labels[kind.zone] = drawn[zone]
		}
	}
	// Hostnames may be missing, and two nodes may share one.
	if d.chance(d.unlabelled / 3) {
		delete(labels, hostname)
	} else if d.chance(.03) {
		labels[hostname] = "node-0"
	}
	if d.chance(.02) {
		labels = nil
	}
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	node.Spec.Unschedulable = d.chance(d.cordoned)
	if d.chance(d.tainted) {
		for _, key := range d.some(taintKeys...) {
			taint := corev1.Taint{Key: key, Value: d.pick(taintValues...), Effect: corev1.TaintEffect(d.pick("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))}
			if !hasTaint(node.Spec.Taints, taint) {
				node.Spec.Taints = append(node.Spec.Taints, taint)
			}
		}
	}
	node.Status.Allocatable = d.allocatable()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(d.pick("True", "True", "False"))}}
	if d.features > 0 {
		for _, feature := range features {
			if d.chance(.5) {
				node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, feature)
			}
		}
	}
	for _, image := range imagesOfNodes {
		if d.chance(.3) {
			size := []int64{1 << 20, 24 << 20, 300 << 20, 999 << 20, 1001 << 20, 2 << 30, 20 << 30}[d.IntN(7)]
			names := []string{image}
			if d.chance(.5) {
				untagged := image[:strings.LastIndex(image, ":")]
				names = append(names, untagged+digest)
			}
			node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: names, SizeBytes: size})
		}
	}
	return node
}

// A node has a taint's key and effect once.
func hasTaint(taints []corev1.Taint, taint corev1.Taint) bool {
	for i := range taints {
		if taints[i].MatchTaint(&taint) {
			return true
		}
	}
	return false
}

func (d *drawer) allocatable() corev1.ResourceList {
	list := corev1.ResourceList{}
	set := func(name, quantity string) { list[corev1.ResourceName(name)] = resource.MustParse(quantity) }
	if !d.small && !d.chance(.05) {
		set("cpu", "96")
		set("memory", "768Gi")
		set("ephemeral-storage", "1Ti")
		set("pods", "110")
		set("hugepages-2Mi", "64Gi")
		for _, device := range devices {
			set(device, "64")
		}
		return list
	}
	set("cpu", d.pick("500m", "2", "3900m", "4", "7500m", "8", "16"))
	set("memory", d.pick("4G", "4Gi", "8Gi", "7500Mi", "10e9", "16Gi", "34359738368"))
	set("pods", d.pick("0", "2", "3", "4", "5", "110", "110", "110"))
	if !d.chance(.1) {
		set("ephemeral-storage", d.pick("5G", "50Gi", "100Gi"))
	}
	if d.chance(.4) {
		set("hugepages-2Mi", d.pick("0", "2Mi", "4Mi", "1Gi"))
	}
	for _, device := range devices {
		if d.chance(.45) {
			set(device, d.pick("0", "1", "2", "3", "4", "7", "8"))
		}
	}
	if d.chance(d.huge * 10) {
		set(d.pick("cpu", "memory", "nvidia.com/gpu"), d.pick("1P", "2P", "64Ti", "9007199254740", "9007199254741"))
	}
	if d.chance(.04) {
		delete(list, corev1.ResourceName(d.pick("cpu", "memory")))
	}
	if d.chance(d.overflow) {
		set(d.pick("cpu", "memory", "nvidia.com/gpu"), d.pick("9223372036854775807", "7Ei", "7E"))
	}
	return list
}
