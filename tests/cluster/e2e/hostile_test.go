package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestTenantsAttack has one team create pods that are made to stop, blind or mislead the scheduler. After each attack, and once more after a restart
// that finds all those pods, ten pods of others are bound as soon as tenants_test.go demands. An attack returns what must hold besides, or nil.
func TestTenantsAttack(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("its messages are gpu-scheduler's own")
	}
	t.Parallel()
	for _, attack := range []struct {
		name string
		make func(n *neighbours, team *world) (check func())
		args []string
	}{
		{"selections", selectWhatOthersHave, nil},
		{"sidecars", nameManyResources, nil},
		{"annotations", annotateAtLength, nil},
		{"affinities", comeAndGoWithLargeAffinities, []string{"--memory-limit=128Mi"}},
		{"rejections", haveSoundNodesReject, nil},
		{"dates", dateStrangely, nil},
		{"lists", listAtLength, nil},
		{"nesting", nestDeeply, nil},
		{"bytes", writeAnyBytes, nil},
	} {
		t.Run(attack.name, func(t *testing.T) {
			n := newNeighbours(t, func(with *setup) { with.args = append(with.args, attack.args...) })
			team := n.w.beside(n.w.ns + "-team")
			check := attack.make(n, team)
			n.expectBound("after the attack")
			if check != nil {
				check()
			}
			n.expectAllRead()
			n.s.kill()
			n.s.start()
			n.w.addPod("restarted", fixture.GPUs(1))
			n.w.waitPod("restarted", "bound by a process that finds the attack's pods", bound)
			n.expectBound("after a restart")
			n.expectAllRead()
		})
	}
}

// expectAllRead fails the test if the scheduler has met an object that it cannot read.
func (n *neighbours) expectAllRead() {
	n.w.t.Helper()
	for _, line := range n.s.logLines("an object cannot be read and is put aside") {
		n.w.t.Error(line)
	}
}

// selectWhatOthersHave asks by affinity, anti-affinity and node for what pods of others have, and for what there is not. What those pods are told
// names no pod of others and no quota of theirs.
func selectWhatOthersHave(n *neighbours, team *world) func() {
	const secret = "confidential"
	n.w.addPod(secret, fixture.GPUs(1))
	theirs := n.w.waitPod(secret, "bound", bound)
	cohort := object{"cohort": n.w.ns}
	n.w.addQuota(secret+"-quota", n.w.anyType("60", cohort))
	team.addQuota(team.ns, team.anyType("8", cohort))

	everyone := func(key string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}, TopologyKey: key}
	}
	nobody := everyone(corev1.LabelHostname)
	nobody.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/nobody": "has-it"}}
	apartFromAll := func(key string) fixture.PodOption {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{everyone(key)}}}
		}
	}
	// This one is bound, to an empty node, and keeps others off that node alone.
	team.addPod("keeps-a-node", apartFromAll(corev1.LabelHostname))
	team.waitPod("keeps-a-node", "bound", bound)
	for name, options := range map[string][]fixture.PodOption{
		"no-such-label":  {requiringNodes(corev1.NodeSelectorRequirement{Key: "example.com/no-node-has-it", Operator: corev1.NodeSelectorOpExists})},
		"apart-from-all": {apartFromAll(poolLabel)},
		"with-nobody": {func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{nobody}}}
		}},
		"their-room": {fixture.GPUs(8), fixture.On(corev1.LabelHostname, theirs.Spec.NodeName)},
	} {
		team.addPod(name, options...)
		team.waitRefused(name, "0/10 nodes are available: ")
	}
	team.addPod("beyond-quota", fixture.GPUs(67)) // of 68, of which others use two
	team.waitOverQuota("beyond-quota", "quota "+team.ns+": ")
	return func() {
		pods, err := team.client.CoreV1().Pods(team.ns).List(team.t.Context(), metav1.ListOptions{})
		team.must(nil, err)
		events, err := team.client.EventsV1().Events(team.ns).List(team.t.Context(), metav1.ListOptions{})
		team.must(nil, err)
		told, err := json.Marshal([]any{pods.Items, events.Items})
		team.must(nil, err)
		for _, hidden := range []string{n.w.ns + "/", secret} {
			if at := strings.Index(string(told), hidden); at >= 0 {
				team.t.Errorf("%q is named: …%.300s", hidden, told[max(0, at-100):])
			}
		}
	}
}

