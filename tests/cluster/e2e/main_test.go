package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
)

// schedulerName is what the pods of these tests name; naiveName what those of the harness's own tests do.
const (
	schedulerName = "gpu-scheduler"
	naiveName     = "naive-scheduler"
)

// root is the repository.
var root string

// sizes of the tests; see the package's comment.
var sizes = struct {
	pods, kills, steps int
	faults             int
	quotaPods          int // of loads under quotas
	crowd              int // pods of one team that bothers others
	planes             int // control planes at a time, at most
	seed               uint64
	patience           time.Duration // quiet time after which a pod is lost
}{pods: 400, kills: 10, steps: 60, faults: 100, quotaPods: 400, crowd: 500, planes: 6, seed: 1, patience: time.Minute}

func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, m)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M) (code int, err error) {
	if err := readSizes(); err != nil {
		return 1, err
	}
	if root, err = controlplane.RepositoryRoot(); err != nil {
		return 1, err
	}
	dir := os.Getenv("E2E_DIR")
	if dir == "" {
		if dir, err = os.MkdirTemp("", "e2e-"); err != nil {
			return 1, err
		}
		defer func() {
			if code == 0 && err == nil {
				os.RemoveAll(dir)
			}
		}()
	}
	if planes, err = newPool(ctx, dir); err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := planes.stop(); err == nil {
			err = stopErr
		}
		if code == 0 && err == nil {
			err = planes.removeStores()
		}
	}()
	interrupted := context.AfterFunc(ctx, func() { // no test will end by itself any more
		planes.stop()
		os.Exit(130)
	})
	defer interrupted()
	fmt.Printf("e2e: seed %d, %d pods, %d kills, %d steps, %d faults; %d control planes, with logs in %s/plane-*/logs\n",
		sizes.seed, sizes.pods, sizes.kills, sizes.steps, sizes.faults, planes.limit, dir)
	// Who waits for a control plane takes no turn of go test's: the pool is the limit.
	if err := flag.Set("test.parallel", "1000"); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func readSizes() error {
	if os.Getenv("E2E_FULL") == "1" {
		sizes.pods, sizes.kills, sizes.steps, sizes.faults, sizes.quotaPods, sizes.crowd, sizes.planes = 2000, 25, 400, 1000, 5000, 10_000, 2
	}
	for name, target := range map[string]*int{"E2E_PODS": &sizes.pods, "E2E_KILLS": &sizes.kills, "E2E_STEPS": &sizes.steps, "E2E_FAULTS": &sizes.faults,
		"E2E_QUOTA_PODS": &sizes.quotaPods, "E2E_CROWD": &sizes.crowd, "E2E_PLANES": &sizes.planes} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return fmt.Errorf("%s=%q: want a number greater than 0", name, text)
			}
			*target = n
		}
	}
	if text := os.Getenv("E2E_LEASE"); text != "" {
		if err := setLease(text); err != nil {
			return err
		}
	}
	if text := os.Getenv("E2E_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("E2E_SEED=%q: %w", text, err)
		}
		sizes.seed = seed
	}
	return nil
}
