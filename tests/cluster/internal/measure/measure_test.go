package measure

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name string
		give []float64
		want Spread
	}{
		{"one", []float64{3}, Spread{3, 3, 3}},
		{"odd", []float64{9, 1, 5}, Spread{5, 1, 9}},
		{"even", []float64{4, 1, 2, 9}, Spread{3, 1, 9}},
		{"a round without it", []float64{2, math.NaN(), 4}, Spread{3, 2, 4}},
	} {
		if got := SpreadOf(c.give); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if got := SpreadOf(nil); !math.IsNaN(got.Median) {
		t.Errorf("of nothing: %v", got)
	}
}

func TestPercentile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for p, want := range map[float64]float64{0: 1, 25: 1, 50: 2, 51: 3, 99: 4, 100: 4} {
		if got := Percentile(values, p); got != want {
			t.Errorf("p%v of %v: got %v, want %v", p, values, got, want)
		}
	}
}

func TestTimeline(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	told := func(pod, reason string) *corev1.Event {
		return &corev1.Event{Reason: reason, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod}}
	}
	line := NewTimeline()
	line.Pod("a", "", at(1))
	line.Pod("b", "", at(1))
	line.Pod("late", "", at(1))
	line.Pod("a", "n1", at(2))
	line.Pod("a", "n1", at(9)) // its status changed
	line.Pod("b", "n1", at(5))
	line.Event(told("a", "FailedScheduling"), at(3))
	line.Event(told("a", "Scheduled"), at(6))
	line.Event(told("a", "Scheduled"), at(8))
	want := Summary{Bound: 2, Told: 1, FirstBind: at(2), LastBind: at(5), LastTold: at(6)}
	if got := line.Summary(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := line.Latencies("b"); len(got) != 1 || got[0] != 1 {
		t.Errorf("latencies %v, want [1]", got)
	}
	if got := line.PodsPerNode(); len(got) != 1 || got["n1"] != 2 {
		t.Errorf("pods per node %v", got)
	}
}

func TestParseStat(t *testing.T) {
	stat := "12 (a name) with ) R 1 12 12 0 -1 4194560 1 0 0 0 250 50 7 7 20 0 1 0 100 0 0"
	if got, err := parseStat([]byte(stat)); err != nil || got != 3*time.Second {
		t.Errorf("got %v, %v, want 3 s", got, err)
	}
	if _, err := parseStat([]byte("12 (x) R")); err == nil {
		t.Error("a short line passes")
	}
}

func TestOurselves(t *testing.T) {
	if _, err := CPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	if peak, err := PeakMemory(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("peak memory %d, %v", peak, err)
	}
	if busy, err := MachineCPU(); err != nil || busy <= 0 {
		t.Errorf("machine %v, %v", busy, err)
	}
}

func TestThreads(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	// The kernel counts in ticks, and a busy machine may leave us without one for a while: we are busy until it has seen us.
	for begin := time.Now(); ; {
		ours, err := ThreadCPU(os.Getpid(), strings.TrimSpace(string(name)))
		if err != nil {
			t.Fatal(err)
		}
		if ours > 0 {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatal("a minute of work is not counted")
		}
	}
	if _, err := ThreadCPU(os.Getpid(), "nobody"); err == nil {
		t.Error("threads of a name that none has were found")
	}
}
