package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Options of Start.
type Options struct {
	// Upstream is the API server, and the proxy's credentials there: the client's own.
	Upstream *rest.Config
	// Certificate is what clients should see, Wrong is what they must not accept.
	Certificate tls.Certificate
	Wrong       []tls.Certificate
	// Seed of the weather.
	Seed uint64
	// Witness of what passes; nil: none.
	Witness Witness
}

// Proxy is a running one. Its methods may be called from several goroutines.
type Proxy struct {
	*barometer
	upstream    string
	transport   *http.Transport
	certificate tls.Certificate
	wrong       []tls.Certificate
	listener    net.Listener
	server      *http.Server
	trap        net.Listener
	witness     Witness

	trapped, misled atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Start listens on a port of its own, in calm weather.
func Start(options Options) (*Proxy, error) {
	config, err := rest.TLSConfigFor(options.Upstream)
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	config.NextProtos = []string{"http/1.1"}
	p := &Proxy{
		barometer: newBarometer(options.Seed), upstream: strings.TrimSuffix(options.Upstream.Host, "/"),
		// What clients and server say of encodings is theirs to say.
		transport:   &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 64, DisableCompression: true},
		certificate: options.Certificate, wrong: options.Wrong, conns: map[net.Conn]bool{},
		witness: options.Witness,
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	if p.trap, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		p.listener.Close()
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	go p.springTrap()
	p.server = &http.Server{
		Handler: p, ConnState: p.track, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{GetCertificate: p.present, NextProtos: []string{"http/1.1"}},
	}
	go p.server.ServeTLS(p.listener, "", "") // until Close
	return p, nil
}

// Close ends it and all its connections.
func (p *Proxy) Close() {
	p.set(Calm())
	p.server.Close()
	p.Cut()
	p.trap.Close()
	p.transport.CloseIdleConnections()
}

// URL is where clients find it.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Set changes the weather. Connections and watches that are there stay as they are; see Cut.
func (p *Proxy) Set(w Weather) { p.set(w) }

// Cut resets every connection, watches included, as a server that falls over does: what comes next meets the weather.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		reset(conn)
	}
}

// Counts is what has happened so far.
func (p *Proxy) Counts() Counts { return p.totals() }

// Met is how often requests of each sort have met a kind, in Kubernetes' words ("watch nodes", "create pods/binding").
func (p *Proxy) Met(kind Kind) map[string]int { return p.met(kind) }

// Trapped counts the requests that followed a redirect to another server.
func (p *Proxy) Trapped() int { return int(p.trapped.Load()) }

// Misled counts requests that were sent on a connection on which an answer without a request waited: the client would take it for the
// answer to this one.
func (p *Proxy) Misled() int { return int(p.misled.Load()) }

// track keeps the connections that are open. A hijacked one is closed by the code that hijacked it.
func (p *Proxy) track(conn net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.conns[conn] = true
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, conn)
	}
}

// present chooses the certificate of a handshake.
func (p *Proxy) present(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if kind, befallen := p.draw(handshakes, "handshake"); befallen && len(p.wrong) > 0 {
		p.count(kind, "handshake")
		return &p.wrong[p.number(len(p.wrong))], nil
	}
	return &p.certificate, nil
}

func (p *Proxy) springTrap() {
	for {
		conn, err := p.trap.Accept()
		if err != nil {
			return
		}
		p.trapped.Add(1)
		conn.Close()
	}
}

// ServeHTTP passes a request on, or does to it what the weather says.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	e := &exchange{Proxy: p, w: w, r: r, body: body, class: classOf(r)}
	e.asked()
	if kind, befallen := p.draw(e.class, r.URL.Path+r.URL.Query().Get("fieldSelector")); befallen {
		e.meet(kind)
		return
	}
	if e.class == watches {
		e.watch(p.watchLife())
		return
	}
	if a, ok := e.ask(); ok {
		e.give(a)
	}
}

// roundTrip sends a copy of the request to the server.
func (p *Proxy) roundTrip(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, p.upstream+r.URL.RequestURI(), strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Connection")
	return p.transport.RoundTrip(request)
}
