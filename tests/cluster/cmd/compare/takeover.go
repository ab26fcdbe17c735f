package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/internal/measure"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TakeoverResult is what became of one death of a leader.
type TakeoverResult struct {
	Subject string `json:"subject"`
	Round   int    `json:"round"`
	// DeathToBind is seconds from SIGKILL to the first bind of the other replica, as a watcher sees it.
	DeathToBind float64 `json:"deathToBindSeconds"`
	// LeaseLeft is how much longer the lease was good when the leader died; no replica may take it before.
	LeaseLeft float64 `json:"leaseLeftSeconds"`
	// BeyondLease is DeathToBind - LeaseLeft: what the takeover takes.
	BeyondLease float64 `json:"beyondLeaseSeconds"`
	// InTime is whether BeyondLease is within takeoverLimit.
	InTime bool `json:"withinASecondOfLease"`
	// StandbyMemory is the other replica's VmHWM in MiB, at its first bind.
	StandbyMemory float64 `json:"standbyPeakMemoryMiB"`
}

// takeoverLimit, in seconds, is how soon after the lease's end the next leader should have bound a pod.
const takeoverLimit = 1

// idleShare of a core, over idleTime: a replica that takes less has read the cluster.
const (
	idleShare = 0.05
	idleTime  = 2 * time.Second
)

// allTakeovers measures each subject in each round.
func (b *bench) allTakeovers(ctx context.Context) (results []TakeoverResult, err error) {
	for round := range b.settings.Repeat {
		for _, name := range b.settings.Order {
			for _, s := range subjects[name] {
				result, err := b.takeover(ctx, s)
				if err != nil {
					return results, fmt.Errorf("round %d, %s: %w", round+1, s.name, err)
				}
				result.Round = round + 1
				results = append(results, result)
				progress("round %d: %s: bound %.2f s after the leader's death, %.2f s after the lease's end", round+1, s.name, result.DeathToBind, result.BeyondLease)
			}
		}
	}
	return results, nil
}

// takeover has a leader bind all pods, kills it when the other replica knows the cluster, and gives that one a pod to bind.
func (b *bench) takeover(ctx context.Context, s subject) (r TakeoverResult, err error) {
	namespace, err := b.newNamespace(ctx)
	if err != nil {
		return r, err
	}
	if err := b.giveLeaseBack(ctx, s.lease); err != nil {
		return r, err
	}
	if err := b.settings.createPods(ctx, b.client, namespace, s.scheduler); err != nil {
		return r, fmt.Errorf("create pods: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	o := &observation{bench: b, subject: s, line: measure.NewTimeline()}
	if o.broken, err = measure.Watch(watching, b.client, namespace, o.line); err != nil {
		return r, err
	}
	if r, err = o.replace(ctx, namespace); err != nil {
		return r, err
	}
	stop()
	return r, deletePods(ctx, b.client, namespace)
}

// replace runs both replicas.
func (o *observation) replace(ctx context.Context, namespace string) (r TakeoverResult, err error) {
	leader, err := o.subject.start(ctx, o.bench, namespace)
	if err != nil {
		return r, err
	}
	defer leader.Stop()
	o.running = leader
	defer func() { o.running = nil }()
	if err := o.untilBound(ctx, o.settings.Pods); err != nil {
		return r, err
	}
	standby, err := o.subject.start(ctx, o.bench, namespace)
	if err != nil {
		return r, err
	}
	defer standby.Stop()
	if err := untilIdle(ctx, standby); err != nil {
		return r, err
	}
	leader.Kill()
	died := time.Now()
	o.running = standby
	ends, err := o.leaseEnd(ctx)
	if err != nil {
		return r, err
	}
	pod := o.settings.pod(namespace, probeName, o.subject.scheduler, 0)
	if _, err := o.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return r, err
	}
	if err := o.untilBound(ctx, o.settings.Pods+1); err != nil {
		return r, err
	}
	peak, err := measure.PeakMemory(standby.Pid())
	r = TakeoverResult{
		Subject: o.subject.name, DeathToBind: o.line.Summary().LastBind.Sub(died).Seconds(), LeaseLeft: ends.Sub(died).Seconds(),
		StandbyMemory: float64(peak) / (1 << 20),
	}
	r.BeyondLease = r.DeathToBind - r.LeaseLeft
	r.InTime = r.BeyondLease <= takeoverLimit
	return r, err
}

// untilBound waits until so many pods are bound.
func (o *observation) untilBound(ctx context.Context, pods int) error {
	o.last = time.Now()
	if err := o.until(ctx, firstPatience, func(s measure.Summary) bool { return s.Bound >= pods }); err != nil {
		return err
	}
	if bound := o.line.Summary().Bound; bound < pods {
		return fmt.Errorf("it bound %d of %d pods; its log ends:\n%s", bound, pods, lastWords(o.running.Log))
	}
	return nil
}

// untilIdle waits until a process has had little to do for some time.
func untilIdle(ctx context.Context, p *controlplane.Process) error {
	before, err := measure.CPU(p.Pid())
	for err == nil {
		select {
		case <-time.After(idleTime):
		case <-p.Done():
			return fmt.Errorf("it ended by itself: %v; its log ends:\n%s", p.Wait(), lastWords(p.Log))
		case <-ctx.Done():
			return ctx.Err()
		}
		now, failure := measure.CPU(p.Pid())
		if err = failure; err == nil && (now-before).Seconds() < idleShare*idleTime.Seconds() {
			return nil
		}
		before = now
	}
	return err
}

// leaseEnd is when the lease of the subject is no longer good.
func (o *observation) leaseEnd(ctx context.Context) (time.Time, error) {
	namespace, name, _ := strings.Cut(o.subject.lease, "/")
	lease, err := o.client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return time.Time{}, err
	}
	if lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil {
		return time.Time{}, fmt.Errorf("the lease %s has no time or no duration", o.subject.lease)
	}
	return lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second), nil
}

// giveLeaseBack leaves a lease (namespace/name) as a leader does that ends in good order.
func (b *bench) giveLeaseBack(ctx context.Context, lease string) error {
	namespace, name, _ := strings.Cut(lease, "/")
	leases := b.client.CoordinationV1().Leases(namespace)
	if err := leases.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete lease %s: %w", lease, err)
	}
	nobody, second, now := "", int32(1), metav1.NowMicro()
	_, err := leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &nobody, LeaseDurationSeconds: &second, RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create lease %s: %w", lease, err)
	}
	return nil
}

// takeoverReport is the table of them.
func takeoverReport(s settings, where environment, results []TakeoverResult) string {
	rows := [][]string{{"subject", "round", "death to bind s", "of that, lease s", "beyond lease s", fmt.Sprintf("within %d s", takeoverLimit), "standby's peak MiB"}}
	for _, r := range results {
		inTime := "no"
		if r.InTime {
			inTime = "yes"
		}
		rows = append(rows, []string{r.Subject, fmt.Sprint(r.Round), fmt.Sprintf("%.2f", r.DeathToBind), fmt.Sprintf("%.2f", r.LeaseLeft),
			fmt.Sprintf("%.2f", r.BeyondLease), inTime, fmt.Sprintf("%.0f", r.StandbyMemory)})
	}
	return fmt.Sprintf("The leader of two is killed: %d nodes, %d pods of %d GPU bound by it, %d others; Kubernetes %s, %d cores.\n\n%s",
		s.Nodes, s.Pods, s.GPU, s.Existing, where.Kubernetes, where.Cores, table(rows))
}