// nameManyResources has pods with so many sidecars, and resources that nobody offers, that the API server takes no more. Names that do count, as
// those of MIG instances on a node that comes later, still do.
func nameManyResources(n *neighbours, team *world) func() {
	own := func(pod string) func(i int) corev1.ResourceName {
		return func(i int) corev1.ResourceName { return corev1.ResourceName(fmt.Sprintf("example.com/%s-%d", pod, i)) }
	}
	const refused = "pod asks for more than 60 different resources"
	team.addPod("huge", withSidecars(hugeSidecars, namesOfSidecar, own("h")))
	team.waitSaid("huge", refused)
	team.addPod("same-names", withSidecars(mostSidecars, namesOfSidecar, func(i int) corev1.ResourceName { return own("s")(i % namesOfSidecar) }))
	team.waitSaid("same-names", "0/10 nodes are available: 10 Insufficient example.com/s-0, 10 Insufficient example.com/s-1, ")
	// One that chose its node is there without being asked.
	team.addPod("huge-on-node", withSidecars(mostSidecars, namesOfSidecar, own("n")), onNode(n.w.ns+"-0"))
	team.addPod("runs", withSidecars(mostSidecars, 0, nil), fixture.GPUs(1))
	team.waitPod("runs", "bound", bound)
	const crowd, each = 50, 55
	team.parallel(crowd, func(i int) { team.addPod(podNumber(i), withSidecars(1, each, own(podNumber(i)))) })
	for i := range crowd {
		team.waitSaid(podNumber(i), "10 Insufficient example.com/"+podNumber(i)+"-0")
	}
	return func() {
		n.w.addNode(fixture.GPUNode(n.w.ns+"-mig", fixture.H100, 1, mixed(), fixture.Allocatable(fixture.GPUResource, "0"), fixture.Allocatable(mig1g, "2")))
		for _, name := range []string{"instance-0", "instance-1"} {
			n.w.addPod(name, device(mig1g, 1))
			n.w.waitOn(name, n.w.ns+"-mig")
		}
		n.w.addPod("instance-2", device(mig1g, 1))
		n.w.waitSaid("instance-2", "0/11 nodes are available: 11 Insufficient nvidia.com/mig-1g.10gb.")
		n.w.deletePod("instance-0")
		n.w.waitOn("instance-2", n.w.ns+"-mig")
	}
}

// A pod with so many sidecars of so many names each is of 1.4 MB, and etcd takes 1.5 MiB.
const hugeSidecars, mostSidecars, namesOfSidecar = 500, 150, 50

// withSidecars adds sidecars (init containers that are restarted) with so many names each; the first has the names 0, 1, 2, …
func withSidecars(count, names int, name func(i int) corev1.ResourceName) fixture.PodOption {
	always := corev1.ContainerRestartPolicyAlways
	return func(p *corev1.Pod) {
		for i := range count {
			sidecar := *p.Spec.Containers[0].DeepCopy()
			sidecar.Name, sidecar.RestartPolicy = fmt.Sprintf("sidecar-%d", i), &always
			side := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{sidecar}}}
			for j := range names {
				fixture.Limits(name(i*names+j), "1")(side)
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, side.Spec.Containers[0])
		}
	}
}

