package parity_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/parity"
)

// program is a stand-in for bench: a script that gets `verdicts FILE`.
func program(t *testing.T, script string) parity.Bench {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "bench")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return parity.Bench{Program: path, Folder: folder}
}

func TestAsk(t *testing.T) {
	bench := program(t, `
[ "$(cat "$2")" = '{"a":1}
{"b":2}' ] || exit 2
echo '{"id":"1","verdicts":{"n":{"code":"Unschedulable","plugin":"P","reasons":["x"]}},"message":"0/1"}'
echo '{"id":"2","verdicts":{"n":{"code":"Success"}}}'
echo '{"agree":0,"differ":1,"leftOut":1,"missingPlugins":["Q"]}'
echo "$2:2: 2: n: given Success; ours Unschedulable" >&2
exit 1`)
	got, err := bench.Ask(t.Context(), [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := parity.Reply{
		Answers: []parity.Answer{
			{Verdicts: map[string]parity.Verdict{"n": {Code: "Unschedulable", Plugin: "P", Reasons: []string{"x"}}}, Message: "0/1"},
			{Verdicts: map[string]parity.Verdict{"n": {Code: "Success"}}}},
		Differs: []bool{false, true},
		Tally:   parity.Tally{Differ: 1, LeftOut: 1, MissingPlugins: []string{"Q"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAskNeverTakesNothingForAgreement(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"it fails", "echo 'no such file' >&2; exit 2", "exit status 2: no such file"},
		{"it crashes", "kill -9 $$", "signal: killed"},
		{"too few answers", `echo '{"id":"1"}'; exit 0`, "no closing line"},
		{"no closing line", `echo '{"id":"1"}'; echo '{"id":"2"}'; exit 0`, "no closing line"},
		{"a difference that it does not name", `echo '{"id":"1"}'; echo '{"id":"2"}'; echo '{"agree":1,"differ":1}'; exit 1`, "1 cases differ by its closing line, 0"},
	} {
		_, err := program(t, c.script).Ask(t.Context(), [][]byte{[]byte("{}"), []byte("{}")})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
