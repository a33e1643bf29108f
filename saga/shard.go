package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga/rows"
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
	p := x.Chunks
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
	case m.MeanLoops && m.SelfLoops:
		return errors.New("saga: the self loops of shards have numbers 0, and Model.MeanLoops is for means")
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

// shardGrid builds the cells of the rank's own intervals, of a graph or a relation in shards. Each direction is built from its own list of
// edges. All other cells are empty.
func shardGrid(in *rows.Inputs, want chunk.Want, build func(*chunk.Edges, chunk.Want) (*chunk.Grid, error)) (*chunk.Grid, error) {
	if want.Rank {
		return nil, errRanksOfEdges
	}
	grid := &chunk.Grid{Intervals: in.Data.Shard.Stats.Intervals}
	for _, out := range []bool{false, true} {
		if out && !want.CSR || !out && !want.CSC {
			continue
		}
		e, err := in.ShardEdges(out)
		if err != nil {
			return nil, err
		}
		one := want
		one.CSC, one.CSR = !out, out
		side, err := build(e, one)
		if err != nil {
			return nil, err
		}
		if out {
			grid.CSR = side.CSR
		} else {
			grid.CSC = side.CSC
		}
	}
	return grid, nil
}
