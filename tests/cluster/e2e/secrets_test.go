package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	tokenLine = regexp.MustCompile(`(?m)^\s*token: "?([^"\s]+)"?$`)
	httpPort  = regexp.MustCompile(`http_port=(\d+)`)
)

// TestNoSecretIsTold: a scheduler that has its token from a kubeconfig, that records, and that logs all it can, tells that token nowhere: not
// while it works, nor when the API server refuses it. Nor does it tell the tokens of those that ask it, nor what a credential plugin gives or
// complains of.
func TestNoSecretIsTold(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("its flags are gpu-scheduler's own")
	}
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	account := strings.Split(who.User, ":") // system:serviceaccount:NAMESPACE:NAME
	kubeconfig, err := lent(t).cluster.TokenKubeconfig(t.Context(), account[2], account[3])
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	found := tokenLine.FindSubmatch(content)
	if found == nil {
		t.Fatal("the kubeconfig has no token")
	}
	secret := string(found[1])
	recording := filepath.Join(t.TempDir(), "recording")
	w := newWorld(t)
	w.addGPUNodes(1)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	s := newSubject(t, "", func(with *setup) {
		with.kubeconfig = kubeconfig
		with.args = append(with.args, "--v=10", "--record", recording, "--flight-recording=64Mi", "--flight-recording-dir", t.TempDir(), fmt.Sprintf("--secure-port=%d", port))
	})
	s.start()
	w.addPod("pod", fixture.GPUs(1))
	w.addPod("waits", fixture.GPUs(99))
	w.waitBinds(1)
	w.waitEvent("pod", "Scheduled")
	told := map[string]string{}
	probes := httpPort.FindStringSubmatch(s.log())
	if probes == nil {
		t.Fatal("the log does not say where pages are served")
	}
	for _, page := range []string{"livez", "readyz", "metrics", "no-such-page"} {
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%s/%s", probes[1], page))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		told[page] = fmt.Sprint(answer.Header, string(body))
	}
	asker := w.token("asker")
	w.bindClusterRole("gpu-scheduler-explainer", "asker")
	w.letReadPods("asker")
	w.letReadMetrics("asker")
	pages := fmt.Sprintf("https://127.0.0.1:%d/", port)
	about := "?" + url.Values{"namespace": {w.ns}, "pod": {"waits"}}.Encode()
	until(t, "the API server to let the asker", func() bool { return get(t, pages+"explain"+about, asker).status == http.StatusOK })
	for _, page := range []string{"metrics", "explain" + about, "candidates" + about, "explain", "no-such-page"} {
		told["secure "+page] = get(t, pages+page, asker).body
		told["secure "+page+" with its own token"] = get(t, pages+page, secret).body
	}
	events, err := w.client.EventsV1().Events(w.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written, _ := json.Marshal(events.Items)
	told["events"] = string(written)
	s.process.Signal(syscall.SIGUSR1)
	until(t, "word of the file", func() bool { return writtenLine.MatchString(s.log()) })
	packed, err := os.ReadFile(writtenLine.FindStringSubmatch(s.log())[1])
	if err != nil {
		t.Fatal(err)
	}
	told["recording of the last hour"] = unpacked(t, packed)
	s.stop()
	recorded, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	told["recording"] = string(recorded)
	told["log"] = s.log()

	refused := filepath.Join(t.TempDir(), "refused")
	wrong := strings.Replace(string(content), secret, secret+"x", 1)
	if err := os.WriteFile(refused, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newSubject(t, "-refused", func(with *setup) {
		with.kubeconfig = refused
		with.args = append(with.args, "--v=10")
	})
	r.start()
	until(t, "the API server to refuse it", func() bool { return len(r.logLines("401")) > 0 })
	r.stop()
	told["log of one that is refused"] = r.log()

	for name, script := range map[string]string{
		"gives a token that is refused": `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"` + secret + `x"}}'`,
		"complains with the token":      "echo 'no session for " + secret + "' >&2; exit 1",
		"gives what is no credential":   "echo '" + secret + "'",
	} {
		plugin := filepath.Join(t.TempDir(), "plugin")
		if err := os.WriteFile(plugin, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		withPlugin := filepath.Join(t.TempDir(), "with-plugin")
		user := tokenLine.ReplaceAllString(string(content),
			"    exec: {apiVersion: client.authentication.k8s.io/v1, command: "+plugin+", interactiveMode: Never}")
		if err := os.WriteFile(withPlugin, []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newSubject(t, "-plugin", func(with *setup) {
			with.kubeconfig = withPlugin
			with.args = append(with.args, "--v=10")
		})
		p.start()
		until(t, "a complaint", func() bool { return len(p.logLines("401")) > 0 || len(p.logLines(plugin)) > 0 })
		p.kill()
		told["a credential plugin that "+name] = p.log()
	}

	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--kubeconfig", "--config"} {
		output, err := exec.Command(s.program, flag, token, "--v=10").CombinedOutput()
		if err == nil {
			t.Errorf("%s takes a file that is a token", flag)
		}
		told[flag] = string(output)
	}
	for where, text := range told {
		if text == "" {
			t.Errorf("%s: nothing was told", where)
		}
		for whose, token := range map[string]string{"its": secret, "the asker's": asker} {
			// A token's begin is the same for all of an API server.
			if strings.Contains(text, token[len(token)-40:]) || strings.Contains(text, token[len(token)/2:len(token)/2+40]) {
				t.Errorf("%s: %s token is told", where, whose)
			}
		}
	}
}
