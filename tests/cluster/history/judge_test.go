package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	us   = "gpu-scheduler"
	them = "default-scheduler"
)

// story makes synthetic histories: each step is the next revision.
type story struct {
	*Judge
	revision int64
	now      time.Time
	pods     map[string]*corev1.Pod
}

func newStory(nodes ...*corev1.Node) *story {
	s := &story{
		Judge: NewJudge(Options{Schedulers: []string{us}, Window: time.Second}),
		now:   time.Unix(1000, 0), pods: map[string]*corev1.Pod{},
	}
	s.wait(0)
	for _, n := range nodes {
		s.setNode(n)
	}
	return s
}

func (s *story) tell(e Event) {
	s.revision++
	e.Revision = s.revision
	s.Apply(e)
}

// wait lets the clock go on, in one step.
func (s *story) wait(d time.Duration) {
	s.now = s.now.Add(d)
	s.tell(Event{Kind: ClockKind, Tick: s.now})
}

func (s *story) setNode(n *corev1.Node) {
	s.tell(Event{Kind: NodeKind, Key: n.Name, Node: n.DeepCopy()})
}

func (s *story) removeNode(name string) { s.tell(Event{Kind: NodeKind, Key: name}) }

func (s *story) pod(p *corev1.Pod) {
	key := p.Namespace + "/" + p.Name
	if p.UID == "" {
		p.UID = types.UID(fmt.Sprintf("uid-%d", s.revision+1))
		p.Generation = 1
	}
	s.pods[key] = p
	s.tell(Event{Kind: PodKind, Key: key, Pod: p.DeepCopy()})
}

func (s *story) create(name, scheduler string, options ...fixture.PodOption) {
	s.pod(fixture.Pod("t", name, scheduler, options...))
}

func (s *story) change(name string, change func(*corev1.Pod)) {
	p := s.pods["t/"+name]
	change(p)
	s.pod(p)
}

func (s *story) bind(name, node string) {
	s.change(name, func(p *corev1.Pod) { p.Spec.NodeName = node; p.Generation++ })
}

func (s *story) remove(name string) { s.tell(Event{Kind: PodKind, Key: "t/" + name}) }

func (s *story) refuse(name string, observed int64) {
	s.change(name, func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, ObservedGeneration: observed,
			Message: fmt.Sprintf("at revision %d", s.revision),
		}}
	})
}

func oneGPU(name string, options ...fixture.NodeOption) *corev1.Node {
	return fixture.GPUNode(name, fixture.H100, 1, options...)
}

