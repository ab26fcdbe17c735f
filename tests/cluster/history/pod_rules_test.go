package history

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

const zone, hostname = corev1.LabelTopologyZone, corev1.LabelHostname

// zonedStory has nodes a1 and a2 in zone a, b1 in zone b and none in zone c, which are no news any more.
func zonedStory() *story {
	s := newStory(zoned("a1", "a"), zoned("a2", "a"), zoned("b1", "b"))
	s.wait(time.Hour)
	return s
}

func zoned(name, in string, options ...fixture.NodeOption) *corev1.Node {
	return fixture.CPUNode(name, append([]fixture.NodeOption{fixture.Zone(in)}, options...)...)
}

// app labels a pod; web and db are the apps of these stories.
func app(name string) fixture.PodOption { return fixture.Labelled("app", name) }

func spreadWeb(minDomains int32) fixture.PodOption {
	return fixture.Spread(zone, 1, minDomains, "app", "web")
}

func alone(key, name string) fixture.PodOption { return fixture.Apart(fixture.Term(key, "app", name)) }

func beside(key, name string) fixture.PodOption {
	return fixture.Together(fixture.Term(key, "app", name))
}

// place makes a pod of ours and binds it.
func (s *story) place(name, node string, options ...fixture.PodOption) {
	s.create(name, us, options...)
	s.bind(name, node)
}

// settle lets so much time pass that nothing of before excuses anything.
func (s *story) settle() { s.wait(time.Hour) }

