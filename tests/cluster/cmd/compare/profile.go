package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/internal/measure"
)

// What --profile leaves in its directory, for bench/live/profile.py to make tables of:
//
//	audit.log                 when the API server received and answered each request about a pod, of all runs
//	SUBJECT-N/                of each subject in each round:
//	  run.json                its name, namespace and pods, and when each pod was seen created and bound
//	  before, after.metrics   /metrics of the API server
//	  apiserver, etcd.pprof   what they spent the middle of the load on
//	  subject.perf            the same of gpu-scheduler, by perf (others have no symbols that it understands)
//	  subject.log
//
// All of it takes processor time, most of all the audit log: figures of such a run are for comparing parts with each other.

// profileMargin is how long the load lasts before and after what is profiled: nothing is warm at the begin, and the end is near.
const profileMargin = 10 * time.Second / 2

// auditPolicy has the moments of every write and nothing of its content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create]
  resources: [{group: "", resources: [pods, pods/binding]}, {group: events.k8s.io, resources: [events]}]
- level: None
`

// prepareProfiles makes the directory and has the control plane tell what it will be asked for.
func (s settings) prepareProfiles(options *controlplane.Options) error {
	if err := os.MkdirAll(s.profile, 0o755); err != nil {
		return err
	}
	directory, err := filepath.Abs(s.profile)
	if err != nil {
		return err
	}
	log, policy := filepath.Join(directory, "audit.log"), filepath.Join(directory, "audit-policy.yaml")
	if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
		return err
	}
	options.APIServerArgs = append(options.APIServerArgs, "--audit-log-path="+log, "--audit-policy-file="+policy, "--audit-log-mode=batch")
	options.EtcdArgs = append(options.EtcdArgs, "--enable-pprof")
	return os.WriteFile(policy, []byte(auditPolicy), 0o644)
}

// profiles of one subject, being taken.
type profiles struct {
	*observation
	directory string
	namespace string
	group     sync.WaitGroup
	mu        sync.Mutex
	failure   error
}

// startProfiles begins to take them, where the user wants any, for the middle of the load that is about to begin.
func (o *observation) startProfiles(ctx context.Context, namespace string) (*profiles, error) {
	if o.settings.profile == "" {
		return nil, nil
	}
	// namespace: run-N
	name := strings.NewReplacer(": ", "-", ", ", "-and-").Replace(o.subject.name) + strings.TrimPrefix(namespace, "run")
	p := &profiles{observation: o, directory: filepath.Join(o.settings.profile, name), namespace: namespace}
	if err := os.MkdirAll(p.directory, 0o755); err != nil {
		return nil, err
	}
	if err := p.fetch(ctx, "before.metrics", "/metrics"); err != nil {
		return nil, err
	}
	seconds := fmt.Sprint(int((o.settings.loadTime() - profileMargin).Seconds()))
	p.during(func() error { return p.fetch(ctx, "apiserver.pprof", "/debug/pprof/profile?seconds="+seconds) })
	p.during(func() error { return p.fetchEtcd(ctx, "/debug/pprof/profile?seconds="+seconds) })
	if o.subject.name == gpuSchedulerName {
		p.during(func() error { return p.perf(ctx, seconds) })
	}
	return p, nil
}

func (p *profiles) during(take func() error) {
	p.group.Go(func() {
		if err := take(); err != nil {
			p.mu.Lock()
			p.failure = errors.Join(p.failure, err)
			p.mu.Unlock()
		}
	})
}

// fetch leaves an answer of the API server in a file.
func (p *profiles) fetch(ctx context.Context, file, path string) error {
	path, query, _ := strings.Cut(path, "?")
	request := p.cluster.Client().Discovery().RESTClient().Get().AbsPath(path)
	if name, value, found := strings.Cut(query, "="); found {
		request = request.Param(name, value)
	}
	content, err := request.DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("profile: %s: %w", path, err)
	}
	return os.WriteFile(filepath.Join(p.directory, file), content, 0o644)
}

func (p *profiles) fetchEtcd(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.cluster.EtcdURL()+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile etcd: %w", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("profile etcd: %s", response.Status)
	}
	return errors.Join(err, os.WriteFile(filepath.Join(p.directory, "etcd.pprof"), content, 0o644))
}

// perf samples the subject's stacks, its time in the kernel included. A machine without perf has the other profiles.
func (p *profiles) perf(ctx context.Context, seconds string) error {
	program, err := exec.LookPath("perf")
	if err != nil {
		progress("no perf on PATH: gpu-scheduler's own processor time is not taken apart")
		return nil
	}
	record := exec.CommandContext(ctx, program, "record", "--quiet", "--freq=997", "--call-graph=dwarf,16384",
		"--pid", fmt.Sprint(p.running.Pid()), "--output", filepath.Join(p.directory, "subject.perf"), "--", "sleep", seconds)
	if output, err := record.CombinedOutput(); err != nil {
		return fmt.Errorf("perf record: %w: %s", err, output)
	}
	return nil
}

// finish waits for what is being taken and adds what can be told only now. Nothing was asked for: nil will do.
func (p *profiles) finish(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.group.Wait()
	run := struct {
		Subject   string           `json:"subject"`
		Namespace string           `json:"namespace"`
		Pods      int              `json:"pods"`
		Rate      float64          `json:"podsPerSecond"`
		Moments   []measure.Moment `json:"moments"`
	}{p.subject.name, p.namespace, p.settings.Pods, p.settings.OpenLoop, p.line.Moments(probeName)}
	content, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return err
	}
	log, err := os.ReadFile(p.running.Log)
	return errors.Join(p.failure, err,
		p.fetch(ctx, "after.metrics", "/metrics"),
		os.WriteFile(filepath.Join(p.directory, "run.json"), content, 0o644),
		os.WriteFile(filepath.Join(p.directory, "subject.log"), log, 0o644))
}