func TestJudgeBinds(t *testing.T) {
	cases := []struct {
		name        string
		tell        func(s *story)
		unexplained []ViolationKind
		explained   []ViolationKind
		foreignOver int
	}{
		{name: "a pod that fits", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
		}},
		{name: "two pods on one GPU", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.bind("b", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "a terminating pod still holds its GPU", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.change("a", func(p *corev1.Pod) { p.DeletionTimestamp = fixtureNow(s) })
			s.bind("b", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "a deleted pod holds nothing", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.remove("a")
			s.bind("b", "n")
		}},
		{name: "a finished pod holds nothing", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.change("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			s.bind("b", "n")
		}},
		{name: "others filled the node a moment before", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", them, fixture.GPUs(1))
			s.bind("b", "n")
			s.wait(300 * time.Millisecond)
			s.bind("a", "n")
		}, explained: []ViolationKind{OverCommit}},
		{name: "others filled the node long before", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", them, fixture.GPUs(1))
			s.bind("b", "n")
			s.wait(1500 * time.Millisecond)
			s.bind("a", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "others bound a moment before, but it was full of ours anyway", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", us, fixture.GPUs(1))
			s.create("c", them, fixture.Requests("cpu", "1"))
			s.bind("a", "n")
			s.bind("c", "n")
			s.bind("b", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "others over-commit", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.create("b", them, fixture.GPUs(1))
			s.bind("a", "n")
			s.bind("b", "n")
		}, foreignOver: 1},
		{name: "the node shrank a moment before", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.setNode(fixture.GPUNode("n", fixture.H100, 0))
			s.wait(time.Millisecond)
			s.bind("a", "n")
		}, explained: []ViolationKind{OverCommit}},
		{name: "a pod without GPU on a node whose GPUs are over-committed", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.setNode(fixture.GPUNode("n", fixture.H100, 0))
			s.wait(time.Hour)
			s.create("b", us, fixture.Requests("cpu", "1"))
			s.bind("b", "n")
		}},
		{name: "one pod more than the node takes", tell: func(s *story) {
			s.setNode(oneGPU("n", fixture.Allocatable("pods", "1")))
			s.wait(time.Hour)
			s.create("a", us)
			s.create("b", us)
			s.bind("a", "n")
			s.bind("b", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "cpu by the thousandth", tell: func(s *story) {
			s.setNode(oneGPU("n", fixture.Allocatable("cpu", "1")))
			s.wait(time.Hour)
			s.create("a", us, fixture.Requests("cpu", "1"))
			s.create("b", us, fixture.Requests("cpu", "1m"))
			s.bind("a", "n")
			s.bind("b", "n")
		}, unexplained: []ViolationKind{OverCommit}},
		{name: "a node that does not exist", tell: func(s *story) {
			s.create("a", us)
			s.bind("a", "nowhere")
		}, unexplained: []ViolationKind{Placement}},
		{name: "a node deleted a moment before", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.removeNode("n")
			s.bind("a", "n")
		}, explained: []ViolationKind{Placement}},
		{name: "an untolerated taint", tell: func(s *story) {
			s.setNode(oneGPU("n", fixture.Tainted()))
			s.wait(time.Hour)
			s.create("a", us)
			s.bind("a", "n")
		}, unexplained: []ViolationKind{Placement}},
		{name: "a tolerated taint", tell: func(s *story) {
			s.setNode(oneGPU("n", fixture.Tainted()))
			s.wait(time.Hour)
			s.create("a", us, fixture.ToleratesGPUTaint())
			s.bind("a", "n")
		}},
		{name: "tainted a moment before", tell: func(s *story) {
			s.create("a", us)
			s.setNode(oneGPU("n", fixture.Tainted()))
			s.bind("a", "n")
		}, explained: []ViolationKind{Placement}},
		{name: "a node selector that does not match", tell: func(s *story) {
			s.wait(time.Hour)
			s.create("a", us, fixture.On("nvidia.com/gpu.product", fixture.L4.Product))
			s.bind("a", "n")
		}, unexplained: []ViolationKind{Placement}},
		{name: "a cordoned node", tell: func(s *story) {
			s.setNode(oneGPU("n", func(n *corev1.Node) { n.Spec.Unschedulable = true }))
			s.wait(time.Hour)
			s.create("a", us)
			s.bind("a", "n")
		}, unexplained: []ViolationKind{Placement}},
		{name: "bound elsewhere afterwards", tell: func(s *story) {
			s.setNode(oneGPU("m"))
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.bind("a", "m")
		}, unexplained: []ViolationKind{DoubleBind}},
		{name: "a new pod of the same name is another pod", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.remove("a")
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
		}},
		{name: "a pod that was made bound is not the scheduler's doing", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1))
			s.bind("a", "n")
			s.create("b", us, fixture.GPUs(1), func(p *corev1.Pod) { p.Spec.NodeName = "n" })
		}, foreignOver: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(oneGPU("n"))
			c.tell(s)
			r := s.Report()
			var unexplained, explained []ViolationKind
			for _, v := range r.Violations {
				if v.Explained == "" {
					unexplained = append(unexplained, v.Kind)
				} else {
					explained = append(explained, v.Kind)
				}
			}
			if fmt.Sprint(unexplained, explained) != fmt.Sprint(c.unexplained, c.explained) || r.ForeignOverCommits != c.foreignOver {
				t.Errorf("want unexplained %v, explained %v, foreign %d; the report:\n%s", c.unexplained, c.explained, c.foreignOver, r)
			}
			if (len(c.unexplained) > 0) != (r.Err() != nil && (r.Unexplained > 0 || r.Doubled > 0)) {
				t.Errorf("Err() = %v", r.Err())
			}
		})
	}
}

