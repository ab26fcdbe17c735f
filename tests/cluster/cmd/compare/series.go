package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gpu-scheduler.io/tests/cluster/internal/measure"
)

// The sizes of the series: what is asked of the scheduler, and what its rounds take on a machine of two cores.
const (
	seriesPods     = 5000
	seriesExisting = 100_000
	openLoopTime   = 20 * time.Second
	closedRounds   = 3
	otherRounds    = 2
)

var seriesNodes = []int{1000, 5000}

// series measures everything there is to say: at each number of nodes the rates, and the latency while pods come at half kube-scheduler's
// rate; then, at the greatest, the start on a full cluster and the takeover. base has programs, paths and whatever rates and shapes the user asked for.
func series(ctx context.Context, base settings) (err error) {
	var sections []section
	var unfit error // results that are not to be quoted; what comes after them is measured all the same
	do := func(what string, s settings) section {
		if err != nil {
			return section{}
		}
		progress("%s: %d nodes, %d pods", what, s.Nodes, s.Pods)
		measured, failure := measureOne(ctx, s)
		if !measured.empty() {
			fmt.Printf("## %s\n\n%s\n", what, measured.report())
			sections = append(sections, measured)
			unfit = errors.Join(unfit, measured.err())
		}
		err = failure
		return measured
	}
	started := time.Now()
	for _, nodes := range seriesNodes {
		closed := base
		closed.Nodes, closed.Pods, closed.Repeat = nodes, seriesPods, closedRounds
		closed.Order = []string{gpuSchedulerName, "kube-scheduler", floorName}
		rate := rateOf(do(fmt.Sprintf("Rates at %d nodes", nodes), closed).Results, "kube-scheduler")
		if rate > 0 {
			do(fmt.Sprintf("Latency at %d nodes, at half kube-scheduler's rate", nodes), openLoop(closed, rate/2))
		}
	}
	full := base
	full.Nodes, full.Pods, full.Repeat, full.Existing, full.Lease = seriesNodes[len(seriesNodes)-1], 100, otherRounds, seriesExisting, true
	full.Order = []string{gpuSchedulerName, "kube-scheduler"}
	do("Start on a full cluster", full)
	full.Existing, full.Lease, full.Takeover, full.Pods = 0, false, true, seriesPods
	do("Takeover", full)
	progress("the series took %v", time.Since(started).Round(time.Second))
	return errors.Join(err, unfit, writeJSON(base.json, sections))
}

// openLoop is the same load arriving at a rate, for some time.
func openLoop(s settings, rate float64) settings {
	s.OpenLoop, s.Repeat = math.Round(rate), otherRounds
	s.Pods = min(s.Pods, int(s.OpenLoop*openLoopTime.Seconds()))
	return s
}

// rateOf is the median of a subject's binds per second; 0 if there is none.
func rateOf(results []Result, subject string) float64 {
	var rates []float64
	for _, r := range results {
		if r.Subject == subject {
			rates = append(rates, r.BindsPerSecond)
		}
	}
	if median := measure.SpreadOf(rates).Median; !math.IsNaN(median) {
		return median
	}
	return 0
}