// annotateAtLength has annotations that the scheduler reads, nearly as long as it keeps them, and one as long as the API server takes it. Each pod is told
// what is wrong, at no such length.
func annotateAtLength(_ *neighbours, team *world) func() {
	const most, mostSaid = 50_000, 4_096 // bytes
	const mostStored = 250_000           // all annotations of a pod may have 262,144
	long := func(piece string) string { return strings.Repeat(piece, most/len(piece)) }
	strangers := func(p *corev1.Pod) {
		for i := range 1_500 {
			fixture.Annotated(fmt.Sprintf("gpu-scheduler.io/sharin-%05d", i), "x")(p)
		}
	}
	cases := []struct {
		name, want string
		option     fixture.PodOption
	}{
		{"commas", typeAnnotation + ": longer than 1024 bytes", fixture.Annotated(typeAnnotation, long(","))},
		{"types", typeAnnotation + ": longer than 1024 bytes", fixture.Annotated(typeAnnotation, long("H100,"))},
		{"at-length", "pod has more than 64 KiB of labels, annotations, rules and images", fixture.Annotated(typeAnnotation, strings.Repeat(",", mostStored))},
		{"few-commas", "has an item that names nothing", fixture.Annotated(typeAnnotation, strings.Repeat(",", 1000))},
		{"some-types", typeAnnotation + ": more than 16 types", fixture.Annotated(typeAnnotation, strings.Repeat("H100,", 200)+"H100")},
		{"memory", "gpu-scheduler.io/min-gpu-memory: ", fixture.Annotated("gpu-scheduler.io/min-gpu-memory", long("1,"))},
		{"share", "gpu-scheduler.io/gpu-memory: ", fixture.Annotated("gpu-scheduler.io/gpu-memory", long("Gi,"))},
		{"capability", "is not a compute capability", fixture.Annotated("gpu-scheduler.io/min-compute-capability", long("8."))},
		{"driver", "gpu-scheduler.io/min-driver-version: ", fixture.Annotated("gpu-scheduler.io/min-driver-version", long("570,"))},
		{"cuda", "gpu-scheduler.io/min-cuda-version: ", fixture.Annotated("gpu-scheduler.io/min-cuda-version", long("12."))},
		{"sharing", "is none of allowed, required, never", fixture.Annotated(sharingAnnotation, long("never,"))},
		{"profile", "is not a MIG profile", fixture.Annotated(profileAnnotation, long("1g.5gb,"))},
		{"group", "gpu-scheduler.io/pod-group", fixture.Annotated("gpu-scheduler.io/pod-group", long("group,"))},
		{"group-size", "gpu-scheduler.io/pod-group-min-count", func(p *corev1.Pod) {
			fixture.Annotated("gpu-scheduler.io/pod-group", "group")(p)
			fixture.Annotated("gpu-scheduler.io/pod-group-min-count", long("9"))(p)
		}},
		{"strangers", "annotation gpu-scheduler.io/sharin-0", strangers},
	}
	for _, c := range cases {
		team.addPod(c.name, fixture.GPUs(1), c.option)
	}
	for _, c := range cases {
		team.waitSaid(c.name, c.want)
		said := condition(team.waitPod(c.name, "told", func(*corev1.Pod) bool { return true })).Message
		if len(said) > mostSaid {
			team.t.Errorf("%s is told %d bytes: %.300s…", c.name, len(said), said)
		}
	}
	return nil
}

// comeAndGoWithLargeAffinities has pods with 57 KB of node affinity each, no two of which are the same, that are deleted as soon as they are told.
func comeAndGoWithLargeAffinities(n *neighbours, team *world) func() {
	const pods, atATime, values = 200, 20, 900
	for first := 0; first < pods; first += atATime {
		team.parallel(atATime, func(i int) {
			large := corev1.NodeSelectorRequirement{Key: "example.com/large", Operator: corev1.NodeSelectorOpIn}
			for v := range values {
				large.Values = append(large.Values, fmt.Sprintf("%032d.%05d.%024d", first+i, v, 0)) // a label's value has at most 63 characters
			}
			team.addPod(podNumber(first+i), fixture.GPUs(1), requiringNodes(large))
		})
		for i := range atATime {
			team.waitSaid(podNumber(first+i), "0/10 nodes are available: 10 node(s) didn't match Pod's node affinity/selector")
		}
		team.parallel(atATime, func(i int) { team.deletePod(podNumber(first + i)) })
	}
	return func() {
		// Stored answers may take a quarter of the limit. Under AddressSanitizer, which keeps what was freed (256 MB of it), this is only logged.
		n.expectMemory(64 * mebibyte)
	}
}

func requiringNodes(requirements ...corev1.NodeSelectorRequirement) fixture.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}}}}}
	}
}