func TestJudgeWaitingPods(t *testing.T) {
	cases := []struct {
		name        string
		tell        func(s *story)
		lost, stuck int
	}{
		{name: "nobody said anything", lost: 1, tell: func(s *story) { s.create("a", us, fixture.GPUs(2)) }},
		{name: "another scheduler's pod", tell: func(s *story) { s.create("a", them, fixture.GPUs(2)) }},
		{name: "told", tell: func(s *story) { s.create("a", us, fixture.GPUs(2)); s.refuse("a", 1) }},
		{name: "told without a generation", tell: func(s *story) { s.create("a", us, fixture.GPUs(2)); s.refuse("a", 0) }},
		{name: "told of an older spec", lost: 1, tell: func(s *story) {
			s.create("a", us, fixture.GPUs(2))
			s.refuse("a", 1)
			s.change("a", func(p *corev1.Pod) { p.Generation++ })
		}},
		{name: "told of an older spec, without a generation", lost: 1, tell: func(s *story) {
			s.create("a", us, fixture.GPUs(2))
			s.refuse("a", 0)
			s.change("a", func(p *corev1.Pod) { p.Generation++ })
		}},
		{name: "told again", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(2))
			s.change("a", func(p *corev1.Pod) { p.Generation++ })
			s.refuse("a", 2)
		}},
		{name: "told, but there is room", stuck: 1, tell: func(s *story) { s.create("a", us, fixture.GPUs(1)); s.refuse("a", 1) }},
		{name: "room only on a node that is not for it", tell: func(s *story) {
			s.create("a", us, fixture.GPUs(1), fixture.On("zone", "b"))
			s.refuse("a", 1)
		}},
		{name: "finished without ever being bound", tell: func(s *story) {
			s.create("a", us)
			s.change("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		}},
		{name: "terminating", tell: func(s *story) {
			s.create("a", us)
			s.change("a", func(p *corev1.Pod) { p.DeletionTimestamp = fixtureNow(s) })
		}},
		{name: "gone", tell: func(s *story) { s.create("a", us); s.remove("a") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(oneGPU("n"))
			c.tell(s)
			r := s.Report()
			if len(r.Lost) != c.lost || len(r.Stuck) != c.stuck {
				t.Errorf("want lost %d, stuck %d; the report:\n%s", c.lost, c.stuck, r)
			}
		})
	}
}

func TestJudgeKnowsWhetherAPodIsAnswered(t *testing.T) {
	s := newStory(oneGPU("n"))
	for _, name := range []string{"untold", "told", "stale", "bound", "gone"} {
		s.create(name, us, fixture.GPUs(1))
	}
	s.refuse("told", 1)
	s.refuse("stale", 1)
	s.change("stale", func(p *corev1.Pod) { p.Generation++ })
	s.bind("bound", "n")
	s.remove("gone")
	for name, want := range map[string]bool{"untold": false, "told": true, "stale": false, "bound": true, "gone": true} {
		if got := s.Answered("t/" + name); got != want {
			t.Errorf("Answered(%q) = %v", name, got)
		}
	}
}

// While everything is late, what others did explains for longer, and no longer when that is over.
func TestLateness(t *testing.T) {
	for _, c := range []struct {
		late      time.Duration
		after     time.Duration
		explained bool
	}{
		{0, 1500 * time.Millisecond, false},
		{5 * time.Second, 1500 * time.Millisecond, true},
		{5 * time.Second, 6 * time.Second, false},
	} {
		s := newStory(oneGPU("n"))
		s.late = c.late
		s.create("a", us, fixture.GPUs(1))
		s.setNode(oneGPU("n", fixture.Tainted()))
		s.wait(c.after)
		s.bind("a", "n")
		if r := s.Report(); (r.Explained == 1) != c.explained {
			t.Errorf("late by %v, %v after: %d explained", c.late, c.after, r.Explained)
		}
	}
}

func TestReportOfANamespace(t *testing.T) {
	s := newStory(oneGPU("n"))
	s.create("a", us, fixture.GPUs(1))
	s.create("b", us, fixture.GPUs(1))
	s.bind("a", "n")
	s.bind("b", "n")
	if err := s.Report("other").Err(); err != nil {
		t.Errorf("another namespace is charged with it: %v", err)
	}
	if err := s.Report("t").Err(); err == nil || !strings.Contains(err.Error(), "nvidia.com/gpu: 2 taken of 1") {
		t.Errorf("want the numbers, got %v", err)
	}
}

func TestAllocatableShrinkIsExplainedPerResource(t *testing.T) {
	s := newStory(oneGPU("n"))
	s.create("a", us, fixture.GPUs(1))
	smaller := oneGPU("n")
	smaller.Status.Allocatable["cpu"] = resource.MustParse("1")
	s.bind("a", "n")
	s.setNode(smaller)
	s.create("b", us, fixture.GPUs(1))
	s.bind("b", "n") // fewer CPUs explain nothing about GPUs
	if r := s.Report(); r.Unexplained != 1 || r.Explained != 0 {
		t.Errorf("want one unexplained; the report:\n%s", r)
	}
}

func fixtureNow(s *story) *metav1.Time { return &metav1.Time{Time: s.now} }
