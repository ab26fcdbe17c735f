package history

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setQuota tells of a quota of one line for the namespace t, changed by options, and lets a minute pass. Quotas are as old as their order.
func (s *story) setQuota(name string, guaranteed string, options ...func(*GpuQuota)) {
	s.setQuotaNow(name, guaranteed, options...)
	s.wait(time.Minute)
}

func (s *story) setQuotaNow(name string, guaranteed string, options ...func(*GpuQuota)) {
	q := &GpuQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1000+s.revision, 0))},
		Spec: GpuQuotaSpec{
			Namespaces: []string{"t"},
			Quotas:     []GpuQuotaLine{{GPUType: "*", Guaranteed: resource.MustParse(guaranteed)}},
		},
	}
	for _, option := range options {
		option(q)
	}
	s.tell(Event{Kind: QuotaKind, Key: name, Quota: q})
}

func forNamespaces(names ...string) func(*GpuQuota) {
	return func(q *GpuQuota) { q.Spec.Namespaces = names }
}

func inCohort(q *GpuQuota) { q.Spec.Cohort = "c" }

func inQuota(parent string) func(*GpuQuota) {
	return func(q *GpuQuota) { q.Spec.Parent = parent }
}

func lending(most string) func(*GpuQuota) {
	return func(q *GpuQuota) { q.Spec.Quotas[0].Lendable = quantity(most) }
}

func limited(most string) func(*GpuQuota) {
	return func(q *GpuQuota) { q.Spec.Quotas[0].Limit = quantity(most) }
}

func line(gpuType, guaranteed string) func(*GpuQuota) {
	return func(q *GpuQuota) {
		q.Spec.Quotas = append(q.Spec.Quotas, GpuQuotaLine{GPUType: gpuType, Guaranteed: resource.MustParse(guaranteed)})
	}
}

