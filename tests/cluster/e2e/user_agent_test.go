package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProgramsNameThemselves: to the API server, and so in its audit log and metrics, by name and version.
func TestProgramsNameThemselves(t *testing.T) {
	for name, line := range map[string][]string{
		"scheduler": {"gpu-scheduler", "--secure-port=0", "--http-bind-address=0"},
		"tables":    {"kubectl-gpu", "nodes"},
		"page":      {"kubectl-gpu", "ui"},
	} {
		t.Run(name, func(t *testing.T) {
			named := make(chan string, 1) // the first request's
			server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
				select {
				case named <- request.UserAgent():
				default:
				}
				http.Error(answer, "no", http.StatusForbidden)
			}))
			defer server.Close()
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf("clusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {}}]\n"+
				"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", server.URL)
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			program := programBeside(t, line[0])
			version, err := exec.CommandContext(t.Context(), program, "--version").Output()
			if err != nil {
				t.Fatalf("%s --version: %v", program, err)
			}
			command := exec.CommandContext(t.Context(), program, append(line[1:], "--kubeconfig", kubeconfig)...)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = command.Process.Kill()
				_ = command.Wait()
			}()
			want := strings.Replace(strings.TrimSpace(string(version)), " ", "/", 1)
			select {
			case got := <-named:
				if got != want {
					t.Errorf("%s calls itself %q, want %q", line[0], got, want)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s asks the API server for nothing", line[0])
			}
		})
	}
}
