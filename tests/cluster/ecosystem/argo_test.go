package ecosystem

import (
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
)

// TestArgoWorkflow: the Workflow of the examples, with Argo's controller. Of three steps with GPUs two run, as the quota has room for no more; when one has ended, the
// third runs. The steps without GPU keep off the GPU nodes. When all have ended, the Workflow has.
func TestArgoWorkflow(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("create", "configmap", "workflow-controller-configmap", "--from-literal=config=metricsConfig: {enabled: false}")
	argo := p.startDefined("argo", []string{"LEADER_ELECTION_DISABLE=true"}, []string{"--executor-image=quay.io/argoproj/argoexec:v4.0.5"},
		func() (bool, string) { return true, "" })
	t.Cleanup(argo.Kill) // it does not end at SIGTERM
	p.runScheduler("--secure-port=0")
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
	p.kubectl("apply", "-f", example("workloads/argo-workflow.yaml"))

	const pipelines, training = "pipelines", "step=train"
	p.end(p.waitRunning(pipelines, "step=prepare", 1, "node-")...)
	running := p.waitRunning(pipelines, training, 2, "gpu-0")
	waiting := p.waitWaiting(pipelines, training, 1, "GpuQuotaExceeded", "quota pipelines: * needs 2, 4 of 4 in use")
	p.end(running[0])
	running = p.waitRunning(pipelines, training, 2, "gpu-0")
	if running[0].Name != waiting[0].Name && running[1].Name != waiting[0].Name {
		t.Errorf("%s waited, and %s and %s run", waiting[0].Name, running[0].Name, running[1].Name)
	}
	p.end(running...)
	p.end(p.waitRunning(pipelines, "step=report", 1, "node-")...)
	p.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "workflow/train-and-report", "-n", pipelines, "--timeout=120s")
}
