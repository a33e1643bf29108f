package batches

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga/rows"
	"sagann/sample"
)

// smallSchema is papers, authors and a venue, with relations between them. more adds relations, one of which goes before the others.
func smallSchema(more bool) Job {
	of := func(v int) *rows.Inputs {
		d := &dataset.Data{Edges: &chunk.Edges{V: v}}
		for i := range v {
			d.Labels, d.Train = append(d.Labels, 0), append(d.Train, uint32(i))
		}
		return rows.New(d, d.Edges, rows.Meaning{}, false)
	}
	k := &Kinds{Types: []*rows.Inputs{of(5), of(3), of(2)}}
	relation := func(name string, src, dst int, from, to []uint32) {
		e := &chunk.Edges{V: max(k.Types[src].Edges.V, k.Types[dst].Edges.V), Src: from, Dst: to}
		k.Relations = append(k.Relations, Relation{Name: name, Src: src, Dst: dst, In: rows.New(&dataset.Data{Edges: e}, e, rows.Meaning{}, false)})
	}
	if more {
		relation("early", 2, 0, []uint32{0, 1, 1, 0}, []uint32{0, 0, 1, 2})
	}
	relation("cites", 0, 0, []uint32{1, 2, 3, 4, 0, 2, 0, 3}, []uint32{0, 0, 0, 0, 1, 1, 2, 3})
	relation("writes", 1, 0, []uint32{0, 1, 2, 0, 1, 0, 0}, []uint32{0, 0, 0, 1, 1, 3, 4})
	relation("wrote", 0, 1, []uint32{0, 1, 2, 3, 4, 0}, []uint32{0, 0, 0, 0, 0, 1})
	if more {
		relation("late", 2, 1, []uint32{0, 1}, []uint32{0, 2})
	}
	return Job{In: k.Types[0], Kinds: k, Task: dataset.VertexLabels, Depth: 2, Seed: 7, Without: func(string) bool { return false }}
}

