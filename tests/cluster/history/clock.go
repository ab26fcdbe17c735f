package history

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// When an event happened is judged by a clock that is in the history itself: a key of the store that is written some times a second with what
// the time was. An event has the time of the last tick before it, in the order of the revisions, so how fast a history is read and judged
// does not matter. Times are early by at most a tick and the write of one. That is longer where the store, or the one that
// writes the ticks, has to wait for a processor. What has an excuse in a step longer than the window is a failure (Report.Undated).

// clockKey lies between those of the GpuQuotas and the nodes.
const clockKey = "/registry/history-clock"

const tickEvery = 200 * time.Millisecond

// stoppableClock stands still while no scheduler can see anything.
type stoppableClock struct {
	mu      sync.Mutex
	stopped int           // how many reasons there are now for it to stand still
	since   time.Time     // when it was stopped
	missed  time.Duration // how long it had stood still before
}

// stop and start may be nested.
func (c *stoppableClock) stop(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped++; c.stopped == 1 {
		c.since = now
	}
}

func (c *stoppableClock) start(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped--; c.stopped == 0 {
		c.missed += now.Sub(c.since)
	}
}

func (c *stoppableClock) read(now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped > 0 {
		now = c.since
	}
	return now.Add(-c.missed)
}

// tick writes the clock into the store until ctx ends.
func (c *stoppableClock) tick(ctx context.Context, client *clientv3.Client) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		_, _ = client.Put(ctx, clockKey, encodeTime(c.read(time.Now()))) // one that fails is a longer step
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

func encodeTime(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())))
}

// decodeTime is the zero time for what is not one.
func decodeTime(written []byte) time.Time {
	if len(written) != 8 {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(written)))
}
