package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// meet does to a request what its kind says, and counts it.
func (e *exchange) meet(kind Kind) {
	if _, known := refusals[kind]; known && kind != FalseError {
		e.refuse(kind)
		return
	}
	switch kind {
	case Latency:
		e.holdBack()
	case Reset, HalfClosed, Silence:
		e.sever(kind)
	case Truncated, WrongFraming:
		e.mangle(kind)
	case Redirect:
		e.sendAway()
	case LostAnswer:
		if _, ok := e.ask(); ok {
			e.count(kind, e.what())
			e.hangUp()
		}
	case FalseError:
		if _, ok := e.ask(); ok {
			e.refuse(kind)
		}
	case DoubledRequest:
		e.repeat()
	case DoubledAnswer:
		e.answerTwice()
	case StalledWatch:
		e.stall()
	}
}

// refuse answers in the server's place.
func (e *exchange) refuse(kind Kind) {
	e.count(kind, e.what())
	r := refusals[kind]
	header := http.Header{"Content-Type": {"application/json"}}
	if kind == TooManyRequests {
		header.Set("Retry-After", strconv.Itoa(e.number(mostRetryAfter+1)))
	}
	e.give(answer{r.status, header, statusBody(r.status, r.reason)})
}

func (e *exchange) sendAway() {
	e.count(Redirect, e.what())
	location := "https://" + e.trap.Addr().String() + e.r.URL.RequestURI()
	e.give(answer{e.redirect(), http.Header{"Location": {location}}, nil})
}

// holdBack keeps the request from the server for a while, or the answer from the client.
func (e *exchange) holdBack() {
	wait := e.between(leastLatency, mostLatency)
	if e.class == watches || e.number(2) == 0 {
		if !e.pause(wait) {
			return
		}
		e.count(Latency, e.what())
		if e.class == watches {
			e.watch(e.watchLife())
		} else if a, ok := e.ask(); ok {
			e.give(a)
		}
		return
	}
	if a, ok := e.ask(); ok && e.pause(wait) {
		e.count(Latency, e.what())
		e.give(a)
	}
}

// sever ends the connection, at once or, a watch's, after a while.
func (e *exchange) sever(kind Kind) {
	if e.class == watches && !e.watchFor(e.between(leastWatch, mostWatch)) {
		return
	}
	conn := e.take()
	if conn == nil {
		return
	}
	e.count(kind, e.what())
	switch kind {
	case Reset:
		reset(conn)
	case HalfClosed:
		_ = tcp(conn).CloseWrite()
		e.drain(conn, mostStall)
	case Silence:
		e.drain(conn, e.between(leastSilence, mostSilence))
	}
	conn.Close()
}

// watchFor passes a watch on for a while. false: it has ended before, or never began.
func (e *exchange) watchFor(d time.Duration) bool {
	s, ok := e.open()
	if !ok {
		return false
	}
	defer s.close()
	return s.relay(d)
}

// mangle breaks the body of an answer off, or frames it wrongly.
func (e *exchange) mangle(kind Kind) {
	var out bytes.Buffer
	if e.class == watches {
		if !e.watchFor(e.between(leastWatch, mostWatch)) {
			return
		}
		mangledPiece(kind, e.w.Header().Get("Content-Type"), &out)
	} else {
		a, ok := e.ask()
		if !ok {
			return
		}
		a.mangled(kind, &out)
	}
	conn := e.take()
	if conn == nil {
		return
	}
	e.count(kind, e.what())
	_, _ = conn.Write(out.Bytes()) // a client that has gone away misses nothing
	conn.Close()
}

// mangledPiece follows the whole chunks of a watch. The begin of an event is one of the watch's own encoding: in another the client would
// see damage rather than an end.
func mangledPiece(kind Kind, contentType string, out *bytes.Buffer) {
	if kind == WrongFraming {
		out.WriteString("zz\r\n{}\r\n")
		return
	}
	out.WriteString("1000\r\n")
	if strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf") {
		out.WriteString("\x00\x00\x01\x00" + "\x0a\x08MODIFIED\x12") // its length, its type, and that there is an object
		return
	}
	out.WriteString(`{"type":"MODIFIED","object":{"kind":`)
}

func (a answer) mangled(kind Kind, out *bytes.Buffer) {
	a.writeHead(out)
	if kind == WrongFraming {
		fmt.Fprintf(out, "Transfer-Encoding: chunked\r\n\r\nzz\r\n%s\r\n0\r\n\r\n", a.body)
		return
	}
	fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", len(a.body)+1)
	out.Write(a.body[:len(a.body)/2])
}

// repeat sends the request twice: the second time at once, its answer being the one that is passed on, or a moment later.
func (e *exchange) repeat() {
	a, ok := e.ask()
	if !ok {
		return
	}
	e.count(DoubledRequest, e.what())
	if e.number(2) == 0 {
		if a, ok = e.ask(); ok {
			e.give(a)
		}
		return
	}
	again, later := e.r.Clone(context.Background()), e.between(0, mostRepeated)
	time.AfterFunc(later, func() {
		if response, err := e.roundTrip(context.Background(), again, e.body); err == nil {
			response.Body.Close()
		}
	})
	e.give(a)
}

// answerTwice sends the answer twice in one piece. The client has both when it has read the first, if they are small; others
// are passed on as they are.
func (e *exchange) answerTwice() {
	const small = 4 << 10
	a, ok := e.ask()
	if !ok {
		return
	}
	once := a.bytes()
	if len(once) > small {
		e.give(a)
		return
	}
	conn := e.take()
	if conn == nil {
		return
	}
	defer conn.Close()
	e.count(DoubledAnswer, e.what())
	if _, err := conn.Write(append(once, once...)); err != nil {
		return
	}
	if e.drain(conn, mostStall) > 0 {
		e.misled.Add(1)
	}
}

// stall holds a watch back, and then lets it go on or ends it.
func (e *exchange) stall() {
	s, ok := e.open()
	if !ok {
		return
	}
	defer s.close()
	if !s.relay(e.between(leastWatch, mostWatch)) {
		return
	}
	e.count(StalledWatch, e.what())
	if e.pause(e.between(leastStall, mostStall)) && e.number(2) == 0 {
		s.relay(e.watchLife())
	}
}

// take takes the connection from the HTTP server. nil: the client has gone away.
func (e *exchange) take() net.Conn {
	conn, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// hangUp ends the connection in good order, but without an answer.
func (e *exchange) hangUp() {
	if conn := e.take(); conn != nil {
		conn.Close()
	}
}

// drain reads until the client ends the connection, says something, or the time is over, and returns how much it said.
func (e *exchange) drain(conn net.Conn, d time.Duration) int {
	_ = conn.SetReadDeadline(time.Now().Add(d))
	n, _ := io.ReadFull(conn, make([]byte, 1))
	return n
}

// reset ends a connection with RST.
func reset(conn net.Conn) {
	raw := tcp(conn)
	_ = raw.SetLinger(0)
	raw.Close()
}

func tcp(conn net.Conn) *net.TCPConn {
	return conn.(*tls.Conn).NetConn().(*net.TCPConn)
}
