package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rules across nodes as a user meets them: a pod that they leave no node waits and says why in the words of kube-scheduler, and is placed once what
// stands in its way is gone. That no bind breaks a rule is the verdict's.

const hostname, zone = corev1.LabelHostname, corev1.LabelTopologyZone

func app(name string) fixture.PodOption { return fixture.Labelled("app", name) }

func apart(key, name string) fixture.PodOption { return fixture.Apart(fixture.Term(key, "app", name)) }

func together(key, name string) fixture.PodOption {
	return fixture.Together(fixture.Term(key, "app", name))
}

func spread(name string, minDomains int32) fixture.PodOption {
	return fixture.Spread(zone, 1, minDomains, "app", name)
}

// addZonedNode makes a node NAMESPACE-NAME in a zone.
func (w *world) addZonedNode(name, in string, options ...fixture.NodeOption) string {
	w.t.Helper()
	full := w.ns + "-" + name
	w.addNode(fixture.CPUNode(full, append([]fixture.NodeOption{fixture.Zone(in)}, options...)...))
	return full
}

// expectOn waits for a pod to be bound, and fails the test if it is not on one of the nodes. It returns which.
func (w *world) expectOn(pod string, nodes ...string) string {
	w.t.Helper()
	p := w.waitPod(pod, "bound", bound)
	for _, node := range nodes {
		if p.Spec.NodeName == node {
			return node
		}
	}
	w.t.Errorf("%s is on %q, want one of %q", pod, p.Spec.NodeName, nodes)
	return p.Spec.NodeName
}

