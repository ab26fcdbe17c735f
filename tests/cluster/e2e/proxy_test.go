package e2e

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy is a network between a scheduler and the API server that a test can break: it passes bytes on, late if asked to, or not at all.
// What was under way when it was cut is lost, as with packets, and so are the connections when it heals.
type proxy struct {
	t        *testing.T
	target   string // the API server's URL
	listener net.Listener

	mu       sync.Mutex
	conns    []net.Conn
	isCut    bool
	requests time.Duration // how long each piece of them is held back
	answers  time.Duration
}

// newProxy listens on a port of its own until the test ends.
func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, target: target, listener: listener}
	go p.accept()
	t.Cleanup(func() {
		listener.Close()
		p.heal()
	})
	return p
}

// cut lets nothing through in either direction, without closing anything.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
}

// heal ends a cut; the connections of before are gone.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
	for _, conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
}

// delay holds every piece of requests and of answers back for that long. The scheduler's side is told at once that a piece has come, and one that comes
// meanwhile waits for twice as long, which of requests must be less than a bind may take on its way.
func (p *proxy) delay(requests, answers time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.answers = requests, answers
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", strings.TrimPrefix(p.target, "https://"))
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go p.pump(client, server, &p.requests)
		go p.pump(server, client, &p.answers)
	}
}

// pump passes bytes on until one side ends.
func (p *proxy) pump(from, to net.Conn, delay *time.Duration) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		isCut, wait := p.isCut, *delay
		p.mu.Unlock()
		if isCut {
			continue // lost; and so is everything after it, for the connection ends with the cut
		}
		time.Sleep(wait)
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
