package controlplane

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// etcdMember is one of the etcds that make the store, all of them on this machine.
type etcdMember struct {
	client, peer string // HOST:PORT where it answers clients, and the other members
	front        string // where the API server finds it
	process      *Process
}

func (m *etcdMember) name() string { return "etcd-" + m.client[strings.LastIndex(m.client, ":")+1:] }
func (m *etcdMember) url() string  { return "http://" + m.client }

// prepareEtcd gives the members their addresses.
func prepareEtcd(members int, front func(int, string) (string, error)) ([]etcdMember, error) {
	ports, err := freePorts(2 * members)
	if err != nil {
		return nil, err
	}
	prepared := make([]etcdMember, members)
	for i := range prepared {
		m := &prepared[i]
		m.client, m.peer = fmt.Sprintf("127.0.0.1:%d", ports[2*i]), fmt.Sprintf("127.0.0.1:%d", ports[2*i+1])
		if m.front = m.client; front != nil {
			if m.front, err = front(i, m.client); err != nil {
				return nil, err
			}
		}
	}
	return prepared, nil
}

// startEtcd starts all members and waits until the store answers.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	for i := range c.members {
		if err := c.startMember(i); err != nil {
			return err
		}
	}
	return c.waitReady(ctx, c.EtcdProcess(0), func(ctx context.Context) error {
		_, err := c.store.Get(ctx, "ready")
		return err
	})
}

// startMember starts one etcd. It does not sync to disk: a test's data is not precious, and writes get several times faster. Its own automatic
// compaction is off, so only Compact forgets anything.
func (c *ControlPlane) startMember(i int) error {
	m := &c.members[i]
	var cluster []string
	for j := range c.members {
		cluster = append(cluster, c.members[j].name()+"=http://"+c.members[j].peer)
	}
	p, err := c.start(fmt.Sprintf("etcd%s", ordinal(i)), "etcd", append([]string{
		"--name=" + m.name(),
		"--data-dir=" + filepath.Join(c.dir, "etcd", m.name()),
		"--unsafe-no-fsync",
		"--listen-client-urls=" + m.url(), "--advertise-client-urls=" + m.url(),
		"--listen-peer-urls=http://" + m.peer, "--initial-advertise-peer-urls=http://" + m.peer,
		"--initial-cluster=" + strings.Join(cluster, ","),
		"--auto-compaction-retention=0",
		"--quota-backend-bytes=" + strconv.Itoa(4<<30),
		"--log-level=warn",
	}, c.options.EtcdArgs...)...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m.process = p
	return nil
}

// ordinal tells the log files of several members apart.
func ordinal(member int) string {
	if member == 0 {
		return ""
	}
	return fmt.Sprintf("-%d", member+1)
}

// StartEtcd starts a member again that was killed, with the data it had.
func (c *ControlPlane) StartEtcd(ctx context.Context, member int) error {
	if err := c.startMember(member); err != nil {
		return err
	}
	return c.waitReady(ctx, c.EtcdProcess(member), func(ctx context.Context) error {
		_, err := c.store.Status(ctx, c.members[member].url())
		return err
	})
}

// EtcdLeader is the member that leads, which all writes go through.
func (c *ControlPlane) EtcdLeader(ctx context.Context) (int, error) {
	for i := range c.members {
		attempt, done := context.WithTimeout(ctx, time.Second) // a member that is not there answers never
		status, err := c.store.Status(attempt, c.members[i].url())
		done()
		if err == nil && status.Leader == status.Header.MemberId {
			return i, nil
		}
	}
	return 0, fmt.Errorf("etcd has no leader among %d members", len(c.members))
}

// EtcdProcess is a member's process, or nil.
func (c *ControlPlane) EtcdProcess(member int) *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members[member].process
}

func (c *ControlPlane) etcdURLs() (urls []string) {
	for i := range c.members {
		urls = append(urls, c.members[i].url())
	}
	return urls
}

// etcdServers is where the API server finds the members.
func (c *ControlPlane) etcdServers() string {
	var urls []string
	for i := range c.members {
		urls = append(urls, "http://"+c.members[i].front)
	}
	return strings.Join(urls, ",")
}

// MarkerKey is written to etcd where a new revision is wanted that no API object has. It lies between /registry/minions/ and
// /registry/pods/, so that a watch of that range in one stream has it in its place.
const MarkerKey = "/registry/p-test-marker"

// Mark writes the marker and returns its revision: all that was written before has a smaller one.
func (c *ControlPlane) Mark(ctx context.Context) (int64, error) {
	written, err := c.store.Put(ctx, MarkerKey, "")
	if err != nil {
		return 0, fmt.Errorf("mark a revision in etcd: %w", err)
	}
	return written.Header.Revision, nil
}

// Compact makes etcd forget everything before now and returns the revision. Clients hardly notice by themselves: the API server
// serves watches and the pages of lists from its memory as far as that reaches. See Expire.
func (c *ControlPlane) Compact(ctx context.Context) (int64, error) {
	revision, err := c.Mark(ctx)
	if err != nil {
		return 0, err
	}
	if c.BeforeCompact != nil {
		if err := c.BeforeCompact(ctx, revision); err != nil {
			return 0, fmt.Errorf("before compaction at %d: %w", revision, err)
		}
	}
	if _, err := c.store.Compact(ctx, revision); err != nil {
		return 0, fmt.Errorf("compact etcd at %d: %w", revision, err)
	}
	return revision, nil
}

// Expire makes every client's place in the history too old: it stops the API server, moves etcd's revision on, compacts, and
// starts the server, which knows nothing older than its start. Every watch that resumes and every list that continues from
// before is told 410 Gone.
func (c *ControlPlane) Expire(ctx context.Context) (int64, error) {
	if err := c.StopAPIServer(); err != nil {
		return 0, err
	}
	revision, err := c.Compact(ctx)
	if err != nil {
		return 0, err
	}
	return revision, c.StartAPIServer(ctx)
}
