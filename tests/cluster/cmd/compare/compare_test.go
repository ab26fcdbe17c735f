package main

import (
	"strings"
	"testing"
)

func TestRatesAreReplacedAndNothingElse(t *testing.T) {
	const config = "kind: K\n# qps: 7 is a comment\nclientConnection:\n  qps: 50\n  burst: 100\nprofiles: []\n"
	got, err := withRates([]byte(config), 5000, 10000)
	want := "kind: K\n# qps: 7 is a comment\nclientConnection:\n  qps: 5000\n  burst: 10000\nprofiles: []\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := withRates([]byte("kind: K\n"), 1, 1); err == nil {
		t.Error("a configuration without rates passes")
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		want string // in the error; empty: there is none
	}{
		{"", ""},
		{"--nodes 10 --pods 79", ""},
		{"--nodes 10 --pods 80", "no room"},
		{"--nodes 10 --pods 900 --gpu 0", ""},
		{"--gpu 3 --nodes 10 --pods 20", "2 each"},
		{"--gpu 9", "a node has 8"},
		{"--shapes 81", "at most"},
		{"--order kube-scheduler,other", "other"},
		{"--open-loop 100", ""},
		{"--open-loop 100 --order floor", ""},
		{"--profile d", "open-loop"},
		{"--open-loop 100 --pods 900 --profile d", "lasts"},
		{"--open-loop 100 --pods 2000 --profile d", ""},
		{"--open-loop NaN", "a number"},
		{"--open-loop Inf", "a number"},
		{"--takeover", ""},
		{"--takeover --open-loop 100", "two measurements"},
		{"--takeover --order floor", "no replica"},
		{"--existing 100000", ""},
		{"--existing 100001", "at most 100"},
		{"--existing 100 --gpu 0", "GPUs only"},
		{"more", "more"},
	} {
		_, err := parse(strings.Fields(c.args))
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.args, err, c.want)
		}
	}
}

func TestTheSeriesComesOpenLoopAtARateOfItsOwn(t *testing.T) {
	s, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Pods = seriesPods
	results := []Result{{Subject: "kube-scheduler", BindsPerSecond: 400}, {Subject: "kube-scheduler", BindsPerSecond: 300},
		{Subject: "kube-scheduler", BindsPerSecond: 410}, {Subject: "gpu-scheduler", BindsPerSecond: 1000}}
	open := openLoop(s, rateOf(results, "kube-scheduler")/2)
	if open.OpenLoop != 200 || open.Pods != 4000 || open.check() != nil {
		t.Errorf("%v/s, %d pods, %v", open.OpenLoop, open.Pods, open.check())
	}
	if rate := rateOf(nil, "kube-scheduler"); rate != 0 {
		t.Errorf("of nothing: %v", rate)
	}
}

func TestTakeoverReport(t *testing.T) {
	got := takeoverReport(settings{Nodes: 5000, Pods: 300, GPU: 1}, environment{Cores: 2}, []TakeoverResult{
		{Subject: "gpu-scheduler", Round: 1, DeathToBind: 15, LeaseLeft: 14.5, BeyondLease: 0.5, InTime: true, StandbyMemory: 60},
		{Subject: "kube-scheduler", Round: 1, DeathToBind: 17, LeaseLeft: 14.5, BeyondLease: 2.5, StandbyMemory: 200}})
	for _, want := range []string{"5000 nodes, 300 pods",
		"| gpu-scheduler  | 1     | 15.00           | 14.50            | 0.50           | yes        | 60 ",
		"| kube-scheduler | 1     | 17.00           | 14.50            | 2.50           | no         | 200 "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestReport(t *testing.T) {
	s, err := parse(strings.Fields("--nodes 100 --pods 300"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(subject string, round int, rate float64) Result {
		return Result{Subject: subject, Round: round, Bound: 300, Told: 300, BindsPerSecond: rate, SubjectCPU: 1}
	}
	short := of("kube-scheduler", 2, 250)
	short.Told, short.Others = 299, 0.5
	got := report(s, environment{Cores: 2}, []Result{of("gpu-scheduler", 1, 1000), of("kube-scheduler", 1, 500), short, of("gpu-scheduler", 2, 1500)})
	for _, want := range []string{
		"100 nodes, 300 pods of 1 GPU", "2 cores, shared by", "Median of 2 rounds",
		"| gpu-scheduler  | 1250 (1000–1500) |",
		"| gpu-scheduler / kube-scheduler | 4.00 (2.00–6.00) |", // 1000 to 500 and 1500 to 250
		"Round 2, kube-scheduler: only 299 of 300 pods got a Scheduled event.",
		"disturbed: other processes took 0.50 cores",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestReportOpenLoopHasRatiosOfAllCPU(t *testing.T) {
	s, err := parse(strings.Fields("--nodes 100 --pods 300 --open-loop 100"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(subject string, own, server float64) Result {
		return Result{Subject: subject, Round: 1, Bound: 300, Told: 300, Created: 100, Latency50: 0.5, Latency99: 1, SubjectCPU: own, PeakMemory: 10,
			ControlPlaneCPU: server}
	}
	got := report(s, environment{Cores: 2}, []Result{of("gpu-scheduler", 0.5, 3), of("kube-scheduler", 5, 4)})
	if want := "| gpu-scheduler / kube-scheduler | 1.00 (1.00–1.00)      | 1.00 (1.00–1.00) | 0.10 (0.10–0.10) | 1.00 (1.00–1.00) | 0.75 (0.75–0.75) "; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

func TestResultsThatAreNotToBeQuotedAreAFailure(t *testing.T) {
	s, err := parse(strings.Fields("--nodes 100 --pods 300"))
	if err != nil {
		t.Fatal(err)
	}
	good := Result{Subject: "gpu-scheduler", Round: 1, Bound: 300, Told: 300}
	unbound, crowded, untold := good, good, good
	unbound.Bound, crowded.Crowded, untold.Told = 299, 2, 299
	for _, c := range []struct {
		name   string
		result Result
		want   string // "": none
	}{
		{"all as it should be", good, ""},
		{"an event is missing", untold, ""},
		{"a pod is not bound", unbound, "round 1, gpu-scheduler: only 299 of 300 pods were bound"},
		{"nodes have too many", crowded, "round 1, gpu-scheduler: 2 nodes have more pods than room"},
	} {
		err := section{Settings: s, Results: []Result{good, c.result}}.err()
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
