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

	mu    sync.Mutex
	conns []net.Conn
	isCut bool
	wait  time.Duration // before each piece is passed on
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

func (p *proxy) url() string { return "https://" + p.listener.Addr().String() }

// cut lets nothing through in either direction, without telling anybody.
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

// delay holds every piece back for that long.
func (p *proxy) delay(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = wait
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
		go p.pump(client, server)
		go p.pump(server, client)
	}
}

// pump passes bytes on until one side ends.
func (p *proxy) pump(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		isCut, wait := p.isCut, p.wait
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
