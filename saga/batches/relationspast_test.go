package batches

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/saga/rows"
	"sagann/sample"
)

// timedSchema draws vertices of several types, of which those of type 0 have times, and relations of which some edges have times.
func timedSchema(t *rapid.T, loops bool) Job {
	j := Job{Task: dataset.VertexLabels, Kinds: &Kinds{}, Depth: rapid.IntRange(1, 3).Draw(t, "depth"), Seed: 7, Without: func(string) bool { return false }}
	for typ := range rapid.IntRange(1, 3).Draw(t, "types") {
		d := &dataset.Data{Edges: &chunk.Edges{V: rapid.IntRange(1, 6).Draw(t, "vertices")}}
		for v := 0; typ == 0 && v < d.Edges.V; v++ {
			d.Labels, d.Train, d.Vertices.Time = append(d.Labels, 0), append(d.Train, uint32(v)), append(d.Vertices.Time, float64(rapid.IntRange(0, 5).Draw(t, "asked")))
		}
		j.Kinds.Types = append(j.Kinds.Types, rows.New(d, d.Edges, rows.Meaning{}, false))
	}
	j.In = j.Kinds.Types[0]
	for r := range rapid.IntRange(1, 4).Draw(t, "relations") {
		x := Relation{Name: fmt.Sprint("r", r), Src: rapid.IntRange(0, j.types()-1).Draw(t, "source"), Dst: rapid.IntRange(0, j.types()-1).Draw(t, "target")}
		from, to := j.Kinds.Types[x.Src].Edges.V, j.Kinds.Types[x.Dst].Edges.V
		e := &chunk.Edges{V: max(from, to)}
		timed := r == 0 || rapid.Bool().Draw(t, "timed")
		for range rapid.IntRange(1, 20).Draw(t, "edges") {
			e.Src, e.Dst = append(e.Src, uint32(rapid.IntRange(0, from-1).Draw(t, "u"))), append(e.Dst, uint32(rapid.IntRange(0, to-1).Draw(t, "v")))
			if timed {
				e.Time = append(e.Time, float64(rapid.IntRange(0, 6).Draw(t, "time")))
			}
		}
		if loops && x.Src == x.Dst {
			e = e.WithSelfLoops()
		}
		s := sample.Neighbours(rapid.SliceOfN(rapid.IntRange(0, 4), j.Depth, j.Depth).Draw(t, "fan-outs")...)
		s.KeepLoops = loops
		x.Sampler, x.In = &s, rows.New(&dataset.Data{Edges: e}, e, rows.Meaning{}, false)
		j.Kinds.Relations = append(j.Kinds.Relations, x)
	}
	return j
}

// TestRelationPast draws batches of random graphs of several types. At any depth the edges of a relation with times are of the seed's past, as
// many as there are or are asked for, the latest where these are; those of other relations are any. Far ends are at the same time.
func TestRelationPast(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		j := timedSchema(t, rapid.Bool().Draw(t, "loops"))
		s := Setting{Sampler: sample.Neighbours(slices.Repeat([]int{2}, j.Depth)...), Batch: rapid.IntRange(1, 6).Draw(t, "batch"), Parts: 1, Past: rapid.SampledFrom([]string{UpTo, Latest}).Draw(t, "past")}
		if err := s.Check(&j, nil); err != nil {
			t.Fatal(err)
		}
		d, err := New(j, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := d.Order(rapid.IntRange(0, 3).Draw(t, "epoch"))
		if err != nil {
			t.Fatal(err)
		}
		b := &blocks{}
		for batch := range 2 {
			if batch*s.Batch < len(d.items) {
				if err := d.draw(b, o, Place{Epoch: 1, Batch: batch}); err != nil {
					t.Fatal(err)
				}
				checkRelationPast(t, d, b)
			}
		}
	})
}

