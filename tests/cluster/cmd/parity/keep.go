package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gpu-scheduler.io/tests/cluster/parity"
)

// differing is a case with what is different in it, the first of it.
type differing struct {
	*parity.Case
	line       []byte
	difference parity.Difference
}

// mostKinds is how many kinds of difference are reduced; a program that gets one rule wrong has few.
const mostKinds = 12

// keep writes all cases that differ into differences.jsonl of the folder, and of each kind of difference one reduced to the least that still
// differs, in a file of its own. It prints what is different in those.
func keep(ctx context.Context, s settings, found []differing) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b differing) int {
		return cmp.Or(cmp.Compare(len(a.line), len(b.line)), cmp.Compare(a.ID, b.ID))
	})
	kinds := map[string][]differing{}
	for _, each := range found {
		kinds[each.difference.Kind()] = append(kinds[each.difference.Kind()], each)
	}
	if s.keep == "" {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			fmt.Printf("%d × %s, for one %s: %v\n", len(kinds[kind]), kind, kinds[kind][0].ID, kinds[kind][0].difference)
		}
		return nil
	}
	if err := os.MkdirAll(s.keep, 0o755); err != nil {
		return err
	}
	all := make([][]byte, len(found))
	for i := range found {
		all[i] = found[i].line
	}
	if err := writeCases(filepath.Join(s.keep, "differences.jsonl"), all...); err != nil {
		return err
	}
	scheduler, err := parity.NewScheduler(ctx)
	if err != nil {
		return err
	}
	scheduler.Scores = s.scores
	minimiser := parity.Minimiser{Scheduler: scheduler, Program: parity.Bench{Program: s.bench, Folder: s.keep}}
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		of := kinds[kind]
		fmt.Printf("%d × %s\n", len(of), kind)
		if i >= mostKinds {
			continue
		}
		path, err := reduce(ctx, minimiser, s.keep, of[0])
		if err != nil {
			return err
		}
		fmt.Printf("    %s: %v\n", path, of[0].difference)
	}
	return nil
}

// reduce gives the file of the smallest case, or of the whole one where that is none that the API server would store.
func reduce(ctx context.Context, minimiser parity.Minimiser, folder string, of differing) (string, error) {
	path := filepath.Join(folder, of.ID+".jsonl")
	line := of.line
	if small, err := minimiser.Minimise(ctx, of.Case); err != nil {
		fmt.Printf("    not reduced: %v\n", err)
	} else if line, err = small.Encode(); err != nil {
		return "", err
	}
	return path, writeCases(path, line)
}

// keepUnanswered writes the cases on which the program under test has ended with an error.
func keepUnanswered(s settings, m made, failure error) error {
	if s.keep == "" {
		return failure
	}
	path := filepath.Join(s.keep, "unanswered.jsonl")
	if err := errors.Join(os.MkdirAll(s.keep, 0o755), writeCases(path, m.lines...)); err != nil {
		return errors.Join(failure, err)
	}
	return fmt.Errorf("%s: %w", path, failure)
}

func writeCases(path string, lines ...[]byte) error {
	writer, err := parity.Create(path)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := writer.Write(line); err != nil {
			return err
		}
	}
	return writer.Close()
}
