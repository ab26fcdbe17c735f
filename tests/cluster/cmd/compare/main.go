// compare measures gpu-scheduler beside kube-scheduler, one after the other on the same API server in one run.
//
//	compare --nodes N --pods P [--gpu G] [--shapes S] [--order gpu-scheduler,kube-scheduler,floor] [--repeat K] [--json FILE]
//	compare --nodes N --pods P --open-loop RATE [--profile DIR] ...
//	compare --nodes N --pods P --existing M --lease ...     starting on a full cluster
//	compare --nodes N --pods P --takeover ...               the leader of two dies
//	compare series                                          all of these, as make live does
//
// For each subject: all pods are created, pending, and then the subject is started under its own identity. The rate is first to last bind as
// a watcher sees them. The floor is a client that binds without thinking, once without events and once with one for each bind: nothing that
// tells of its binds can be faster on the same machine. With --open-loop the subject runs first and pods are created at that rate.
//
// Absolute figures belong to the machine they were taken on, where API server, etcd, watcher and subject share the cores. Quote the ratios of
// one run. What the columns are is said in Result.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/internal/load"
)

type settings struct {
	Nodes      int      `json:"nodes"`
	Pods       int      `json:"pods"`
	GPU        int64    `json:"gpusPerPod"`
	Shapes     int      `json:"shapes"`
	Repeat     int      `json:"rounds"`
	OpenLoop   float64  `json:"openLoopPodsPerSecond,omitempty"`
	Existing   int      `json:"existingPods,omitempty"`
	Lease      bool     `json:"lease,omitempty"`
	Takeover   bool     `json:"takeover,omitempty"`
	QPS        int      `json:"qps"`
	Burst      int      `json:"burst"`
	Floor      int      `json:"floorConnections"`
	Order      []string `json:"order"`
	json       string
	dir, bin   string
	scheduler  string
	profile    string
	kustomized string
	patience   time.Duration
}

// calledBy is what this program is called by; bench live gives it its own name.
func calledBy() string { return filepath.Base(os.Args[0]) }

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		exitWith(runFloor(os.Args[2:]))
	}
	args, all := os.Args[1:], false
	if len(args) > 0 && args[0] == "series" {
		args, all = args[1:], true
	}
	s, err := parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", calledBy(), err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if all {
		err = series(ctx, s)
	} else {
		err = compare(ctx, s)
	}
	stop()
	exitWith(err)
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", calledBy(), err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parse(args []string) (settings, error) {
	var s settings
	var order string
	flags := flag.NewFlagSet(calledBy(), flag.ExitOnError)
	flags.IntVar(&s.Nodes, "nodes", 1000, "nodes, of eight GPUs each")
	flags.IntVar(&s.Pods, "pods", 3000, "pods to bind")
	flags.Int64Var(&s.GPU, "gpu", 1, "GPUs that a pod asks for; 0 for plain pods")
	flags.IntVar(&s.Shapes, "shapes", 1, "distinct CPU requests among the pods")
	flags.IntVar(&s.Repeat, "repeat", 3, "rounds; every other one takes the subjects in reverse order")
	flags.StringVar(&order, "order", "", "subjects (default gpu-scheduler,kube-scheduler,floor; with --existing and --takeover without floor)")
	flags.Float64Var(&s.OpenLoop, "open-loop", 0, "create this many pods a second while the subject runs")
	flags.StringVar(&s.profile, "profile", "", "with --open-loop: leave in this directory what bench/live/profile.py reads: where everybody's CPU goes, and each pod's time")
	flags.IntVar(&s.Existing, "existing", 0, "plain pods that are bound already when a subject starts")
	flags.BoolVar(&s.Lease, "lease", false, "gpu-scheduler finds a lease that its predecessor gave back, and need not wait before its first bind")
	flags.BoolVar(&s.Takeover, "takeover", false, "measure how long after the death of the leader of two the other one binds")
	flags.IntVar(&s.QPS, "qps", 5000, "requests a second that either scheduler may send")
	flags.IntVar(&s.Burst, "burst", 10000, "and at once")
	flags.IntVar(&s.Floor, "connections", 32, "HTTP/1.1 connections of the floor")
	flags.StringVar(&s.json, "json", "", "write everything measured to this file")
	flags.StringVar(&s.dir, "dir", "", "directory for data, kubeconfigs and logs (default: a temporary one, removed at the end)")
	flags.StringVar(&s.bin, "bin", "", "directory of the control plane's binaries (default: where build.sh leaves them)")
	flags.StringVar(&s.scheduler, "gpu-scheduler", "", "the program (default build/release/bin/gpu-scheduler)")
	flags.StringVar(&s.kustomized, "manifests", "", "its kustomization, with its config.yaml (default manifests/base)")
	flags.DurationVar(&s.patience, "patience", 30*time.Second, "a subject that does nothing for so long has finished")
	_ = flags.Parse(args)
	if flags.NArg() > 0 {
		return s, fmt.Errorf("what is %q for?", flags.Args())
	}
	if order == "" {
		order = "gpu-scheduler,kube-scheduler,floor"
		if s.Existing > 0 || s.Takeover {
			order = "gpu-scheduler,kube-scheduler"
		}
	}
	s.Order = strings.Split(order, ",")
	return s, s.check()
}

