package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How long things take. Requests are held back for less than the time that clients grant bytes on their way.
const (
	leastLatency, mostLatency = 20 * time.Millisecond, 800 * time.Millisecond
	leastWatch, mostWatch     = 50 * time.Millisecond, 1500 * time.Millisecond // a watch goes well for so long
	leastStall, mostStall     = time.Second, 3 * time.Second
	leastSilence, mostSilence = time.Second, 7 * time.Second // some of it beyond a bind's deadline
	mostRepeated              = 300 * time.Millisecond       // a request's copy comes so much later
)

// exchange is a request on its way, and what becomes of it.
type exchange struct {
	*Proxy
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
	class class
}

// what is asked for.
func (e *exchange) what() string { return whatOf(e.r) }

// answer is a whole answer of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask has the server act, also if the client goes away meanwhile. false: there is no server, and the client's connection ends.
func (e *exchange) ask() (a answer, ok bool) {
	response, err := e.roundTrip(context.WithoutCancel(e.r.Context()), e.r, e.body)
	if err == nil {
		defer response.Body.Close()
		a = answer{response.StatusCode, response.Header, nil}
		a.body, err = io.ReadAll(response.Body)
	}
	if err != nil {
		e.hangUp()
		return answer{}, false
	}
	return a, true
}

// give passes an answer on.
func (e *exchange) give(a answer) {
	copyHeader(e.w.Header(), a.header)
	e.w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	e.w.WriteHeader(a.status)
	if _, err := e.w.Write(a.body); err == nil { // a client that has gone away misses nothing
		e.shownList(a)
	}
}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		if name != "Content-Length" && name != "Transfer-Encoding" && name != "Connection" {
			to[name] = values
		}
	}
}

// bytes of an answer as they go over the wire.
func (a answer) bytes() []byte {
	var out bytes.Buffer
	a.writeHead(&out)
	fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n", len(a.body))
	out.Write(a.body)
	return out.Bytes()
}

func (a answer) writeHead(out *bytes.Buffer) {
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	header := http.Header{}
	copyHeader(header, a.header)
	_ = header.Write(out) // a buffer takes everything
}

// pause waits for a time. false: the client went away first.
func (e *exchange) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-e.r.Context().Done():
		return false
	}
}

// watch passes a stream on until an end of it, or for so long (0: for ever).
func (e *exchange) watch(life time.Duration) {
	if s, ok := e.open(); ok {
		defer s.close()
		s.relay(life)
	}
}

// stream is a watch that is being passed on.
type stream struct {
	*exchange
	pieces   <-chan []byte  // closed at the server's end of it
	passedOn io.WriteCloser // takes what has been
	cancel   context.CancelFunc
}

func (s *stream) close() {
	s.cancel()
	s.passedOn.Close()
}

// open begins to pass a watch on. false: there is no server, or its answer is no stream; then everything has been said.
func (e *exchange) open() (*stream, bool) {
	ctx, cancel := context.WithCancel(e.r.Context())
	response, err := e.roundTrip(ctx, e.r, e.body)
	if err != nil {
		cancel()
		e.hangUp()
		return nil, false
	}
	copyHeader(e.w.Header(), response.Header)
	e.w.WriteHeader(response.StatusCode)
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(e.w, response.Body)
		response.Body.Close()
		cancel()
		return nil, false
	}
	_ = http.NewResponseController(e.w).Flush()
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		defer response.Body.Close()
		for {
			piece := make([]byte, 16<<10)
			n, err := response.Body.Read(piece)
			if n > 0 {
				select {
				case pieces <- piece[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return &stream{e, pieces, e.shownWatch(response.Header), cancel}, true
}

// relay passes on what comes, for so long (0: for ever). false: one of the two has ended it before.
func (s *stream) relay(limit time.Duration) bool {
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	for {
		select {
		case piece, more := <-s.pieces:
			if !more {
				return false
			}
			if _, err := s.w.Write(piece); err != nil {
				return false
			}
			if err := http.NewResponseController(s.w).Flush(); err != nil {
				return false
			}
			_, _ = s.passedOn.Write(piece) // discarded where events cannot be read
		case <-over:
			return true
		case <-s.r.Context().Done():
			return false
		}
	}
}
