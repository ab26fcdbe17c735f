package parity

import (
	"cmp"
	"maps"
	"slices"
)

// tree is a case as decoded JSON.
type tree map[string]any

// path leads to a part of a tree: keys of objects (string) and places in lists (int).
type path []any

// objectsOf are the objects of the cluster, each as a whole, without their fields.
func objectsOf(t tree) []path {
	var found []path
	for _, list := range []string{"pods", "nodes", "namespaces", "persistentVolumes", "persistentVolumeClaims", "storageClasses", "csiNodes",
		"csiDrivers", "csiStorageCapacities", "volumeAttachments", "services", "replicationControllers", "replicaSets", "statefulSets"} {
		items, _ := t[list].([]any)
		for i := range items {
			found = append(found, path{list, i})
		}
	}
	return found
}

// partsOf are all objects, and every field and list item of nodes, pods and namespaces, the largest first. A volume or claim without one of
// its fields is none that a cluster could have, so they go as a whole.
func partsOf(t tree) []path {
	found := objectsOf(t)
	for _, key := range []string{"nodes", "pods", "namespaces"} {
		items, _ := t[key].([]any)
		for i, item := range items {
			found = appendParts(found, path{key, i}, item)
		}
	}
	found = appendParts(found, path{"pod"}, t["pod"])
	configs, _ := t["pluginConfig"].([]any)
	for i, config := range configs {
		found = appendParts(append(found, path{"pluginConfig", i}), path{"pluginConfig", i, "args"}, config.(map[string]any)["args"])
	}
	sizes := map[int][]path{}
	for _, part := range found {
		size := sizeOf(at(t, part))
		sizes[size] = append(sizes[size], part)
	}
	largest := slices.SortedFunc(maps.Keys(sizes), func(a, b int) int { return cmp.Compare(b, a) })
	found = found[:0]
	for _, size := range largest {
		found = append(found, sizes[size]...)
	}
	return found
}

func appendParts(found []path, from path, value any) []path {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			part := append(slices.Clone(from), key)
			found = appendParts(append(found, part), part, value[key])
		}
	case []any:
		for i, item := range value {
			part := append(slices.Clone(from), i)
			found = appendParts(append(found, part), part, item)
		}
	}
	return found
}

func at(t tree, part path) any {
	var now any = map[string]any(t)
	for _, step := range part {
		switch step := step.(type) {
		case string:
			now = now.(map[string]any)[step]
		case int:
			now = now.([]any)[step]
		}
	}
	return now
}

func sizeOf(value any) int {
	size := 1
	switch value := value.(type) {
	case map[string]any:
		for _, item := range value {
			size += sizeOf(item)
		}
	case []any:
		for _, item := range value {
			size += sizeOf(item)
		}
	}
	return size
}

// without is a copy that lacks the parts.
func (t tree) without(parts ...path) tree {
	steps := make([]path, len(parts))
	copy(steps, parts)
	return tree(without(map[string]any(t), steps).(map[string]any))
}

func without(value any, parts []path) any {
	switch value := value.(type) {
	case map[string]any:
		copied := map[string]any{}
		for key, item := range value {
			if inside, gone := below(parts, key); !gone {
				copied[key] = without(item, inside)
			}
		}
		return copied
	case []any:
		copied := []any{}
		for i, item := range value {
			if inside, gone := below(parts, i); !gone {
				copied = append(copied, without(item, inside))
			}
		}
		return copied
	}
	return value
}

// below are the rests of the parts that begin with that step; gone: one of them ends with it.
func below(parts []path, step any) (inside []path, gone bool) {
	for _, part := range parts {
		if part[0] != step {
			continue
		}
		if len(part) == 1 {
			return nil, true
		}
		inside = append(inside, part[1:])
	}
	return inside, false
}
