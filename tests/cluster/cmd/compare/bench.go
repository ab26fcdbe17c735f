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

	"k8s.io/client-go/kubernetes"
)

// bench is the control plane that all subjects share, and what starting them takes.
type bench struct {
	settings settings
	cluster  *controlplane.ControlPlane
	client   kubernetes.Interface  // the watcher's and the creator's: protobuf, no rate limit
	account  controlplane.Identity // of gpu-scheduler
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

// compare is the whole comparison.
func compare(ctx context.Context, s settings) error {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "compare-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	where := describeMachine()
	cluster, err := controlplane.Start(ctx, controlplane.Options{Dir: s.dir, Bin: s.bin})
	if err != nil {
		return err
	}
	results, err := (&bench{settings: s, cluster: cluster}).all(ctx)
	err = errors.Join(err, cluster.Stop())
	if len(results) == 0 {
		return err
	}
	fmt.Print(report(s, where, results)) // also what there is when a round failed
	if s.json == "" {
		return err
	}
	content, marshalErr := json.MarshalIndent(map[string]any{"settings": s, "environment": where, "results": results}, "", "  ")
	if marshalErr == nil {
		marshalErr = os.WriteFile(s.json, append(content, '\n'), 0o644)
	}
	return errors.Join(err, marshalErr)
}

func describeMachine() environment {
	load, _ := os.ReadFile("/proc/loadavg") // none: it stays unsaid
	fields := strings.Fields(string(load))
	return environment{
		Cores: runtime.NumCPU(), Kubernetes: "v1.36.3", SharedBy: "etcd, kube-apiserver, the watcher and the subject",
		LoadAverage: strings.Join(fields[:min(3, len(fields))], " "),
	}
}

// all makes the nodes, warms the API server up with a round that does not count, and measures.
func (b *bench) all(ctx context.Context) (results []Result, err error) {
	config := b.cluster.Config()
	config.QPS, config.ContentType, config.AcceptContentTypes = -1, "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	if b.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if slices.Contains(b.settings.Order, "gpu-scheduler") {
		if err := b.prepareGPUScheduler(ctx); err != nil {
			return nil, err
		}
	}
	if err := createNodes(ctx, b.client, b.settings.Nodes); err != nil {
		return nil, fmt.Errorf("create nodes: %w", err)
	}
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
				fmt.Fprintf(os.Stderr, "round %d: %s\n", round+1, result)
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
