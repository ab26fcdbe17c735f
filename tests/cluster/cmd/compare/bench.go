package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/internal/load"

	"k8s.io/client-go/kubernetes"
)

// bench is the control plane that all subjects share, and what starting them takes.
type bench struct {
	settings settings
	cluster  *controlplane.ControlPlane
	client   kubernetes.Interface  // the watcher's and the creator's: protobuf, no rate limit
	account  string                // kubeconfig of gpu-scheduler's service account
	floor    string                // and of the floor's
	config   string                // its configuration
	running  *controlplane.Process // the subject of the moment
	runs     int
}

// environment is what absolute figures depend on.
type environment struct {
	Cores       int    `json:"cores"`
	Kubernetes  string `json:"kubernetes"`
	SharedBy    string `json:"coresSharedBy"`
	LoadAverage string `json:"loadAverageBefore"` // over 1, 5 and 15 minutes
}

// section is one measurement: what was asked and what came out.
type section struct {
	Settings    settings         `json:"settings"`
	Environment environment      `json:"environment"`
	Results     []Result         `json:"results,omitempty"`
	Takeovers   []TakeoverResult `json:"takeovers,omitempty"`
}

// compare is one measurement, printed and written. It has failed if a result is not to be quoted.
func compare(ctx context.Context, s settings) error {
	measured, err := measureOne(ctx, s)
	if !measured.empty() {
		fmt.Print(measured.report()) // also what there is when a round failed
		err = errors.Join(err, writeJSON(s.json, measured), measured.err())
	}
	return err
}

func (m section) empty() bool { return len(m.Results) == 0 && len(m.Takeovers) == 0 }

func (m section) report() string {
	if m.Settings.Takeover {
		return takeoverReport(m.Settings, m.Environment, m.Takeovers)
	}
	return report(m.Settings, m.Environment, m.Results)
}

// measureOne starts a control plane, measures, and ends it.
func measureOne(ctx context.Context, s settings) (m section, err error) {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "compare-")
		if err != nil {
			return m, err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	m.Settings, m.Environment = s, describeMachine()
	options := controlplane.Options{Dir: s.dir, Bin: s.bin}
	if s.profile != "" {
		if err := s.prepareProfiles(&options); err != nil {
			return m, err
		}
	}
	cluster, err := controlplane.Start(ctx, options)
	if err != nil {
		return m, err
	}
	b := &bench{settings: s, cluster: cluster}
	err = b.prepare(ctx)
	switch {
	case err != nil:
	case s.Takeover:
		m.Takeovers, err = b.allTakeovers(ctx)
	default:
		m.Results, err = b.all(ctx)
	}
	return m, errors.Join(err, cluster.Stop())
}

// writeJSON writes what was measured; no path, no file.
func writeJSON(path string, measured any) error {
	if path == "" {
		return nil
	}
	content, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

func describeMachine() environment {
	load, _ := os.ReadFile("/proc/loadavg") // none: it stays unsaid
	fields := strings.Fields(string(load))
	return environment{
		Cores: runtime.NumCPU(), Kubernetes: "v1.36.3", SharedBy: "etcd, kube-apiserver, the watcher and the subject",
		LoadAverage: strings.Join(fields[:min(3, len(fields))], " "),
	}
}

// prepare makes what all subjects share.
func (b *bench) prepare(ctx context.Context) (err error) {
	config := b.cluster.Config()
	config.QPS, config.ContentType, config.AcceptContentTypes = -1, "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	if b.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := b.prepareFloor(ctx); err != nil {
		return err
	}
	if slices.Contains(b.settings.Order, gpuSchedulerName) {
		if err := b.prepareGPUScheduler(ctx); err != nil {
			return err
		}
	}
	if err := load.CreateNodes(ctx, b.client, b.settings.Nodes); err != nil {
		return fmt.Errorf("create nodes: %w", err)
	}
	if err := b.settings.createExisting(ctx, b.client); err != nil {
		return fmt.Errorf("create existing pods: %w", err)
	}
	progress("%d nodes and %d pods are there", b.settings.Nodes, b.settings.Existing)
	return nil
}

// progress prints a line with the time, for a user that waits.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// all warms the API server up with a round that does not count, and measures.
func (b *bench) all(ctx context.Context) (results []Result, err error) {
	if err := b.warmUp(ctx); err != nil {
		return nil, err
	}
	for round := range b.settings.Repeat {
		order := slices.Clone(b.settings.Order)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, name := range order {
			for _, s := range subjects[name] {
				result, err := b.run(ctx, s)
				if err != nil {
					return results, fmt.Errorf("round %d, %s: %w", round+1, s.name, err)
				}
				result.Round = round + 1
				results = append(results, result)
				progress("round %d: %s", round+1, result)
			}
		}
	}
	return results, nil
}

// warmUp has the floor bind a few hundred pods: a server's first requests are slower than the rest.
func (b *bench) warmUp(ctx context.Context) error {
	full := b.settings
	b.settings.Pods, b.settings.Shapes, b.settings.OpenLoop = min(full.Pods, 500), 1, 0
	_, err := b.run(ctx, subjects[floorName][1])
	b.settings = full
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	return nil
}

// settle lets the API server finish what it does behind: sending deletions to its watch cache, collecting garbage.
func settle(ctx context.Context) error {
	select {
	case <-time.After(2 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withRates returns a scheduler's configuration with other rates of requests, and the rest as it is, comments included.
func withRates(config []byte, qps, burst int) ([]byte, error) {
	for key, value := range map[string]int{"qps": qps, "burst": burst} {
		line := regexp.MustCompile(`(?m)^( +` + key + `:) *\d+ *$`)
		if found := len(line.FindAll(config, -1)); found != 1 {
			return nil, fmt.Errorf("config.yaml has %d lines `%s: NUMBER`, want one", found, key)
		}
		config = line.ReplaceAll(config, fmt.Appendf(nil, "${1} %d", value))
	}
	return config, nil
}
