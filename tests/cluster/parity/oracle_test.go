package parity

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The recorded answers of a kube-scheduler, to the sample of cases in the repository and to all there are.
func TestAnswersAsRecorded(t *testing.T) {
	for _, pattern := range []string{sample(t), shared(t)} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		cases, verdicts := 0, 0
		scheduler, err := NewScheduler(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			err := ReadFile(file, func(c *Case) error {
				scheduler.Scores = len(c.Scores) > 0
				got, err := scheduler.Answer(t.Context(), c)
				if err != nil {
					t.Errorf("%s: %v", c.ID, err)
				}
				if !reflect.DeepEqual(got, c.Answer) {
					t.Errorf("%s: got %+v, want %+v", c.ID, got, c.Answer)
				}
				cases++
				verdicts += len(got.Verdicts)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if cases == 0 && pattern == sample(t) {
			t.Errorf("%s: no case", pattern)
		}
		t.Logf("%s: %d cases, %d verdicts", pattern, cases, verdicts)
	}
}

// root is the repository's folder; the tests run in their own folder or in the repository's.
func root(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; folder != "/"; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "tests/cluster/go.mod")); err == nil {
			return folder
		}
	}
	t.Fatal("no repository around the working directory")
	return ""
}

func sample(t *testing.T) string { return filepath.Join(root(t), "tests/bench/cases/*.jsonl") }

// shared are more cases of the same kind, where there are any: tests/bench/cases/README.md.
func shared(t *testing.T) string {
	folder := os.Getenv("GPU_SCHEDULER_SHARED")
	if folder == "" {
		folder = filepath.Join(root(t), "../shared")
	}
	return filepath.Join(folder, "oracle/*/*.jsonl.gz")
}
