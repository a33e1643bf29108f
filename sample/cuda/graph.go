package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"math"

	"sagann/device"
	"sagann/device/launch"
)

// Rows is a graph, and tables for draws by weight, on the host. Lists that the sampler does not need are
// nil. A row has the in-edges of a vertex, as in sample.Graph.
type Rows struct {
	Offsets []int64   // V+1
	Far     []uint32  // E
	Edge    []uint32  // E: edge numbers, for blocks
	Weight  []float32 // E
	Most    []float32 // V: the largest weight of each row
	Alias   []Alias   // E: alias tables of the rows
	Inverse []uint32  // E: prefix sums of the weights of each row, in units of 2⁻³² of the row's sum

	Drawable []uint32 // V: number of edges of each row with a weight above 0, for blocks by weight
}

// Alias is an entry of an alias table: a draw keeps the entry's place if a random word is below Cut, and
// else takes the place Other.
type Alias struct{ Cut, Other uint32 }

// Graph is a graph on a GPU.
type Graph struct {
	card     *launch.Card
	rows     Rows
	wide     bool
	vertices int
	edges    int

	offsets, far, ends, pairs, weight, most, table, drawable device.Mem

	rendered map[rendering]string // the sources that were drawn with
}

// Needs says which parts of a graph kernels read.
type Needs struct {
	Walks  bool // data for steps along edges
	Far    bool // a list of only the far ends, for searches in rows and for rows of any vertex
	Weight bool
	Pairs  bool // a list of far ends and edge numbers, in pairs, for blocks
	Wide   bool // edge entries that also hold the row of the far end: its begin and length
}

// Bytes is the GPU memory in bytes that a graph takes.
func (r *Rows) Bytes(n Needs) int64 {
	v, e := int64(len(r.Offsets)-1), int64(len(r.Far))
	sum := 4 * (v + 1)
	add := func(is bool, bytes int64) {
		if is {
			sum += bytes + device.Align
		}
	}
	far := n.Far || n.Walks && !n.Wide
	add(far, 4*e)
	add(n.Walks && n.Wide && r.Alias == nil, 16*e)
	add(n.Pairs, 8*e)
	add(n.Weight && r.Weight != nil, 4*e)
	add(r.Most != nil, 4*v)
	add(r.Alias != nil && !n.Wide, 8*e)
	add(r.Alias != nil && n.Wide, 32*e)
	add(r.Inverse != nil, 4*e)
	add(r.Drawable != nil, 4*v)
	return sum + 16*device.Align
}

// Upload copies a graph to a GPU. It does not read the lists of r after it has returned.
func Upload(gpu device.GPU, r Rows, n Needs) (*Graph, error) {
	g := &Graph{card: &launch.Card{GPU: gpu}, rows: r, wide: n.Wide, vertices: len(r.Offsets) - 1, edges: len(r.Far)}
	err := g.upload(n)
	if err = errors.Join(err, gpu.Sync()); err != nil {
		return nil, errors.Join(err, g.Free())
	}
	g.rows = Rows{}
	return g, nil
}

func (g *Graph) upload(n Needs) (err error) {
	r := &g.rows
	if int64(g.vertices) >= 1<<32-1 {
		return fmt.Errorf("a graph of %d vertices: the kernels take fewer than 4294967295", g.vertices)
	}
	if g.card.Queue, err = device.NewUrgentQueue(g.card.GPU, "sample"); err != nil {
		return err
	}
	g.card.Queue.SetTag(math.MinInt64) // no task of a plan
	offsets := make([]uint32, len(r.Offsets))
	for i, o := range r.Offsets {
		offsets[i] = uint32(o)
	}
	if g.offsets, err = launch.Put(g.card, offsets); err != nil {
		return err
	}
	alone := n.Far || n.Walks && !n.Wide
	var far device.Mem
	if alone || n.Wide && n.Walks || n.Pairs {
		if far, err = launch.Put(g.card, r.Far); err != nil {
			return err
		}
	}
	if alone {
		g.far, g.ends = far, far
	}
	if n.Weight && r.Weight != nil {
		if g.weight, err = launch.Put(g.card, r.Weight); err != nil {
			return err
		}
	}
	if r.Most != nil {
		if g.most, err = launch.Put(g.card, r.Most); err != nil {
			return err
		}
	}
	if r.Drawable != nil {
		if g.drawable, err = launch.Put(g.card, r.Drawable); err != nil {
			return err
		}
	}
	if r.Inverse != nil {
		if g.table, err = launch.Put(g.card, r.Inverse); err != nil {
			return err
		}
	}
	return g.entries(n, far, alone)
}

// entries makes the lists of pairs and wide entries on the GPU, from the lists of the host.
func (g *Graph) entries(n Needs, far device.Mem, alone bool) (err error) {
	r := &g.rows
	var drop []device.Mem
	if r.Alias != nil {
		table, err := launch.Put(g.card, r.Alias)
		if err != nil {
			return err
		}
		if g.table = table; n.Wide {
			drop = append(drop, table)
			if g.table, err = g.card.Alloc(32 * int64(g.edges)); err != nil {
				return err
			}
			if err := g.card.Launch(launch.Call{Source: widenText, Name: "saga_widen_table", Grid: g.grid(g.vertices), Block: 256,
				Args: launch.Args{"offsets": g.offsets, "far": far, "table": table, "wide": g.table, "vertices": uint64(g.vertices)}}); err != nil {
				return err
			}
		}
	} else if n.Wide && n.Walks {
		if g.ends, err = g.card.Alloc(16 * int64(g.edges)); err != nil {
			return err
		}
		if err := g.card.Launch(launch.Call{Source: widenText, Name: "saga_widen", Grid: g.grid(g.edges), Block: 256,
			Args: launch.Args{"offsets": g.offsets, "far": far, "wide": g.ends, "edges": uint64(g.edges)}}); err != nil {
			return err
		}
	}
	if n.Pairs {
		edge, err := launch.Put(g.card, r.Edge)
		if err != nil {
			return err
		}
		drop = append(drop, edge)
		if g.pairs, err = g.card.Alloc(8 * int64(g.edges)); err != nil {
			return err
		}
		if err := g.card.Launch(launch.Call{Source: widenText, Name: "saga_pairs", Grid: g.grid(g.edges), Block: 256,
			Args: launch.Args{"far": far, "edge": edge, "pairs": g.pairs, "edges": uint64(g.edges)}}); err != nil {
			return err
		}
	}
	if !alone && far.Len() > 0 {
		drop = append(drop, far)
	}
	if len(drop) == 0 {
		return nil
	}
	err = g.card.GPU.Sync()
	for _, m := range drop {
		err = errors.Join(err, g.card.Drop(m))
	}
	return err
}

// widenText makes wide entries.
var widenText = prelude + widen

//go:embed widen.cu
var widen string

// grid is the number of blocks of 256 threads for so many tasks, at most 16 per multiprocessor. The kernels
// loop until all tasks are done.
func (g *Graph) grid(tasks int) int {
	return max(1, min((tasks+255)/256, 16*g.card.Processors()))
}

// Free frees all memory of the graph, and all that was taken for its samples. The GPU stays open.
func (g *Graph) Free() error { return g.card.Release(0) }

// Sync waits until all submitted work is done.
func (g *Graph) Sync() error { return g.card.GPU.Sync() }
