package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Ports are chosen below those that Linux gives to connections by itself (ip_local_port_range, 32768 and up): one of those may be
// taken before its server listens, or while the server is being started again.
const (
	firstPort = 10000
	lastPort  = 32767
)

var (
	portsMu sync.Mutex
	// chosenPorts are never chosen again, so that control planes that start at the same time do not meet. Each has a file that this process has
	// locked until it ends, which tells other processes.
	chosenPorts = map[int]*os.File{}
)

// FreePort returns a port of the loopback interface on which no process listens now, and that no control plane of any process takes.
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
		if chosenPorts[port] != nil {
			continue
		}
		var lock *os.File
		if lock, err = lockPort(port); err != nil {
			continue
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
			lock.Close()
			continue
		}
		listener.Close()
		chosenPorts[port] = lock
		ports = append(ports, port)
	}
	return ports, nil
}

// lockPort locks a port's file, which fails where another process has.
func lockPort(port int) (*os.File, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("gpu-scheduler-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("port %d is another process's: %w", port, err)
	}
	return file, nil
}