// haveSoundNodesReject has three pods choose each node, as many as would take it out had the scheduler bound them, and ask there for more GPUs than it
// has; some name this scheduler, some another. Pods of others are bound to each node.
func haveSoundNodesReject(n *neighbours, team *world) func() {
	const nodes, rejections = 10, 3
	node := func(i int) string { return fmt.Sprintf("%s-%d", n.w.ns, i%nodes) }
	team.parallel(nodes*rejections, func(i int) {
		scheduler := []string{schedulerName, "another-scheduler"}[i/nodes%2]
		team.addPodOf(scheduler, podNumber(i), fixture.GPUs(99), onNode(node(i)))
		team.changeStatus(team.client, podNumber(i), func(s *corev1.PodStatus) {
			now := metav1.NewTime(time.Now().Truncate(time.Second))
			s.Phase, s.StartTime, s.Reason = corev1.PodFailed, &now, "OutOfnvidia.com/gpu"
			s.Message = "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 99, used: 0, capacity: 8"
		})
	})
	return func() {
		for i := range nodes {
			n.w.addPod(podNumber(i), fixture.GPUs(1), fixture.On(corev1.LabelHostname, node(i)))
		}
		for i := range nodes {
			n.w.waitPod(podNumber(i), "bound to a node that rejected pods of a stranger", bound)
		}
		events, err := n.w.client.EventsV1().Events("default").List(n.w.t.Context(), metav1.ListOptions{})
		n.w.must(nil, err)
		for _, e := range events.Items {
			if e.Reason == "RejectsGpuPods" && strings.HasPrefix(e.Regarding.Name, n.w.ns) {
				n.w.t.Errorf("node %s was taken out: %s", e.Regarding.Name, e.Note)
			}
		}
	}
}

// dateStrangely writes dates into statuses of pods that no clock shows. In JSON the API server refuses years of more than four digits, since Go
// does; in protobuf, where a date is a number of seconds, it takes each. Then pods are deleted that have centuries left to end: that takes no right to
// write a status.
func dateStrangely(n *neighbours, team *world) func() {
	config := *team.cluster.Config()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	byNumber, err := kubernetes.NewForConfig(&config)
	team.must(nil, err)
	seconds := []int64{
		time.Date(12026, 1, 2, 3, 4, 5, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix(),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC).Unix(), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(),
		time.Date(-12026, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), -1, 1 << 40, math.MaxInt64 / 1_000_000, math.MaxInt64/1_000_000 + 1, math.MaxInt64, math.MinInt64,
	}
	team.addPod("in-words", fixture.GPUs(99))
	_, err = team.client.CoreV1().Pods(team.ns).Patch(team.t.Context(), "in-words", types.MergePatchType,
		[]byte(`{"status":{"startTime":"12026-01-02T03:04:05Z"}}`), metav1.PatchOptions{}, "status")
	if err == nil || !strings.Contains(err.Error(), "parsing time") {
		team.t.Errorf("a date in the year 12026, in JSON: %v", err)
	}
	name := func(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }
	kinds := []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending}
	for i, at := range seconds {
		for _, kind := range kinds {
			pod := name(strings.ToLower(string(kind)), i)
			if kind == corev1.PodPending {
				team.addPod(pod, fixture.GPUs(99))
				team.waitRefused(pod, "0/10 nodes are available: ")
			} else {
				// A node may reject two without being taken out.
				team.addPod(pod, fixture.GPUs(1), fixture.On(corev1.LabelHostname, fmt.Sprintf("%s-%d", n.w.ns, i%10)))
				team.waitPod(pod, "bound", bound)
			}
			date := metav1.Unix(at, 0)
			team.changeStatus(byNumber, pod, func(s *corev1.PodStatus) {
				s.Phase, s.StartTime = kind, &date
				if kind == corev1.PodFailed {
					s.Reason = "UnexpectedAdmissionError"
				}
				for c := range s.Conditions {
					s.Conditions[c].LastProbeTime, s.Conditions[c].LastTransitionTime = date, date
				}
				s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: date}}}}
			})
			stored, err := byNumber.CoreV1().Pods(team.ns).Get(team.t.Context(), pod, metav1.GetOptions{})
			team.must(nil, err)
			if got := stored.Status.StartTime; got == nil || got.Unix() != date.Unix() {
				team.t.Errorf("%s was to start at %d, and does at %v", pod, at, got)
			}
		}
	}
	// From now: in the year 2311; so late that the API server's sum is in the past; and the latest of all.
	for i, grace := range []int64{9_000_000_000, 10_000_000_000, math.MaxInt64} {
		pod := name("ends", i)
		team.addPod(pod, withGrace(grace), fixture.GPUs(1))
		team.waitPod(pod, "bound", bound)
		team.must(nil, byNumber.CoreV1().Pods(team.ns).Delete(team.t.Context(), pod, metav1.DeleteOptions{}))
	}
	return func() {
		var overview struct{ Waiting struct{ Pods int } }
		team.kubectlGPU(team.cluster.Kubeconfig(), 0, &overview)
		if want := len(seconds) + 1; overview.Waiting.Pods != want {
			team.t.Errorf("kubectl gpu sees %d pods that wait, want %d", overview.Waiting.Pods, want)
		}
		for pod, want := range map[string]string{"running-0": "Placed", "pending-0": "Waits"} {
			var why struct{ Verdict string }
			team.kubectlGPU(team.cluster.Kubeconfig(), 0, &why, "why", "pod/"+pod, "-n", team.ns)
			if why.Verdict != want {
				team.t.Errorf("kubectl gpu why says %q of %s, want %q", why.Verdict, pod, want)
			}
		}
	}
}

