package parity

import (
	"context"
	"fmt"

	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	fwkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"k8s.io/apimachinery/pkg/runtime"
)

// spread is the framework's PodTopologySpread with the arguments of a case: the framework keeps this one, and the plugin inside is made anew for
// each case.
type spread struct {
	*podtopologyspread.PodTopologySpread
	create fwkruntime.PluginFactory
	handle fwk.Handle
}

// factory makes the plugin that the framework gets. create is upstream's.
func (s *spread) factory(create fwkruntime.PluginFactory) fwkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		s.create, s.handle = create, handle
		return s, s.make(ctx, args)
	}
}

// use takes the arguments; nil: upstream's defaults.
func (s *spread) use(ctx context.Context, args *configv1.PodTopologySpreadArgs) error {
	given := &configv1.PodTopologySpreadArgs{}
	if args != nil {
		given = args.DeepCopy()
	}
	scheme.Scheme.Default(given)
	var internal config.PodTopologySpreadArgs
	if err := scheme.Scheme.Convert(given, &internal, nil); err != nil {
		return fmt.Errorf("podTopologySpreadArgs: %w", err)
	}
	return s.make(ctx, &internal)
}

func (s *spread) make(ctx context.Context, args runtime.Object) error {
	made, err := s.create(ctx, args, s.handle)
	if err != nil {
		return fmt.Errorf("podTopologySpreadArgs: %w", err)
	}
	s.PodTopologySpread = made.(*podtopologyspread.PodTopologySpread)
	return nil
}