func TestJudgeRulesAcrossNodes(t *testing.T) {
	no := []string(nil)
	cases := []struct {
		name string
		tell func(s *story)
		want []string // "kind" or "kind: excuse" of each violation, in order
	}{
		// Anti-affinity, both ways.
		{"apart on two nodes", func(s *story) {
			s.place("p", "a1", app("web"), alone(hostname, "web"))
			s.place("q", "a2", app("web"), alone(hostname, "web"))
		}, no},
		{"its own anti-affinity", func(s *story) {
			s.place("p", "a1", app("web"))
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity"}},
		{"the anti-affinity of a pod that runs", func(s *story) {
			s.place("p", "a1", alone(hostname, "web"))
			s.place("q", "a1", app("web"))
		}, []string{"anti-affinity"}},
		{"of a zone", func(s *story) {
			s.place("p", "a1", app("web"))
			s.place("q", "a2", alone(zone, "web"))
		}, []string{"anti-affinity"}},
		{"one that another scheduler has put there long ago", func(s *story) {
			s.create("p", them, app("web"))
			s.bind("p", "a1")
			s.settle()
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity"}},
		{"one that another scheduler has put there a moment before", func(s *story) {
			s.create("p", them, app("web"))
			s.bind("p", "a1")
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity: foreign bind"}},
		{"a pod that got the label a moment before", func(s *story) {
			s.place("p", "a1")
			s.change("p", app("web"))
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity: pod change"}},
		{"a pod that got the label long before", func(s *story) {
			s.place("p", "a1")
			s.change("p", app("web"))
			s.settle()
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity"}},
		{"a node that came into the zone a moment before", func(s *story) {
			s.place("p", "a1", app("web"))
			s.create("q", us, alone(zone, "web"))
			s.setNode(zoned("b1", "a"))
			s.bind("q", "b1")
		}, []string{"anti-affinity: node change"}},
		{"a pod that is being deleted runs still", func(s *story) {
			s.place("p", "a1", app("web"))
			s.change("p", func(p *corev1.Pod) { p.DeletionTimestamp = fixtureNow(s) })
			s.place("q", "a1", alone(hostname, "web"))
		}, []string{"anti-affinity"}},
		{"a pod that is gone or has finished runs no more", func(s *story) {
			s.place("p", "a1", app("web"))
			s.remove("p")
			s.place("q", "a2", app("web"))
			s.change("q", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			s.place("r", "a1", app("web"), alone(zone, "web"))
		}, no},
		{"a pod of another namespace", func(s *story) {
			s.pod(fixture.Pod("other", "p", us, app("web")))
			s.pods["other/p"].Spec.NodeName = "a1"
			s.pod(s.pods["other/p"])
			s.place("q", "a1", alone(hostname, "web"))
		}, no},
		{"a pod of another namespace, which the term selects", func(s *story) {
			s.pod(fixture.Pod("other", "p", us, app("web")))
			s.pods["other/p"].Spec.NodeName = "a1"
			s.pod(s.pods["other/p"])
			s.place("q", "a1", fixture.Apart(fixture.InAllNamespaces(fixture.Term(hostname, "app", "web"))))
		}, []string{"anti-affinity"}},
		{"no bind that lands later excuses anti-affinity", func(s *story) {
			s.create("r", us, app("web"))
			s.place("p", "a1", app("web"))
			s.place("q", "a1", alone(hostname, "web"))
			s.bind("r", "b1")
			s.remove("p")
		}, []string{"anti-affinity"}},

		// Affinity.
		{"beside the pod that it needs", func(s *story) {
			s.place("p", "a1", app("db"))
			s.place("q", "a2", beside(zone, "db"))
		}, no},
		{"in another domain", func(s *story) {
			s.place("p", "a1", app("db"))
			s.place("q", "a2", beside(hostname, "db"))
		}, []string{"affinity"}},
		{"beside nobody", func(s *story) { s.place("q", "a2", beside(zone, "db")) }, []string{"affinity"}},
		{"the first of its kind", func(s *story) { s.place("q", "a2", app("db"), beside(zone, "db")) }, no},
		{"the second of its kind in another zone", func(s *story) {
			s.place("p", "a1", app("db"), beside(zone, "db"))
			s.place("q", "b1", app("db"), beside(zone, "db"))
		}, []string{"affinity"}},
		{"the first of its kind on a node without the label", func(s *story) {
			s.place("q", "a2", app("db"), beside("rack", "db"))
		}, []string{"affinity"}},
		{"two terms are for one pod", func(s *story) {
			s.place("p", "a1", app("db"))
			s.place("r", "a1", fixture.Labelled("tier", "hot"))
			s.place("q", "a1", beside(zone, "db"), fixture.Together(fixture.Term(zone, "tier", "hot")))
		}, []string{"affinity"}},
		{"the pod that it needs went a moment before", func(s *story) {
			s.place("p", "a1", app("db"))
			s.create("q", us, beside(zone, "db"))
			s.remove("p")
			s.bind("q", "a2")
		}, []string{"affinity: pod change"}},
		{"the pod that it needs went long before", func(s *story) {
			s.place("p", "a1", app("db"))
			s.remove("p")
			s.settle()
			s.place("q", "a2", beside(zone, "db"))
		}, []string{"affinity"}},
		{"the pod that it needs lands a little later", func(s *story) {
			s.create("p", us, app("db"))
			s.place("q", "a2", beside(zone, "db"))
			s.bind("p", "a1")
		}, []string{"affinity: bind under way"}},
		{"it lands later, and elsewhere", func(s *story) {
			s.create("p", us, app("db"))
			s.place("q", "a2", beside(zone, "db"))
			s.bind("p", "b1")
		}, []string{"affinity"}},
		{"it lands too late", func(s *story) {
			s.create("p", us, app("db"))
			s.place("q", "a2", beside(zone, "db"))
			s.wait(6 * time.Second)
			s.bind("p", "a1")
		}, []string{"affinity"}},
		{"it was made only after that", func(s *story) {
			s.place("q", "a2", beside(zone, "db"))
			s.place("p", "a1", app("db"))
		}, []string{"affinity"}},
		{"it is another scheduler's", func(s *story) {
			s.create("p", them, app("db"))
			s.place("q", "a2", beside(zone, "db"))
			s.bind("p", "a1")
		}, []string{"affinity"}},
		{"it was deleted before it was bound", func(s *story) {
			s.create("p", us, app("db"))
			s.create("q", us, beside(zone, "db"))
			s.remove("p")
			s.bind("q", "a2")
		}, []string{"affinity: bind cut short"}},
		{"it waited when the scheduler was killed", func(s *story) {
			s.create("p", us, app("db"))
			s.place("q", "a2", beside(zone, "db"))
			s.Killed()
			s.settle()
			s.bind("p", "b1")
		}, []string{"affinity: bind cut short"}},
		{"the scheduler was killed long before", func(s *story) {
			s.create("p", us, app("db"))
			s.Killed()
			s.settle()
			s.place("q", "a2", beside(zone, "db"))
		}, []string{"affinity"}},
		{"the first of its kind was overtaken by one that needs nobody", func(s *story) {
			s.create("q", us, app("db"), beside(zone, "db"))
			s.place("p", "b1", app("db"))
			s.bind("q", "a2")
		}, []string{"affinity: bind under way"}},
		{"the first of its kind was not overtaken by one that needs the same", func(s *story) {
			s.create("q", us, app("db"), beside(zone, "db"))
			s.place("p", "b1", app("db"), beside(zone, "db"))
			s.bind("q", "a2")
		}, []string{"affinity"}},

		// Topology spread.
		{"spread", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
		}, no},
		{"two in a zone, and none in the other", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "a2", app("web"), spreadWeb(0))
		}, []string{"spread"}},
		{"too few domains", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(3))
			s.place("q", "b1", app("web"), spreadWeb(3))
			s.place("r", "a2", app("web"), spreadWeb(3))
		}, []string{"spread"}},
		{"a node without the label", func(s *story) {
			s.setNode(fixture.CPUNode("n"))
			s.settle()
			s.place("p", "n", app("web"), spreadWeb(0))
		}, []string{"spread"}},
		{"zones that the pod may not go to are none of its domains", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0), fixture.On(zone, "a"))
			s.place("q", "a2", app("web"), spreadWeb(0), fixture.On(zone, "a"))
		}, no},
		{"pods that are being deleted do not count", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.change("p", func(p *corev1.Pod) { p.DeletionTimestamp = fixtureNow(s) })
			s.place("q", "a2", app("web"), spreadWeb(0))
		}, no},
		{"a pod of the other zone went a moment before", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.create("r", us, app("web"), spreadWeb(0))
			s.remove("q")
			s.bind("r", "a2")
		}, []string{"spread: pod change"}},
		{"a pod of the other zone began to terminate a moment before", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.change("q", func(p *corev1.Pod) { p.DeletionTimestamp = fixtureNow(s) })
			s.place("r", "a2", app("web"), spreadWeb(0))
		}, []string{"spread: pod change"}},
		{"a pod of the other zone went, but there are two too many", func(s *story) {
			s.place("p", "a1", app("web"))
			s.place("p2", "a1", app("web"))
			s.place("q", "b1", app("web"))
			s.settle()
			s.create("r", us, app("web"), spreadWeb(0))
			s.remove("q")
			s.bind("r", "a2")
		}, []string{"spread"}},
		{"a pod of the other zone went long before", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.remove("q")
			s.settle()
			s.place("r", "a2", app("web"), spreadWeb(0))
		}, []string{"spread"}},
		{"pods went in both zones: the newest is taken back first", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.place("p2", "a1", app("web"), spreadWeb(0))
			s.create("r", us, app("web"), spreadWeb(0))
			s.remove("p2")
			s.remove("q")
			s.bind("r", "a2")
		}, []string{"spread: pod change"}},
		{"the one in between lands a little later", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.wait(100 * time.Millisecond)
			s.bind("q", "b1")
		}, []string{"spread: bind under way"}},
		{"the one in between lands too late", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.wait(6 * time.Second)
			s.bind("q", "b1")
		}, []string{"spread"}},
		{"the one in between lands in the same zone", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.bind("q", "a1")
		}, []string{"spread", "spread"}},
		{"the one in between is one of two that are missing", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("o", "a1", app("web"))
			s.place("p", "a1", app("web"))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.bind("q", "b1")
		}, []string{"spread"}},
		{"overtaken by one of the same label that has no such rule", func(s *story) {
			s.create("r", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"))
			s.bind("r", "a2")
		}, []string{"spread: bind under way"}},
		{"one of the same label that has no such rule landed long before", func(s *story) {
			s.create("r", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"))
			s.settle()
			s.bind("r", "a2")
		}, []string{"spread"}},
		{"the one in between was deleted before it was bound", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.remove("q")
		}, []string{"spread: bind cut short"}},
		{"the one in between terminated before it was bound", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.change("q", func(p *corev1.Pod) {
				p.DeletionTimestamp = fixtureNow(s)
				p.Generation++
			})
			s.remove("q")
		}, []string{"spread: bind cut short"}},
		{"the one in between waited when the scheduler was killed", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.create("q2", us, app("db"), spreadWeb(0))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.Killed()
			s.settle()
			s.bind("q", "b1")
		}, []string{"spread: bind cut short"}},
		{"one waited when the scheduler was killed, and two are missing", func(s *story) {
			s.create("q", us, app("web"), spreadWeb(0))
			s.place("o", "a1", app("web"))
			s.place("p", "a1", app("web"))
			s.place("r", "a2", app("web"), spreadWeb(0))
			s.Killed()
		}, []string{"spread"}},
		{"a zone that is new", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.create("r", us, app("web"), spreadWeb(0))
			s.setNode(zoned("c1", "c"))
			s.bind("r", "a2")
		}, []string{"spread: node change"}},
		{"a zone that has been there", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "b1", app("web"), spreadWeb(0))
			s.setNode(zoned("c1", "c"))
			s.settle()
			s.place("r", "a2", app("web"), spreadWeb(0))
		}, []string{"spread"}},
		{"a zone whose nodes are tainted, which count", func(s *story) {
			s.setNode(zoned("b1", "b", fixture.Tainted()))
			s.settle()
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.place("q", "a2", app("web"), spreadWeb(0))
		}, []string{"spread"}},
		{"a zone whose nodes are tainted, which do not count", func(s *story) {
			s.setNode(zoned("b1", "b", fixture.Tainted()))
			s.settle()
			honor := corev1.NodeInclusionPolicyHonor
			untainted := func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor }
			s.place("p", "a1", app("web"), spreadWeb(0), untainted)
			s.place("q", "a2", app("web"), spreadWeb(0), untainted)
		}, no},
		{"ScheduleAnyway is no demand", func(s *story) {
			anyway := func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.ScheduleAnyway }
			s.place("p", "a1", app("web"), spreadWeb(0), anyway)
			s.place("q", "a2", app("web"), spreadWeb(0), anyway)
		}, no},
		{"each rule that is broken", func(s *story) {
			s.place("p", "a1", app("web"))
			s.settle()
			s.place("q", "a1", app("web"), spreadWeb(0), alone(hostname, "web"), beside(zone, "db"))
		}, []string{"anti-affinity", "affinity", "spread"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := zonedStory()
			c.tell(s)
			r := s.Report()
			var got []string
			for _, v := range r.Violations {
				if v.Excuse == "" {
					got = append(got, string(v.Kind))
				} else {
					got = append(got, fmt.Sprintf("%s: %s", v.Kind, v.Excuse))
				}
				if (v.Excuse == "") != (v.Explained == "") || v.Excuse != "" && len(v.Causes) == 0 {
					t.Errorf("excuse %q, explained %q, causes %v", v.Excuse, v.Explained, v.Causes)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("want %q, got %q; the report:\n%s", c.want, got, r)
			}
		})
	}
}

