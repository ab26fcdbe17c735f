package parity

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// profileWith is kube-scheduler's default profile without DynamicResources, with those arguments in place of its own.
func profileWith(given []configv1.PluginConfig) (*config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler's default configuration: %w", err)
	}
	profile := &defaults.Profiles[0]
	enabled := profile.Plugins.MultiPoint.Enabled
	profile.Plugins.MultiPoint.Enabled = nil
	for _, plugin := range enabled {
		if plugin.Name != names.DynamicResources {
			profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled, plugin)
		}
	}
	for _, one := range given {
		args, err := argsOf(one)
		if err != nil {
			return nil, err
		}
		for i := range profile.PluginConfig {
			if profile.PluginConfig[i].Name == one.Name {
				profile.PluginConfig[i].Args = args
			}
		}
	}
	return profile, nil
}

// argsOf reads a plugin's arguments as kube-scheduler does, with its defaults for what is not there.
func argsOf(one configv1.PluginConfig) (runtime.Object, error) {
	kind := configv1.SchemeGroupVersion.WithKind(one.Name + "Args")
	args, _, err := scheme.Codecs.UniversalDecoder().Decode(one.Args.Raw, &kind, nil)
	if err != nil {
		return nil, fmt.Errorf("pluginConfig: %s: %w", one.Name, err)
	}
	return args, nil
}

// noDeviceClass has no extended resource that a DRA driver provides.
type noDeviceClass struct{ fwk.SharedDRAManager }

func (noDeviceClass) DeviceClassResolver() fwk.DeviceClassResolver { return noDeviceClass{} }

func (noDeviceClass) GetDeviceClass(corev1.ResourceName) *resourcev1.DeviceClass { return nil }
