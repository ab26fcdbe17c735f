package e2e

import (
	"bytes"
	"compress/gzip"
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

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

var (
	boundLine   = regexp.MustCompile(`(?m) bound pod=\S*/runs .* decision=(\d+)$`)
	writtenLine = regexp.MustCompile(`(?m) the recording of the last hour is written file=(\S+)$`)
)

// unpacked is the text of a recording.
func unpacked(t *testing.T, packed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordingOfTheLastHour gets what the scheduler has kept, over HTTPS with a token that may and by SIGUSR1. It shows the pod and its bind, and nothing of
// the pod's environment; the bind's number is the same in the log, in the event and in the metrics.
func TestRecordingOfTheLastHour(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such recording")
	}
	w := newWorld(t)
	w.addGPUNodes(1)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	folder := t.TempDir()
	s := startSubject(t, func(with *setup) {
		with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port), "--flight-recording=64Mi", "--flight-recording-dir="+folder)
	})
	w.addPod("runs", fixture.GPUs(1), func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "s3cr3t-env"}}
		p.Spec.Containers[0].Args = []string{"s3cr3t-args"}
		p.Annotations = map[string]string{"example.com/note": "s3cr3t-note"}
	})
	w.waitPod("runs", "bound", bound)
	event := w.waitEvent("runs", "Scheduled")
	logged := boundLine.FindStringSubmatch(s.log())
	if logged == nil || event.Annotations["gpu-scheduler.io/decision"] != logged[1] {
		t.Errorf("the log has the decision's number in %q, the event %v", logged, event.Annotations)
	}

	page := fmt.Sprintf("https://127.0.0.1:%d/debug/recording", port)
	reader, stranger := w.token("reader"), w.token("stranger")
	w.letReadMetrics("reader")
	w.bindClusterRole("gpu-scheduler-recording-reader", "reader")
	until(t, "the API server to know the role", func() bool { return get(t, page, reader).status == http.StatusOK })
	if logged != nil { // nothing is decided after it
		until(t, "the metrics to have the decision's number, "+logged[1], func() bool {
			sum, found := get(t, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), reader).sumOf("gpu_scheduler_last_decision")
			return found && fmt.Sprint(sum) == logged[1]
		})
	}
	if got := get(t, page, stranger); got.status != http.StatusForbidden {
		t.Errorf("a stranger gets %d", got.status)
	}
	if got := get(t, page, ""); got.status != http.StatusUnauthorized {
		t.Errorf("whoever has no token gets %d", got.status)
	}
	expectRecording := func(where, text string) {
		for _, want := range []string{`{"gpu-scheduler-record":1,`, `"event":"PodUpserted"`, `"name":"runs"`, `"event":"Synced"`, `"step":{"bind":`, `"event":"BindSucceeded"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s is not in it", where, want)
			}
		}
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("%s: a secret is in it", where)
		}
	}
	expectRecording("page", unpacked(t, []byte(get(t, page, reader).body)))

	s.process.Signal(syscall.SIGUSR1)
	var written []string
	until(t, "word of the file", func() bool {
		written = writtenLine.FindStringSubmatch(s.log())
		return written != nil
	})
	info, err := os.Stat(written[1])
	w.must(info, err)
	if info.Mode().Perm() != 0o600 || filepath.Dir(written[1]) != folder {
		t.Errorf("%s has the mode %v", written[1], info.Mode())
	}
	content, err := os.ReadFile(written[1])
	w.must(nil, err)
	expectRecording("file", unpacked(t, content))

	probes := httpPort.FindStringSubmatch(s.log())
	answer, err := http.Get("http://127.0.0.1:" + probes[1] + "/readyz?verbose")
	w.must(nil, err)
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.Contains(string(body), "[+]watch-pods ok\n") || !strings.HasSuffix(string(body), "readyz check passed\n") {
		t.Errorf("/readyz?verbose: %q", body)
	}

	output, err := exec.Command(s.program, "--logging-format=yaml").CombinedOutput()
	if controlplane.ExitCode(err) != 2 || !strings.Contains(string(output), "must be text or json") {
		t.Errorf("--logging-format=yaml: %v, %s", err, output)
	}
}