func ofType(gpuType string) func(*GpuQuota) {
	return func(q *GpuQuota) { q.Spec.Quotas[0].GPUType = gpuType }
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// bindIn makes a pod of ours that asks for an amount of a resource, and binds it.
func (s *story) bindIn(namespace, name, scheduler string, options ...fixture.PodOption) {
	s.pod(fixture.Pod(namespace, name, scheduler, options...))
	p := s.pods[namespace+"/"+name]
	p.Spec.NodeName = "n"
	p.Generation++
	s.pod(p)
}

// bindGPUs binds so many pods of one GPU each.
func (s *story) bindGPUs(namespace string, count int) {
	for i := range count {
		s.bindIn(namespace, fmt.Sprintf("%s-%d", namespace, i), us, fixture.GPUs(1))
	}
}

func TestJudgeQuotas(t *testing.T) {
	h100 := fixture.GPUNode("n", fixture.H100, 8)
	cases := []struct {
		name        string
		node        *corev1.Node
		tell        func(s *story)
		unexplained string // part of the only violation's detail; "": none
		excuse      Excuse // of the only violation that is explained; "": none
	}{
		{name: "within the guarantee", tell: func(s *story) {
			s.setQuota("q", "2")
			s.bindGPUs("t", 2)
		}},
		{name: "beyond it, with nobody to borrow from", tell: func(s *story) {
			s.setQuota("q", "2")
			s.bindGPUs("t", 3)
		}, unexplained: "quota q: *: 3 used of 2"},
		{name: "a namespace without quota", tell: func(s *story) {
			s.setQuota("q", "2", forNamespaces("other"))
			s.bindGPUs("t", 3)
		}},
		{name: "a namespace without quota, of which there are no GPUs by default", tell: func(s *story) {
			s.DefaultQuota("t", "None")
			s.setQuota("q", "2", forNamespaces("other"))
			s.bindIn("t", "cpu", us, fixture.Requests("cpu", "1"))
			s.bindGPUs("t", 1)
		}, unexplained: "the namespace has no quota, and by default there are no GPUs without one"},
		{name: "a namespace that a quota claims whatever the default", tell: func(s *story) {
			s.DefaultQuota("t", "None")
			s.setQuota("q", "2")
			s.bindGPUs("t", 2)
		}},
		{name: "a quota shared by default", tell: func(s *story) {
			s.DefaultQuota("t", "rest")
			s.setQuota("rest", "2", forNamespaces("other"))
			s.bindIn("other", "p", us, fixture.GPUs(1))
			s.bindGPUs("t", 2)
		}, unexplained: "quota rest: *: 3 used of 2"},
		{name: "a quota shared by default that is not there yet", tell: func(s *story) {
			s.DefaultQuota("t", "rest")
			s.wait(time.Minute)
			s.bindGPUs("t", 1)
		}, unexplained: "the namespace has no quota, and by default there are no GPUs without one"},
		{name: "a node that has lost its labels: what the scheduler noted at the bind", tell: func(s *story) {
			s.setQuota("q", "4", ofType("H100"), line("*", "1"))
			s.bindIn("t", "noted", us, fixture.GPUs(4), fixture.Annotated(chargedAsAnnotation, fixture.H100.Product))
			s.setNode(fixture.GPUNode("n", fixture.H100, 8, fixture.Label(productLabel, "")))
			s.wait(time.Minute)
			s.bindIn("t", "p", us, fixture.GPUs(1))
		}},
		{name: "others' notes do not count", tell: func(s *story) {
			s.setQuota("q", "4", ofType("H100"), line("*", "1"))
			s.bindIn("t", "noted", them, fixture.GPUs(4), fixture.Annotated(chargedAsAnnotation, fixture.H100.Product))
			s.setNode(fixture.GPUNode("n", fixture.H100, 8, fixture.Label(productLabel, "")))
			s.wait(time.Minute)
			s.bindIn("t", "p", us, fixture.GPUs(1))
		}, unexplained: "quota q: *: 5 used of 1"},
		{name: "a node that says something else is right", tell: func(s *story) {
			s.setQuota("q", "4", ofType("H100"), line("L4", "4"))
			s.bindIn("t", "noted", us, fixture.GPUs(4), fixture.Annotated(chargedAsAnnotation, fixture.L4.Product))
			s.bindIn("t", "p", us, fixture.GPUs(1))
		}, unexplained: "quota q: H100: 5 used of 4"},
		{name: "a pod without GPUs", tell: func(s *story) {
			s.setQuota("q", "0")
			s.bindIn("t", "p", us, fixture.Requests("cpu", "1"))
		}},
		{name: "what has finished counts no more", tell: func(s *story) {
			s.setQuota("q", "1")
			s.bindGPUs("t", 1)
			s.change("t-0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			s.bindIn("t", "next", us, fixture.GPUs(1))
		}},
		{name: "pods of others count", tell: func(s *story) {
			s.setQuota("q", "1")
			s.bindIn("t", "theirs", them, fixture.GPUs(1))
			s.wait(time.Minute)
			s.bindGPUs("t", 1)
		}, unexplained: "quota q: *: 2 used of 1"},
		{name: "pods of others that came a moment ago explain", tell: func(s *story) {
			s.setQuota("q", "1")
			s.bindIn("t", "theirs", them, fixture.GPUs(1))
			s.bindGPUs("t", 1)
		}, excuse: ForeignBind},
		{name: "a quota that shrank a moment ago explains", tell: func(s *story) {
			s.setQuota("q", "4")
			s.setQuotaNow("q", "1")
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, excuse: QuotaChange},
		{name: "a quota that shrank while the bind was under way explains", tell: func(s *story) {
			s.setQuota("q", "4")
			s.create("p", us, fixture.GPUs(2))
			s.setQuotaNow("q", "1")
			s.wait(4 * time.Second)
			s.bind("p", "n")
		}, excuse: QuotaChange},
		{name: "one that shrank longer ago than a bind takes does not", tell: func(s *story) {
			s.setQuota("q", "4")
			s.create("p", us, fixture.GPUs(2))
			s.setQuotaNow("q", "1")
			s.wait(6 * time.Second)
			s.bind("p", "n")
		}, unexplained: "2 used of 1"},
		{name: "one that shrank before there was a pod does not", tell: func(s *story) {
			s.setQuota("q", "4")
			s.setQuotaNow("q", "1")
			s.wait(1500 * time.Millisecond)
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, unexplained: "2 used of 1"},
		{name: "nor does one that was made before", tell: func(s *story) {
			s.setQuotaNow("q", "1")
			s.wait(1500 * time.Millisecond)
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, unexplained: "2 used of 1"},
		{name: "one that shrank long ago does not", tell: func(s *story) {
			s.setQuota("q", "4")
			s.setQuota("q", "1")
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, unexplained: "2 used of 1"},
		{name: "one that is gone allows all", tell: func(s *story) {
			s.setQuota("q", "1")
			s.tell(Event{Kind: QuotaKind, Key: "q"})
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}},
		{name: "borrowed from the cohort", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("t", 5)
		}},
		{name: "more than the cohort may lend", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"), lending("2"))
			s.bindGPUs("t", 4)
		}, unexplained: "quota q: *: 4 used of 3"},
		{name: "more than the limit", tell: func(s *story) {
			s.setQuota("q", "1", inCohort, limited("2"))
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("t", 3)
		}, unexplained: "quota q: *: 3 used of 2"},
		{name: "more than the cohort has idle", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("other", 3)
			s.wait(time.Minute)
			s.bindGPUs("t", 3)
		}, unexplained: "cohort c: *: 2 borrowed, 1 to lend"},
		{name: "an owner's bind that overtakes the borrower's", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("other", 3)
			s.wait(time.Minute)
			s.bindGPUs("t", 1)
			s.create("borrows", us, fixture.GPUs(1))
			s.bindIn("other", "takes-back", us, fixture.GPUs(1))
			s.bind("borrows", "n")
		}, excuse: OwnerTookBack},
		{name: "an owner's bind from before the borrower's pod was there", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("other", 3)
			s.bindGPUs("t", 1)
			s.bindIn("other", "takes-back", us, fixture.GPUs(1))
			s.bindIn("t", "borrows", us, fixture.GPUs(1))
		}, unexplained: "cohort c: *: 1 borrowed, 0 to lend"},
		{name: "an owner's bind from longer ago than a bind takes", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("other", 3)
			s.bindGPUs("t", 1)
			s.create("borrows", us, fixture.GPUs(1))
			s.bindIn("other", "takes-back", us, fixture.GPUs(1))
			s.wait(6 * time.Second)
			s.bind("borrows", "n")
		}, unexplained: "cohort c: *: 1 borrowed, 0 to lend"},
		{name: "another borrower's bind excuses nothing", tell: func(s *story) {
			s.setQuota("q", "0", inCohort)
			s.setQuota("p", "0", inCohort, forNamespaces("third"))
			s.setQuota("r", "1", inCohort, forNamespaces("other"))
			s.create("borrows", us, fixture.GPUs(1))
			s.bindIn("third", "borrows", us, fixture.GPUs(1))
			s.bind("borrows", "n")
		}, unexplained: "cohort c: *: 2 borrowed, 1 to lend"},
		{name: "an owner's bind excuses nobody who is at his limit", tell: func(s *story) {
			s.setQuota("q", "1", inCohort, limited("1"))
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("t", 1)
			s.create("borrows", us, fixture.GPUs(1))
			s.bindIn("other", "takes-back", us, fixture.GPUs(1))
			s.bind("borrows", "n")
		}, unexplained: "quota q: *: 2 used of 1"},
		{name: "the owner takes back what is his", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", inCohort, forNamespaces("other"))
			s.bindGPUs("t", 4)
			s.bindGPUs("other", 4)
		}},
		{name: "all that its department has", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces())
			s.setQuota("q", "1", inQuota("d"))
			s.setQuota("r", "2", inQuota("d"), forNamespaces("other"))
			s.bindGPUs("t", 4)
		}},
		{name: "more than its department has", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces())
			s.setQuota("q", "1", inQuota("d"))
			s.bindGPUs("t", 5)
		}, unexplained: "quota q: *: 5 used of 4"},
		{name: "what another team keeps for itself", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces())
			s.setQuota("q", "1", inQuota("d"), limited("4"))
			s.setQuota("r", "2", inQuota("d"), forNamespaces("other"), lending("1"))
			s.bindGPUs("t", 4)
		}, unexplained: "quota d: *: 5 used of 4"},
		{name: "what another department lends", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces(), inCohort)
			s.setQuota("q", "1", inQuota("d"))
			s.setQuota("r", "2", inCohort, forNamespaces("other"))
			s.bindGPUs("t", 6)
		}},
		{name: "what another department uses itself", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces(), inCohort)
			s.setQuota("q", "1", inQuota("d"))
			s.setQuota("r", "2", inCohort, forNamespaces("other"))
			s.bindGPUs("other", 1)
			s.wait(time.Minute)
			s.bindGPUs("t", 6)
		}, unexplained: "cohort c: *: 2 borrowed, 1 to lend"},
		{name: "an owner beyond his department's limit", tell: func(s *story) {
			s.setQuota("d", "4", forNamespaces(), inCohort, limited("4"))
			s.setQuota("q", "1", inQuota("d"))
			s.setQuota("r", "2", inQuota("d"), forNamespaces("other"))
			s.bindGPUs("t", 4)
			s.wait(time.Minute)
			s.bindGPUs("other", 1)
		}, unexplained: "quota d: 5 used of its limit, 4"},
		{name: "a department that is not there", tell: func(s *story) {
			s.setQuota("q", "1", inQuota("d"))
			s.bindGPUs("t", 1)
		}, unexplained: "quota q is in d, which is not there"},
		{name: "another cohort lends nothing", tell: func(s *story) {
			s.setQuota("q", "1", inCohort)
			s.setQuota("r", "4", forNamespaces("other"), func(q *GpuQuota) { q.Spec.Cohort = "d" })
			s.bindGPUs("t", 2)
		}, unexplained: "2 used of 1"},
		{name: "the product's line before the class's before all others'", tell: func(s *story) {
			s.setQuota("q", "0", line("H100", "0"), line(fixture.H100.Product, "2"))
			s.bindGPUs("t", 3)
		}, unexplained: "quota q: NVIDIA-H100-80GB-HBM3: 3 used of 2"},
		{name: "the class's line before all others'", tell: func(s *story) {
			s.setQuota("q", "0", line("H100", "2"))
			s.bindGPUs("t", 2)
		}},
		{name: "a class with its memory before the class", tell: func(s *story) {
			s.setQuota("q", "0", line("H100", "0"), line("H100-80GB", "2"))
			s.bindGPUs("t", 3)
		}, unexplained: "quota q: H100-80GB: 3 used of 2"},
		{name: "a class with other memory", tell: func(s *story) {
			s.setQuota("q", "1", line("H100-94GB", "2"))
			s.bindGPUs("t", 2)
		}, unexplained: "quota q: *: 2 used of 1"},
		{name: "no line for the type", tell: func(s *story) {
			s.setQuota("q", "8", ofType("A100"))
			s.bindGPUs("t", 1)
		}, unexplained: `quota q: no line for GPUs of type "NVIDIA-H100-80GB-HBM3"`},
		{name: "a pod that is too large", tell: func(s *story) {
			s.setQuota("q", "8", func(q *GpuQuota) { q.Spec.MaxGPUsPerPod = quantity("4") })
			s.bindIn("t", "p", us, fixture.GPUs(5))
		}, unexplained: "quota q: 5 GPUs in one pod, at most 4"},
		{name: "the oldest quota has the namespace", tell: func(s *story) {
			s.setQuota("old", "1")
			s.setQuota("new", "8")
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, unexplained: "quota old: *: 2 used of 1"},
		{name: "by the namespace's labels", tell: func(s *story) {
			s.setQuota("q", "1", forNamespaces(), func(q *GpuQuota) {
				q.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
			})
			s.tell(Event{Kind: NamespaceKind, Key: "t", Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "t", Labels: map[string]string{"team": "a"}}}})
			s.wait(time.Minute)
			s.bindIn("t", "p", us, fixture.GPUs(2))
		}, unexplained: "quota q: *: 2 used of 1"},
		{name: "shared GPUs count by their part", node: fixture.GPUNode("n", fixture.L4, 16,
			fixture.Label(productLabel, fixture.L4.Product+"-SHARED"), fixture.Label(replicasLabel, "4")),
			tell: func(s *story) {
				s.setQuota("q", "1", ofType(fixture.L4.Product))
				s.bindGPUs("t", 5)
			}, unexplained: "quota q: NVIDIA-L4: 1.250 used of 1"},
		{name: "MIG instances count by their memory slices", node: fixture.GPUNode("n", fixture.A100, 0,
			fixture.Allocatable(migPrefix+"1g.10gb", "7"), fixture.Allocatable(migPrefix+"3g.40gb", "2")),
			tell: func(s *story) {
				s.setQuota("q", "500m", ofType("A100"))
				s.bindIn("t", "half", us, fixture.Requests(migPrefix+"3g.40gb", "1"))
				s.bindIn("t", "more", us, fixture.Requests(migPrefix+"1g.10gb", "1"))
			}, unexplained: "quota q: A100: 0.625 used of 0.500"},
		{name: "a memory label of less than a gigabyte a slice", node: fixture.GPUNode("n", fixture.A100, 0,
			fixture.Allocatable(migPrefix+"1g.10gb", "7"), fixture.Label(memoryLabel, "7999")),
			tell: func(s *story) {
				s.setQuota("q", "1")
				s.bindIn("t", "p", us, fixture.Requests(migPrefix+"1g.10gb", "1"))
			}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			node := c.node
			if node == nil {
				node = h100
			}
			s := newStory(node)
			s.wait(time.Minute)
			c.tell(s)
			var unexplained []string
			report := s.Report()
			excuses := map[Excuse]int{}
			if c.excuse != "" {
				excuses[c.excuse] = 1
			}
			for _, v := range report.Violations {
				if v.Explained == "" {
					unexplained = append(unexplained, string(v.Kind)+": "+v.Detail)
				}
			}
			if !maps.Equal(report.Excuses, excuses) {
				t.Errorf("want excuses %v, got %v: %v", excuses, report.Excuses, report.Violations)
			}
			switch {
			case c.unexplained == "" && len(unexplained) > 0:
				t.Errorf("want no violation, got %v", unexplained)
			case c.unexplained != "" && (len(unexplained) != 1 || !strings.HasPrefix(unexplained[0], "over-quota: ") || !strings.Contains(unexplained[0], c.unexplained)):
				t.Errorf("want over-quota with %q, got %v", c.unexplained, unexplained)
			}
		})
	}
}

