// views measures what it costs to look at a large, full cluster: `kubectl gpu` with the scheduler down, beside the bare LISTs of the same objects,
// and with it up; the scheduler's page; and what either takes of the engine's thread.
//
//	views [--nodes 5000 --waiting 20000 --quotas 300] [--json FILE]
//
// Nodes have eight GPUs each and are full: running pods have one each, and waiting pods ask for one, two, four and eight in turn. One
// half of the quotas is used up, so that their pods wait for quota, and those of the other half for nodes. Every pod is in the namespace of its quota.
//
// Times are medians of rounds in which everything is done once; API server, etcd and scheduler share the cores.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/internal/load"
)

type settings struct {
	Nodes   int           `json:"nodes"`
	Running int           `json:"runningPods"`
	Waiting int           `json:"waitingPods"`
	Quotas  int           `json:"quotas"`
	Rounds  int           `json:"rounds"`
	Watched time.Duration `json:"watchedNanoseconds"`
	json    string
	dir     string
	bin     string
	built   string
}

func main() {
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "views: %v\n", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err = run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "views: %v\n", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("views", flag.ExitOnError)
	flags.IntVar(&s.Nodes, "nodes", 5000, "nodes, of eight GPUs each")
	flags.IntVar(&s.Waiting, "waiting", 20000, "pods that wait")
	flags.IntVar(&s.Quotas, "quotas", 300, "quotas, with a namespace each")
	flags.IntVar(&s.Rounds, "rounds", 5, "rounds")
	flags.DurationVar(&s.Watched, "watched", time.Minute, "how long the engine's thread is watched, with and without people who look")
	flags.StringVar(&s.json, "json", "", "write everything measured to this file")
	flags.StringVar(&s.dir, "dir", "", "directory for data, kubeconfigs and logs (default: a temporary one, removed at the end)")
	flags.StringVar(&s.bin, "bin", "", "directory of the control plane's binaries (default: where build.sh leaves them)")
	flags.StringVar(&s.built, "built", "", "directory of gpu-scheduler and kubectl-gpu (default build/release/bin)")
	_ = flags.Parse(args)
	s.Running = s.Nodes * load.GPUsPerNode
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("what is %q for?", flags.Args())
	case s.Nodes < 1 || s.Running < s.Quotas || s.Waiting < s.Quotas || s.Quotas < 2 || s.Rounds < 1 || s.Watched < time.Second:
		return s, errors.New("there must be two quotas, a GPU and a waiting pod for each, a round and a second")
	}
	if s.built == "" {
		root, err := controlplane.RepositoryRoot()
		if err != nil {
			return s, err
		}
		s.built = filepath.Join(root, "build/release/bin")
	}
	return s, nil
}

// progress prints a line with the time, for a user that waits.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// run starts a control plane, fills it, measures, and ends it.
func run(ctx context.Context, s settings) (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "views-"); err != nil {
			return err
		}
		defer os.RemoveAll(s.dir)
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: s.dir, Bin: s.bin})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	c := &cluster{settings: s, plane: plane}
	if err := c.fill(ctx); err != nil {
		return err
	}
	measured, err := c.measure(ctx)
	if len(measured.Figures) > 0 {
		fmt.Print(measured.report()) // also what there is when something failed
		err = errors.Join(err, measured.write(s.json))
	}
	return err
}
