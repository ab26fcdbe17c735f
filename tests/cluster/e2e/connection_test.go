package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/internal/measure"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bindThrough makes pods in waves and kills the scheduler between them; all are bound, and the history is clean.
func (w *world) bindThrough(s *subject, pods, kills int) {
	w.t.Helper()
	for wave := range kills + 1 {
		if wave > 0 {
			s.kill()
			s.start()
		}
		w.parallel(pods, func(i int) { w.addPod(fmt.Sprintf("pod-%d-%d", wave, i), fixture.GPUs(1)) })
		w.waitBinds(pods * (wave + 1) * 9 / 10) // the next kill comes while some are on their way
	}
	w.waitBinds(pods * (kills + 1))
	w.verdict()
}

// onCpprestsdk has the scheduler use the second transport.
func onCpprestsdk(t *testing.T) func(*setup) {
	return func(with *setup) {
		const section = "clientConnection:\n"
		if strings.Count(with.config, section) != 1 {
			t.Fatalf("no place for the transport in the configuration: want %q once in\n%s", section, with.config)
		}
		with.config = strings.Replace(with.config, section, section+"  transport: cpprest\n", 1)
	}
}

// TestTransportOnCpprestsdk binds over the second transport, through a kill.
func TestTransportOnCpprestsdk(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("the field is gpu-scheduler's own")
	}
	w := newWorld(t)
	w.addGPUNodes(10)
	s := startSubject(t, onCpprestsdk(t))
	w.bindThrough(s, 40, 1)
	busy, err := measure.ThreadCPU(s.process.Pid(), "cpprest") // which the other transport does not have
	w.must(busy, err)
	t.Logf("cpprestsdk's thread took %v", busy)
	// A pod of the second wave, because events that the first process had not sent when it was killed are never sent.
	if e := w.waitEvent("pod-1-0", "Scheduled"); !strings.HasPrefix(e.Note, "Successfully assigned") {
		t.Errorf("Scheduled event: %q", e.Note)
	}
}

// TestCredentialPlugin binds with certificates from a credential plugin, of which each is good for some seconds only, without a break.
func TestCredentialPlugin(t *testing.T) {
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.addGPUNodes(10)
	plugin, err := w.cluster.ExecKubeconfig(who, 3*time.Second, 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	startSubject(t, func(with *setup) { with.kubeconfig = plugin.Kubeconfig })
	// Three certificates at least; the test must see that the first is not valid any more.
	w.bindWhile(func() bool { return w.admits(plugin.First) || len(w.credentialsOfBinds()) < 3 })
	w.verdict()
	t.Logf("the plugin was run %d times, and pods were bound with these certificates: %v", plugin.Runs(), w.credentialsOfBinds())
}

// TestEndsWhileCredentialPluginRuns ends the scheduler while it waits for a credential plugin that hangs, which must end, too.
func TestEndsWhileCredentialPluginRuns(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler may do otherwise")
	}
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := lent(t).cluster.ExecKubeconfig(who, 3*time.Second, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(t.TempDir(), "pid")
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %[1]s.new\nmv %[1]s.new %[1]s\nexec sleep 600\n", pid)
	if err := os.WriteFile(plugin.Command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newSubject(t, "", func(with *setup) { with.kubeconfig = plugin.Kubeconfig })
	s.start()
	defer s.stop()
	var process string
	until(t, "the plugin to run", func() bool {
		text, err := os.ReadFile(pid)
		process = strings.TrimSpace(string(text))
		return err == nil
	})
	sleeps := func() bool {
		command, err := os.ReadFile("/proc/" + process + "/cmdline")
		return err == nil && strings.HasPrefix(string(command), "sleep")
	}
	until(t, "the plugin to hang", sleeps) // it is still the shell when it has just told its number
	s.check()
	s.stop()
	until(t, "the plugin to end", func() bool { return !sleeps() })
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}

// TestTokenRotates gives the scheduler a new token in a file, as kubelet does in a pod's, and has the API server refuse the old one, all while
// pods are bound.
func TestTokenRotates(t *testing.T) {
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	namespace, account, isAccount := who.Account()
	if !isAccount {
		t.Skip("only a service account has tokens")
	}
	w := newWorld(t)
	w.addGPUNodes(10)
	file := filepath.Join(t.TempDir(), "token")
	take := func(secret string) controlplane.Credential {
		token, err := w.cluster.BoundToken(t.Context(), namespace, account, secret)
		w.must(nil, err)
		w.must(nil, os.WriteFile(file+".new", []byte(token), 0o600))
		w.must(nil, os.Rename(file+".new", file)) // so that half of one is never read
		return controlplane.Credential{Token: token}
	}
	first := take(w.ns + "-first")
	kubeconfig, err := w.cluster.TokenFileKubeconfig(namespace, account, file)
	w.must(nil, err)
	startSubject(t, func(with *setup) { with.kubeconfig = kubeconfig })
	w.waves(3)

	second := take(w.ns + "-second")
	w.must(nil, w.client.CoreV1().Secrets(namespace).Delete(t.Context(), w.ns+"-first", metav1.DeleteOptions{}))
	// The API server remembers for some seconds what it knew of a token.
	w.bindWhile(func() bool { return w.admits(first) })
	w.waves(3)
	w.verdict()
	if !w.admits(second) {
		t.Error("the API server refuses the second token, too")
	}
	if used := w.credentialsOfBinds(); len(used) != 2 {
		t.Errorf("pods were bound with these tokens: %v; want two", used)
	}
}

// bindWhile has pods bound in waves, one after the other, for as long as a condition holds.
func (w *world) bindWhile(condition func() bool) {
	w.t.Helper()
	for end := time.Now().Add(waitLimit); condition() && !w.t.Failed(); {
		if time.Now().After(end) {
			w.t.Fatal("what is waited for does not happen")
		}
		w.waves(1)
	}
}

// waves makes some pods, waits until they are bound, and deletes them, so many times.
func (w *world) waves(count int) {
	w.t.Helper()
	const pods = 8
	for range count {
		first := w.boundSoFar()
		name := func(i int) string { return fmt.Sprintf("pod-%d", first+i) }
		w.parallel(pods, func(i int) { w.addPod(name(i), fixture.GPUs(1)) })
		w.waitBinds(first + pods)
		w.parallel(pods, func(i int) { w.deletePod(name(i)) })
	}
}

func (w *world) admits(with controlplane.Credential) bool {
	w.t.Helper()
	admitted, err := w.cluster.Admits(w.t.Context(), with)
	w.must(nil, err)
	return admitted
}

// credentialsOfBinds counts the pods of this namespace that were bound with each certificate or token, by what the API server calls it.
func (w *world) credentialsOfBinds() map[string]int {
	w.t.Helper()
	log, err := os.ReadFile(w.cluster.AuditLog())
	w.must(nil, err)
	used := map[string]int{}
	for line := range bytes.Lines(log) {
		var event struct {
			User           authenticationv1.UserInfo
			ObjectRef      corev1.ObjectReference
			ResponseStatus metav1.Status
		}
		if json.Unmarshal(line, &event) != nil || event.ObjectRef.Namespace != w.ns || event.ResponseStatus.Code != http.StatusCreated {
			continue
		}
		used[strings.Join(event.User.Extra["authentication.kubernetes.io/credential-id"], " ")]++
	}
	return used
}
