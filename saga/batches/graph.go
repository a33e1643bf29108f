package batches

import (
	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/sample"
)

// Graph is a graph that is open for drawing. Several programs may share one.
type Graph struct {
	Rows  *sample.Graph // in-edges of all vertices, or of the rank's vertices
	shard *shardPart    // nil: each rank has the whole graph

	relations []*sample.Graph // of several relations, in place of Rows
}

// Over is a graph whose rows are sorted already; nil if rows is nil.
func Over(rows *sample.Graph) *Graph {
	if rows == nil {
		return nil
	}
	return &Graph{Rows: rows}
}

// open opens the graph of the data of j. With shards all ranks call it.
func open(j *Job) (*Graph, error) {
	if j.Kinds != nil {
		return openKinds(j.Kinds)
	}
	if j.In.Data.Shard == nil {
		rows, err := sample.NewGraph(j.In.Edges)
		return &Graph{Rows: rows}, err
	}
	k, err := openShard(j)
	if err = j.Net.Agree("shards", err); err != nil {
		return nil, err
	}
	return &Graph{Rows: k.graph, shard: k}, nil
}

// relation is the rows of relation r.
func (g *Graph) relation(r int) *sample.Graph {
	if g.relations != nil {
		return g.relations[r]
	}
	return g.Rows
}

// all are the rows of all relations.
func (g *Graph) all() []*sample.Graph {
	if g.relations != nil {
		return g.relations
	}
	return []*sample.Graph{g.Rows}
}

// Bytes is the memory that the rows take.
func (g *Graph) Bytes() (n int64) {
	for _, x := range g.all() {
		n += x.Bytes()
	}
	return n
}

// shardPart is a rank's part of a graph in shards.
type shardPart struct {
	shard    *dataset.Shard
	graph    *sample.Graph // rows of the rank's vertices
	edges    *chunk.Edges  // weights, types and data of their edges
	place    []uint32      // by vertex of the rank: its row in features
	features []float32
	file     *device.HostFile // the file that features are mapped from; nil: they are in memory
	cols     int              // features per vertex
}

// openShard reads the rank's shards. If host memory is bounded, the features go to a file in Job.Scratch.
func openShard(j *Job) (*shardPart, error) {
	in := j.In
	x := in.Data.Shard
	k := &shardPart{shard: x, cols: in.Data.FeatureCols, place: make([]uint32, x.Stats.V)}
	e, err := in.ShardEdges(false)
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = &chunk.Edges{V: x.Stats.V}
	}
	if k.graph, err = sample.NewGraph(e); err != nil {
		return nil, err
	}
	k.edges = &chunk.Edges{V: e.V, Weight: e.Weight, Type: e.Type, Types: e.Types, Data: e.Data, DataCols: e.DataCols}
	n := 0
	x.EachVertex(x.Mine(), func(v uint32) {
		k.place[v] = uint32(n)
		n++
	})
	if k.cols == 0 || in.Data.Late.Make == nil {
		return k, nil
	}
	if j.HostMem == 0 {
		k.features = make([]float32, n*k.cols)
	} else {
		if k.file, err = device.NewHostFile(j.Scratch, 4*int64(n)*int64(k.cols)); err != nil {
			return nil, err
		}
		k.features = device.View[float32](k.file.Bytes())
		defer device.Drop(k.file.Bytes())
	}
	in.Data.Late.Make(func(v int) []float32 { return k.features[int(k.place[v])*k.cols : int(k.place[v]+1)*k.cols] })
	return k, in.ShardErr()
}

// tenants lists what k holds in host memory, beside its graph.
func (k *shardPart) tenants() []plan.Tenant {
	numbers := 4 * int64(len(k.edges.Weight)+len(k.edges.Type)+len(k.edges.Data))
	return []plan.Tenant{
		{Name: "numbers of edges to draw", Bytes: numbers, Stays: true, From: plan.Whole, To: plan.Whole},
		{Name: "features of the rank's vertices", Bytes: 4 * int64(len(k.features)), Stays: k.file == nil, Disk: k.file != nil, From: plan.Whole, To: plan.Whole},
	}
}
