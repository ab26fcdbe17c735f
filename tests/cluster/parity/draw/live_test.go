package draw

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestLiveSameSeedSameObjects(t *testing.T) {
	drawn := func(seed uint64) string {
		t.Helper()
		live := NewLive(seed)
		all := []any{live.Namespaces()}
		for i := range 20 {
			pod, err := live.Pod(fmt.Sprintf("pod-%d", i))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, live.Node(fmt.Sprintf("node-%d", i)), pod, live.Labels())
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if first := drawn(7); first != drawn(7) {
		t.Error("the same seed gives other objects")
	} else if first == drawn(8) {
		t.Error("another seed gives the same objects")
	}
}

// A cluster that lives on has no controllers for volumes, and a pod with a node is not the scheduler's. An image has one size.
func TestLiveLeavesOutWhatCannotBe(t *testing.T) {
	live := NewLive(1)
	sizes := map[string]int64{}
	for i := range 300 {
		for _, image := range live.Node("node-0").Status.Images {
			if size, ok := sizes[image.Names[0]]; ok && size != image.SizeBytes {
				t.Errorf("%s is %d and %d bytes", image.Names[0], size, image.SizeBytes)
			}
			sizes[image.Names[0]] = image.SizeBytes
		}
		pod, err := live.Pod(fmt.Sprintf("pod-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if pod.Spec.NodeName != "" || pod.UID != "" {
			t.Errorf("%s: on node %q, with uid %q", pod.Name, pod.Spec.NodeName, pod.UID)
		}
		for _, volume := range pod.Spec.Volumes {
			if volume.Image == nil {
				t.Errorf("%s: volume %v", pod.Name, volume)
			}
		}
	}
}
