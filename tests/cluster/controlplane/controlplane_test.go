package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is the one control plane of these tests.
var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "controlplane-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	started := time.Now()
	cluster, err = controlplane.Start(context.Background(), controlplane.Options{Dir: dir})
	if err != nil {
		println(err.Error())
		return 1
	}
	println("control plane ready after", time.Since(started).String())
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		println(err.Error())
		return 1
	}
	return code
}

// TestVersionIsTheRealOne: without flags of its own for the linker, a server calls itself v0.0.0-master.
func TestVersionIsTheRealOne(t *testing.T) {
	version, err := cluster.Client().Discovery().ServerVersion()
	if err != nil || !strings.HasPrefix(version.GitVersion, "v1."+version.Minor+".") {
		t.Fatalf("server version %v, %v", version, err)
	}
	t.Log(version.GitVersion)
}

func TestIdentities(t *testing.T) {
	account := controlplane.ServiceAccount("ml", "trainer")
	byCertificate, err := cluster.KubeconfigFor(account)
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := cluster.TokenKubeconfig(t.Context(), "ml", "trainer")
	if err != nil {
		t.Fatal(err)
	}
	for name, kubeconfig := range map[string]string{"certificate": byCertificate, "token": byToken} {
		_, err := clientOf(t, kubeconfig).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), account.User) {
			t.Errorf("%s: want 403 for %s, got %v", name, account.User, err)
		}
	}
}

// TestStartsAgain: a server that ends before it is ready is started again, at most twice.
func TestStartsAgain(t *testing.T) {
	for _, c := range []struct {
		failures int
		starts   bool
	}{{1, true}, {3, false}} {
		bin := t.TempDir()
		for _, program := range []string{"kube-apiserver", "kubectl"} {
			if err := os.Symlink(filepath.Join(cluster.Bin(), program), filepath.Join(bin, program)); err != nil {
				t.Fatal(err)
			}
		}
		script := fmt.Sprintf("#!/bin/sh\necho >> %[1]s/tries\n[ $(wc -l < %[1]s/tries) -gt %d ] || exit 1\nexec %s \"$@\"\n",
			bin, c.failures, filepath.Join(cluster.Bin(), "etcd"))
		if err := os.WriteFile(filepath.Join(bin, "etcd"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		started, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Bin: bin})
		if (err == nil) != c.starts {
			t.Errorf("etcd ends %d times before it is ready: %v", c.failures, err)
		}
		if err == nil {
			if err := started.Stop(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestStopAndStartKeepsPortAndData(t *testing.T) {
	url := cluster.URL()
	_, err := cluster.Client().CoreV1().Namespaces().Create(t.Context(), namespace("kept"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster.KillAPIServer()
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Client().CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil || url != cluster.URL() {
		t.Fatalf("after restarts: %v, url %s was %s", err, cluster.URL(), url)
	}
}

func TestExpireMakesResumedWatchesGone(t *testing.T) {
	before, err := cluster.Client().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch, err := cluster.Client().CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	if err == nil {
		defer watch.Stop()
		event := <-watch.ResultChan()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Fatalf("a watch from before the compaction: want 410, got %v", err)
	}
}

func TestExpireMakesContinuedListsGone(t *testing.T) {
	for _, name := range []string{"page-1", "page-2", "page-3"} {
		if _, err := cluster.Client().CoreV1().Namespaces().Create(t.Context(), namespace(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := cluster.Client().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 2})
	if err != nil || page.Continue == "" {
		t.Fatalf("first page: %v, continue %q", err, page.Continue)
	}
	if _, err := cluster.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = cluster.Client().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 2, Continue: page.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("a page from before the compaction: want 410 Expired, got %v", err)
	}
}

func TestComponentsStartAndStop(t *testing.T) {
	if _, err := cluster.StartKwok(t.Context(), "pod-completed"); err == nil || !strings.Contains(err.Error(), `no stage "pod-completed"`) {
		t.Fatalf("a stage that KWOK does not have is left out: %v", err)
	}
	kwok, err := cluster.StartKwok(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := cluster.StartKubeScheduler(t.Context(), controlplane.SchedulerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	controllers, err := cluster.StartControllerManager(t.Context(), "job-controller")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*controlplane.Process{kwok, scheduler, controllers} {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if err := syscall.Kill(p.Pid(), 0); err != syscall.ESRCH {
			t.Errorf("%s is still there: %v", p.Name, err)
		}
	}
}

// A program that has not said what a signal is to do ends by it, and so does any while it is being loaded.
func TestHeeds(t *testing.T) {
	start := func(program string, args ...string) *controlplane.Process {
		p, err := controlplane.StartProcess(t.TempDir(), filepath.Base(program), nil, program, args...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	if start("sleep", "600").Heeds(syscall.SIGTERM) {
		t.Error("sleep is not said to heed SIGTERM")
	}
	shell := start("sh", "-c", "trap 'exit 7' TERM; while :; do sleep 0.1; done")
	for end := time.Now().Add(time.Minute); !shell.Heeds(syscall.SIGTERM); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the shell does not heed SIGTERM after a minute")
		}
	}
	if err := shell.Stop(); err != nil {
		t.Error(err)
	}
	if code := controlplane.ExitCode(shell.Wait()); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func clientOf(t *testing.T, kubeconfig string) kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

// TestUsage: the memory of the process that starts another is not counted as the other's.
func TestUsage(t *testing.T) {
	ours := make([]byte, 256<<20)
	for i := 0; i < len(ours); i += 4096 {
		ours[i] = 1
	}
	sleeper, err := cluster.StartChild("sleeper", nil, "sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(commandOf(sleeper.Pid()), "sleep") && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := sleeper.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, peak := sleeper.Usage(); peak <= 0 || peak > 64<<20 {
		t.Errorf("sleep had at most %d bytes; want some, and none of ours", peak)
	}
	runtime.KeepAlive(ours)
}

func commandOf(pid int) string {
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return string(command)
}
