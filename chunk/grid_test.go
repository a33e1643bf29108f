package chunk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// drawEdges is a random multigraph: few vertices, so that self loops, repeated
// edges and isolated vertices are common, and sometimes a hub.
func drawEdges(t *rapid.T) *Edges {
	v := rapid.IntRange(1, 60).Draw(t, "v")
	n := rapid.IntRange(0, 200).Draw(t, "e")
	hub := rapid.Bool().Draw(t, "hub")
	id := rapid.Uint32Range(0, uint32(v-1))
	e := &Edges{V: v, Src: []uint32{}, Dst: []uint32{}}
	for range n {
		s, d := id.Draw(t, "src"), id.Draw(t, "dst")
		if hub && (s+d)%3 == 0 {
			d = uint32(v / 2)
		}
		if hub && (s+d)%5 == 0 {
			s = uint32(v / 3)
		}
		e.Src, e.Dst = append(e.Src, s), append(e.Dst, d)
	}
	if rapid.Bool().Draw(t, "weights") {
		e.Weight = make([]float32, n)
		for k := range n {
			e.Weight[k] = float32(k) + 0.5
		}
	}
	if rapid.Bool().Draw(t, "types") {
		e.Types = rapid.IntRange(1, 4).Draw(t, "T")
		e.Type = make([]uint32, n)
		for k := range n {
			e.Type[k] = uint32(k*7) % uint32(e.Types)
		}
	}
	if rapid.Bool().Draw(t, "data") {
		e.DataCols = rapid.IntRange(1, 3).Draw(t, "cols")
		e.Data = make([]float32, n*e.DataCols)
		for i := range e.Data {
			e.Data[i] = float32(i) * 0.25
		}
	}
	return e
}

