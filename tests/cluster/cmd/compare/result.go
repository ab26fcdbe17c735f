package main

import (
	"fmt"
	"time"

	"gpu-scheduler.io/tests/cluster/internal/measure"
)

// Result is what one subject did in one round. Processor times are from /proc, good to 10 ms in all; times are the watcher's. What does not
// apply is 0.
type Result struct {
	Subject string `json:"subject"`
	Round   int    `json:"round"`
	Bound   int    `json:"bound"` // pods, of those asked for
	Told    int    `json:"told"`  // pods with a Scheduled event

	// BindsPerSecond is (binds - 1) / (last bind - first bind). Starting is not in it.
	BindsPerSecond float64 `json:"bindsPerSecond,omitempty"`
	// ToldPerSecond is (pods - 1) / (last bind or Scheduled event, whichever is later, - first bind).
	ToldPerSecond float64 `json:"toldPerSecond,omitempty"`
	// EventsAfterLastBind is how long the last event came after the last bind, in seconds.
	EventsAfterLastBind float64 `json:"eventsAfterLastBindSeconds,omitempty"`
	// UntilLastEvent is the time from the first bind to the last event, in seconds; --open-loop: from the begin of the load.
	UntilLastEvent float64 `json:"untilLastEventSeconds,omitempty"`
	// StartToFirstBind is seconds from starting the process. It is mostly reading the cluster, and a fixed wait of gpu-scheduler's.
	StartToFirstBind float64 `json:"startToFirstBindSeconds,omitempty"`
	// StartToLastBind is seconds from starting the process.
	StartToLastBind float64 `json:"startToLastBindSeconds,omitempty"`

	// SubjectCPU is milliseconds for each pod, from the start of the process (--open-loop: of the load) to the last bind or event.
	SubjectCPU float64 `json:"subjectCpuMsPerPod"`
	// SubjectCPUStart is the part of it before the first bind, in milliseconds in all.
	SubjectCPUStart float64 `json:"subjectCpuMsBeforeFirstBind,omitempty"`
	// PeakMemory is VmHWM in MiB.
	PeakMemory float64 `json:"peakMemoryMiB"`
	// ControlPlaneCPU is kube-apiserver's and etcd's, in milliseconds for each pod, from just before the first bind (--open-loop: from the
	// start of the load) to the last bind or event. ControlPlaneCPUStart is what came before, in milliseconds in all, idling included.
	ControlPlaneCPU      float64 `json:"controlPlaneCpuMsPerPod"`
	ControlPlaneCPUStart float64 `json:"controlPlaneCpuMsBeforeFirstBind,omitempty"`
	// WatcherCPU is this program's, in milliseconds for each pod over the same time as ControlPlaneCPU.
	WatcherCPU float64 `json:"watcherCpuMsPerPod"`
	// Busy and Others are how many cores were busy from first to last bind (--open-loop: under the load), and how many of them with
	// processes that have nothing to do with this. If Others is not near 0, the round was disturbed.
	Busy   float64 `json:"coresBusy"`
	Others float64 `json:"coresTakenByOthers"`

	// Created is the rate of creation that --open-loop reached; Latency50 and Latency99 are seconds from creation to bind.
	Created   float64 `json:"createdPerSecond,omitempty"`
	Latency50 float64 `json:"createToBindP50Seconds,omitempty"`
	Latency99 float64 `json:"createToBindP99Seconds,omitempty"`

	// NodesUsed and Crowded count nodes with a pod, and with more pods than have room.
	NodesUsed int `json:"nodesUsed"`
	Crowded   int `json:"nodesOvercommitted"`
}

// result computes it from the timeline and from what was used before the start, before the first bind, and by the last one.
func (o *observation) result(started time.Time, before, first, atLast usage, created float64) (Result, error) {
	s := o.line.Summary()
	if s.Bound < 2 {
		return Result{}, fmt.Errorf("it bound %d pods; its log is %s:\n%s", s.Bound, o.running.Log, lastWords(o.running.Log))
	}
	peak, err := measure.PeakMemory(o.running.Pid())
	if err != nil {
		return Result{}, err
	}
	pods, took, working := float64(o.settings.Pods), o.used.minus(before), o.used.minus(first)
	perPod := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / pods }
	r := Result{
		Subject: o.subject.name, Bound: s.Bound, Told: s.Told, PeakMemory: float64(peak) / (1 << 20),
		SubjectCPU: perPod(took.subject), ControlPlaneCPU: perPod(working.controlPlane), WatcherCPU: perPod(working.watcher),
	}
	span := s.LastBind.Sub(s.FirstBind).Seconds()
	if o.settings.OpenLoop > 0 {
		r.Bound, r.Told = r.Bound-1, max(r.Told-1, 0) // the probe
		seconds := o.line.Latencies(probeName)
		r.Created, r.Latency50, r.Latency99 = created, measure.Percentile(seconds, 50), measure.Percentile(seconds, 99)
		span = pods/created + max(0, r.Latency99) // about the time under load
	} else {
		r.BindsPerSecond = float64(s.Bound-1) / span
		r.StartToFirstBind, r.StartToLastBind = s.FirstBind.Sub(started).Seconds(), s.LastBind.Sub(started).Seconds()
		starting := first.minus(before)
		r.SubjectCPUStart = float64(starting.subject.Microseconds()) / 1000
		r.ControlPlaneCPUStart = float64(starting.controlPlane.Microseconds()) / 1000
	}
	if o.subject.events && s.Told > 0 {
		r.EventsAfterLastBind = s.LastTold.Sub(s.LastBind).Seconds()
		r.UntilLastEvent = span + max(0, r.EventsAfterLastBind)
		if o.settings.OpenLoop == 0 {
			r.ToldPerSecond = float64(s.Told-1) / (span + max(0, r.EventsAfterLastBind))
		}
	}
	loaded := atLast.minus(first)
	r.Busy, r.Others = loaded.machine.Seconds()/span, loaded.others().Seconds()/span
	for _, count := range o.line.PodsPerNode() {
		r.NodesUsed++
		if count > o.settings.podsPerNode() {
			r.Crowded++
		}
	}
	return r, nil
}

// String is one line for the progress report.
func (r Result) String() string {
	rate := fmt.Sprintf("%.0f binds/s, first after %.1f s", r.BindsPerSecond, r.StartToFirstBind)
	if r.Created > 0 {
		rate = fmt.Sprintf("created %.0f/s, bound after p50 %.1f ms, p99 %.1f ms", r.Created, 1000*r.Latency50, 1000*r.Latency99)
	}
	return fmt.Sprintf("%s: %d bound, %d told, %s, %.2f CPU ms/pod, %.0f MiB, control plane %.2f ms/pod, others took %.2f cores",
		r.Subject, r.Bound, r.Told, rate, r.SubjectCPU, r.PeakMemory, r.ControlPlaneCPU, r.Others)
}
