// lockstep has kube-scheduler and gpu-scheduler decide about the same pods on the same clusters, live, each behind an API server of its own, and compares.
//
//	lockstep --pods 10000 --seed 7 [--policy FILE] [--nodes 10] [--keep FOLDER]
//
// It exits 0 if nothing differs, 1 if something does, 2 if it could not find out. Package lockstep says what is compared, and how.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/lockstep"
)

func main() {
	s := parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	figures, err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lockstep:", err)
		os.Exit(2)
	}
	if err := figures.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "lockstep:", err)
		os.Exit(1)
	}
}

// run prints what was found. Without a folder for data, one is made and removed.
func run(ctx context.Context, s lockstep.Settings) (lockstep.Figures, error) {
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "lockstep-")
		if err != nil {
			return lockstep.Figures{}, err
		}
		defer os.RemoveAll(dir)
		s.Dir = dir
	}
	fmt.Fprintf(s.Out, "seed %d: %d pods, gpu-scheduler with %s beside kube-scheduler v1.36.3\n", s.Seed, s.Pods, s.Policy)
	begin := time.Now()
	figures, err := lockstep.Run(ctx, s)
	fmt.Fprint(s.Out, figures.Tables())
	fmt.Fprintf(s.Out, "seed %d, %v: %v\n", s.Seed, time.Since(begin).Round(time.Second), figures)
	return figures, err
}

func parse() lockstep.Settings {
	s := lockstep.Settings{Out: os.Stdout}
	flag.IntVar(&s.Pods, "pods", 10_000, "how many, one after the other")
	flag.Uint64Var(&s.Seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "of what is drawn; without it another one each time") //nolint:gosec // positive
	flag.IntVar(&s.Nodes, "nodes", 10, "nodes at the begin; they come and go")
	flag.IntVar(&s.Most, "most", 20, "differences after which it ends")
	flag.StringVar(&s.Scheduler, "gpu-scheduler", "build/release/bin/gpu-scheduler", "the program")
	flag.StringVar(&s.Policy, "policy", "manifests/policies/kube-scheduler.yaml", "its configuration")
	flag.StringVar(&s.Manifests, "manifests", "manifests/base", "the kustomization that deploys it")
	flag.StringVar(&s.Dir, "dir", "", "directory for data and logs (default: a temporary one, removed at the end)")
	flag.StringVar(&s.Keep, "keep", "build/lockstep", "folder for the clusters on which the two differ, and the steps")
	flag.StringVar(&s.Bin, "bin", "", "directory of the control plane's binaries (default: where build.sh leaves them)")
	flag.Parse()
	if flag.NArg() > 0 || s.Pods < 1 || s.Nodes < 2 || s.Most < 1 {
		fmt.Fprintln(os.Stderr, "lockstep: --pods and --most are at least 1, --nodes at least 2, and there are no arguments")
		os.Exit(2)
	}
	return s
}
