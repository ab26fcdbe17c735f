package parity

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Bench is the program under test: `bench verdicts` of this repository.
type Bench struct {
	Program string
	Folder  string // for the files it reads
}

// Reply is what it says of some cases.
type Reply struct {
	Answers []Answer // in the order of the cases
	Differs []bool   // the program itself says that its answer differs
	Tally   Tally
}

// Tally is its closing line. A case is left out where kube-scheduler's answer has a verdict that the program cannot give yet.
type Tally struct {
	Agree          int      `json:"agree"`
	Differ         int      `json:"differ"`
	LeftOut        int      `json:"leftOut"`
	MissingPlugins []string `json:"missingPlugins"`
}

// A difference is said in a line of its own: FILE:LINE: ID: what differs.
var place = regexp.MustCompile(`^.*?\.jsonl:(\d+): `)

// Ask puts encoded cases before the program.
func (b Bench) Ask(ctx context.Context, cases [][]byte) (Reply, error) {
	reply := Reply{Differs: make([]bool, len(cases))}
	file, err := os.CreateTemp(b.Folder, "ask-*.jsonl")
	if err != nil {
		return reply, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(append(bytes.Join(cases, []byte("\n")), '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return reply, err
	}
	command := exec.CommandContext(ctx, b.Program, "verdicts", file.Name())
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return reply, fmt.Errorf("%s verdicts: %w: %s", filepath.Base(b.Program), err, firstLines(said.String()))
	}
	if err := reply.readAnswers(out, len(cases)); err != nil {
		return reply, fmt.Errorf("%s verdicts: %w", filepath.Base(b.Program), err)
	}
	for line := range bytes.Lines(said.Bytes()) {
		if found := place.FindSubmatch(line); found != nil {
			if number, err := strconv.Atoi(string(found[1])); err == nil && number <= len(cases) {
				reply.Differs[number-1] = true
			}
		}
	}
	if said := count(reply.Differs); said != reply.Tally.Differ {
		return reply, fmt.Errorf("%s verdicts: %d cases differ by its closing line, %d by its other lines", filepath.Base(b.Program), reply.Tally.Differ, said)
	}
	return reply, nil
}

func (r *Reply) readAnswers(out []byte, cases int) error {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		if len(r.Answers) == cases {
			return json.Unmarshal(lines.Bytes(), &r.Tally)
		}
		var answer Answer
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			return err
		}
		r.Answers = append(r.Answers, answer)
	}
	return errors.Join(lines.Err(), fmt.Errorf("%d answers to %d cases, and no closing line", len(r.Answers), cases))
}

func count(flags []bool) int {
	n := 0
	for _, flag := range flags {
		if flag {
			n++
		}
	}
	return n
}

func firstLines(text string) string {
	if len(text) > 2000 {
		text = text[:2000] + " …"
	}
	return text
}