func (s settings) check() error {
	switch {
	case math.IsNaN(s.OpenLoop) || math.IsInf(s.OpenLoop, 0):
		return fmt.Errorf("--open-loop %v: want a number of pods per second", s.OpenLoop)
	case s.Nodes < 1 || s.Pods < 2 || s.Repeat < 1 || s.Shapes < 1 || s.Floor < 1 || s.GPU < 0 || s.OpenLoop < 0 || s.Existing < 0:
		return fmt.Errorf("--nodes, --repeat, --shapes and --connections must be at least 1, --pods at least 2, nothing below 0")
	case s.GPU > load.GPUsPerNode:
		return fmt.Errorf("--gpu %d: a node has %d", s.GPU, load.GPUsPerNode)
	case s.Shapes > s.Pods:
		return fmt.Errorf("--shapes %d: more than --pods %d", s.Shapes, s.Pods)
	case s.Shapes > maxShapes:
		return fmt.Errorf("--shapes %d: at most %d, so that a node's CPUs always suffice", s.Shapes, maxShapes)
	case s.Takeover && s.OpenLoop > 0:
		return fmt.Errorf("--takeover and --open-loop are two measurements")
	case s.profile != "" && (s.OpenLoop == 0 || s.loadTime() < 2*profileMargin):
		return fmt.Errorf("--profile is for a load of --open-loop that lasts %v at least", 2*profileMargin)
	case s.Existing > s.Nodes*existingPerNode:
		return fmt.Errorf("--existing %d: at most %d to a node", s.Existing, existingPerNode)
	case s.Existing > 0 && s.GPU == 0:
		return fmt.Errorf("--existing leaves room for pods with GPUs only")
	case s.Pods+1 > s.Nodes*s.podsPerNode(): // one more for the probe of --open-loop, or after a takeover
		return fmt.Errorf("%d pods have no room on %d nodes with %d each", s.Pods, s.Nodes, s.podsPerNode())
	}
	for _, name := range s.Order {
		if _, known := subjects[name]; !known {
			return fmt.Errorf("--order: %q is none of gpu-scheduler, kube-scheduler, floor", name)
		}
		if name == floorName && s.Takeover {
			return fmt.Errorf("the floor has no replica; leave it out of --order")
		}
	}
	return nil
}

// loadTime is how long the pods of --open-loop take to come.
func (s settings) loadTime() time.Duration {
	return time.Duration(float64(s.Pods) / s.OpenLoop * float64(time.Second))
}

// podsPerNode is how many pods a node takes.
func (s settings) podsPerNode() int {
	if s.GPU == 0 {
		return plainPodsPerNode
	}
	return int(load.GPUsPerNode / s.GPU)
}