// What a bind was told in a first report does not stand when the history goes on.
func TestJudgeHearsABindAgain(t *testing.T) {
	s := zonedStory()
	s.create("q", us, app("web"), spreadWeb(0))
	s.place("p", "a1", app("web"), spreadWeb(0))
	s.place("r", "a2", app("web"), spreadWeb(0))
	if r := s.Report(); r.Unexplained != 1 {
		t.Errorf("while q has not landed: %s", r)
	}
	s.bind("q", "b1")
	r := s.Report()
	if r.Unexplained != 0 || r.Explained != 1 {
		t.Errorf("when q has landed: %s", r)
	}
	if v := r.Violations[0]; !slices.Contains(v.Causes, s.revision) {
		t.Errorf("causes %v, want the bind of q among them, %d", v.Causes, s.revision)
	}
}

func TestRulesThatAreBroken(t *testing.T) {
	s := zonedStory()
	s.place("p", "a1", app("web"), spreadWeb(0))
	s.place("q", "b1", app("web"), spreadWeb(0), alone(zone, "db"))
	s.place("d", "a1", app("db"), alone(hostname, "job"))
	if broken := s.BrokenRules("t"); len(broken) > 0 {
		t.Errorf("nothing is broken yet: %q", broken)
	}
	s.remove("q")
	s.place("q", "a2", app("web"), spreadWeb(0), alone(zone, "db"))
	s.place("j", "a1", app("job"))
	want := []string{
		"anti-affinity: t/d on a1: kubernetes.io/hostname=a1 has t/j, which its anti-affinity selects",
		"anti-affinity: t/j on a1: kubernetes.io/hostname=a1 has t/d, whose anti-affinity selects it",
		"anti-affinity: t/q on a2: topology.kubernetes.io/zone=a has t/d, which its anti-affinity selects",
		"spread: t/p on a1: topology.kubernetes.io/zone=a has 2 with it, the fewest of 2 domains is 0, maxSkew 1",
		"spread: t/q on a2: topology.kubernetes.io/zone=a has 2 with it, the fewest of 2 domains is 0, maxSkew 1",
	}
	got := s.BrokenRules("t")
	if !slices.Equal(got, want) {
		t.Errorf("want %q\ngot  %q", want, got)
	}
	if broken := s.BrokenRules("other"); len(broken) > 0 {
		t.Errorf("of another namespace: %q", broken)
	}
}

