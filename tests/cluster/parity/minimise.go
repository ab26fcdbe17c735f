package parity

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gpu-scheduler.io/tests/cluster/parity/stored"
)

// Asker is what answers cases: Bench, or a stand-in.
type Asker interface {
	Ask(ctx context.Context, cases [][]byte) (Reply, error)
}

// Minimiser makes a case on which kube-scheduler and the program under test differ small: it takes away pods, nodes, labels, terms and whatever
// else can go while the same kind of difference (Difference.Kind) stays and the API server would still store the pods and nodes.
//
// It takes many things away one by one, has all those cases answered at once, and then takes away as many as it can together, until nothing can
// go any more.
type Minimiser struct {
	Scheduler *Scheduler
	Program   Asker
}

// Minimise gives a smaller case, with kube-scheduler's answer to it. One that does not differ is an error.
func (m Minimiser) Minimise(ctx context.Context, c *Case) (*Case, error) {
	bare := *c
	bare.Answer = Answer{}
	line, err := bare.Encode()
	if err != nil {
		return nil, err
	}
	var now tree
	if err := json.Unmarshal(line, &now); err != nil {
		return nil, err
	}
	kind, err := m.kind(ctx, now)
	if err != nil {
		return nil, err
	}
	// Whole pods and nodes go first: that leaves little of which every part is tried.
	for _, parts := range []func(tree) []path{objectsOf, partsOf} {
		if now, err = m.strip(ctx, now, kind, parts); err != nil {
			return nil, err
		}
	}
	smallest, _, err := m.answer(ctx, now)
	return smallest, err
}

// kind of the first difference, of a node if there is one.
func (m Minimiser) kind(ctx context.Context, of tree) (string, error) {
	c, line, err := m.answer(ctx, of)
	if err != nil {
		return "", err
	}
	reply, err := m.Program.Ask(ctx, [][]byte{line})
	if err != nil {
		return "", err
	}
	found := Differences(c.Answer, reply.Answers[0])
	if len(found) == 0 || !reply.Differs[0] {
		return "", fmt.Errorf("%s: the answers do not differ", c.ID)
	}
	return found[0].Kind(), nil
}

// strip takes away what can go of the parts, again and again.
func (m Minimiser) strip(ctx context.Context, now tree, kind string, parts func(tree) []path) (tree, error) {
	for {
		var single []tree
		candidates := parts(now)
		for _, part := range candidates {
			single = append(single, now.without(part))
		}
		differs, err := m.stillDiffer(ctx, single, kind)
		if err != nil {
			return now, err
		}
		var removable []path
		for i, part := range candidates {
			if differs[i] {
				removable = append(removable, part)
			}
		}
		if len(removable) == 0 {
			return now, nil
		}
		// One of them can go; of all, half, a quarter … of them together the most are taken.
		var together []tree
		for some := len(removable); some > 0; some /= 2 {
			together = append(together, now.without(removable[:some]...))
		}
		if differs, err = m.stillDiffer(ctx, together, kind); err != nil {
			return now, err
		}
		now = together[slices.Index(differs, true)]
	}
}

// stillDiffer says of each whether it is legal and differs in the same kind.
func (m Minimiser) stillDiffer(ctx context.Context, all []tree, kind string) ([]bool, error) {
	differs := make([]bool, len(all))
	var cases []*Case
	var lines [][]byte
	var at []int
	for i, one := range all {
		c, line, err := m.answer(ctx, one)
		if err != nil {
			continue // nothing that there could be
		}
		cases, lines, at = append(cases, c), append(lines, line), append(at, i)
	}
	if len(cases) == 0 {
		return differs, ctx.Err()
	}
	reply, err := m.Program.Ask(ctx, lines)
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		differs[at[i]] = reply.Differs[i] && slices.ContainsFunc(Differences(c.Answer, reply.Answers[i]),
			func(d Difference) bool { return d.Kind() == kind })
	}
	return differs, nil
}

// answer makes a case of it, with kube-scheduler's answer. An error is what makes it no case.
func (m Minimiser) answer(ctx context.Context, of tree) (*Case, []byte, error) {
	line, err := json.Marshal(of)
	if err != nil {
		return nil, nil, err
	}
	c, err := Decode(line)
	if err != nil {
		return nil, nil, err
	}
	if err := legal(c); err != nil {
		return nil, nil, err
	}
	if c.Answer, err = m.Scheduler.Answer(ctx, c); err != nil {
		return nil, nil, err
	}
	line, err = c.Encode()
	return c, line, err
}

func legal(c *Case) error {
	for i := range c.Nodes {
		if err := stored.CheckNode(&c.Nodes[i]); err != nil {
			return err
		}
	}
	for i := range c.Pods {
		if err := stored.CheckPod(&c.Pods[i]); err != nil {
			return err
		}
	}
	return stored.CheckPod(&c.Pod)
}
