package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"gpu-scheduler.io/tests/cluster/internal/measure"

	"k8s.io/client-go/rest"
)

// lists are what kubectl gpu reads, as far as a cluster like this one has any.
var lists = []string{
	"/api/v1/nodes", "/api/v1/namespaces", "/apis/gpu-scheduler.io/v1alpha1/gpuquotas",
	"/api/v1/pods?fieldSelector=" + url.QueryEscape("status.phase!=Succeeded,status.phase!=Failed"),
}

// Figure is one thing that was measured, over all rounds.
type Figure struct {
	What    string         `json:"what"`
	Seconds measure.Spread `json:"seconds"`
	CPU     float64        `json:"cpuSeconds,omitempty"` // of a program, on average
	Peak    int64          `json:"peakBytes,omitempty"`  // of a program
	Bytes   int64          `json:"bytes,omitempty"`      // of an answer
}

// Engine is what its thread took of a processor, as a share of the time.
type Engine struct {
	What  string  `json:"what"`
	Share float64 `json:"share"`
}

// Measured is everything.
type Measured struct {
	Settings settings `json:"settings"`
	Figures  []Figure `json:"figures"`
	Engine   []Engine `json:"engineThread"`
}

// sample is one round's.
type sample struct {
	took  time.Duration
	cpu   time.Duration // of a program
	peak  int64
	bytes int64
}

type measurement struct {
	what string
	do   func(context.Context) (sample, error)
}

func (c *cluster) measure(ctx context.Context) (m Measured, err error) {
	m.Settings = c.settings
	down := []measurement{
		{"bare LISTs, JSON", func(ctx context.Context) (sample, error) { return c.listAll(ctx, "application/json") }},
		{"bare LISTs, protobuf", func(ctx context.Context) (sample, error) {
			return c.listAll(ctx, "application/vnd.kubernetes.protobuf,application/json")
		}},
		c.command("kubectl gpu", c.someone),
		c.command("kubectl gpu nodes", c.someone, "nodes"),
		c.command("kubectl gpu queue", c.someone, "queue"),
		c.command("kubectl gpu quota", c.someone, "quota"),
		c.command("kubectl gpu why", c.someone, "why", "pod/"+askedPod, "-n", space(0)),
	}
	progress("with the scheduler down")
	if m.Figures, err = c.rounds(ctx, down, c.collectGarbage); err != nil {
		return m, err
	}
	if err := c.startScheduler(ctx); err != nil {
		return m, err
	}
	way := []string{"--server", c.server(), "--insecure-skip-tls-verify"}
	up := []measurement{
		c.command("kubectl gpu", c.someone, way...),
		c.command("kubectl gpu why", c.someone, append([]string{"why", "pod/" + askedPod, "-n", space(0)}, way...)...),
		c.command("tenant: kubectl gpu why", c.tenant, append([]string{"why", "pod/" + askedPod, "-n", space(0)}, way...)...),
		c.command("tenant: kubectl gpu queue", c.tenant, append([]string{"queue", "-n", space(0)}, way...)...),
		c.command("tenant: kubectl gpu quota", c.tenant, append([]string{"quota", "-n", space(0)}, way...)...),
		c.page("page: all it shows", "/ui/state"),
		c.page("page: why", "/ui/why?namespace="+space(0)+"&pod="+askedPod),
		c.page("page: what if", "/ui/what-if?gpus=8"),
	}
	progress("with the scheduler up")
	figures, err := c.rounds(ctx, up, func(ctx context.Context) error { return pause(ctx, 3*time.Second) }) // each account may ask once in two seconds
	if err != nil {
		return m, err
	}
	m.Figures = append(m.Figures, figures...)
	m.Engine, err = c.watchEngine(ctx)
	return m, err
}

// collectGarbage has the API server do so at once. A list of 60,000 pods leaves so much that each second one would have it done meanwhile, on the cores that
// it shares with whoever reads.
func (c *cluster) collectGarbage(ctx context.Context) error {
	config := c.plane.Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	if _, err := read(ctx, client, config.Host+"/debug/pprof/heap?gc=1", "", ""); err != nil {
		return err
	}
	return pause(ctx, time.Second)
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-time.After(length):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rounds does everything once in each round, and what is to be done before each.
func (c *cluster) rounds(ctx context.Context, all []measurement, before func(context.Context) error) (figures []Figure, err error) {
	seconds := make([][]float64, len(all))
	figures = make([]Figure, len(all))
	for range c.Rounds {
		for i, one := range all {
			if err := before(ctx); err != nil {
				return nil, err
			}
			got, err := one.do(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", one.what, err)
			}
			seconds[i] = append(seconds[i], got.took.Seconds())
			figures[i].CPU += got.cpu.Seconds() / float64(c.Rounds)
			figures[i].Peak, figures[i].Bytes = max(figures[i].Peak, got.peak), max(figures[i].Bytes, got.bytes)
		}
	}
	for i, one := range all {
		figures[i].What, figures[i].Seconds = one.what, measure.SpreadOf(seconds[i])
	}
	return figures, nil
}

// listAll reads all lists at once, each in one answer from the API server's cache, and forgets them.
func (c *cluster) listAll(ctx context.Context, accept string) (s sample, err error) {
	config, err := configOf(c.someone)
	if err != nil {
		return s, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return s, err
	}
	type answer struct {
		bytes int64
		err   error
	}
	answers := make(chan answer)
	begin := time.Now()
	for _, list := range lists {
		go func() {
			separator := "?"
			if strings.Contains(list, "?") {
				separator = "&"
			}
			n, err := read(ctx, client, config.Host+list+separator+"resourceVersion=0", accept, "")
			answers <- answer{n, err}
		}()
	}
	for range lists {
		got := <-answers
		s.bytes += got.bytes
		if got.err != nil {
			err = got.err
		}
	}
	s.took = time.Since(begin)
	return s, err
}

// read returns the length of an answer.
func read(ctx context.Context, client *http.Client, url, accept, token string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300))
		return 0, fmt.Errorf("%s: %s: %s", url, response.Status, text)
	}
	return io.Copy(io.Discard, response.Body)
}

