package history

import (
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// What is read all at once, because the reader was kept waiting, happened when it happened: else everything in it would explain everything.
func TestTimesAreThoseOfTheStore(t *testing.T) {
	r := &Recorder{judge: NewJudge(Options{})}
	tick := func(at time.Time) {
		r.take(&clientv3.Event{Type: clientv3.EventTypePut, Kv: &mvccpb.KeyValue{Key: []byte(clockKey), Value: []byte(encodeTime(at))}})
	}
	begin := time.Unix(1000, 0)
	tick(begin)
	r.judge.Apply(Event{Kind: NodeKind, Key: "n", Node: fixture.GPUNode("n", fixture.L4, 1)})
	tick(begin.Add(3 * time.Second))
	r.judge.Apply(Event{Kind: NodeKind, Key: "n", Node: fixture.GPUNode("n", fixture.L4, 2)})
	if got := r.judge.nodes["n"].past[0].until; !got.Equal(begin.Add(3 * time.Second)) {
		t.Errorf("the node changed at %v, want 3 s after %v", got, begin)
	}
	if step := r.Report().Step; step != 3*time.Second {
		t.Errorf("the longest step is %v, want 3s", step)
	}
}

func TestStoppableClock(t *testing.T) {
	var c stoppableClock
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	c.stop(at(10))
	c.stop(at(12)) // for a second reason
	c.start(at(15))
	if got := c.read(at(17)); !got.Equal(at(10)) {
		t.Errorf("while it is stopped: %v", got)
	}
	c.start(at(20))
	if got := c.read(at(21)); !got.Equal(at(11)) {
		t.Errorf("a second after it went on: %v", got)
	}
}

// If something happens in a long step, the age of its cause is unknown, and that is no excuse. Steps before and after do not matter, and none
// does where nothing is excused.
func TestAnExcuseNeedsATime(t *testing.T) {
	for _, c := range []struct {
		name        string
		explain     bool
		step, after time.Duration
		want        string
	}{
		{"nothing is explained", false, 3 * time.Second, 0, ""},
		{"something is, in a short step", true, time.Second, 3 * time.Second, ""},
		{"something is, in a long step", true, 3 * time.Second, 0, "1 violations have an excuse of which nobody knows how old it was"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(oneGPU("n"))
			s.wait(3 * time.Second)
			s.create("a", us, fixture.GPUs(1))
			if c.explain {
				s.setNode(oneGPU("n", func(n *corev1.Node) { n.Spec.Unschedulable = true }))
			}
			s.bind("a", "n")
			s.wait(c.step)
			s.wait(c.after)
			err := s.Report().Err()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}
