package history

import (
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
)

// Where a witness tells, a change of a node excuses until shortly after it was shown, however long that took, and for as long as a bind that was
// asked for by then takes to land; and no longer.
func TestWitness(t *testing.T) {
	const never = -1
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for _, c := range []struct {
		name                string
		shown, asked, lands float64 // seconds after the change
		explained           bool
	}{
		{"never shown", never, 100, 100, true},
		{"shown a moment before", 100, 100.5, 100.5, true},
		{"shown long before, which is long after it happened", 50, 100, 100, false},
		{"shown at once", 0, 1.5, 1.5, false},
		{"asked for before it was shown, and landing long after", 50, 49, 100, true},
		{"asked for after it was known, and landing long after", 50, 52, 100, false},
		{"asked for by nobody who was heard, and shown long before", 50, never, 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(oneGPU("n"))
			w := &testimony{asked: map[string]time.Time{}}
			s.testimony = w
			s.create("a", us, fixture.GPUs(1))
			s.setNode(oneGPU("n", fixture.Tainted()))
			changed, revision := s.now, s.revision
			w.nodesShown(revision-1, changed)
			if c.shown != never {
				w.nodesShown(revision+3, changed.Add(seconds(c.shown)))
			}
			if c.asked != never {
				w.bindAsked("t/a", "elsewhere", changed)
				w.bindAsked("t/a", "n", changed.Add(seconds(c.asked)))
				w.bindAsked("t/a", "n", changed.Add(seconds(c.lands)))
			}
			s.wait(seconds(c.lands))
			s.bind("a", "n")
			if r := s.Report(); (r.Explained == 1) != c.explained || r.Explained+r.Unexplained != 1 {
				t.Errorf("explained %d, unexplained %d", r.Explained, r.Unexplained)
			}
		})
	}
}

// Who has not been shown that a node shrank may fill it as it was.
func TestWitnessOfANodeThatShrank(t *testing.T) {
	s := newStory(oneGPU("n"))
	w := &testimony{asked: map[string]time.Time{}}
	s.testimony = w
	s.create("a", us, fixture.GPUs(1))
	s.create("b", us, fixture.GPUs(1))
	s.setNode(fixture.GPUNode("n", fixture.L4, 0))
	s.wait(time.Minute)
	s.bind("a", "n")
	if r := s.Report(); r.Explained != 1 || r.Unexplained != 0 {
		t.Errorf("not shown: explained %d, unexplained %d", r.Explained, r.Unexplained)
	}
	s.bind("b", "n") // more than ever fitted
	if r := s.Report(); r.Unexplained != 1 {
		t.Errorf("one too many: explained %d, unexplained %d", r.Explained, r.Unexplained)
	}
}

// When it has ended, time counts as usual, and so does what it would have kept.
func TestWitnessEnds(t *testing.T) {
	s := newStory(oneGPU("n"))
	r := &Recorder{judge: s.Judge}
	witness := r.Witness()
	if shown := witness.Shown(); shown != 0 {
		t.Errorf("shown up to %d, before anything was", shown)
	}
	witness.NodesShown(7)
	witness.NodesShown(5) // by a watch that lags behind
	if shown := witness.Shown(); shown != 7 {
		t.Errorf("shown up to %d, want 7", shown)
	}
	s.create("a", us, fixture.GPUs(1))
	s.setNode(oneGPU("n", fixture.Tainted()))
	s.wait(time.Minute)
	witness.End()
	witness.BindAsked("t/a", "n")
	witness.NodesShown(1)
	s.bind("a", "n")
	if r := s.Report(); r.Unexplained != 1 {
		t.Errorf("explained %d, unexplained %d", r.Explained, r.Unexplained)
	}
	if !s.Unexcused() {
		t.Error("what happened a minute ago is still an excuse")
	}
}