// command runs kubectl-gpu as the account of a kubeconfig.
func (c *cluster) command(what, kubeconfig string, arguments ...string) measurement {
	return measurement{what, func(ctx context.Context) (sample, error) {
		command := exec.CommandContext(ctx, c.program("kubectl-gpu"), append(arguments, "--kubeconfig", kubeconfig)...)
		var out, errors bytes.Buffer
		command.Stdout, command.Stderr = &out, &errors
		begin := time.Now()
		if err := command.Run(); err != nil {
			return sample{}, fmt.Errorf("%w: %s", err, errors.String())
		}
		usage := command.ProcessState.SysUsage().(*syscall.Rusage)
		return sample{took: time.Since(begin), cpu: command.ProcessState.UserTime() + command.ProcessState.SystemTime(),
			peak: usage.Maxrss << 10, bytes: int64(out.Len())}, nil
	}}
}

// page reads a part of the page, as a browser does through kubectl gpu ui.
func (c *cluster) page(what, path string) measurement {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // a certificate of its own, on loopback
	return measurement{what, func(ctx context.Context) (sample, error) {
		config, err := configOf(c.someone)
		if err != nil {
			return sample{}, err
		}
		begin := time.Now()
		n, err := read(ctx, client, c.server()+path, "", config.BearerToken)
		return sample{took: time.Since(begin), bytes: n}, err
	}}
}

// watchEngine has nobody look for a while, then ten browsers, which read every three seconds each, then a tenant who asks as often as one account may.
func (c *cluster) watchEngine(ctx context.Context) (shares []Engine, err error) {
	state, why := c.page("", "/ui/state"), c.page("", "/ui/why?namespace="+space(0)+"&pod="+askedPod)
	ten := func(ctx context.Context) error { _, err := state.do(ctx); return err }
	one := func(ctx context.Context) error { _, err := why.do(ctx); return err }
	for _, people := range []struct {
		what  string
		do    func(context.Context) error
		every time.Duration
	}{
		{"nobody looks", nil, 0}, {"ten see the page", ten, 300 * time.Millisecond}, {"one opens a row of the page every 2 s", one, 2 * time.Second},
	} {
		progress("%s", people.what)
		before, err := c.engineTime()
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		for time.Since(begin) < c.Watched {
			wait := c.Watched - time.Since(begin)
			if people.do != nil {
				wait = people.every
				if err := people.do(ctx); err != nil {
					return nil, fmt.Errorf("%s: %w", people.what, err)
				}
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		after, err := c.engineTime()
		if err != nil {
			return nil, err
		}
		shares = append(shares, Engine{people.what, (after - before).Seconds() / time.Since(begin).Seconds()})
	}
	return shares, nil
}

// engineTime is the processor time of the scheduler's thread "engine".
func (c *cluster) engineTime() (time.Duration, error) {
	return measure.ThreadCPU(c.scheduler.Pid(), "engine")
}

func (m Measured) report() string {
	var b strings.Builder
	s := m.Settings
	fmt.Fprintf(&b, "%d nodes, %d pods run, %d wait, %d quotas; medians of %d rounds\n", s.Nodes, s.Running, s.Waiting, s.Quotas, s.Rounds)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\tseconds\tleast\tmost\tits CPU\tpeak MiB\tKiB\t\n")
	for _, f := range m.Figures {
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%s\t%s\t%d\t\n", f.What, f.Seconds.Median, f.Seconds.Min, f.Seconds.Max, orNothing(f.CPU, "%.2f"), orNothing(f.Peak>>20, "%d"), f.Bytes>>10)
	}
	w.Flush()
	fmt.Fprintf(&b, "\nThe engine's thread, %% of a processor\n")
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, e := range m.Engine {
		fmt.Fprintf(w, "%s\t%.2f\t\n", e.What, 100*e.Share)
	}
	w.Flush()
	return b.String()
}

// orNothing leaves out what was not measured.
func orNothing[T int64 | float64](value T, format string) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

func (m Measured) write(path string) error {
	if path == "" {
		return nil
	}
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}
