// parity compares the verdicts of `bench verdicts` with those of kube-scheduler's own plugins, on clusters and pods that it draws.
//
//	parity --bench PROGRAM [--cases 10000] [--seed 7] [--foci spread,interpod] [--write FOLDER] [--keep FOLDER] [--scores=false]
//	parity --write FOLDER …             only writes the cases with kube-scheduler's answers, a file for each focus
//
// It prints how many cases of each focus and how many verdicts of each plugin agree, and exits 1 if any differs. What `bench verdicts`
// cannot answer yet is counted by itself. The same seed draws the same cases. With --keep what differs is reduced to the smallest case of each
// kind and written there (keep.go).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/parity/draw"
)

type settings struct {
	cases   int
	seed    uint64
	foci    []string
	workers int
	bench   string
	write   string
	keep    string
	scores  bool
}

func main() {
	s := parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, differ, err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(2)
	}
	if differ > 0 {
		os.Exit(1)
	}
}

func parse() (s settings) {
	var foci string
	flag.IntVar(&s.cases, "cases", 10_000, "how many, the foci in turn")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "draws other cases; without it another one each time") //nolint:gosec // positive
	flag.StringVar(&foci, "foci", strings.Join(draw.Foci, ","), "what the cases stress")
	flag.IntVar(&s.workers, "workers", runtime.NumCPU(), "how many cases are asked at a time")
	flag.StringVar(&s.bench, "bench", "", "the program under test: build/release/bin/bench")
	flag.StringVar(&s.write, "write", "", "a folder for all cases, a file for each focus")
	flag.StringVar(&s.keep, "keep", "", "a folder for the cases that differ, and the smallest case of each kind of difference")
	flag.BoolVar(&s.scores, "scores", true, "the cases have the scores of the nodes that fit, too")
	flag.Parse()
	s.foci = strings.Split(foci, ",")
	if flag.NArg() > 0 || (s.bench == "" && s.write == "") || s.cases < 1 || s.workers < 1 {
		fmt.Fprintln(os.Stderr, "parity: --bench or --write is needed, and numbers above 0")
		flag.Usage()
		os.Exit(2)
	}
	return s
}
