package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"gpu-scheduler.io/tests/cluster/parity"
)

// report prints what was found.
func report(s settings, found *outcome) {
	a := found.agreement
	table("focus", "cases", s.foci, a.Cases)
	table("plugin", "verdicts", slices.Sorted(maps.Keys(a.Verdicts)), a.Verdicts)
	if s.scores {
		table("plugin", "scores", slices.Sorted(maps.Keys(a.Scores)), a.Scores)
	}
	table("", "messages", []string{""}, map[string]parity.Count{"": a.Messages})
	table("", "evictions", []string{""}, map[string]parity.Count{"": a.Evicts})
	if len(a.Missing) > 0 {
		fmt.Printf("left out: cases that need what bench verdicts cannot answer yet of %s\n", strings.Join(slices.Sorted(maps.Keys(a.Missing)), ", "))
	}
	total := a.Total()
	fmt.Printf("%d cases agree, %d differ, %d are left out\n", total.Agree, total.Differ, total.LeftOut)
}

func table(what, of string, rows []string, counts map[string]parity.Count) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%s\t%s\tagree\tdiffer\tleft out\t\n", what, of)
	for _, row := range rows {
		c := counts[row]
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t\n", row, c.Agree+c.Differ+c.LeftOut, c.Agree, c.Differ, c.LeftOut)
	}
	out.Flush()
	fmt.Println()
}
