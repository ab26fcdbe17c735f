package measure

import (
	"math"
	"slices"
)

// Spread is what several rounds gave for one quantity. NaN, all three, where there was none.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf computes it. Values that are NaN are left out.
func SpreadOf(values []float64) Spread {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	slices.Sort(sorted)
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return Spread{middle, sorted[0], sorted[len(sorted)-1]}
}

// Percentile returns the smallest value that at least p percent of the values do not exceed (nearest rank); NaN if there are none.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