func checkRelationPast(t *rapid.T, d *Draws, b *blocks) {
	n := d.Numbers()
	for i, v := range b.items {
		if at := d.In.Data.Vertices.Time[v]; b.ofType(0)[i] != v || b.untils[0][i] != at {
			t.Fatalf("seed %d is vertex %d at %v, want %d at %v", i, b.ofType(0)[i], b.untils[0][i], v, at)
		}
	}
	for e := 1; e < len(b.Layers)+1; e++ {
		level, r := n.Block(e)
		x, layer := &d.each[r], &b.Layers[e-1]
		if rows := b.Counts[n.Vertex(level, x.Dst)-1]; len(layer.Offsets) != rows+1 {
			t.Fatalf("%s into level %d has %d rows of %d", x.Name, level, len(layer.Offsets)-1, rows)
		}
		for i := range len(layer.Offsets) - 1 {
			v, until := b.ofType(x.Dst)[i], b.untils[x.Dst][i]
			var past, always []uint32
			for k, to := range x.In.Edges.Dst {
				switch loop := to == x.In.Edges.Src[k] && x.sampler.KeepLoops; {
				case to != v || x.In.Edges.Time != nil && x.In.Edges.Time[k] > until:
				case loop && (x.In.Edges.Time == nil || math.IsInf(x.In.Edges.Time[k], -1)):
					always = append(always, uint32(k))
				default:
					past = append(past, uint32(k))
				}
			}
			drawn, size := layer.Edge[layer.Offsets[i]:layer.Offsets[i+1]], x.sampler.Size(level)
			if want := min(len(past), size) + len(always); len(drawn) != want {
				t.Fatalf("%s, level %d, vertex %d at %v: %d edges, want %d", x.Name, level, v, until, len(drawn), want)
			}
			for k, id := range drawn {
				far := layer.Far[layer.Offsets[i]+int64(k)]
				if !slices.Contains(past, id) && !slices.Contains(always, id) || slices.Contains(drawn[:k], id) {
					t.Fatalf("%s, level %d, vertex %d at %v draws edge %d, of %v", x.Name, level, v, until, id, past)
				}
				if b.ofType(x.Src)[far] != x.In.Edges.Src[id] || b.untils[x.Src][far] != until || int(far) >= b.Counts[n.Vertex(level+1, x.Src)-1] {
					t.Fatalf("%s, level %d, vertex %d at %v: edge %d leads to %d at %v", x.Name, level, v, until, id, b.ofType(x.Src)[far], b.untils[x.Src][far])
				}
			}
			if times := x.In.Edges.Time; d.Past == Latest && times != nil {
				slices.SortStableFunc(past, func(a, z uint32) int { return cmp.Compare(times[a], times[z]) })
				for _, late := range past[max(0, len(past)-size):] {
					if !slices.Contains(drawn, late) {
						t.Fatalf("%s, level %d, vertex %d at %v is without edge %d, which is among the latest", x.Name, level, v, until, late)
					}
				}
			}
		}
	}
}

// TestRelationPastDraws: of the edges of a relation up to a seed's time each set is drawn equally often, whatever times other relations have.
func TestRelationPastDraws(t *testing.T) {
	j := smallSchema(false)
	j.In.Data.Vertices.Time = []float64{4.5, 0, 0, 0, 0}
	j.Kinds.Relations[0].In.Edges.Time = []float64{5, 1, 2, 3, 0, 0, 0, 0} // into vertex 0 from 1, 2, 3, 4
	j.Kinds.Relations[2].In.Edges.Time = []float64{0, 1, 2, 9, 9, 0}
	d, err := New(j, Setting{Sampler: sample.Neighbours(2, 1), Batch: 5, Parts: 1, Past: UpTo}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const epochs = 6000
	seen := map[string]float64{}
	for epoch := range epochs {
		list := drawnOf(t, d, Place{Epoch: epoch})
		seen[fmt.Sprint("cites ", list["0 cites 0"])]++
		seen[fmt.Sprint("writes ", list["0 writes 0"])]++
	}
	want := map[string]float64{"cites [2 3]": 1. / 3, "cites [2 4]": 1. / 3, "cites [3 4]": 1. / 3, "writes [0 1]": 1. / 3, "writes [0 2]": 1. / 3, "writes [1 2]": 1. / 3}
	chi := 0.0
	for set, p := range want {
		chi += (seen[set] - p*epochs) * (seen[set] - p*epochs) / (p * epochs)
	}
	if len(seen) != len(want) || chi > 24 { // four degrees of freedom
		t.Errorf("%v in %d draws, want shares %v (chi-square %.1f)", seen, epochs, want, chi)
	}
}