func TestJudgeDoesNotCallAPodOverQuotaStuck(t *testing.T) {
	s := newStory(fixture.GPUNode("n", fixture.H100, 8))
	s.setQuota("q", "1")
	s.bindGPUs("t", 1)
	s.create("waits", us, fixture.GPUs(1))
	s.refuse("waits", 1)
	if stuck := s.Report().Stuck; len(stuck) != 0 {
		t.Errorf("over quota, and yet stuck: %v", stuck)
	}
	s.setQuota("q", "2")
	if stuck := s.Report().Stuck; len(stuck) != 1 {
		t.Errorf("within quota, and room on the node: want it stuck, got %v", stuck)
	}
}

// In a quota of strict order a pod may have to wait behind another, whatever keeps that one back. The first in line may not.
func TestJudgeFindsTheFirstInAStrictLineStuck(t *testing.T) {
	created := func(second int64) fixture.PodOption {
		return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Unix(second, 0)) }
	}
	withPriority := func(priority int32) fixture.PodOption {
		return func(p *corev1.Pod) { p.Spec.Priority = &priority }
	}
	cases := []struct {
		name  string
		other []fixture.PodOption // of the pod beside, which fits nowhere
		stuck int
	}{
		{"behind an older one", []fixture.PodOption{created(1), fixture.GPUs(9)}, 0},
		{"before a younger one", []fixture.PodOption{created(9), fixture.GPUs(9)}, 1},
		{"with one of the same second", []fixture.PodOption{created(5), fixture.GPUs(9)}, 0},
		{"behind a more important one", []fixture.PodOption{created(9), withPriority(1), fixture.GPUs(9)}, 0},
		{"before a less important one", []fixture.PodOption{created(1), withPriority(-1), fixture.GPUs(9)}, 1},
		{"before one without GPUs", []fixture.PodOption{created(1), fixture.Requests("cpu", "1k")}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(fixture.GPUNode("n", fixture.H100, 8))
			s.setQuota("q", "8", func(q *GpuQuota) { q.Spec.Order = "Strict" })
			s.create("waits", us, fixture.GPUs(1), created(5))
			s.create("other", us, c.other...)
			s.refuse("waits", 1)
			s.refuse("other", 1)
			if stuck := s.Report().Stuck; len(stuck) != c.stuck {
				t.Errorf("want %d stuck, got %v", c.stuck, stuck)
			}
		})
	}
}
