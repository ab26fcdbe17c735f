package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
)

// subject is the scheduler under test: a process that a test starts, kills and starts again.
type subject struct {
	t       *testing.T
	name    string // in its log file's name
	program string
	args    []string
	process *controlplane.Process
}

// setup is what the scheduler is started with.
type setup struct {
	kubeconfig string // the file
	config     string // the text
	args       []string
}

// startSubject starts the scheduler, with the usual setup or with changes to it. At the end of the test it must still be running, and
// end well within seconds of SIGTERM.
func startSubject(t *testing.T, changes ...func(*setup)) *subject {
	t.Helper()
	s := newSubject(t, "", changes...)
	s.start()
	t.Cleanup(s.end)
	return s
}

// newSubject prepares a scheduler; suffix tells several of one test apart.
func newSubject(t *testing.T, suffix string, changes ...func(*setup)) *subject {
	t.Helper()
	s := &subject{t: t, name: "scheduler-" + strings.ReplaceAll(t.Name(), "/", "-") + suffix, program: os.Getenv("GPU_SCHEDULER_BIN")}
	if s.program == "" {
		s.program = filepath.Join(root, "build/release/bin/gpu-scheduler")
	}
	if _, err := os.Stat(s.program); err != nil {
		t.Fatalf("no scheduler to test: %v (build it, or set GPU_SCHEDULER_BIN)", err)
	}
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := lent(t).cluster.KubeconfigFor(who)
	if err != nil {
		t.Fatal(err)
	}
	with := setup{kubeconfig: kubeconfig, config: controlplane.SchedulerConfiguration(schedulerName, kubeconfig, 5000, 5000)}
	for _, change := range changes {
		change(&with)
	}
	// kube-scheduler takes the one that the configuration names, gpu-scheduler the flag's.
	text := strings.Replace(with.config, strconv.Quote(kubeconfig), strconv.Quote(with.kubeconfig), 1)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = slices.Concat([]string{"--config", config, "--kubeconfig", with.kubeconfig}, strings.Fields(os.Getenv("GPU_SCHEDULER_ARGS")), with.args)
	return s
}

func (s *subject) start() {
	s.t.Helper()
	process, err := lent(s.t).cluster.StartChild(s.name, nil, s.program, s.args...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = process
}

// kill ends the scheduler with SIGKILL, and fails the test if it had ended by itself.
func (s *subject) kill() {
	s.t.Helper()
	s.check()
	s.process.Kill()
}

// check fails the test if the scheduler has ended by itself.
func (s *subject) check() {
	s.t.Helper()
	if !s.process.Running() {
		s.t.Errorf("the scheduler ended by itself: %v; its log is %s", s.process.Wait(), s.keepLog())
	}
}

func (s *subject) end() {
	s.check()
	s.stop()
	if s.t.Failed() {
		s.t.Logf("the scheduler's log is %s", s.keepLog())
	}
	cpu, peak := s.process.Usage()
	s.t.Logf("the scheduler took %v of processor time and at most %d MiB", cpu.Round(1e6), peak>>20)
}

// stop ends the scheduler with SIGTERM, unless it has ended. gpu-scheduler must say then with exit code 0 that it has ended well, and the
// sanitizers that it may have been built with must have found nothing, at the end or before.
func (s *subject) stop() {
	s.t.Helper()
	// The signal would end a program that is still being loaded, as one that was killed and started again at the end of a load may be.
	until(s.t, "the scheduler to heed SIGTERM", func() bool {
		return s.process.Heeds(syscall.SIGTERM) || !s.process.Running() || !isGPUScheduler()
	})
	running := s.process.Running()
	if err := s.process.Stop(); err != nil {
		s.t.Error(err)
	} else if code := controlplane.ExitCode(s.process.Wait()); running && code != 0 && isGPUScheduler() {
		s.t.Errorf("exit code %d after SIGTERM, want 0; its log is %s", code, s.keepLog())
	}
	if line := sanitizerReport.FindString(s.log()); line != "" {
		s.t.Errorf("a sanitizer has found something: %s; the log is %s", line, s.process.Log)
	}
}

// sanitizerReport is how the reports of AddressSanitizer, LeakSanitizer, ThreadSanitizer and UBSan begin in a log.
var sanitizerReport = regexp.MustCompile(`(?m)^.*(Sanitizer: |: runtime error: ).*$`)

// log returns what the scheduler has written so far.
func (s *subject) log() string {
	s.t.Helper()
	content, err := os.ReadFile(s.process.Log)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

// keepLog returns the log's path with its last lines.
func (s *subject) keepLog() string {
	content, err := os.ReadFile(s.process.Log)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, which ends:\n%s", s.process.Log, content[max(0, len(content)-1500):])
}

// isGPUScheduler tells whether the scheduler is gpu-scheduler, and not another one in its place.
func isGPUScheduler() bool { return os.Getenv("GPU_SCHEDULER_IDENTITY") == "" }

// schedulerIdentity is by default the service account that manifests/base deploys the scheduler with, so that every test also tests
// that the manifests, which it applies, grant what it needs.
func schedulerIdentity(cluster *controlplane.ControlPlane) (controlplane.Identity, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if user := os.Getenv("GPU_SCHEDULER_IDENTITY"); user != "" {
		return controlplane.Identity{User: user}, nil
	}
	base := filepath.Join(root, "manifests/base")
	if _, err := os.Stat(filepath.Join(base, "kustomization.yaml")); err != nil {
		return controlplane.KubeScheduler, nil
	}
	return cluster.ApplyScheduler(ctx, base)
}
