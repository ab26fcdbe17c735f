// soak lets the scheduler work for a long time and judges whether it grows: pods come and go on a cluster that is nearly full, nodes change and
// disappear, and all the while resident memory, open descriptors and threads are written down.
//
//	soak --time 30m [--rate 20] [--nodes 50] [--svg FILE] [--json FILE]
//
// The scheduler runs as manifests/base deploys it: it holds a lease, and its token comes from a file in which it is replaced (token.go).
//
// It exits 1 if any of the three grows (judge.go says what that means), if the scheduler ends by itself or badly when it is told to, or if the history of the API server shows a
// GPU given twice or a pod lost. The plot (svg.go) shows them over time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/history"
	"gpu-scheduler.io/tests/cluster/internal/measure"
)

type settings struct {
	Time      time.Duration `json:"time"`
	Rate      float64       `json:"podsPerSecond"`
	Nodes     int           `json:"nodes"`
	Seed      uint64        `json:"seed"`
	svg, json string
	dir, bin  string
	scheduler string
	manifests string
}

// sample is the footprint at a moment.
type sample struct {
	Seconds float64 `json:"seconds"` // since the begin
	measure.Footprint
}

func main() {
	s := parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := soak(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func parse() (s settings) {
	flag.DurationVar(&s.Time, "time", 30*time.Minute, "how long")
	flag.Float64Var(&s.Rate, "rate", 20, "pods that are created a second")
	flag.IntVar(&s.Nodes, "nodes", 50, "nodes, of eight GPUs each")
	flag.Uint64Var(&s.Seed, "seed", 1, "of what comes and goes")
	flag.StringVar(&s.svg, "svg", "", "draw the plot into this file")
	flag.StringVar(&s.json, "json", "", "write all samples into this file")
	flag.StringVar(&s.dir, "dir", "", "directory for data and logs (default: a temporary one, removed at the end)")
	flag.StringVar(&s.bin, "bin", "", "directory of the control plane's binaries (default: where build.sh leaves them)")
	flag.StringVar(&s.scheduler, "gpu-scheduler", "build/release/bin/gpu-scheduler", "the program")
	flag.StringVar(&s.manifests, "manifests", "manifests/base", "its kustomization, with its config.yaml")
	flag.Parse()
	if flag.NArg() > 0 || s.Time < 10*time.Second || s.Rate <= 0 || s.Nodes < 2 {
		fmt.Fprintln(os.Stderr, "soak: --time is at least 10s, --rate more than 0, --nodes at least 2, and there are no arguments")
		os.Exit(2)
	}
	return s
}

func soak(ctx context.Context, s settings) error {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "soak-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{Dir: s.dir, Bin: s.bin, AuditBinds: true})
	if err != nil {
		return err
	}
	recorder := history.Record(cluster.Etcd(), history.Options{Schedulers: []string{schedulerName}, Attempts: cluster.AuditLog()})
	cluster.BeforeCompact = recorder.Wait
	err = s.run(ctx, cluster, recorder)
	recorder.Close()
	return errors.Join(err, cluster.Stop())
}

// run is the soak itself.
func (s settings) run(ctx context.Context, cluster *controlplane.ControlPlane, recorder *history.Recorder) error {
	token, err := newToken(ctx, cluster, s.manifests)
	if err != nil {
		return err
	}
	process, err := s.startScheduler(cluster, token)
	if err != nil {
		return err
	}
	c := newChurn(cluster.Client(), s)
	if err := c.makeNodes(ctx); err != nil {
		return err
	}
	working, stop := context.WithTimeout(ctx, s.Time)
	defer stop()
	churned := make(chan error, 1)
	renewed := make(chan error, 1)
	go func() { churned <- c.run(working, cluster) }()
	go func() { renewed <- token.keepNew(working) }()
	samples, err := watch(working, process, recorder)
	stop()
	err = errors.Join(err, <-churned, <-renewed)
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	err = errors.Join(err, c.restoreNodes(ctx))
	report := recorder.Settle(ctx, 30*time.Second)
	err = errors.Join(err, end(process))
	fmt.Print(report)
	fmt.Printf("tokens: %d, one after the other\n", token.number)
	found := judge(samples)
	fmt.Print(found)
	return errors.Join(err, report.Err(), found.err(), s.write(samples, found))
}

// startScheduler starts it as the manifests do, with its lease and a token in a file.
func (s settings) startScheduler(cluster *controlplane.ControlPlane, token *token) (*controlplane.Process, error) {
	kubeconfig, err := cluster.TokenFileKubeconfig(token.namespace, token.account, token.file)
	if err != nil {
		return nil, err
	}
	return cluster.StartChild("gpu-scheduler", nil, s.scheduler, "--config", filepath.Join(s.manifests, "config.yaml"),
		"--kubeconfig", kubeconfig, "--http-bind-address=127.0.0.1:0", "--secure-port=0")
}

// end ends the scheduler, which must say that it has ended well.
func end(process *controlplane.Process) error {
	if err := process.Stop(); err != nil {
		return err
	}
	if err := process.Wait(); err != nil {
		return fmt.Errorf("the scheduler ended badly after SIGTERM: %w; its log is %s", err, process.Log)
	}
	return nil
}

// watch takes samples until the time is over, and says each minute how it goes.
func watch(ctx context.Context, process *controlplane.Process, recorder *history.Recorder) (samples []sample, err error) {
	begin, told := time.Now(), time.Duration(0)
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		f, err := measure.FootprintOf(process.Pid())
		if err != nil {
			return samples, err
		}
		since := time.Since(begin)
		samples = append(samples, sample{since.Seconds(), f})
		if since >= told {
			fmt.Fprintf(os.Stderr, "%v: %.1f MiB, %d descriptors, %d threads; %d binds\n", since.Round(time.Second), float64(f.Resident)/(1<<20),
				f.Descriptors, f.Threads, recorder.Report().Binds)
			told += time.Minute
		}
		select {
		case <-every.C:
		case <-process.Done():
			return samples, fmt.Errorf("the scheduler ended by itself: %v; its log is %s", process.Wait(), process.Log)
		case <-ctx.Done():
			return samples, nil
		}
	}
}

func (s settings) write(samples []sample, found findings) error {
	var err error
	if s.svg != "" {
		err = os.WriteFile(s.svg, plot(samples, found), 0o644)
	}
	if s.json == "" {
		return err
	}
	content, failure := json.Marshal(map[string]any{"settings": s, "findings": found, "samples": samples})
	if failure == nil {
		failure = os.WriteFile(s.json, append(content, '\n'), 0o644)
	}
	return errors.Join(err, failure)
}