// TestPodsKeepApart has pods that want a node without others of their kind, and a pod of another team that wants none of them beside it.
func TestPodsKeepApart(t *testing.T) {
	w := newWorld(t)
	team := w.beside(w.ns + "-team")
	quiet, other := w.addZonedNode("0", "a"), w.addZonedNode("1", "a")
	startSubject(t)
	team.addPod("quiet", fixture.On(hostname, quiet), fixture.Apart(fixture.InAllNamespaces(fixture.Term(hostname, "app", "web"))))
	team.expectOn("quiet", quiet)

	web := []fixture.PodOption{app("web"), apart(hostname, "web")}
	w.addPod("web-0", web...)
	w.expectOn("web-0", other)
	w.addPod("web-1", web...)
	w.waitRefused("web-1", "0/2 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) didn't satisfy existing pods anti-affinity rules.")
	team.deletePod("quiet")
	w.expectOn("web-1", quiet)

	w.addPod("web-2", web...)
	w.waitRefused("web-2", "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.")
	third := w.addZonedNode("2", "a")
	w.expectOn("web-2", third)

	w.addPod("web-3", web...)
	w.waitRefused("web-3", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.")
	w.changeLabel("web-0", "app", "retired") // it still wants no other beside it
	w.deletePod("web-0")
	w.expectOn("web-3", other)

	w.addPod("lonely", apart(zone, "loud"))
	w.waitPod("lonely", "bound", bound)
	w.addPod("loud", app("loud"))
	w.waitRefused("loud", "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules.")
	w.addPod("calm", app("calm"))
	w.expectOn("calm", quiet, other, third)
	far := w.addZonedNode("3", "b")
	w.expectOn("loud", far)
	w.addPod("lonely-too", apart(zone, "calm"), fixture.On(zone, "a"))
	w.waitRefused("lonely-too", "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) didn't match pod anti-affinity rules.")
	w.changeLabel("calm", "app", "silent")
	w.expectOn("lonely-too", quiet, other, third)
	w.verdict(of(team))
}

// TestPodsSpread has pods that are to be in all zones alike, and such as need three zones.
func TestPodsSpread(t *testing.T) {
	w := newWorld(t)
	w.addZonedNode("0", "a")
	w.addZonedNode("1", "a")
	inB := w.addZonedNode("2", "b", fixture.Allocatable("cpu", "1"))
	nowhere := w.ns + "-3"
	w.addNode(fixture.CPUNode(nowhere))
	startSubject(t)

	even := []fixture.PodOption{app("even"), spread("even", 0), fixture.Requests("cpu", "1")}
	for _, name := range []string{"even-0", "even-1", "even-2"} {
		w.addPod(name, even...)
		w.waitPod(name, "bound", bound)
	}
	if there := w.podsOn(inB); len(there) != 1 {
		t.Errorf("%q on the only node of zone b, want one pod", there)
	}
	w.addPod("even-3", even...)
	w.waitRefused("even-3", "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints (missing required label), "+
		"2 node(s) didn't match pod topology spread constraints.")
	w.changeNode(nowhere, func(n *corev1.Node) { n.Labels[zone] = "b" })
	w.expectOn("even-3", nowhere)

	wide := []fixture.PodOption{app("wide"), spread("wide", 3)}
	w.addPod("wide-0", wide...)
	w.addPod("wide-1", wide...)
	w.waitPod("wide-0", "bound", bound)
	w.waitPod("wide-1", "bound", bound)
	w.addPod("wide-2", wide...)
	w.waitRefused("wide-2", "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints.")
	inC := w.addZonedNode("4", "c")
	w.expectOn("wide-2", inC)

	w.addPod("even-4", even...)
	w.expectOn("even-4", inC) // zones a and b have two each
	w.addPod("even-5", even...)
	w.expectOn("even-5", inC)
	w.addPod("even-6", even...)
	w.waitPod("even-6", "bound", bound)
	w.verdict()
}

// TestPodsKeepTogether has pods that are to be with another one, and such as are to be with each other, of which one is the first.
func TestPodsKeepTogether(t *testing.T) {
	w := newWorld(t)
	nodes := map[string][]string{}
	for i, in := range []string{"a", "a", "b", "b"} {
		nodes[in] = append(nodes[in], w.addZonedNode(fmt.Sprint(i), in))
	}
	startSubject(t)
	w.addPod("follower", together(zone, "db"))
	w.waitRefused("follower", "0/4 nodes are available: 4 node(s) didn't match pod affinity rules.")
	w.addPod("db", app("db"), fixture.On(zone, "b"))
	w.expectOn("follower", nodes["b"]...)

	// Two of them fill a zone.
	ring := []fixture.PodOption{app("ring"), together(zone, "ring"), fixture.Requests("cpu", "20")}
	w.addPod("ring-0", ring...)
	in := "a"
	if first := w.waitPod("ring-0", "bound", bound).Spec.NodeName; first == nodes["b"][0] || first == nodes["b"][1] {
		in = "b"
	}
	w.addPod("ring-1", ring...)
	w.expectOn("ring-1", nodes[in]...)
	w.addPod("ring-2", ring...)
	w.waitRefused("ring-2", "0/4 nodes are available: 2 Insufficient cpu, 2 node(s) didn't match pod affinity rules.")
	w.deletePod("ring-0")
	w.expectOn("ring-2", nodes[in]...)
	w.verdict(explained(1, history.BindUnderWay)) // follower may land before db does
}

// TestPodsGoWhereTheirVolumesAre has a pod with a claim to a volume that can be used in one zone.
func TestPodsGoWhereTheirVolumesAre(t *testing.T) {
	w := newWorld(t)
	w.addZonedNode("0", "a")
	w.addBoundClaim("data", "b")
	startSubject(t)
	w.addPod("reader", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	w.waitRefused("reader", "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.")
	there := w.addZonedNode("1", "b")
	w.expectOn("reader", there)
	w.verdict()
}

// TestRefusedBindsLeaveANodeOut has a policy refuse the team's binds to one node. Its pod is tried there twice, and then elsewhere; others' pods go there
// as ever.
func TestRefusedBindsLeaveANodeOut(t *testing.T) {
	w := newWorld(t)
	team := w.beside(w.ns + "-team")
	closed := w.addZonedNode("0", "a")
	team.refuseBindsTo(closed)
	startSubject(t)
	team.addPod("visitor")
	team.waitPod("visitor", "told that the node is left out", func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && strings.Contains(c.Message, "The pod could not be bound to node "+closed+" 2 times, and the node is left out for it for 60 seconds")
	})
	w.addPod("resident")
	w.expectOn("resident", closed)
	open := w.addZonedNode("1", "a")
	team.expectOn("visitor", open)
	w.verdict(of(team))
}

// changeLabel writes a label of a pod.
func (w *world) changeLabel(pod, label, value string) {
	w.t.Helper()
	w.persist(func(ctx context.Context) error {
		p, err := w.client.CoreV1().Pods(w.ns).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Labels[label] = value
		_, err = w.client.CoreV1().Pods(w.ns).Update(ctx, p, metav1.UpdateOptions{})
		return err
	})
}

// addBoundClaim makes a claim and the volume that it is bound to, which nodes of one zone can use, as the volume controller leaves them.
func (w *world) addBoundClaim(name, in string) {
	w.t.Helper()
	class, size := "", corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, StorageClassName: class,
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: w.ns, Name: name},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{in}}},
			}}}},
		},
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: volume.Name, Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	w.must(w.client.CoreV1().PersistentVolumes().Create(w.t.Context(), volume, metav1.CreateOptions{}))
	w.t.Cleanup(func() { // the test's own context has ended
		if err := w.client.CoreV1().PersistentVolumes().Delete(context.Background(), volume.Name, metav1.DeleteOptions{}); err != nil {
			w.t.Errorf("clean up the volume: %v", err)
		}
	})
	w.must(w.client.CoreV1().PersistentVolumeClaims(w.ns).Create(w.t.Context(), claim, metav1.CreateOptions{}))
}

// refuseBindsTo has the API server refuse binds of the world's pods to a node, and returns when it does.
func (w *world) refuseBindsTo(node string) {
	w.t.Helper()
	policies, bindings := w.client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), w.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	fail := admissionregistrationv1.Fail
	w.must(policies.Create(w.t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.ns}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("object.target.name != %q", node), Message: "the node is not for this team",
			}},
		},
	}, metav1.CreateOptions{}))
	w.t.Cleanup(func() { w.cleanUp(policies.Delete(context.Background(), w.ns, metav1.DeleteOptions{})) })
	w.must(bindings.Create(w.t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: w.ns, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}))
	w.t.Cleanup(func() { w.cleanUp(bindings.Delete(context.Background(), w.ns, metav1.DeleteOptions{})) })
	until(w.t, "the policy to hold", func() bool {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		err := w.client.CoreV1().Pods(w.ns).Bind(ctx, binding, metav1.CreateOptions{})
		return err != nil && strings.Contains(err.Error(), "the node is not for this team")
	})
}

func (w *world) cleanUp(err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Errorf("clean up: %v", err)
	}
}