func drawOrder(t *rapid.T, e *Edges) *Order {
	switch rapid.IntRange(0, 2).Draw(t, "order") {
	case 0:
		return nil
	case 1:
		return Balance(e, rapid.IntRange(1, 16).Draw(t, "base"))
	}
	ids := Identity(e.V).New
	o, err := OrderOf(rapid.Permutation(ids).Draw(t, "perm"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// refEdge is an edge as the dumb reference keeps it: new ids and everything that
// goes with it.
type refEdge struct {
	Own, Other uint32 // new ids
	Rank       float32
	Type       uint32
	Weight     float32
	Data       string
}

type cellRow struct {
	own, other int
	row        uint32
}

// refSide groups the edges by (cell, own row) with maps.
func refSide(e *Edges, o *Order, in Intervals, w Want, csr bool) map[cellRow][]refEdge {
	if o == nil {
		o = Identity(e.V)
	}
	side := map[cellRow][]refEdge{}
	rank := map[uint32]int{}
	for k := range e.Src {
		r := refEdge{Own: o.New[e.Dst[k]], Other: o.New[e.Src[k]]}
		if csr {
			r.Own, r.Other = r.Other, r.Own
		}
		if w.Rank {
			r.Rank = float32(rank[e.Dst[k]])
		}
		rank[e.Dst[k]]++
		if w.Type {
			r.Type = e.Type[k]
		}
		if w.Weight {
			r.Weight = e.Weight[k]
		}
		if w.Data {
			r.Data = fmt.Sprint(e.Data[k*e.DataCols : (k+1)*e.DataCols])
		}
		key := cellRow{int(r.Own) / in.Width, int(r.Other) / in.Width, r.Own}
		side[key] = append(side[key], r)
	}
	for _, edges := range side {
		slices.SortStableFunc(edges, func(a, b refEdge) int { return int(a.Type) - int(b.Type) })
	}
	return side
}

// readSide turns a side back into the reference's form and checks its shape.
func readSide(t rapid.TB, s *Side, in Intervals) map[cellRow][]refEdge {
	side := map[cellRow][]refEdge{}
	end := int64(0)
	for i := range s.Cells {
		c, own, other := &s.Cells[i], i/in.P, i%in.P
		checkLayout(t, c, in.Rows(own), end)
		end = c.Off + c.Bytes
		v := ViewOf(c, slices.Clone(s.Block(i)))
		if v.Ptr[0] != 0 || int64(v.Ptr[c.Rows]) != c.NNZ {
			t.Fatalf("cell %d: ptr runs from %d to %d, not to %d", i, v.Ptr[0], v.Ptr[c.Rows], c.NNZ)
		}
		ownLo, _ := in.Bounds(own)
		otherLo, _ := in.Bounds(other)
		far, _ := v.Far(nil, 0, int(c.NNZ))
		hub := uint32(0)
		for r := range c.Rows {
			row := uint32(r)
			if !c.Dense {
				row = v.RowIDs[r]
				if v.Ptr[r] == v.Ptr[r+1] || r > 0 && v.RowIDs[r-1] >= row {
					t.Fatalf("cell %d: bad row list %v with ptr %v", i, v.RowIDs, v.Ptr)
				}
			}
			hub = max(hub, v.Ptr[r+1]-v.Ptr[r])
			for k := v.Ptr[r]; k < v.Ptr[r+1]; k++ {
				e := refEdge{Own: uint32(ownLo) + row, Other: uint32(otherLo) + far[k]}
				if v.Rank != nil {
					e.Rank = v.Rank[k]
				}
				if v.Type != nil {
					e.Type = v.Type[k]
				}
				if v.Weight != nil {
					e.Weight = v.Weight[k]
				}
				if v.Data != nil {
					e.Data = fmt.Sprint(v.Data[int(k)*c.DataCols : int(k+1)*c.DataCols])
				}
				key := cellRow{own, other, e.Own}
				side[key] = append(side[key], e)
			}
		}
		if int64(hub) != c.Hub {
			t.Fatalf("cell %d: hub %d, want %d", i, c.Hub, hub)
		}
	}
	if end != int64(len(s.Mem)) {
		t.Fatalf("blocks end at %d of %d", end, len(s.Mem))
	}
	return side
}

func checkLayout(t rapid.TB, c *Cell, rows int, off int64) {
	if c.Off != off || c.Off%Align != 0 || c.Bytes%Align != 0 || c.Bytes == 0 {
		t.Fatalf("block at %d, %d bytes, want it at %d", c.Off, c.Bytes, off)
	}
	if c.Dense && c.Rows != rows || !c.Dense && c.Rows >= rows {
		t.Fatalf("cell has %d rows of %d, dense %v", c.Rows, rows, c.Dense)
	}
	for _, o := range []int64{c.RowsOff, c.PtrOff, c.OtherOff, c.RankOff, c.TypeOff, c.WeightOff, c.DataOff} {
		if o != -1 && (o%Align != 0 || o > c.Bytes) {
			t.Fatalf("part at %d of a block of %d bytes", o, c.Bytes)
		}
	}
}

func TestBuildAgainstMaps(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		e := drawEdges(t)
		o := drawOrder(t, e)
		w := Want{CSC: true, CSR: true,
			Rank:   rapid.Bool().Draw(t, "want rank"),
			Type:   e.Type != nil && rapid.Bool().Draw(t, "want type"),
			Weight: e.Weight != nil && rapid.Bool().Draw(t, "want weight"),
			Data:   e.Data != nil && rapid.Bool().Draw(t, "want data"),
			Pack:   rapid.Bool().Draw(t, "pack"),
		}
		for p := 1; p <= 16; p++ {
			g, err := Build(e, o, p, w)
			if err != nil {
				t.Fatal(err)
			}
			csc, csr := readSide(t, g.CSC, g.Intervals), readSide(t, g.CSR, g.Intervals)
			if d := cmp.Diff(refSide(e, o, g.Intervals, w, false), csc); d != "" {
				t.Fatalf("CSC, P=%d (-want +got):\n%s", p, d)
			}
			if d := cmp.Diff(refSide(e, o, g.Intervals, w, true), csr); d != "" {
				t.Fatalf("CSR, P=%d (-want +got):\n%s", p, d)
			}
			for at, row := range csc {
				if w.Ascend() && !slices.IsSortedFunc(row, func(a, b refEdge) int { return int(a.Rank - b.Rank) }) {
					t.Fatalf("ranks of row %v do not ascend", at)
				}
			}
			if g.CSC.NNZ() != int64(e.E()) || g.CSR.NNZ() != int64(e.E()) {
				t.Fatalf("%d and %d edges of %d", g.CSC.NNZ(), g.CSR.NNZ(), e.E())
			}
			checkStats(t, Stats(e, o, p), g, w)
		}
	})
}

// checkStats: the statistics say exactly what Build made.
func checkStats(t *rapid.T, s GridStats, g *Grid, w Want) {
	var total, largest int64
	for i := range g.P {
		for j := range g.P {
			for _, x := range []struct{ got, want Cell }{
				{s.CSC(i, j, w), g.CSC.Cells[i*g.P+j]},
				{s.CSR(i, j, w), g.CSR.Cells[i*g.P+j]},
			} {
				total += x.want.Bytes
				largest = max(largest, x.want.Bytes)
				x.want.Off, x.want.Hub = 0, 0
				if x.got != x.want {
					t.Fatalf("cell (%d,%d): statistics say %+v, built %+v", i, j, x.got, x.want)
				}
			}
		}
	}
	if a, b := s.Bytes(w); a != total || b != largest {
		t.Fatalf("statistics say %d bytes, largest %d; built %d, largest %d", a, b, total, largest)
	}
	if m := max(g.CSC.MaxCellBytes(), g.CSR.MaxCellBytes()); m != largest {
		t.Fatalf("MaxCellBytes %d, want %d", m, largest)
	}
}
