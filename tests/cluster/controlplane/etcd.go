package controlplane

import (
	"context"
	"fmt"
)

// MarkerKey is written to etcd where a new revision is wanted that no API object has. It lies between /registry/minions/ and
// /registry/pods/, so that who watches that range in one stream sees it in its place.
const MarkerKey = "/registry/p-test-marker"

// Mark writes the marker and returns its revision: all that was written before has a smaller one.
func (c *ControlPlane) Mark(ctx context.Context) (int64, error) {
	written, err := c.store.Put(ctx, MarkerKey, "")
	if err != nil {
		return 0, fmt.Errorf("mark a revision in etcd: %w", err)
	}
	return written.Header.Revision, nil
}

// Compact makes etcd forget everything before now and returns the revision. Clients hardly notice by themselves: the API server
// serves watches and the pages of lists from its memory as far as that reaches. See Expire.
func (c *ControlPlane) Compact(ctx context.Context) (int64, error) {
	revision, err := c.Mark(ctx)
	if err != nil {
		return 0, err
	}
	if c.BeforeCompact != nil {
		if err := c.BeforeCompact(ctx, revision); err != nil {
			return 0, fmt.Errorf("before compaction at %d: %w", revision, err)
		}
	}
	if _, err := c.store.Compact(ctx, revision); err != nil {
		return 0, fmt.Errorf("compact etcd at %d: %w", revision, err)
	}
	return revision, nil
}

// Expire makes every client's place in the history too old: it stops the API server, moves etcd's revision on, compacts, and
// starts the server, which knows nothing older than its start. Every watch that resumes and every list that continues from
// before is told 410 Gone.
func (c *ControlPlane) Expire(ctx context.Context) (int64, error) {
	if err := c.StopAPIServer(); err != nil {
		return 0, err
	}
	revision, err := c.Compact(ctx)
	if err != nil {
		return 0, err
	}
	return revision, c.StartAPIServer(ctx)
}