// listAtLength has pods with very long lists. Each is told so, and none of it is kept.
func listAtLength(n *neighbours, team *world) func() {
	const pods, tolerations, terms = 3, 5_000, 10_000 // for 100,000 and 400,000 the API server takes more than a minute
	anything := corev1.Toleration{Operator: corev1.TolerationOpExists}
	tolerant := func(p *corev1.Pod) {
		for range tolerations {
			p.Spec.Tolerations = append(p.Spec.Tolerations, anything)
		}
	}
	choosy := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: make([]corev1.NodeSelectorTerm, terms)}}}
	}
	name := func(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }
	for i := range pods {
		differs := fixture.Requests(corev1.ResourceCPU, fmt.Sprintf("%dm", i+1))
		team.addPod(name("tolerant", i), fixture.GPUs(1), differs, tolerant)
		team.addPod(name("choosy", i), fixture.GPUs(1), differs, choosy)
	}
	for i := range pods {
		team.waitSaid(name("tolerant", i), "pod has more than 1000 tolerations, which gpu-scheduler does not read")
		team.waitRefused(name("choosy", i), "0/10 nodes are available: 10 node(s) didn't match Pod's node affinity/selector")
	}
	return func() { n.expectMemory(128 * mebibyte) }
}

// nestDeeply has claims and pods with the managed fields of a client that has set a field many levels down. The API server stores what it does not
// know, too, as deep as it reads JSON.
func nestDeeply(_ *neighbours, team *world) func() {
	const levels = 5_000
	fields := managedFields(strings.Repeat(`{"f:a":`, levels) + "{}" + strings.Repeat("}", levels))
	if deep := strings.Count(team.addClaimWith("deep", fields), `{"f:a":`); deep < levels {
		team.t.Errorf("of %d levels the API server has stored %d", levels, deep)
	}
	team.addPod("deep", fixture.GPUs(1), func(p *corev1.Pod) { p.ManagedFields = fields })
	team.waitPod("deep", "bound", bound)
	return nil
}

// writeAnyBytes has a claim and a pod with managed fields that are no UTF-8. The API server passes them on as they are, also in JSON.
func writeAnyBytes(_ *neighbours, team *world) func() {
	const name = "f:\xff"
	fields := managedFields(`{"` + name + `":{}}`)
	if stored := team.addClaimWith("bytes", fields); !strings.Contains(stored, name) {
		team.t.Errorf("the API server has stored %q", stored)
	}
	team.addPod("bytes", fixture.GPUs(1), func(p *corev1.Pod) { p.ManagedFields = fields })
	team.waitPod("bytes", "bound", bound)
	return nil
}

// managedFields are those of a client that has set these fields.
func managedFields(fields string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Manager: "attacker", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}}
}

// addClaimWith creates a claim with such managed fields, and returns what the API server has stored.
func (w *world) addClaimWith(name string, fields []metav1.ManagedFieldsEntry) string {
	w.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: fields},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	made, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).Create(w.t.Context(), claim, metav1.CreateOptions{})
	w.must(nil, err)
	stored, err := json.Marshal(made)
	w.must(nil, err)
	return string(stored)
}

// changeStatus writes a pod's status, as a kubelet may.
func (w *world) changeStatus(client kubernetes.Interface, name string, change func(*corev1.PodStatus)) {
	w.t.Helper()
	w.persist(func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&pod.Status)
		_, err = client.CoreV1().Pods(w.ns).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	})
}
