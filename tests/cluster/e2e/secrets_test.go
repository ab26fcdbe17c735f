package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	tokenLine = regexp.MustCompile(`(?m)^\s*token: "?([^"\s]+)"?$`)
	httpPort  = regexp.MustCompile(`http_port=(\d+)`)
)

// TestNoSecretIsTold: a scheduler that has its token from a kubeconfig, that records, and that logs all it can, tells that token nowhere: not
// while it works, nor when the API server refuses it.
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
	s := newSubject(t, "", func(with *setup) {
		with.kubeconfig = kubeconfig
		with.args = append(with.args, "--v=10", "--record", recording, "--flight-recording-dir", t.TempDir())
	})
	s.start()
	w.addPod("pod", fixture.GPUs(1))
	w.addPod("waits", fixture.GPUs(99))
	w.waitBinds(1)
	w.waitEvent("pod", "Scheduled")
	told := map[string]string{}
	port := httpPort.FindStringSubmatch(s.log())
	if port == nil {
		t.Fatal("the log does not say where pages are served")
	}
	for _, page := range []string{"livez", "readyz", "metrics", "no-such-page"} {
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%s/%s", port[1], page))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		told[page] = fmt.Sprint(answer.Header, string(body))
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
		if strings.Contains(text, secret[:40]) || strings.Contains(text, secret[len(secret)-40:]) {
			t.Errorf("%s: the token is told", where)
		}
	}
}