// drawnOf lists the sources that each vertex of a batch draws, by block, relation and vertex, in the data's numbers.
func drawnOf(t *testing.T, d *Draws, at Place) map[string][]uint32 {
	t.Helper()
	o, err := d.Order(at.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	b := &blocks{}
	if err := d.draw(b, o, at); err != nil {
		t.Fatal(err)
	}
	n, list := d.Numbers(), map[string][]uint32{}
	for e := 1; e < len(b.Layers)+1; e++ {
		level, r := n.Block(e)
		x, layer := &d.each[r], &b.Layers[e-1]
		if rows := b.Counts[n.Vertex(level, x.Dst)-1]; len(layer.Offsets) != rows+1 {
			t.Fatalf("%s into level %d has %d rows of %d", x.Name, level, len(layer.Offsets)-1, rows)
		}
		for i := range len(layer.Offsets) - 1 {
			at := fmt.Sprintf("%d %s %d", level, x.Name, b.ofType(x.Dst)[i])
			for k := layer.Offsets[i]; k < layer.Offsets[i+1]; k++ {
				u := b.ofType(x.Src)[layer.Far[k]]
				if id := layer.Edge[k]; x.In.Edges.Src[id] != u || x.In.Edges.Dst[id] != b.ofType(x.Dst)[i] {
					t.Fatalf("%s: edge %d is not from %d", at, id, u)
				}
				list[at] = append(list[at], u)
			}
		}
	}
	return list
}

// TestRelationDraws: every relation draws its number of different in-edges, each set of them equally often; one more relation changes no draw of
// another; a fan-out of 0 draws nothing, and one of all in-edges takes them all.
func TestRelationDraws(t *testing.T) {
	cites, writes := sample.Neighbours(2, 1), sample.Neighbours(2, 0)
	draws := func(j Job) *Draws {
		for i := range j.Kinds.Relations {
			switch r := &j.Kinds.Relations[i]; r.Name {
			case "cites":
				r.Sampler = &cites
			case "writes":
				r.Sampler = &writes
			}
		}
		s := Setting{Sampler: sample.Neighbours(3, math.MaxInt32), Batch: 5, Parts: 1}
		if err := s.Check(&j, nil); err != nil {
			t.Fatal(err)
		}
		d, err := New(j, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d, more := draws(smallSchema(false)), draws(smallSchema(true))
	const epochs = 6000
	seen := map[string]int{}
	for epoch := range epochs {
		list := drawnOf(t, d, Place{Epoch: epoch})
		seen[fmt.Sprint("cites ", list["0 cites 0"])]++
		seen[fmt.Sprint("writes ", list["0 writes 0"])]++
		seen[fmt.Sprint("deeper ", list["1 cites 0"])]++
		seen[fmt.Sprint("both ", list["0 cites 0"], list["0 writes 0"])]++
		for at, drawn := range list {
			x := slices.Clone(drawn)
			if slices.Sort(x); len(slices.Compact(x)) != len(drawn) {
				t.Fatalf("%s draws %v", at, drawn)
			}
			if at[:8] == "1 writes" {
				t.Fatalf("%s draws %v, and its fan-out is 0", at, drawn)
			}
		}
		if all := list["1 wrote 0"]; len(all) != 5 {
			t.Fatalf("all in-edges of an author: %v of 5", all)
		}
		if epoch < 200 {
			other := drawnOf(t, more, Place{Epoch: epoch})
			for at, drawn := range list {
				if !slices.Equal(drawn, other[at]) {
					t.Fatalf("%s draws %v, and with more relations %v", at, drawn, other[at])
				}
			}
		}
	}
	for kind, sets := range map[string]int{"cites": 6, "writes": 3, "deeper": 4, "both": 18} { // pairs of 4, of 3; one of 4; independent
		n, chi := 0, 0.0
		want := float64(epochs) / float64(sets)
		for name, times := range seen {
			if len(name) > len(kind) && name[:len(kind)+1] == kind+" " {
				n++
				chi += (float64(times) - want) * (float64(times) - want) / want
			}
		}
		if most := float64(sets-1) + 5*math.Sqrt(2*float64(sets-1)); n != sets || chi > most {
			t.Errorf("%s: %d sets of %d, chi-square %.1f, at most %.1f", kind, n, sets, chi, most)
		}
	}
}

// TestRelationWeights: a relation that draws by weight draws by its own edges' weights, one edge after the other, and never an edge of weight 0;
// others draw with equal probability.
func TestRelationWeights(t *testing.T) {
	j := smallSchema(false)
	weighted := sample.WeightedNeighbours(2, 1)
	r := &j.Kinds.Relations[0]
	r.Sampler, r.In.Edges.Weight = &weighted, []float32{1, 2, 3, 0, 1, 1, 1, 1}
	d, err := New(j, Setting{Sampler: sample.Neighbours(2, 2), Batch: 5, Parts: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const epochs = 8000
	cites, writes := map[string]float64{}, map[string]float64{}
	for epoch := range epochs {
		list := drawnOf(t, d, Place{Epoch: epoch})
		cites[fmt.Sprint(list["0 cites 0"])]++
		writes[fmt.Sprint(list["0 writes 0"])]++
	}
	third := map[string]float64{"[0 1]": 1. / 3, "[0 2]": 1. / 3, "[1 2]": 1. / 3}
	for _, x := range []struct {
		got, want map[string]float64
	}{
		{cites, map[string]float64{"[1 2]": 0.15, "[1 3]": 4. / 15, "[2 3]": 7. / 12}},
		{writes, third},
	} {
		chi := 0.0
		for set, p := range x.want {
			chi += (x.got[set] - p*epochs) * (x.got[set] - p*epochs) / (p * epochs)
		}
		if len(x.got) != 3 || chi > 12 {
			t.Errorf("%v in %d draws, want shares %v (chi-square %.1f)", x.got, epochs, x.want, chi)
		}
	}
}
