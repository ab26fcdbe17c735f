package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gpu-scheduler.io/tests/cluster/internal/load"
	"gpu-scheduler.io/tests/cluster/internal/measure"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// step is how often progress is looked at. Rates do not depend on it, only what is counted as used by when.
const step = 20 * time.Millisecond

// firstPatience bounds the wait for a subject's first bind.
const firstPatience = 2 * time.Minute

// run measures one subject once, in a namespace of its own, and leaves nothing but that behind.
func (b *bench) run(ctx context.Context, s subject) (result Result, err error) {
	namespace, err := b.newNamespace(ctx)
	if err != nil {
		return result, err
	}
	if b.settings.OpenLoop > 0 {
		_, err = b.client.CoreV1().Pods(namespace).Create(ctx, b.settings.pod(namespace, probeName, s.scheduler, 0), metav1.CreateOptions{})
	} else {
		err = b.settings.createPods(ctx, b.client, namespace, s.scheduler)
	}
	if err != nil {
		return result, fmt.Errorf("create pods: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	o := &observation{bench: b, subject: s, line: measure.NewTimeline()}
	if o.broken, err = measure.Watch(watching, b.client, namespace, o.line); err != nil {
		return result, err
	}
	if err := settle(ctx); err != nil {
		return result, err
	}
	if result, err = o.observe(ctx, namespace); err != nil {
		return result, err
	}
	stop()
	if err := deletePods(ctx, b.client, namespace); err != nil {
		return result, fmt.Errorf("delete pods: %w", err)
	}
	return result, settle(ctx)
}

// newNamespace makes one for the next run.
func (b *bench) newNamespace(ctx context.Context) (string, error) {
	b.runs++
	name := fmt.Sprintf("run-%d", b.runs)
	return name, load.CreateNamespace(ctx, b.client, name)
}

// observation is one subject at work.
type observation struct {
	*bench
	subject subject
	line    *measure.Timeline
	broken  <-chan error
	last    time.Time // when something last moved
	used    usage     // by then
	idle    usage     // just before the first bind was seen
}

// observe starts the subject, waits until it has done everything or does no more, and ends it.
func (o *observation) observe(ctx context.Context, namespace string) (r Result, err error) {
	if o.settings.Lease && o.subject.lease != "" {
		if err := o.giveLeaseBack(ctx, o.subject.lease); err != nil {
			return r, err
		}
	}
	before, started := o.usage(), time.Now()
	o.idle = before
	if o.running, err = o.subject.start(ctx, o.bench, namespace); err != nil {
		return r, err
	}
	defer func() {
		if stopErr := o.running.Stop(); err == nil {
			err = stopErr
		}
		o.running = nil
	}()
	if err := o.until(ctx, firstPatience, func(s measure.Summary) bool { return s.Bound > 0 }); err != nil {
		return r, err
	}
	first, pods, created := o.idle, o.settings.Pods, 0.0
	if o.settings.OpenLoop > 0 {
		if err := settle(ctx); err != nil { // the probe's event, and what starting left to do
			return r, err
		}
		first = o.usage()
		before = first
		profiles, err := o.startProfiles(ctx, namespace)
		if err != nil {
			return r, err
		}
		if created, err = o.settings.createPodsAt(ctx, o.client, namespace, o.subject.scheduler); err != nil {
			return r, fmt.Errorf("create pods: %w", err)
		}
		defer func() { err = errors.Join(err, profiles.finish(ctx)) }()
		pods++
	}
	bound := func(s measure.Summary) bool { return s.Bound == pods }
	if err := o.until(ctx, o.settings.patience, bound); err != nil {
		return r, err
	}
	atLast := o.used
	told := func(s measure.Summary) bool { return s.Bound == pods && (!o.subject.events || s.Told == pods) }
	if err := o.until(ctx, o.settings.patience, told); err != nil {
		return r, err
	}
	return o.result(started, before, first, atLast, created)
}

// until waits for a condition, or until nothing has moved for so long. Neither is a failure; a subject that ends by itself is, and so
// is a watch that broke.
func (o *observation) until(ctx context.Context, patience time.Duration, condition func(measure.Summary) bool) error {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	seen := measure.Summary{Bound: -1}
	for {
		now := o.line.Summary()
		if now != seen {
			seen, o.last, o.used = now, time.Now(), o.usage()
			if condition(now) {
				return nil
			}
		}
		if now.Bound == 0 {
			o.idle = o.usage()
		}
		if time.Since(o.last) > patience {
			return nil
		}
		select {
		case <-ticker.C:
		case err := <-o.broken:
			return err
		case <-o.running.Done():
			return fmt.Errorf("it ended by itself: %v; its log ends:\n%s", o.running.Wait(), lastWords(o.running.Log))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lastWords are the last lines of a log.
func lastWords(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(content[max(0, len(content)-1500):]))
}

// usage is the processor time taken so far.
type usage struct{ subject, controlPlane, watcher, machine time.Duration }

func (u usage) minus(v usage) usage {
	return usage{u.subject - v.subject, u.controlPlane - v.controlPlane, u.watcher - v.watcher, u.machine - v.machine}
}

// others is what other processes took.
func (u usage) others() time.Duration {
	return max(0, u.machine-u.subject-u.controlPlane-u.watcher)
}

// usage reads them all. A process that is not there has taken nothing: its end is noticed elsewhere.
func (b *bench) usage() (u usage) {
	if b.running != nil {
		u.subject, _ = measure.CPU(b.running.Pid())
	}
	if p := b.cluster.APIServer(); p != nil {
		u.controlPlane, _ = measure.CPU(p.Pid())
	}
	if p := b.cluster.EtcdProcess(0); p != nil {
		etcd, _ := measure.CPU(p.Pid())
		u.controlPlane += etcd
	}
	u.watcher, _ = measure.CPU(os.Getpid())
	u.machine, _ = measure.MachineCPU()
	return u
}
