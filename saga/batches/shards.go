package batches

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"sagann/chunk"
	"sagann/device"
	"sagann/net"
	"sagann/sample"
)

// Batches over shards. A rank has the in-edges and the features of its own vertices. While a batch is filled, ahead of its
// step, its rank asks the others for what it lacks: at each step of the sampler for the edges drawn into the vertices
// so far, and at the end for rows of features. Each time it asks every rank once, for vertices in ascending order.
// A draw depends on its key and the vertex alone, so it is the same on every rank.

// shardRows draws from a rank's part of the graph, and asks other ranks for theirs.
type shardRows struct {
	*shardPart
	draw    *sample.Program // over the part's graph
	loops   bool            // the sampler always keeps self loops, beside the edges drawn
	ranks   *net.Group      // nil: one rank
	service int             // number of the service answer in ranks
}

// into returns the function that draws a step of the sampler to b; nil without shards.
func (x *shardRows) into(b *blocks, key sample.Key) func(*sample.Block, []uint32, int) error {
	if x == nil {
		return nil
	}
	return func(to *sample.Block, vertices []uint32, step int) error {
		for len(b.numbers) <= step {
			b.numbers = append(b.numbers, chunk.Edges{})
		}
		return x.layer(to, &b.numbers[step], &b.degrees, vertices, key, step)
	}
}

// serve begins to answer other ranks: with edges drawn by draw, and with rows of features.
func (x *shardRows) serve(draw *sample.Program) {
	x.draw = draw
	if x.ranks.Ranks() > 1 {
		x.service = x.ranks.Serve(x.answer)
	}
}

// An ask is a list of words. For rows of features: askRows, then the vertices. For drawn edges: askDraws, the seed in two
// words (low, high), epoch, batch, step of the sampler, then, from word drawHead on, the vertices.
const (
	askRows = iota
	askDraws
	drawHead = 6
)

// answer answers the ask of another rank. It uses memory for the answer if that is large enough.
func (x *shardRows) answer(ask, memory []byte) ([]byte, error) {
	w := wordsIn(ask)
	list := w[1:]
	if w[0] == askDraws {
		list = w[drawHead:]
	}
	for _, v := range list {
		if int64(v) >= int64(x.graph.Vertices()) || x.shard.Rank(v) != x.shard.Mine() {
			return nil, fmt.Errorf("asked for vertex %d, which is another rank's", v)
		}
	}
	if w[0] == askDraws {
		out, err := x.drawn(list, sample.Key{Seed: uint64(w[1]) | uint64(w[2])<<32, Epoch: w[3], Batch: w[4]}, int(w[5]))
		return device.Bytes(out), err
	}
	if n := 4 * len(list) * x.cols; cap(memory) < n {
		memory = make([]byte, n)
	} else {
		memory = memory[:n]
	}
	x.copyRows(device.View[float32](memory), list)
	return memory, nil
}

func (x *shardRows) copyRows(to []float32, list []uint32) {
	for i, v := range list {
		copy(to[i*x.cols:(i+1)*x.cols], x.features[int(x.place[v])*x.cols:])
	}
}

// drawn draws the edges into the listed vertices of this rank. The result has two words per vertex: the number of edges
// drawn for it and all vertices before it in the list, and its in-degree, without self loops if those are always kept.
// Then come the far ends of all edges, and then x.words() words per edge: weight, type and data.
func (x *shardRows) drawn(list []uint32, key sample.Key, step int) ([]uint32, error) {
	var b sample.Block
	if err := x.draw.Rows(&b, list, key, step); err != nil {
		return nil, err
	}
	out := make([]uint32, 0, 2*len(list)+len(b.Far)*(1+x.words()))
	for i, v := range list {
		n := x.graph.Degree(v)
		if x.loops {
			n -= x.graph.Loops(v)
		}
		out = append(out, uint32(b.Offsets[i+1]), uint32(n))
	}
	for _, f := range b.Far {
		out = append(out, uint32(f))
	}
	e := x.edges
	for _, k := range b.Edge {
		if e.Weight != nil {
			out = append(out, math.Float32bits(e.Weight[k]))
		}
		if e.Type != nil {
			out = append(out, e.Type[k])
		}
		for _, y := range e.Data[int(k)*e.DataCols : int(k+1)*e.DataCols] {
			out = append(out, math.Float32bits(y))
		}
	}
	return out, nil
}

// words is the number of words that an answer has per edge, beside its far end.
func (x *shardRows) words() int {
	n := x.edges.DataCols
	if x.edges.Weight != nil {
		n++
	}
	if x.edges.Type != nil {
		n++
	}
	return n
}

