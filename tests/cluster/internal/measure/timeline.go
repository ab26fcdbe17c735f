package measure

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Timeline is when a watcher saw each pod created, bound, and told about by a Scheduled event. All times are the watcher's own, so that they
// compare; what they miss is the time from the store to the watcher, the same for every scheduler. Safe for several goroutines.
type Timeline struct {
	mu      sync.Mutex
	pods    map[string]*moments
	told    map[string]bool // pods with a Scheduled event
	summary Summary
}

type moments struct {
	created, bound time.Time
	node           string
}

// Summary of a timeline. The zero time stands for "not yet".
type Summary struct {
	Bound, Told         int // pods bound; pods with a Scheduled event
	FirstBind, LastBind time.Time
	LastTold            time.Time
	Rebound             int // pods seen on a second node, which the API server does not let happen
}

// NewTimeline returns an empty timeline.
func NewTimeline() *Timeline {
	return &Timeline{pods: map[string]*moments{}, told: map[string]bool{}}
}

// Pod takes in a state of a pod as seen at a time.
func (t *Timeline) Pod(name, node string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.pods[name]
	if m == nil {
		m = &moments{created: at}
		t.pods[name] = m
	}
	switch {
	case node == "" || node == m.node:
	case m.node != "":
		t.summary.Rebound++
	default:
		m.bound, m.node = at, node
		if t.summary.Bound == 0 {
			t.summary.FirstBind = at
		}
		t.summary.Bound++
		t.summary.LastBind = at
	}
}

// Event takes in an event about a pod of the namespace that is watched.
func (t *Timeline) Event(e *corev1.Event, at time.Time) {
	if e.Reason != "Scheduled" || e.InvolvedObject.Kind != "Pod" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.told[e.InvolvedObject.Name] {
		t.told[e.InvolvedObject.Name] = true
		t.summary.Told++
		t.summary.LastTold = at
	}
}

// Summary of what has been seen so far.
func (t *Timeline) Summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.summary
}

// Latencies returns for each bound pod that was seen unbound first the seconds from creation to bind, in no order. Pods that skip names are left out.
func (t *Timeline) Latencies(skip string) (seconds []float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, m := range t.pods {
		if name != skip && m.node != "" && m.created.Before(m.bound) {
			seconds = append(seconds, m.bound.Sub(m.created).Seconds())
		}
	}
	return seconds
}

// Moment is when a pod was first seen, and when it was first seen bound; the zero time stands for "not yet".
type Moment struct {
	Pod     string    `json:"pod"`
	Created time.Time `json:"created"`
	Bound   time.Time `json:"bound"`
}

// Moments returns them of all pods but those that skip names, in no order.
func (t *Timeline) Moments(skip string) (all []Moment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, m := range t.pods {
		if name != skip {
			all = append(all, Moment{Pod: name, Created: m.created, Bound: m.bound})
		}
	}
	return all
}

// PodsPerNode counts the bound pods of each node that has any.
func (t *Timeline) PodsPerNode() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[string]int{}
	for _, m := range t.pods {
		if m.node != "" {
			counts[m.node]++
		}
	}
	return counts
}