func TestWaitingPodsWithRulesAcrossNodes(t *testing.T) {
	cases := []struct {
		name  string
		tell  func(s *story)
		stuck []string
	}{
		{"each node has one", func(s *story) {
			for _, n := range []string{"a1", "a2", "b1"} {
				s.place("on-"+n, n, app("web"), alone(hostname, "web"))
			}
			s.create("w", us, app("web"), alone(hostname, "web"))
		}, nil},
		{"a node has none", func(s *story) {
			s.place("p", "a1", app("web"), alone(hostname, "web"))
			s.place("q", "b1", app("web"), alone(hostname, "web"))
			s.create("w", us, app("web"), alone(hostname, "web"))
		}, []string{"t/w (room on a2)"}},
		{"a pod on each node wants to be alone", func(s *story) {
			for _, n := range []string{"a1", "a2", "b1"} {
				s.place("on-"+n, n, alone(hostname, "web"))
			}
			s.create("w", us, app("web"))
		}, nil},
		{"nobody to be with", func(s *story) { s.create("w", us, beside(zone, "db")) }, nil},
		{"somebody to be with", func(s *story) {
			s.place("d", "b1", app("db"))
			s.create("w", us, beside(zone, "db"))
		}, []string{"t/w (room on b1)"}},
		{"the zone with fewest is full", func(s *story) {
			s.setNode(zoned("b1", "b", fixture.Allocatable("cpu", "1")))
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.create("w", us, app("web"), spreadWeb(0), fixture.Requests("cpu", "2"))
		}, nil},
		{"the zone with fewest has room", func(s *story) {
			s.place("p", "a1", app("web"), spreadWeb(0))
			s.create("w", us, app("web"), spreadWeb(0))
		}, []string{"t/w (room on b1)"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := zonedStory()
			c.tell(s)
			s.refuse("w", 1)
			if r := s.Report(); !slices.Equal(r.Stuck, c.stuck) {
				t.Errorf("want %q stuck; the report:\n%s", c.stuck, r)
			}
		})
	}
}
