package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"gpu-scheduler.io/tests/cluster/internal/measure"
)

// run makes samples a second apart.
func run(seconds int, at func(second int) measure.Footprint) (samples []sample) {
	for second := range seconds {
		samples = append(samples, sample{float64(second), at(second)})
	}
	return samples
}

func TestJudge(t *testing.T) {
	const mebibyte = 1 << 20
	steady := measure.Footprint{Resident: 40 * mebibyte, Threads: 4, Descriptors: 30}
	for _, c := range []struct {
		name    string
		seconds int
		at      func(second int) measure.Footprint
		flat    bool
	}{
		{"steady", 1800, func(int) measure.Footprint { return steady }, true},
		{"waves", 1800, func(second int) measure.Footprint {
			f := steady
			f.Resident += int64(second%60) * mebibyte / 30
			f.Descriptors += second % 3
			return f
		}, true},
		{"a warm-up of six minutes", 1800, func(second int) measure.Footprint {
			f := steady
			f.Resident += int64(min(second, 360)) * mebibyte / 10
			return f
		}, true},
		{"memory leaks", 1800, func(second int) measure.Footprint {
			f := steady
			f.Resident += int64(second) * mebibyte / 100
			return f
		}, false},
		{"descriptors leak", 120, func(second int) measure.Footprint {
			f := steady
			f.Descriptors += second / 10
			return f
		}, false},
		{"threads leak", 120, func(second int) measure.Footprint {
			f := steady
			f.Threads += second / 50
			return f
		}, false},
		{"memory in a short run", 120, func(second int) measure.Footprint {
			f := steady
			f.Resident += int64(second) * mebibyte
			return f
		}, true},
		{"nothing", 0, nil, false},
	} {
		if err := judge(run(c.seconds, c.at)).err(); (err == nil) != c.flat {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	samples := run(100, func(second int) measure.Footprint {
		return measure.Footprint{Resident: int64(second) << 20, Threads: 4}
	})
	for decoder := xml.NewDecoder(bytes.NewReader(plot(samples, judge(samples)))); ; {
		if _, err := decoder.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
