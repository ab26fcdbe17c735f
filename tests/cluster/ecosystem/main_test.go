package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
)

var (
	root  string // the repository
	bin   string // where the programs are
	chart string
)

func TestMain(m *testing.M) {
	var err error
	if root, err = controlplane.RepositoryRoot(); err == nil {
		bin, err = controlplane.FindBin()
	}
	if err != nil {
		println("ecosystem:", err.Error())
		os.Exit(1)
	}
	chart = filepath.Join(root, "manifests/chart")
	os.Exit(m.Run())
}

// run runs a program of bin and returns what it prints; what it complains of is in the error, if it fails.
func run(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(bin, program), args...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, complaints.String())
	}
	return string(output), err
}

// mustRun is run where a failure ends the test.
func mustRun(t *testing.T, program string, args ...string) string {
	t.Helper()
	output, err := run(t, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}
