package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a child that cannot outlive us: it is ended by its own id, and the kernel kills it if we die first, however we
// die. Its output goes to a file. It has its own process group, so that a Ctrl-C in a terminal reaches us alone and
// things end in order.
type Process struct {
	Name string // as in its log file's name
	Log  string // path of that file

	cmd      *exec.Cmd
	patience time.Duration // for its end after SIGTERM
	done     chan struct{} // closed when it has ended
	err      error         // why, valid once done is closed
	peak     atomic.Int64  // of its memory in bytes, when it was told to end
}

// How long a process may take to end by itself after SIGTERM: as long as a pod is given. A server of the control plane finishes first what
// it was asked for.
const (
	stopPatience       = 30 * time.Second
	serverStopPatience = time.Minute
)

// StartProcess starts a program with its output appended to LOGDIR/NAME.log. The environment is ours plus env.
func StartProcess(logDir, name string, env []string, program string, args ...string) (*Process, error) {
	log := filepath.Join(logDir, name+".log")
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer output.Close() // the child has its own copy
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := startBound(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Name: name, Log: log, cmd: cmd, patience: stopPatience, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

var (
	parentOnce sync.Once
	parentWork chan func()
)

// startBound starts a command from one thread that lives as long as we do: the kernel sends the parent-death signal when
// the *thread* that forked ends, and the Go runtime ends threads when it likes.
func startBound(cmd *exec.Cmd) error {
	parentOnce.Do(func() {
		parentWork = make(chan func())
		go func() {
			runtime.LockOSThread()
			for work := range parentWork {
				work()
			}
		}()
	})
	result := make(chan error)
	parentWork <- func() { result <- cmd.Start() }
	return <-result
}

// Pid is the process's id. It stays the process's own until Wait, Stop or Kill has returned.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running tells whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Wait waits for the end and returns why: nil for exit code 0, else an *exec.ExitError.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Signal sends a signal; to a process that has ended it does nothing.
func (p *Process) Signal(s os.Signal) {
	if p.Running() {
		_ = p.cmd.Process.Signal(s) // it may end between the two; os.Process knows and never signals a stranger
	}
}

// Heeds tells whether the process catches, blocks or ignores a signal. Before it has been loaded and has said so, the signal simply ends it.
func (p *Process) Heeds(s syscall.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid())) // a process that has ended heeds nothing
	for _, mask := range signalMask.FindAllStringSubmatch(string(status), -1) {
		if signals, err := strconv.ParseUint(mask[1], 16, 64); err == nil && signals>>(s-1)&1 == 1 {
			return true
		}
	}
	return false
}

// signalMask is a line of proc_pid_status(5).
var signalMask = regexp.MustCompile(`(?m)^Sig(?:Cgt|Blk|Ign):\s*([0-9a-f]+)$`)

// Stop asks the process to end (SIGTERM), waits until it has, and kills it if it will not. It returns an error only if it had to
// kill.
func (p *Process) Stop() error {
	p.notePeak()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(p.patience):
		p.Kill()
		return fmt.Errorf("%s (pid %d) did not end within %v of SIGTERM and was killed", p.Name, p.Pid(), p.patience)
	}
}

// Kill ends the process with SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	p.notePeak()
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Usage returns the processor time that the process has taken, zero before it has ended, and the most memory in bytes that it had until it was stopped or
// killed, zero if it ended by itself. (What wait4 says of memory counts the program that started it, too, as it was until then.)
func (p *Process) Usage() (cpu time.Duration, peakBytes int64) {
	if p.Running() || p.cmd.ProcessState == nil {
		return 0, 0
	}
	state := p.cmd.ProcessState
	return state.UserTime() + state.SystemTime(), p.peak.Load()
}

// notePeak remembers the most memory that the process has had so far.
func (p *Process) notePeak() {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if found := peakMemory.FindSubmatch(status); found != nil {
		if kib, err := strconv.ParseInt(string(found[1]), 10, 64); err == nil {
			p.peak.Store(kib << 10)
		}
	}
}

// peakMemory is a line of proc_pid_status(5); of a process that has ended it is missing.
var peakMemory = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)

// ExitCode of an error returned by Wait: 0 for nil, the process's code, or -1 if a signal ended it.
func ExitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// RunBound runs a command to its end like exec.Cmd.Run, in our own process group and with our terminal if it has been given that, but killed by the
// kernel if we die first.
func RunBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startBound(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}
