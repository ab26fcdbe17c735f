package history

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
)

func attemptLine(node string, code int, message string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","verb":"create",`+
		`"objectRef":{"resource":"pods","namespace":"t","name":"a","subresource":"binding"},"responseStatus":{"metadata":{},"message":%q,"code":%d},`+
		`"requestObject":{"kind":"Binding","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"target":{"kind":"Node","name":%q}}}`+"\n", message, code, node)
}

func TestAttemptLogIsReadByWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	log := attemptLog{path: path}
	expect := func(written string, want ...attempt) {
		t.Helper()
		if written != "" {
			if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := log.read(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("want %v, got %v, %v", want, got, err)
		}
	}
	one, two := attemptLine("n", 201, ""), attemptLine("m", 409, "no")
	expect("") // it is not there yet
	expect(one+two[:10], attempt{"t/a", "u", "n", 201, ""})
	expect("")
	expect(one+two, attempt{"t/a", "u", "m", 409, "no"})
	if err := os.WriteFile(path, []byte(one+two+"{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := log.read(); err == nil {
		t.Error("a line that is none was taken")
	}
}

func TestJudgeAttempts(t *testing.T) {
	const already = `Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n"`
	cases := []struct {
		name      string
		scheduler string
		attempt   attempt
		doubled   int
	}{
		{"the bind that landed", us, attempt{node: "n", code: 201}, 0},
		{"the same bind again", us, attempt{node: "n", code: 409, message: already}, 0},
		{"one to another node", us, attempt{node: "m", code: 409, message: already}, 1},
		{"one to another node that failed before", us, attempt{node: "m", code: 404, message: "not found"}, 0},
		{"one that nobody answered for certain", us, attempt{node: "m", code: 504, message: "timeout"}, 0},
		{"a mark", us, attempt{pod: "t/mark", node: "nowhere", code: 404, message: "not found"}, 0},
		{"another scheduler's", them, attempt{node: "m", code: 409, message: already}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(oneGPU("n"), oneGPU("m"))
			s.create("a", c.scheduler, fixture.GPUs(1))
			s.bind("a", "n")
			attempts := 0
			if c.attempt.pod == "" {
				c.attempt.pod, c.attempt.uid, attempts = "t/a", s.pods["t/a"].UID, 1
			}
			s.tried(c.attempt)
			r := s.Report()
			if r.Doubled != c.doubled || (r.Err() != nil) != (c.doubled > 0) || r.Attempts != attempts || s.marks[c.attempt.pod] != (attempts == 0) {
				t.Errorf("want %d doubled; the report:\n%s", c.doubled, r)
			}
		})
	}
}
