package e2e

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// relay stands between a scheduler and the API server like a network that delivers late, and knows what it carries: it can hold binds back and
// keep the lease from being renewed, and notes when it met each of both; and it can hold statuses back and stall watches. It takes requests from one scheduler, which must have a token.
type relay struct {
	t        *testing.T
	target   string // the API server's URL
	listener net.Listener

	mu       sync.Mutex
	hold     time.Duration // before each bind is passed on
	statuses chan struct{} // closed when writes to statuses may go on; nil: they may
	written  []int         // how those were answered that had to wait, 0: not yet
	stalls   chan struct{} // closed when the watches of now bring nothing any more
	renewing bool          // renewals pass
	renewed  time.Time     // when the last renewal came that the server has granted
	binds    []carried
}

// carried is a bind on its way: when it came, and when its answer did, if that has come.
type carried struct{ came, answered time.Time }

// newRelay listens on a port of its own until the test ends.
func newRelay(t *testing.T) *relay {
	t.Helper()
	cluster := lent(t).cluster
	certificate, _, err := cluster.ServingCertificates()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, target: cluster.URL(), listener: listener, renewing: true, stalls: make(chan struct{})}
	server, err := url.Parse(r.target)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(cluster.Config()))
	if err != nil {
		t.Fatal(err)
	}
	quiet := log.New(io.Discard, "", 0)
	onward := &httputil.ReverseProxy{
		Rewrite:       func(request *httputil.ProxyRequest) { request.SetURL(server) },
		Transport:     transport,
		FlushInterval: -1, // a watch is to be read as it comes
		ErrorLog:      quiet,
	}
	front := &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) { r.pass(onward, w, request) })}
	go front.Serve(listener)
	t.Cleanup(func() { front.Close() })
	return r
}

// kubeconfig is one with a token, whatever the other has.
func (r *relay) kubeconfig(string) string {
	r.t.Helper()
	who, err := lent(r.t).identity()
	if err != nil {
		r.t.Fatal(err)
	}
	namespace, account, _ := who.Account()
	path, err := lent(r.t).cluster.TokenKubeconfig(r.t.Context(), namespace, account)
	if err != nil {
		r.t.Fatal(err)
	}
	return readdressed(r.t, path, r.target, "https://"+r.listener.Addr().String())
}

// late holds each bind back for that long.
func (r *relay) late(hold time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = hold
}

// holdStatuses holds writes to pods' statuses back, until goOn is called.
func (r *relay) holdStatuses() (goOn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := make(chan struct{})
	r.statuses = held
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.statuses = nil
		close(held)
	})
}

// heldStatuses is how those were answered that had to wait, 0: not yet.
func (r *relay) heldStatuses() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.written)
}

// stallWatches has the watches that there are bring nothing any more, and not end, as those of a server that is dead. New ones are well.
func (r *relay) stallWatches() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.stalls)
	r.stalls = make(chan struct{})
}

// loseRenewals drops all further renewals, without an error.
func (r *relay) loseRenewals() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renewing = false
}

// met is when the last renewal came that was granted, and the binds after it.
func (r *relay) met() (renewed time.Time, binds []carried) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, bind := range r.binds {
		if bind.came.After(r.renewed) {
			binds = append(binds, bind)
		}
	}
	return r.renewed, binds
}

func (r *relay) pass(onward http.Handler, w http.ResponseWriter, request *http.Request) {
	came := time.Now()
	switch {
	case strings.HasSuffix(request.URL.Path, "/binding"):
		r.passBind(onward, w, request, came)
	case strings.Contains(request.URL.Path, "/leases") && request.Method != http.MethodGet:
		r.passRenewal(onward, w, request, came)
	case strings.HasSuffix(request.URL.Path, "/status"):
		r.passStatus(onward, w, request)
	case request.URL.Query().Get("watch") == "1":
		r.mu.Lock()
		stalls := r.stalls
		r.mu.Unlock()
		onward.ServeHTTP(&watched{w, request.Context(), stalls}, request)
	default:
		onward.ServeHTTP(w, request)
	}
}

func (r *relay) passBind(onward http.Handler, w http.ResponseWriter, request *http.Request, came time.Time) {
	r.mu.Lock()
	hold, at := r.hold, len(r.binds)
	r.binds = append(r.binds, carried{came: came})
	r.mu.Unlock()
	defer func() { // also if the client is gone and cannot take the answer
		r.mu.Lock()
		defer r.mu.Unlock()
		r.binds[at].answered = time.Now()
	}()
	time.Sleep(hold)
	// A network takes nothing back: neither the context nor the writer, which is no http.CloseNotifier, tells that the leader has hung up.
	onward.ServeHTTP(&outcome{ResponseWriter: w}, request.WithContext(context.WithoutCancel(request.Context())))
}

func (r *relay) passRenewal(onward http.Handler, w http.ResponseWriter, request *http.Request, came time.Time) {
	r.mu.Lock()
	renewing := r.renewing
	r.mu.Unlock()
	if !renewing {
		<-request.Context().Done()
		return
	}
	outcome := &outcome{ResponseWriter: w}
	onward.ServeHTTP(outcome, request)
	r.mu.Lock()
	defer r.mu.Unlock()
	if outcome.status < 300 {
		r.renewed = came
	}
}

func (r *relay) passStatus(onward http.Handler, w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	held, at := r.statuses, len(r.written)
	if held == nil {
		r.mu.Unlock()
		onward.ServeHTTP(w, request)
		return
	}
	r.written = append(r.written, 0)
	r.mu.Unlock()
	<-held
	outcome := &outcome{ResponseWriter: w}
	onward.ServeHTTP(outcome, request)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written[at] = outcome.status
}

// watched is the answer to a watch, which may stall.
type watched struct {
	http.ResponseWriter
	asked  context.Context
	stalls <-chan struct{}
}

func (w *watched) Write(events []byte) (int, error) {
	select {
	case <-w.stalls:
		<-w.asked.Done()
		return 0, w.asked.Err()
	default:
		return w.ResponseWriter.Write(events)
	}
}

// Unwrap lets what has been written be flushed.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// outcome is an answer; its status is noted on the way.
type outcome struct {
	http.ResponseWriter
	status int
}

func (o *outcome) WriteHeader(status int) {
	o.status = status
	o.ResponseWriter.WriteHeader(status)
}
