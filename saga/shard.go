package saga

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
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
		return fmt.Errorf("saga: shards train labels of vertices, not of %s", things[m.Task])
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

// edgeCount is the number of edges of the whole graph, with the self loops that the model adds.
func (in *inputs) edgeCount() int {
	if x := in.data.Shard; x != nil {
		return x.E
	}
	return in.edges.E()
}

// degrees are the in-degrees, or with out the out-degrees, of all vertices. Of shards they are right only for
// the rank's own vertices, unless they were shared.
func (in *inputs) degrees(out bool) ([]uint32, error) {
	switch {
	case in.shared[out] != nil:
		return in.shared[out], nil
	case in.data.Shard != nil:
		return in.data.Shard.Degrees(out)
	case out:
		return in.edges.OutDegrees(), nil
	}
	return in.edges.InDegrees(), nil
}

// inWeights are the sums of the weights of the in-edges of all vertices. Of shards they are right only for the rank's own
// vertices, unless they were shared.
func (in *inputs) inWeights() ([]float64, error) {
	if in.sums != nil {
		return in.sums, nil
	}
	sums := make([]float64, in.edges.V)
	if x := in.data.Shard; x == nil {
		in.edges.AddInWeights(sums)
	} else if err := x.AddInWeights(sums, in.oneLoop); err != nil {
		return nil, err
	}
	return sums, nil
}

// shardErr is the error, if any, of reading features from a shard.
func (in *inputs) shardErr() error {
	if in.data.Shard == nil {
		return nil
	}
	return in.data.Shard.Err()
}

// shardEdges are the edges into the rank's vertices, or with out those out of them; nil: none.
func (in *inputs) shardEdges(out bool) (*chunk.Edges, error) {
	e, err := in.data.Shard.Edges(out)
	if e != nil && in.oneLoop {
		e = e.OneLoop()
	}
	return e, err
}

// shardGrid builds the cells of the rank's own intervals. Each direction is built from its own list of edges.
// All other cells are empty.
func (p *Program) shardGrid(n int) (*chunk.Grid, error) {
	x, want := p.data.Shard, p.chosen.want
	if want.Rank {
		return nil, errRanksOfEdges
	}
	grid := &chunk.Grid{Intervals: x.Stats.Intervals}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	for _, out := range []bool{false, true} {
		if out && !want.CSR || !out && !want.CSC {
			continue
		}
		e, err := p.in.shardEdges(out)
		if err != nil {
			return nil, err
		}
		one := want
		one.CSC, one.CSR = !out, out
		g, err := memory.Build(e, x.Order, n, one)
		if err != nil {
			return nil, err
		}
		if out {
			grid.CSR = g.CSR
		} else {
			grid.CSC = g.CSC
		}
	}
	return grid, nil
}

// buildGrid builds the grid of n intervals in order o.
func (p *Program) buildGrid(o *chunk.Order, n int) (*chunk.Grid, error) {
	defer since(&p.stages.Grid, time.Now())
	if p.data.Shard != nil {
		return p.shardGrid(n)
	}
	memory := chunk.Memory{Scratch: device.Scratch, Fresh: device.Fresh}
	return memory.Build(p.in.edges, o, n, p.chosen.want)
}

// shareDegrees gives all ranks the in- and out-degrees and the sums of weights of all vertices, if batches read them. All
// ranks call it.
func (p *Program) shareDegrees() error {
	reads := map[string]bool{}
	for key := range p.train.low.Inputs {
		name, _, _ := strings.Cut(key, "@")
		reads[name] = true
	}
	for _, c := range []struct {
		name string
		out  bool
	}{{rsqrtDegree, false}, {"vertex:outdegree", true}} {
		if !reads[c.name] {
			continue
		}
		all, err := p.data.Shard.Degrees(c.out)
		if err = shareVertices(p, all, err); err != nil {
			return err
		}
		if p.in.shared == nil {
			p.in.shared = map[bool][]uint32{}
		}
		p.in.shared[c.out] = all
	}
	if !reads[rsqrtWeight] {
		return nil
	}
	all, err := p.in.inWeights()
	err = shareVertices(p, all, err)
	p.in.sums = all
	return err
}

// shareVertices has each rank give the others its values in all, which has one for every vertex. If a rank has an error,
// every rank returns one. All ranks call it.
func shareVertices[T uint32 | float64](p *Program, all []T, err error) error {
	x, g := p.data.Shard, p.cfg.Net
	if err := g.Agree("degrees", err); err != nil {
		return err
	}
	for r := range g.Ranks() {
		var mine []T
		x.EachVertex(r, func(v uint32) { mine = append(mine, all[v]) })
		if err := g.Bcast("degrees", wordsOf(mine), r); err != nil {
			return err
		}
		i := 0
		x.EachVertex(r, func(v uint32) { all[v], i = mine[i], i+1 })
	}
	return nil
}
