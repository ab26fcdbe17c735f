// Package measure watches a scheduler from outside: what the kernel says that processes took (this file), when a watcher of the API
// server saw each pod created and bound (Timeline, Watch), and what several rounds of that amount to (Spread). It knows no scheduler and
// starts none; cmd/compare does.
package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc's processor times: USER_HZ, which is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU returns the processor time (user and system) that a living process has taken so far, all its threads included, from
// /proc/PID/stat. It is good to 10 ms.
func CPU(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(content)
}

// parseStat adds up the 14th and 15th field. The second, the program's name in parentheses, may contain anything.
func parseStat(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the name: %q", len(fields), stat)
	}
	return sumTicks(string(fields[11]), string(fields[12]))
}

// PeakMemory returns the most physical memory a living process has had at a time, in bytes: VmHWM of /proc/PID/status.
func PeakMemory(pid int) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmHWM: has the process ended?", pid)
}

// MachineCPU returns the processor time that the whole machine has been busy with so far, over all its cores.
func MachineCPU() (time.Duration, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(strings.SplitN(string(content), "\n", 2)[0]) // cpu user nice system idle iowait irq softirq steal
	if len(fields) < 9 {
		return 0, fmt.Errorf("/proc/stat begins %q", fields)
	}
	return sumTicks(fields[1], fields[2], fields[3], fields[6], fields[7], fields[8])
}

func sumTicks(fields ...string) (total time.Duration, err error) {
	for _, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// Footprint is what a process holds at a moment.
type Footprint struct {
	Resident    int64 `json:"residentBytes"` // VmRSS
	Threads     int   `json:"threads"`
	Descriptors int   `json:"descriptors"` // open files, sockets included
}

// FootprintOf reads that of a living process, from /proc/PID/status and /proc/PID/fd.
func FootprintOf(pid int) (f Footprint, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return f, err
	}
	if f.Resident, f.Threads, err = parseStatus(string(status)); err != nil {
		return f, fmt.Errorf("/proc/%d/status: %w", pid, err)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	f.Descriptors = len(open)
	return f, err
}

func parseStatus(status string) (resident int64, threads int, err error) {
	fields := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSuffix(strings.TrimSpace(value), " kB")
	}
	kib, err := strconv.ParseInt(fields["VmRSS"], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("no VmRSS: has the process ended? %w", err)
	}
	threads, err = strconv.Atoi(fields["Threads"])
	return kib << 10, threads, err
}

// ThreadCPU returns the processor time that the threads of that name in a living process have taken so far, from /proc/PID/task. It is good to 10 ms.
func ThreadCPU(pid int, name string) (total time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return 0, err
	}
	found := false
	for _, task := range tasks {
		comm, err := os.ReadFile(filepath.Join(task, "comm"))
		if err != nil || strings.TrimSpace(string(comm)) != name {
			continue // it has ended, or is another
		}
		stat, err := os.ReadFile(filepath.Join(task, "stat"))
		if err != nil {
			return 0, err
		}
		time, err := parseStat(stat)
		if err != nil {
			return 0, err
		}
		found, total = true, total+time
	}
	if !found {
		return 0, fmt.Errorf("process %d has no thread %q", pid, name)
	}
	return total, nil
}
