package draw

import (
	"bytes"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/parity"
)

func TestSameSeedSameCase(t *testing.T) {
	encoded := func(seed uint64, focus string, number int) []byte {
		t.Helper()
		c, err := Case(seed, focus, number)
		if err != nil {
			t.Fatal(err)
		}
		line, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for _, focus := range Foci {
		first := encoded(7, focus, 3)
		if !bytes.Equal(first, encoded(7, focus, 3)) {
			t.Errorf("%s: the same seed gives another case", focus)
		}
		for _, other := range [][]byte{encoded(8, focus, 3), encoded(7, focus, 4)} {
			if bytes.Equal(first, other) {
				t.Errorf("%s: another seed or number gives the same case", focus)
			}
		}
	}
	if _, err := Case(7, "nothing", 0); err == nil {
		t.Error("a focus that there is not is no error")
	}
}

// Every focus has to meet what it stresses, both ways: nodes that fit, and kube-scheduler's words for those that do not.
func TestFociMeetWhatTheyStress(t *testing.T) {
	scheduler, err := parity.NewScheduler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stressed := map[string][]string{
		"resources": {"Insufficient cpu", "Insufficient memory", "Too many pods", "Insufficient ephemeral-storage", "Insufficient hugepages-2Mi"},
		"gpu":       {"Insufficient nvidia.com/gpu", "Insufficient nvidia.com/mig-1g.10gb"},
		"taints":    {"node(s) had untolerated taint(s)", "node(s) were unschedulable"},
		"affinity": {"node(s) didn't match Pod's node affinity/selector", "node(s) didn't match the requested node name",
			"node(s) didn't match scheduler-enforced node affinity", "pod affinity terms conflict"},
		"ports": {"node(s) didn't have free ports for the requested pod ports"},
		"spread": {"node(s) didn't match pod topology spread constraints",
			"node(s) didn't match pod topology spread constraints (missing required label)"},
		"defaults": {"node(s) didn't match pod topology spread constraints",
			"node(s) didn't match pod topology spread constraints (missing required label)"},
		"features": {"node(s) didn't match Pod's required features"},
		"interpod": {"node(s) didn't match pod affinity rules", "node(s) didn't match pod anti-affinity rules",
			"node(s) didn't satisfy existing pods anti-affinity rules"},
		"volumes": {"node(s) didn't find available persistent volumes to bind", "pod has unbound immediate PersistentVolumeClaims",
			"node(s) didn't match PersistentVolume's node affinity", "node(s) had no available volume zone", "node(s) exceed max volume count",
			"node(s) did not have enough free storage",
			"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
			`persistentvolumeclaim "missing" not found`},
	}
	for focus, want := range stressed {
		met := map[string]int{}
		nodes := 0
		for number := range 300 {
			c, err := Case(1, focus, number)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := scheduler.Answer(t.Context(), c)
			if err != nil {
				continue
			}
			for _, verdict := range answer.Verdicts {
				nodes++
				if verdict.Fits() {
					met["fits"]++
				}
				for _, reason := range verdict.Reasons {
					met[reason]++
				}
			}
		}
		for _, reason := range append(want, "fits") {
			if met[reason] == 0 {
				t.Errorf("%s: none of %d verdicts says %q", focus, nodes, reason)
			}
		}
		if fits := met["fits"]; fits < nodes/10 || fits > nodes*9/10 {
			t.Errorf("%s: %d of %d nodes fit", focus, fits, nodes)
		}
	}
}

// What the API server changes on creation is in the cases: matchLabelKeys are part of the selector.
func TestStoredAsTheAPIServerStores(t *testing.T) {
	merged := 0
	for number := range 200 {
		c, err := Case(1, "interpod", number)
		if err != nil {
			t.Fatal(err)
		}
		line, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		merged += strings.Count(string(line), `"matchLabelKeys":["pod-template-hash"]`)
		for _, pod := range append(c.Pods, c.Pod) {
			if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
				continue
			}
			for _, term := range pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				for _, key := range term.MatchLabelKeys {
					if _, ok := pod.Labels[key]; ok && !strings.Contains(term.LabelSelector.String(), key) {
						t.Errorf("%s: %s: matchLabelKeys %q is not in the selector %v", c.ID, pod.Name, key, term.LabelSelector)
					}
				}
			}
		}
	}
	if merged == 0 {
		t.Error("no case has matchLabelKeys")
	}
}

// Arguments of each plugin that is said to get some are drawn, and each strategy of NodeResourcesFit.
func TestArgumentsAreDrawn(t *testing.T) {
	met := map[string]int{}
	for _, focus := range Foci {
		for number := range 100 {
			c, err := Case(1, focus, number)
			if err != nil {
				t.Fatal(err)
			}
			for _, drawn := range c.PluginConfig {
				met[drawn.Name]++
				for _, strategy := range []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"} {
					if strings.Contains(string(drawn.Args.Raw), `"`+strategy+`"`) {
						met[strategy]++
					}
				}
			}
		}
	}
	for _, name := range []string{"NodeResourcesFit", "NodeResourcesBalancedAllocation", "NodeAffinity", "InterPodAffinity", "PodTopologySpread",
		"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"} {
		if met[name] < 10 {
			t.Errorf("%s is met %d times", name, met[name])
		}
	}
}
