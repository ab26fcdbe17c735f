package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gpu-scheduler.io/tests/cluster/parity"
	"gpu-scheduler.io/tests/cluster/parity/draw"
)

// batch is so many cases of a focus that starting the program under test for them costs nothing beside its work.
type batch struct {
	focus    string
	from, to int
}

const batchSize = 500

// made is a batch with kube-scheduler's answers.
type made struct {
	batch
	cases  []*parity.Case
	lines  [][]byte
	failed []string // on which cases a plugin of kube-scheduler ends with which error
}

// outcome is what the workers have found together.
type outcome struct {
	sync.Mutex
	agreement   *parity.Agreement
	written     map[string]*file // by focus
	differences []differing
	failed      []string
	err         error
}

// file of the cases of a focus, in the order of their numbers whichever worker is the first to have its batch done.
type file struct {
	*parity.Writer
	waiting map[int]made // by the number of their first case
	next    int
}

func (f *file) add(m made) error {
	f.waiting[m.from] = m
	for {
		next, ok := f.waiting[f.next]
		if !ok {
			return nil
		}
		for _, line := range next.lines {
			if err := f.Write(line); err != nil {
				return err
			}
		}
		delete(f.waiting, f.next)
		f.next = next.to
	}
}

// run gives what was compared, and the number of cases that differ.
func run(ctx context.Context, s settings) (*parity.Agreement, int, error) {
	fmt.Printf("seed %d: %d cases, beside kube-scheduler v1.36.3\n", s.seed, s.cases)
	folder, err := os.MkdirTemp("", "parity-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(folder)
	found := &outcome{agreement: parity.NewAgreement(), written: map[string]*file{}}
	if s.write != "" {
		if err := found.create(s); err != nil {
			return nil, 0, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan batch)
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() {
			if err := work(ctx, s, folder, batches, found); err != nil {
				found.fail(err)
				cancel()
			}
		})
	}
	divide(ctx, s, batches)
	workers.Wait()
	for _, writer := range found.written {
		found.fail(writer.Close())
	}
	found.fail(ctx.Err())
	if found.err != nil {
		return nil, 0, found.err
	}
	if len(found.failed) > 0 {
		slices.Sort(found.failed)
		fmt.Printf("%d cases are not asked: a plugin of kube-scheduler ends with an error there, and the pod would be tried again. For one\n    %s\n",
			len(found.failed), found.failed[0])
	}
	if s.bench == "" {
		return found.agreement, 0, nil
	}
	report(s, found)
	return found.agreement, len(found.differences), keep(ctx, s, found.differences)
}

func (o *outcome) create(s settings) error {
	if err := os.MkdirAll(s.write, 0o755); err != nil {
		return err
	}
	for _, focus := range s.foci {
		writer, err := parity.Create(filepath.Join(s.write, focus+".jsonl.gz"))
		if err != nil {
			return err
		}
		o.written[focus] = &file{Writer: writer, waiting: map[int]made{}}
	}
	return nil
}

// fail keeps the first error.
func (o *outcome) fail(err error) {
	o.Lock()
	defer o.Unlock()
	if o.err == nil {
		o.err = err
	}
}

// divide gives each focus as many cases as the others.
func divide(ctx context.Context, s settings, batches chan<- batch) {
	defer close(batches)
	for i, focus := range s.foci {
		cases := s.cases / len(s.foci)
		if i < s.cases%len(s.foci) {
			cases++
		}
		for from := 0; from < cases; from += batchSize {
			select {
			case batches <- batch{focus, from, min(from+batchSize, cases)}:
			case <-ctx.Done():
				return
			}
		}
	}
}

func work(ctx context.Context, s settings, folder string, batches <-chan batch, found *outcome) error {
	scheduler, err := parity.NewScheduler(ctx)
	if err != nil {
		return err
	}
	scheduler.Scores = s.scores
	bench := parity.Bench{Program: s.bench, Folder: folder}
	for next := range batches {
		made, err := answer(ctx, s, scheduler, next)
		if err != nil {
			return err
		}
		var reply parity.Reply
		if s.bench != "" {
			if reply, err = bench.Ask(ctx, made.lines); err != nil {
				return keepUnanswered(s, made, err)
			}
		}
		if err := found.add(made, reply); err != nil {
			return err
		}
	}
	return nil
}

// answer draws the cases of a batch and has kube-scheduler's plugins answer what a file of them says.
func answer(ctx context.Context, s settings, scheduler *parity.Scheduler, b batch) (made, error) {
	m := made{batch: b}
	for number := b.from; number < b.to && ctx.Err() == nil; number++ {
		drawn, err := draw.Case(s.seed, b.focus, number)
		if err != nil {
			return m, err
		}
		line, err := drawn.Encode()
		if err != nil {
			return m, err
		}
		c, err := parity.Decode(line)
		if err != nil {
			return m, fmt.Errorf("%s: %w", drawn.ID, err)
		}
		if c.Answer, err = scheduler.Answer(ctx, c); err != nil {
			m.failed = append(m.failed, c.ID+": "+err.Error())
			continue
		}
		if line, err = c.Encode(); err != nil {
			return m, err
		}
		m.cases = append(m.cases, c)
		m.lines = append(m.lines, line)
	}
	return m, ctx.Err()
}

func (o *outcome) add(m made, reply parity.Reply) error {
	o.Lock()
	defer o.Unlock()
	o.failed = append(o.failed, m.failed...)
	var err error
	if file := o.written[m.focus]; file != nil {
		err = file.add(m)
	}
	if reply.Answers == nil {
		return err
	}
	o.agreement.Add(m.focus, m.cases, reply)
	for i, c := range m.cases {
		if !reply.Differs[i] {
			continue
		}
		different := parity.Differences(c.Answer, reply.Answers[i])
		if len(different) == 0 {
			return fmt.Errorf("%s: bench verdicts says that it differs, and its answer does not", c.ID)
		}
		o.differences = append(o.differences, differing{c, m.lines[i], different[0]})
	}
	return err
}
