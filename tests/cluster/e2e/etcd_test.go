package e2e

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
)

// TestEtcdTroubleUnderLoad binds on an API server with a store of three etcds that fail in turn. To a write that was lost there the API server answers
// a 409 like any other, and the write may commit all the same, at once or later. The cluster is nearly full, so that capacity that is given away
// while it may still be taken is given twice.
//
// A run is some troubles of each kind in turn; tests/cluster/etcd.sh has twenty.
func TestEtcdTroubleUnderLoad(t *testing.T) {
	const troubles = 9
	store := &store{t: t}
	store.plane = ownPlane(t, controlplane.Options{EtcdMembers: 3, EtcdFront: store.front})
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	s := startSubject(t)
	load := w.startLoad(sizes.pods, int64(nodes)*8)
	for i := range troubles {
		w.waitBinds((i + 1) * sizes.pods / (troubles + 1))
		[]func(){store.killLeader, store.cutOff, store.hold}[i%3]()
	}
	load.wait()
	s.check()
	w.expectAllBound(w.verdict())
	t.Logf("binds that were cut off: %d", store.caught)
	if store.caught < troubles/3 {
		t.Errorf("only %d binds were cut off in %d troubles: this tested little", store.caught, troubles)
	}
}

// ownPlane starts a control plane of a special kind for a test, beyond those of the pool, and lends it.
func ownPlane(t *testing.T, options controlplane.Options) *plane {
	t.Helper()
	t.Parallel()
	options.Dir = filepath.Join(planes.dir, fmt.Sprintf("plane-%s-%d", t.Name(), worlds.Add(1)))
	p, err := startPlaneWith(planes.ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	planes.own(t, p)
	t.Cleanup(func() {
		if err := planes.disown(t, p); err != nil {
			t.Error(err)
		}
	})
	return p
}

// store is three etcds with a relay before each.
type store struct {
	t      *testing.T
	plane  *plane
	relays [3]*etcdRelay
	caught int // binds
}

// front puts a relay before a member; the API server knows no other way to it.
func (s *store) front(member int, address string) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	relay := &etcdRelay{target: address, listener: listener}
	s.relays[member] = relay
	s.t.Cleanup(relay.close)
	go relay.accept()
	return listener.Addr().String(), nil
}

// killLeader ends the member that all writes go through when a bind has been given to it, and starts it again when another one leads.
func (s *store) killLeader() {
	s.t.Helper()
	leader := s.leader()
	s.catchBind(leader, func() {}, func() { s.plane.cluster.EtcdProcess(leader).Kill() })
	until(s.t, "another etcd to lead", func() bool {
		next, err := s.plane.cluster.EtcdLeader(s.t.Context())
		return err == nil && next != leader
	})
	if err := s.plane.cluster.StartEtcd(s.t.Context(), leader); err != nil {
		s.t.Fatal(err)
	}
}

// cutOff loses the answer to a bind: any member gets it, and the API server's connection to it ends.
func (s *store) cutOff() {
	s.t.Helper()
	s.catchBind((s.leader()+1)%3, func() {}, func() {})
}

// hold does the same with a member that stands still meanwhile, and goes on when the API server has long given up: the bind commits seconds late. A
// leader that was held would find another one leading, and the bind would be lost; so it is a follower.
func (s *store) hold() {
	s.t.Helper()
	follower := (s.leader() + 1) % 3
	process := s.plane.cluster.EtcdProcess(follower)
	s.catchBind(follower, func() { process.Signal(syscall.SIGSTOP) }, func() {})
	time.Sleep(2 * time.Second) // what a member may stand still for, and no more than a bind may be late
	process.Signal(syscall.SIGCONT)
}

func (s *store) leader() (leader int) {
	s.t.Helper()
	until(s.t, "an etcd to lead", func() bool {
		var err error
		leader, err = s.plane.cluster.EtcdLeader(s.t.Context())
		return err == nil
	})
	return leader
}

// catchBind waits until a bind comes by on its way to a member, calls before, passes it on, cuts the API server's connection and calls after.
// Where no bind comes by for long, as at the end of a load, it does so without one.
func (s *store) catchBind(member int, before, after func()) {
	s.t.Helper()
	caught := s.relays[member].catch(before)
	select {
	case <-caught:
		s.caught++
	case <-time.After(10 * time.Second):
		s.relays[member].catch(nil)
		before()
	}
	after()
}

// etcdRelay passes on what the API server and a member of the store say to each other, and knows a bind when it sees one.
type etcdRelay struct {
	target   string
	listener net.Listener

	mu     sync.Mutex
	before func()        // of the bind that is waited for; nil: none is
	caught chan struct{} // closed when it has come
	conns  []net.Conn
}

// boundPod is what a pod has in its condition when it is bound, and not before: PodScheduled, True. Nothing is compressed on the way.
var boundPod = []byte("\x0a\x0cPodScheduled\x12\x04True")

// catch waits for the next bind. The channel is closed when it has been passed on.
func (r *etcdRelay) catch(before func()) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before, r.caught = before, make(chan struct{})
	return r.caught
}

func (r *etcdRelay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil { // a member that is not there
			client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		go r.requests(client, server)
		go func() {
			defer client.Close()
			defer server.Close()
			pass(server, client, func([]byte) bool { return true })
		}()
	}
}

// requests passes them on until a bind is to be cut off. Then the API server's side is closed at once; the member's stays open, so that what it
// has been given is not taken back.
func (r *etcdRelay) requests(client, server net.Conn) {
	defer client.Close()
	isCut := false
	pass(client, server, func(piece []byte) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.before == nil || !bytes.Contains(piece, boundPod) {
			return true
		}
		r.before()
		server.Write(piece)
		close(r.caught)
		r.before, isCut = nil, true
		return false
	})
	if !isCut {
		server.Close()
	}
}

// pass passes bytes on until one side ends or a piece is not to be passed.
func pass(from, to net.Conn, may func(piece []byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !may(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (r *etcdRelay) close() {
	r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		conn.Close()
	}
}
