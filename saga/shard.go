package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataset"
)

// Shards: data of which each rank has only the rows and edges of its own vertices (dataset.Shard). The order of
// vertices and the number of intervals are those for which the shards were made.

var errRanksOfEdges = errors.New("saga: the model numbers the edges of a vertex, as drop-out of edges does; shards cannot")

// sharded sets the fields of c that data in shards determines. The error says why the run cannot use the shards.
func (c *Config) sharded(d *dataset.Data, m *Model, output string) error {
	x := d.Shard
	if x == nil {
		return nil
	}
	p := x.Stats.P
	switch {
	case c.devices() != x.Owners:
		return fmt.Errorf("saga: %s is in shards for %d devices, and the run has %d (--owners %[2]d)", d.Name, x.Owners, c.devices())
	case c.Chunks != 0 && c.Chunks != p:
		return fmt.Errorf("saga: %s is in shards for %d intervals, not %d", d.Name, p, c.Chunks)
	case m.SelfLoops && !x.SelfLoops:
		return fmt.Errorf("saga: the model adds self loops, and the shards of %s were made without: saga data shard --self-loops", d.Name)
	case !m.SelfLoops && x.SelfLoops:
		return fmt.Errorf("saga: the shards of %s were made with self loops, which the model does not add", d.Name)
	case m.Task != "" && m.Task != VertexTask:
		return fmt.Errorf("saga: shards train labels of vertices, not of %s", m.Task.Plural())
	case output != "":
		return errors.New("saga: predictions are made on a whole graph, not on shards")
	}
	for _, w := range []string{"balance", "degree-sort"} {
		if c.without(w) {
			return fmt.Errorf("saga: shards have the vertices in their own order: not without %s", w)
		}
	}
	c.Chunks = p
	if !c.without("invariant") { // every rank would hold invariants of all vertices
		c.Without = append(slices.Clone(c.Without), "invariant")
	}
	return nil
}
