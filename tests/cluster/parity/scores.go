package parity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	fwkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Scores are what each score plugin gives a node, by plugin. One that says in PreScore that it has nothing to say of the pod is absent.
type Scores map[string]Score

// Score is a plugin's, on its way into the node's sum.
type Score struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"` // 0 to 100; the raw one where the plugin does not normalise
	Weighted   int64 `json:"weighted"`   // the normalised one times the plugin's weight in the profile; a node's sum is of these
}

// counts says whether both add the same to a node's sum; how they come about is not compared.
func (s Score) counts(like Score) bool {
	return s.Normalized == like.Normalized && s.Weighted == like.Weighted
}

// scorer is a score plugin of the profile.
type scorer struct {
	fwk.ScorePlugin
	weight int64
}

// captured makes the registry note each plugin that it makes: a framework shows the weighted scores of its plugins, not the raw ones.
func captured(registry fwkruntime.Registry, made map[string]fwk.Plugin) fwkruntime.Registry {
	noting := fwkruntime.Registry{}
	for name, create := range registry {
		noting[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			plugin, err := create(ctx, args, handle)
			made[name] = plugin
			return plugin, err
		}
	}
	return noting
}

func (s *Scheduler) findScorers(made map[string]fwk.Plugin) error {
	for _, enabled := range s.framework.ListPlugins().Score.Enabled {
		plugin, ok := made[enabled.Name].(fwk.ScorePlugin)
		if !ok {
			return fmt.Errorf("%s is enabled to score and is no score plugin", enabled.Name)
		}
		s.scorers = append(s.scorers, scorer{plugin, int64(enabled.Weight)})
	}
	return nil
}

// score does what RunScorePlugins of kube-scheduler's framework does, and keeps what is between. kube-scheduler does not score where a
// single node fits; here it is scored, too.
func (s *Scheduler) score(ctx context.Context, pod *corev1.Pod, a asked) (map[string]Scores, error) {
	if status := s.framework.RunPreScorePlugins(ctx, a.state, pod, a.fits); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores := map[string]Scores{}
	for _, node := range a.fits {
		scores[node.Node().Name] = Scores{}
	}
	for _, plugin := range s.scorers {
		if a.state.GetSkipScorePlugins().Has(plugin.Name()) {
			continue
		}
		raw := make(fwk.NodeScoreList, len(a.fits))
		for i, node := range a.fits {
			score, status := plugin.Score(ctx, a.state, pod, node)
			if !status.IsSuccess() {
				return nil, status.AsError()
			}
			raw[i] = fwk.NodeScore{Name: node.Node().Name, Score: score}
		}
		normalized := append(fwk.NodeScoreList(nil), raw...)
		if extensions := plugin.ScoreExtensions(); extensions != nil {
			if status := extensions.NormalizeScore(ctx, a.state, pod, normalized); !status.IsSuccess() {
				return nil, status.AsError()
			}
		}
		for i, score := range normalized {
			scores[score.Name][plugin.Name()] = Score{Raw: raw[i].Score, Normalized: score.Score, Weighted: score.Score * plugin.weight}
		}
	}
	return scores, nil
}
