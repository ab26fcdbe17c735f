package parity

import "context"

// Totals are the sums that kube-scheduler's framework makes of the scores, by node.
func (s *Scheduler) Totals(ctx context.Context, c *Case) (map[string]int64, error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	s, err := s.withArgs(ctx, c)
	if err != nil {
		return nil, err
	}
	nodes, err := s.show(c)
	if err != nil {
		return nil, err
	}
	a, err := s.filter(ctx, c, nodes)
	if err != nil || len(a.fits) == 0 {
		return map[string]int64{}, err
	}
	if status := s.framework.RunPreScorePlugins(ctx, a.state, &c.Pod, a.fits); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := s.framework.RunScorePlugins(ctx, a.state, &c.Pod, a.fits)
	totals := map[string]int64{}
	for _, node := range scores {
		totals[node.Name] = node.TotalScore
	}
	return totals, status.AsError()
}
