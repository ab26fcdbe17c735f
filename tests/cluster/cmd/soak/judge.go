package main

import (
	"fmt"
	"slices"
	"strings"
)

// A scheduler at work has a warm-up: it learns pods and nodes, opens connections, and remembers its events for six minutes so as to count their
// repeats. What comes after the warm-up is compared: its first half with its last quarter. A leak grows all the time and shows; waves do not.
const (
	warmUp = 480.0 // seconds; of a shorter run a third, and then memory is not judged
	// The median of the resident memory may grow by so much: a share of it, and pages that the allocator keeps here and there.
	memoryShare = 0.05
	memorySlack = 1 << 20
	// Descriptors come and go with connections; the most there are at a time may differ by a few.
	descriptorSlack = 3
)

// finding is one quantity, before and after.
type finding struct {
	Name    string  `json:"name"`
	Early   float64 `json:"early"` // in the first half after the warm-up
	Late    float64 `json:"late"`  // in the last quarter
	Allowed float64 `json:"allowed"`
	Judged  bool    `json:"judged"`
}

func (f finding) flat() bool { return !f.Judged || f.Late <= f.Allowed }

type findings []finding

// judge compares. Of no samples nothing can be said, and that is an error.
func judge(samples []sample) findings {
	if len(samples) < 8 {
		return nil
	}
	length := samples[len(samples)-1].Seconds
	begin := min(warmUp, length/3)
	early, late := between(samples, begin, (begin+length)/2), between(samples, length-(length-begin)/4, length+1)
	memory := finding{Name: "resident MiB", Early: mebibytes(early), Late: mebibytes(late), Judged: length >= 2*warmUp}
	memory.Allowed = memory.Early*(1+memoryShare) + float64(memorySlack)/(1<<20)
	descriptors := finding{Name: "descriptors", Early: most(early, descriptorsOf), Late: most(late, descriptorsOf), Judged: true}
	descriptors.Allowed = descriptors.Early + descriptorSlack
	threads := finding{Name: "threads", Early: most(early, threadsOf), Late: most(late, threadsOf), Judged: true}
	threads.Allowed = threads.Early
	return findings{memory, descriptors, threads}
}

func between(samples []sample, from, to float64) (found []sample) {
	for _, s := range samples {
		if s.Seconds >= from && s.Seconds < to {
			found = append(found, s)
		}
	}
	return found
}

func residentOf(s sample) float64    { return float64(s.Resident) / (1 << 20) }
func descriptorsOf(s sample) float64 { return float64(s.Descriptors) }
func threadsOf(s sample) float64     { return float64(s.Threads) }

// mebibytes is the median of the resident memory.
func mebibytes(samples []sample) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, residentOf(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func most(samples []sample, of func(sample) float64) (greatest float64) {
	for _, s := range samples {
		greatest = max(greatest, of(s))
	}
	return greatest
}

func (all findings) err() error {
	if all == nil {
		return fmt.Errorf("too few samples to judge")
	}
	var growing []string
	for _, f := range all {
		if !f.flat() {
			growing = append(growing, fmt.Sprintf("%s grew from %.1f to %.1f, more than the %.1f that pass for flat", f.Name, f.Early, f.Late, f.Allowed))
		}
	}
	if len(growing) > 0 {
		return fmt.Errorf("not flat: %s", strings.Join(growing, "; "))
	}
	return nil
}

func (all findings) String() string {
	var out strings.Builder
	for _, f := range all {
		verdict := "flat"
		if !f.Judged {
			verdict = "not judged: too short a run"
		} else if !f.flat() {
			verdict = "GROWS"
		}
		fmt.Fprintf(&out, "%-14s %8.1f early, %8.1f late: %s\n", f.Name, f.Early, f.Late, verdict)
	}
	return out.String()
}
