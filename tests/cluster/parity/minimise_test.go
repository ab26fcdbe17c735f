package parity_test

import (
	"context"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/parity"
	"gpu-scheduler.io/tests/cluster/parity/draw"
)

// blind answers as kube-scheduler would if there were no taints.
type blind struct{ *parity.Scheduler }

func (b blind) Ask(ctx context.Context, cases [][]byte) (parity.Reply, error) {
	var reply parity.Reply
	for _, line := range cases {
		c, err := parity.Decode(line)
		if err != nil {
			return reply, err
		}
		given := c.Answer
		for i := range c.Nodes {
			c.Nodes[i].Spec.Taints = nil
		}
		answer, err := b.Answer(ctx, c)
		if err != nil {
			return reply, err
		}
		reply.Answers = append(reply.Answers, answer)
		reply.Differs = append(reply.Differs, len(parity.Differences(given, answer)) > 0)
	}
	return reply, nil
}

func TestMinimise(t *testing.T) {
	scheduler, err := parity.NewScheduler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	minimiser := parity.Minimiser{Scheduler: scheduler, Program: blind{scheduler}}
	shrunk := 0
	for number := range 20 {
		c, err := draw.Case(1, "taints", number)
		if err != nil {
			t.Fatal(err)
		}
		small, err := minimiser.Minimise(t.Context(), c)
		if err != nil {
			if !strings.Contains(err.Error(), "do not differ") {
				t.Error(err)
			}
			continue
		}
		shrunk++
		line, err := small.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(small.Nodes) != 1 || len(small.Pods) != 0 || len(small.Nodes[0].Spec.Taints) != 1 || len(small.Pod.Spec.Containers) != 1 ||
			len(small.Nodes[0].Labels) != 0 || len(small.Pod.Spec.Tolerations) != 0 {
			t.Errorf("left of %s: %s", c.ID, line)
		}
	}
	if shrunk < 5 {
		t.Errorf("%d of 20 cases differ", shrunk)
	}
}

func TestMinimiseToWhatIsLeft(t *testing.T) {
	scheduler, err := parity.NewScheduler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := parity.Decode([]byte(`{"id":"c","nodes":[{"metadata":{"name":"other"}},
		{"metadata":{"name":"n","labels":{"zone":"a"}},"spec":{"taints":[{"key":"x","value":"y","effect":"NoSchedule"}]},
			"status":{"allocatable":{"cpu":"8","pods":"9"}}}],
		"pods":[{"metadata":{"name":"r","namespace":"d"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}],
		"pod":{"metadata":{"name":"p","namespace":"d","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i",
			"resources":{"requests":{"cpu":"1"}}}],"tolerations":[{"key":"z","operator":"Exists"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	small, err := parity.Minimiser{Scheduler: scheduler, Program: blind{scheduler}}.Minimise(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := small.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"c","nodes":[{"metadata":{"name":"n"},"spec":{"taints":[{"key":"x","effect":"NoSchedule"}]},"status":{"allocatable":{"pods":"9"}}}],` +
		`"pod":{"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"name":"c","image":"i","resources":{}}]},"status":{}},` +
		`"verdicts":{"n":{"code":"UnschedulableAndUnresolvable","plugin":"TaintToleration","reasons":["node(s) had untolerated taint(s)"]}},` +
		`"message":"0/1 nodes are available: 1 node(s) had untolerated taint(s)."}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
