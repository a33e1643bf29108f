package tables

import "sagann/sample"

// reads counts sectors of 32 bytes that are read: runs of neighbouring sectors, and the further sectors of runs.
type reads struct{ runs, further float64 }

// touch is the memory that a batch must access: sectors that it reads for the first time, sectors that it reads
// again, and bytes that it writes sequentially.
type touch struct {
	first, again reads
	wrote        float64
}

func (t *touch) add(x *touch, part float64) {
	t.first.runs += part * x.first.runs
	t.first.further += part * x.first.further
	t.again.runs += part * x.again.runs
	t.again.further += part * x.again.further
	t.wrote += part * x.wrote
}

func (t *touch) bytes() float64 {
	return 32*(t.first.runs+t.first.further+t.again.runs+t.again.further) + t.wrote
}

// ms is a lower bound of the time in milliseconds: the larger of the time of first reads at the rates of a list as
// large as the graph, and of the time of all reads and writes at the rates of a list in the cache.
func (t *touch) ms(graph, cache readRate) float64 {
	return 1e3 * max(t.first.runs/graph.rate+t.first.further*graph.further,
		(t.first.runs+t.again.runs)/cache.rate+(t.first.further+t.again.further+t.wrote/32)*cache.further)
}

// The lists that batches read.
const (
	offsetsList = iota
	farList
	edgeList // pairs of both, where rows draw by themselves
	scoresList
)

// toucher counts the accesses of a batch. For each sector it stores the last step that read it.
type toucher struct {
	touch
	seen map[[2]int64]int
}

// read counts reading so many bytes of a list, from byte at on.
func (t *toucher) read(list, at, bytes int64, step int) {
	if bytes == 0 {
		return
	}
	for x := at / 32; x <= (at+bytes-1)/32; x++ {
		last, known := t.seen[[2]int64{list, x}]
		if known && last == step {
			continue
		}
		before, near := t.seen[[2]int64{list, x - 1}]
		n := &t.first
		if known {
			n, near = &t.again, near && before == step
		}
		if near {
			n.further++
		} else {
			n.runs++
		}
		t.seen[[2]int64{list, x}] = step
	}
}

// touchOf counts the accesses that the table's note describes; draws is the number of draws by score.
func touchOf(g *sample.Graph, s sample.Sampler, b *sample.Blocks, draws int) *touch {
	t := &toucher{seen: map[[2]int64]int{}}
	alone := s.Over == sample.Individual && s.Output == sample.Layers
	columns := s.Over == sample.Collective && s.Score != nil
	t.first.runs = float64(draws)
	t.wrote = 4 * float64(len(b.Vertices))
	entered := 0
	for step, l := range b.Layers {
		for i, v := range b.Vertices[:b.Counts[step]] {
			if i >= entered {
				t.read(offsetsList, 4*int64(v), 8, step)
				if columns {
					t.first.runs++ // reading the sum of a row's scores
				}
			} else if s.Over == sample.Everywhere {
				continue
			}
			if !alone {
				t.read(farList, 4*g.Offsets[v], 4*(g.Offsets[v+1]-g.Offsets[v]), step)
			}
		}
		entered = b.Counts[step]
		for _, at := range placesOf(g, b, step) {
			switch {
			case alone:
				t.read(edgeList, 8*at, 8, step)
			case columns:
				t.read(scoresList, 8*at, 16, step)
				fallthrough
			default:
				t.read(edgeList, 4*at, 4, step)
			}
		}
		t.wrote += 4*float64(b.Counts[step]) + 8*float64(len(l.Far)) + 4*float64(len(l.Weight))
	}
	return &t.touch
}

// placesOf are the places in the graph of the edges of a step, which are in its order.
func placesOf(g *sample.Graph, b *sample.Blocks, step int) (list []int64) {
	l := &b.Layers[step]
	for row, v := range b.Vertices[:b.Counts[step]] {
		at := g.Offsets[v]
		for _, edge := range l.Edge[l.Offsets[row]:l.Offsets[row+1]] {
			for g.Edge[at] != edge {
				at++
			}
			list = append(list, at)
		}
	}
	return list
}
