// Package lockstep has kube-scheduler and gpu-scheduler decide about the same pods, live and side by side.
//
// The same objects stand before two API servers. Behind one is kube-scheduler with its default profile, behind the other gpu-scheduler with
// a policy that is to decide alike (manifests/policies/kube-scheduler.yaml). One pod at a time is created at both. When each has been bound, or has
// the condition that says why not, the answers are compared (compare.go):
//
//   - kube-scheduler bound it: its node must be among those that gpu-scheduler scores highest, as the live process answers at /candidates.
//   - it waits: it must wait at both, for the same reason, with kube-scheduler's sentence at the begin of gpu-scheduler's message.
//
// Between pods both clusters change alike (churn.go), by a seed. Some of the pods that wait stay while that happens, one at a time, and must start at both or at
// neither (waiting.go). Several at a time would race for the same room: the order in which schedulers try them again is their own.
//
// # The same choice at both
//
// Of several nodes that score the same each scheduler takes any. So that the clusters stay the same, and a seed gives the same run again, one of them is
// drawn, once kube-scheduler's choice was found to be among them. Where a scheduler took another, its pod is deleted and created again with
// spec.nodeName (place.go). Nothing then depends on what is seen when: a watch shows the deletion, the pod on its node and the next pod in this
// order. To bind the pod by hand instead would race with the scheduler, and a pod that one node alone can take would no longer be a question.
// Where the two differ, kube-scheduler's choice holds.
//
// # What was seen
//
// Watches of nodes and of namespaces do not wait for that of pods, so a scheduler may see a pod before the change that came before it. After such changes a pod
// is created that only a scheduler that has seen them can place (barrier.go); when both have bound it, the next pod comes.
//
// # What it does not do
//
// There are no volumes, no Services and ReplicaSets (for the default spread constraints), no preemption (all pods have preemptionPolicy Never) and no
// kubelets. Of pods with pod-level requests the score is not compared, which kube-scheduler 1.36 takes from the containers alone (parity/README.md); that
// its node is one that takes the pod, is.
package lockstep
