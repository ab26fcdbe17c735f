package history

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// GpuQuota is the custom resource, as far as it is judged. The rules are those of its documentation (scheduler/quota/README.md), worked
// out here from the objects alone and in exact fractions.
type GpuQuota struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              GpuQuotaSpec `json:"spec"`
}

// GpuQuotaSpec is its spec.
type GpuQuotaSpec struct {
	Namespaces        []string              `json:"namespaces"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
	Cohort            string                `json:"cohort"`
	Parent            string                `json:"parent"`
	Order             string                `json:"order"`
	MaxGPUsPerPod     *resource.Quantity    `json:"maxGpusPerPod"`
	Quotas            []GpuQuotaLine        `json:"quotas"`
}

// GpuQuotaLine is what it says of one type of GPU.
type GpuQuotaLine struct {
	GPUType    string             `json:"gpuType"`
	Guaranteed resource.Quantity  `json:"guaranteed"`
	Limit      *resource.Quantity `json:"limit"`
	Lendable   *resource.Quantity `json:"lendable"`
}

func (q *GpuQuota) claims(namespace string, has labels.Set) bool {
	if slices.Contains(q.Spec.Namespaces, namespace) {
		return true
	}
	if q.Spec.NamespaceSelector == nil || has == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(q.Spec.NamespaceSelector)
	return err == nil && selector.Matches(has)
}

// lineFor is the index of the line that GPUs of a product are charged to: its own, else its class's (the one that says most), else that of
// all others; -1 if none.
func (q *GpuQuota) lineFor(product string) int {
	line, most := -1, -1
	for i, l := range q.Spec.Quotas {
		if says := l.saysOf(product); says > most {
			line, most = i, says
		}
	}
	return line
}

var classMemory = regexp.MustCompile(`^\d+GB$`)

// saysOf is how much a line's type says of a product that it takes: 0 for "*", which takes all; the number of its words for a class, H100 or
// H100-80GB, if they are all in the product's name; more for the product itself. -1: it does not take the product.
func (l GpuQuotaLine) saysOf(product string) int {
	switch {
	case l.GPUType == "*":
		return 0
	case product == "":
		return -1
	case l.GPUType == product:
		return 3
	}
	words, class := strings.Split(product, "-"), strings.Split(l.GPUType, "-")
	if len(class) > 2 || len(class) == 2 && !classMemory.MatchString(class[1]) {
		return -1
	}
	for _, word := range class {
		if !slices.Contains(words, word) {
			return -1
		}
	}
	return len(class)
}

func (l GpuQuotaLine) lendable() *big.Rat {
	if l.Lendable == nil {
		return rat(l.Guaranteed)
	}
	return rat(*l.Lendable)
}

func rat(q resource.Quantity) *big.Rat {
	exact, _ := new(big.Rat).SetString(q.AsDec().String())
	return exact
}

// quotaBook is what the quotas and namespaces say at one revision. It is not changed once it is used.
type quotaBook struct {
	quotas     []*GpuQuota           // the oldest first
	namespaces map[string]labels.Set // by name
	defaults   map[string]string     // by namespace: the scheduler's defaultQuota, where it is not Unlimited (Judge.DefaultQuota)
}

// nothing is what a namespace has that no quota claims, where the default is None or a quota that is not there.
var nothing = &GpuQuota{}

// with is the book with one quota replaced, or taken out.
func (b *quotaBook) with(name string, q *GpuQuota) *quotaBook {
	next := &quotaBook{namespaces: b.namespaces, defaults: b.defaults}
	for _, old := range b.quotas {
		if old.Name != name {
			next.quotas = append(next.quotas, old)
		}
	}
	if q != nil {
		next.quotas = append(next.quotas, q)
	}
	slices.SortStableFunc(next.quotas, func(a, b *GpuQuota) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return next
}

// withNamespace is the book with one namespace's labels replaced; nil takes it out.
func (b *quotaBook) withNamespace(name string, has labels.Set) *quotaBook {
	next := &quotaBook{quotas: b.quotas, namespaces: map[string]labels.Set{}, defaults: b.defaults}
	for other, set := range b.namespaces {
		next.namespaces[other] = set
	}
	delete(next.namespaces, name)
	if has != nil {
		next.namespaces[name] = has
	}
	return next
}

// withDefault is the book with what holds for a namespace that no quota claims.
func (b *quotaBook) withDefault(namespace, defaultQuota string) *quotaBook {
	next := *b
	next.defaults = maps.Clone(b.defaults)
	if next.defaults == nil {
		next.defaults = map[string]string{}
	}
	next.defaults[namespace] = defaultQuota
	return &next
}

// of is the quota that a namespace belongs to: the oldest that claims it, else the default; nil if nothing limits it.
func (b *quotaBook) of(namespace string) *GpuQuota {
	for _, q := range b.quotas {
		if q.claims(namespace, b.namespaces[namespace]) {
			return q
		}
	}
	name, limited := b.defaults[namespace]
	if !limited {
		return nil
	}
	if i := slices.IndexFunc(b.quotas, func(q *GpuQuota) bool { return q.Name == name }); i >= 0 {
		return b.quotas[i]
	}
	return nothing
}

// account is what is used of every line, by the quota's name and the line's index. What is charged to no line is at -1.
type account map[string]map[int]*big.Rat

func (a account) used(quota string, line int) *big.Rat {
	if used := a[quota][line]; used != nil {
		return used
	}
	return new(big.Rat)
}

func (a account) charge(quota string, line int, amount *big.Rat) {
	if a[quota] == nil {
		a[quota] = map[int]*big.Rat{}
	}
	a[quota][line] = new(big.Rat).Add(a.used(quota, line), amount)
}

// account adds up what all pods on all nodes take. Pods in `without`, by uid, are left out.
func (b *quotaBook) account(nodes map[string]*nodeState, without map[string]bool) account {
	sum := account{}
	for _, n := range nodes {
		for uid, p := range n.pods {
			if without[string(uid)] {
				continue
			}
			if q, line, amount := b.chargeOf(p, n); q != nil {
				sum.charge(q.Name, line, amount)
			}
		}
	}
	return sum
}

// chargeOf is what a pod on a node is charged, and to which line; a nil quota if it is not charged at all.
func (b *quotaBook) chargeOf(p *podState, n *nodeState) (*GpuQuota, int, *big.Rat) {
	if !asksForGPUs(p.requests) {
		return nil, 0, nil
	}
	q := b.of(p.pod.Namespace)
	if q == nil {
		return nil, 0, nil
	}
	return q, q.lineFor(p.productOn(n)), gpuShare(p.requests, n.node)
}

// objection says which rule a pod on a node breaks, being counted in the account already; "" if none.
func (b *quotaBook) objection(p *podState, n *nodeState, sum account) string {
	q, line, amount := b.chargeOf(p, n)
	if q == nil {
		return ""
	}
	if q == nothing {
		return "the namespace has no quota, and by default there are no GPUs without one"
	}
	if most := q.Spec.MaxGPUsPerPod; most != nil && amount.Cmp(rat(*most)) > 0 {
		return fmt.Sprintf("quota %s: %s GPUs in one pod, at most %s", q.Name, text(amount), most.String())
	}
	if line < 0 {
		return fmt.Sprintf("quota %s: no line for GPUs of type %q", q.Name, p.productOn(n))
	}
	return b.beyond(q, line, sum)
}

// beyond says which bound of a line, or of those that it is a part of, the account breaks; "" if none.
func (b *quotaBook) beyond(q *GpuQuota, line int, sum account) string {
	used := b.uses(q, line, sum)
	within := used.Cmp(rat(q.Spec.Quotas[line].Guaranteed)) <= 0
	if limit := b.limit(q, line); !within && used.Cmp(limit) > 0 {
		return fmt.Sprintf("quota %s: %s: %s used of %s", q.Name, q.Spec.Quotas[line].GPUType, text(used), text(limit))
	}
	if q.Spec.Parent != "" {
		parent, above := b.above(q, line)
		switch {
		case parent == nil:
			return fmt.Sprintf("quota %s is in %s, which is not there or has no line for %s", q.Name, q.Spec.Parent, q.Spec.Quotas[line].GPUType)
		case !within:
			return b.beyond(parent, above, sum)
		}
		// A quota that takes its guarantee back passes what the parent guarantees, not what it may use.
		for ; parent != nil; parent, above = b.above(parent, above) {
			if limit := parent.Spec.Quotas[above].Limit; limit != nil && b.uses(parent, above, sum).Cmp(rat(*limit)) > 0 {
				return fmt.Sprintf("quota %s: %s used of its limit, %s", parent.Name, text(b.uses(parent, above, sum)), limit)
			}
		}
		return ""
	}
	if within {
		return ""
	}
	if borrowed, lent := b.pool(q, line, sum); borrowed.Cmp(lent) > 0 {
		return fmt.Sprintf("cohort %s: %s: %s borrowed, %s to lend", q.Spec.Cohort, q.Spec.Quotas[line].GPUType, text(borrowed), text(lent))
	}
	return ""
}

// limit is the most that a line may use: what it says, or the guarantee and all that the others of its cohort may lend.
func (b *quotaBook) limit(q *GpuQuota, line int) *big.Rat {
	l := q.Spec.Quotas[line]
	if l.Limit != nil {
		return rat(*l.Limit)
	}
	sum := rat(l.Guaranteed)
	if parent, above := b.above(q, line); parent != nil {
		sum = new(big.Rat).Set(b.limit(parent, above))
		b.eachInLine(parent, above, func(other *GpuQuota, i int) {
			if other != q || i != line {
				sum.Sub(sum, new(big.Rat).Sub(rat(other.Spec.Quotas[i].Guaranteed), other.Spec.Quotas[i].lendable()))
			}
		})
		return sum
	}
	b.eachInPool(q, line, func(other *GpuQuota, i int) {
		if other != q {
			sum.Add(sum, other.Spec.Quotas[i].lendable())
		}
	})
	return sum
}

// pool is what the cohort borrows of a type, and what it has to lend: of each guarantee what is unused, as far as it is lendable.
func (b *quotaBook) pool(q *GpuQuota, line int, sum account) (borrowed, toLend *big.Rat) {
	borrowed, toLend = new(big.Rat), new(big.Rat)
	b.eachInPool(q, line, func(other *GpuQuota, i int) {
		l := other.Spec.Quotas[i]
		used, guaranteed := b.uses(other, i, sum), rat(l.Guaranteed)
		if used.Cmp(guaranteed) > 0 {
			borrowed.Add(borrowed, new(big.Rat).Sub(used, guaranteed))
			return
		}
		idle := new(big.Rat).Sub(guaranteed, used)
		if lendable := l.lendable(); lendable.Cmp(idle) < 0 {
			idle = lendable
		}
		toLend.Add(toLend, idle)
	})
	return borrowed, toLend
}

// eachInPool visits the lines that lend to each other: those of one type in one cohort; without a cohort only the line itself.
func (b *quotaBook) eachInPool(q *GpuQuota, line int, visit func(*GpuQuota, int)) {
	for _, other := range b.quotas {
		if other != q && (q.Spec.Cohort == "" || other.Spec.Cohort != q.Spec.Cohort) {
			continue
		}
		for i, l := range other.Spec.Quotas {
			if l.GPUType == q.Spec.Quotas[line].GPUType {
				visit(other, i)
			}
		}
	}
}

// above is the quota that q is in, and the line of it that one of q's is a part of: that of the same type, else of one that includes it. nil:
// there is none.
func (b *quotaBook) above(q *GpuQuota, line int) (*GpuQuota, int) {
	at := slices.IndexFunc(b.quotas, func(other *GpuQuota) bool { return q.Spec.Parent != "" && other.Name == q.Spec.Parent })
	if at < 0 {
		return nil, -1
	}
	parent, kind := b.quotas[at], q.Spec.Quotas[line].GPUType
	if same := slices.IndexFunc(parent.Spec.Quotas, func(l GpuQuotaLine) bool { return l.GPUType == kind }); same >= 0 {
		return parent, same
	}
	if kind == "*" {
		kind = ""
	}
	if above := parent.lineFor(kind); above >= 0 {
		return parent, above
	}
	return nil, -1
}

// eachInLine visits the lines that are parts of a parent's line.
func (b *quotaBook) eachInLine(parent *GpuQuota, line int, visit func(*GpuQuota, int)) {
	for _, other := range b.quotas {
		if other.Spec.Parent != parent.Name {
			continue
		}
		for i := range other.Spec.Quotas {
			if p, above := b.above(other, i); p == parent && above == line {
				visit(other, i)
			}
		}
	}
}

// uses is what counts as used of a line: what its pods use, and what the lines that are parts of it claim, which is what they use and what they
// keep of their guarantees for themselves.
func (b *quotaBook) uses(q *GpuQuota, line int, sum account) *big.Rat {
	used := new(big.Rat).Set(sum.used(q.Name, line))
	b.eachInLine(q, line, func(child *GpuQuota, i int) {
		l := child.Spec.Quotas[i]
		uses, guaranteed := b.uses(child, i, sum), rat(l.Guaranteed)
		used.Add(used, uses)
		if idle := new(big.Rat).Sub(guaranteed, uses); idle.Sign() > 0 {
			if kept := new(big.Rat).Sub(idle, l.lendable()); kept.Sign() > 0 {
				used.Add(used, kept)
			}
		}
	})
	return used
}

// text is a fraction as people write it.
func text(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.FloatString(3)
}
