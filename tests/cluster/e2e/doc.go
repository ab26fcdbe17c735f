// Package e2e tests a scheduler's program against a real control plane: what pods and events look like to a user, and that no
// GPU is given twice, no rule across nodes is broken and no pod is lost when the scheduler is killed, the API server goes away, the past
// is compacted away, nodes change underneath, another scheduler binds to the same nodes, or the leader of two replicas is lost in any way.
//
// Each test is lent a control plane that it has to itself, on which other tests were before it; it has a namespace, nodes that its pods
// are confined to, and a scheduler process of its own. Several tests run at a time, each with its control plane. Each ends with the
// verdict of package history, which knows the API server's history and nothing else; and the scheduler must end well when it is told to, with
// nothing that a sanitizer has found. Tests wait for conditions in that history, never
// for time to pass.
//
// The scheduler is any program that takes `--config FILE --kubeconfig FILE`:
//
//	GPU_SCHEDULER_BIN        the program; default build/release/bin/gpu-scheduler
//	GPU_SCHEDULER_ARGS       more arguments, separated by blanks
//	GPU_SCHEDULER_IDENTITY   the user it is for the API server; default: the service account of manifests/base, which is applied first
//	E2E_FULL=1               the full sizes (2,000 pods, 25 kills, ...) instead of short ones
//	E2E_PODS, E2E_KILLS, E2E_STEPS, E2E_FAULTS, E2E_QUOTA_PODS, E2E_SEED   one size at a time
//	E2E_PLANES               how many control planes there are at a time, at most: 6, at full size 2; each takes 600 MB
//	E2E_LEASE                the lease of tests with two replicas, of which a third is left when a leader gives up: 9s
//	E2E_DIR                  keep data and logs here; default: a temporary directory, kept when a test fails
//
// kube-scheduler can be put in its place; which tests are about what it does not have is in tests/cluster/README.md:
//
//	GPU_SCHEDULER_BIN=build/cluster/bin/kube-scheduler GPU_SCHEDULER_ARGS=--secure-port=0 GPU_SCHEDULER_IDENTITY=system:kube-scheduler
package e2e
