// Package measure watches a scheduler from outside: what the kernel says that processes took (this file), when a watcher of the API
// server saw each pod created and bound (Timeline, Watch), and what several rounds of that amount to (Spread). It knows no scheduler and
// starts none; cmd/compare does.
package measure

import (
	"bytes"
	"fmt"
	"os"
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