// asked calls f once for every rank that has some of vertices, concurrently: with these, ascending, and their indices.
func (x *shardRows) asked(vertices []uint32, f func(rank int, places []int32, list []uint32) error) error {
	places, lists := make([][]int32, x.ranks.Ranks()), make([][]uint32, x.ranks.Ranks())
	for i, v := range vertices {
		r := x.shard.Rank(v)
		places[r] = append(places[r], int32(i))
	}
	errs := make([]error, len(places))
	var all sync.WaitGroup
	for r, at := range places {
		if len(at) == 0 {
			continue
		}
		slices.SortFunc(at, func(a, b int32) int { return int(int64(vertices[a]) - int64(vertices[b])) })
		for _, i := range at {
			lists[r] = append(lists[r], vertices[i])
		}
		all.Go(func() { errs[r] = chunk.Try(func() error { return f(r, at, lists[r]) }) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// rows fills to, ld numbers per vertex, with the features of vertices and zeros behind them.
func (x *shardRows) rows(to []float32, vertices []uint32, ld int) error {
	put := func(i int32, row []float32) {
		at := to[int(i)*ld : int(i+1)*ld]
		clear(at[copy(at, row):])
	}
	return x.asked(vertices, func(r int, places []int32, list []uint32) error {
		rows := make([]float32, len(list)*x.cols)
		if r == x.shard.Mine() {
			x.copyRows(rows, list)
		} else {
			b, err := x.ranks.Ask(r, x.service, device.Bytes(append([]uint32{askRows}, list...)), device.Bytes(rows))
			if err == nil && len(b) != 4*len(rows) {
				err = fmt.Errorf("%d rows of features in %d bytes", len(list), len(b))
			}
			if err != nil {
				return fmt.Errorf("features: %w", err)
			}
		}
		for k, i := range places {
			put(i, rows[k*x.cols:(k+1)*x.cols])
		}
		return nil
	})
}

// layer appends the edges drawn at a step into vertices to block. It sets own to their weights, types and data, and
// degrees to the in-degrees of vertices, as drawn counts them.
func (x *shardRows) layer(block *sample.Block, own *chunk.Edges, degrees *[]uint32, vertices []uint32, key sample.Key, step int) error {
	n := len(vertices)
	from, at := make([]*rowsDrawn, n), make([]int32, n) // by vertex: the answer that has its edges, and its index there
	err := x.asked(vertices, func(r int, places []int32, list []uint32) error {
		var w []uint32
		var err error
		if r == x.shard.Mine() {
			w, err = x.drawn(list, key, step)
		} else {
			ask := append([]uint32{askDraws, uint32(key.Seed), uint32(key.Seed >> 32), key.Epoch, key.Batch, uint32(step)}, list...)
			var b []byte
			b, err = x.ranks.Ask(r, x.service, device.Bytes(ask), nil)
			w = wordsIn(b)
		}
		if err != nil {
			return fmt.Errorf("draws: %w", err)
		}
		d, err := x.parse(w, len(list))
		for k, i := range places {
			from[i], at[i] = d, int32(k)
		}
		return err
	})
	if err != nil {
		return err
	}
	*own = chunk.Edges{V: x.edges.V, Types: x.edges.Types, DataCols: x.edges.DataCols, Weight: own.Weight[:0], Type: own.Type[:0], Data: own.Data[:0]}
	*degrees = (*degrees)[:0]
	for i := range vertices {
		lo, hi := from[i].bounds(int(at[i]))
		*degrees = append(*degrees, from[i].rows[2*at[i]+1])
		for k := lo; k < hi; k++ {
			block.Far, block.Edge = append(block.Far, int32(from[i].far[k])), append(block.Edge, uint32(len(block.Edge)))
			x.numbers(own, from[i].more[k*x.words():(k+1)*x.words()])
		}
		block.Offsets = append(block.Offsets, int64(len(block.Far)))
	}
	return nil
}

// numbers appends the weight, type and data of an edge, from the words of an answer, to own.
func (x *shardRows) numbers(own *chunk.Edges, w []uint32) {
	if x.edges.Weight != nil {
		own.Weight, w = append(own.Weight, math.Float32frombits(w[0])), w[1:]
	}
	if x.edges.Type != nil {
		own.Type, w = append(own.Type, w[0]), w[1:]
	}
	for _, y := range w {
		own.Data = append(own.Data, math.Float32frombits(y))
	}
}

// rowsDrawn is an answer to askDraws, in its three parts (see drawn).
type rowsDrawn struct{ rows, far, more []uint32 }

func (x *shardRows) parse(w []uint32, n int) (*rowsDrawn, error) {
	if len(w) < 2*n {
		return nil, fmt.Errorf("an answer of %d words for %d vertices", len(w), n)
	}
	edges, last := 0, uint32(0)
	for i := range n {
		if w[2*i] < last {
			return nil, errors.New("an answer whose rows do not ascend")
		}
		last = w[2*i]
	}
	if edges = int(last); len(w) != 2*n+edges*(1+x.words()) {
		return nil, fmt.Errorf("an answer of %d words for %d vertices with %d edges", len(w), n, edges)
	}
	return &rowsDrawn{w[:2*n], w[2*n : 2*n+edges], w[2*n+edges:]}, nil
}

// bounds returns the range of the edges of vertex i of the answer.
func (d *rowsDrawn) bounds(i int) (lo, hi int) {
	if i > 0 {
		lo = int(d.rows[2*i-2])
	}
	return lo, int(d.rows[2*i])
}

// wordsIn is the memory of b as 32-bit words.
func wordsIn(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// MostOf returns the largest value of each number of most over all ranks of g. All ranks call it.
func MostOf(g *net.Group, most []int) ([]int, error) {
	if g.Ranks() == 1 || most == nil {
		return most, nil
	}
	mine, err := json.Marshal(most)
	if err != nil {
		return nil, err
	}
	list, err := g.Texts("largest rows", string(mine))
	for _, text := range list {
		var other []int
		err = errors.Join(err, json.Unmarshal([]byte(text), &other))
		for i, n := range other {
			most[i] = max(most[i], n)
		}
	}
	return most, err
}
