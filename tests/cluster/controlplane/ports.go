package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are chosen below those that Linux gives to connections by itself (ip_local_port_range, 32768 and up): one of those may be
// taken before its server listens, or while the server is being started again.
const (
	firstPort = 10000
	lastPort  = 32767
)

var (
	portsMu sync.Mutex
	// chosenPorts are never chosen again, so that control planes that start at the same time do not meet.
	chosenPorts = map[int]bool{}
)

// FreePort returns a port of the loopback interface on which no process listens now, and that no control plane takes.
func FreePort() (int, error) {
	ports, err := freePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// freePorts returns ports of the loopback interface on which no process listens now.
func freePorts(n int) (ports []int, err error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for try := 0; len(ports) < n; try++ {
		if try == 100*n {
			return nil, fmt.Errorf("find %d free ports from %d to %d: %w", n, firstPort, lastPort, err)
		}
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if chosenPorts[port] {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
			continue
		}
		listener.Close()
		chosenPorts[port] = true
		ports = append(ports, port)
	}
	return ports, nil
}
