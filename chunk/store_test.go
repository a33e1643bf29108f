package chunk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// content is everything that a store can hold, in plain slices.
type content struct {
	Meta             Meta
	Edges            *Edges
	Features         []float32
	Labels           []int32
	Multi            []float32
	Train, Val, Test []uint32
	GraphOf          []uint32
	GraphLabels      []int32
	Names            []string
	Notes, Schema    string
	Targets, Graphs  []float32 // in rows of 2
	EdgeLabels       []int32
	EdgeTargets      []float32      // in rows of 2
	EdgeSets         []float32      // in rows of 2
	GraphSets        []float32      // in rows of 3
	Of               [2][3][]uint32 // splits of graphs and of edges
	Pairs            [6][2][]uint32 // by kind from KindLinkTrain on
	Sparse           *Sparse
	Times            []float64 // of vertices
}

// full is a content with every kind of block.
func full() *content {
	e := skewed(90, 700, 4)
	e.Weight, e.Type, e.Types, e.Data, e.DataCols = make([]float32, 700), make([]uint32, 700), 3, make([]float32, 1400), 2
	for k := range 700 {
		e.Weight[k], e.Type[k] = float32(k)/7, uint32(k%3)
		e.Data[2*k], e.Data[2*k+1] = float32(k), -float32(k)
	}
	c := &content{Edges: e, Features: make([]float32, 90*5), Labels: make([]int32, 90), Multi: make([]float32, 90*4),
		Train: []uint32{1, 5}, Val: []uint32{89}, Test: []uint32{0, 2, 3}, GraphOf: make([]uint32, 90),
		GraphLabels: []int32{1, -1, 0}, Names: make([]string, 90), Notes: "made by a test", Schema: `{"version":1}`, Targets: make([]float32, 180), Graphs: []float32{1, 2, 3, 4, 5, 6}}
	for i := range c.Features {
		c.Features[i] = float32(i)
	}
	c.EdgeLabels, c.EdgeTargets = make([]int32, 700), make([]float32, 1400)
	for k := range 700 {
		c.EdgeLabels[k], c.EdgeTargets[2*k], c.EdgeTargets[2*k+1] = int32(k%4)-1, float32(k), float32(-k)
	}
	c.GraphSets, c.EdgeSets = []float32{0, 1, -1, 1, 1, 0, -1, -1, -1}, make([]float32, 1400)
	for k := range c.EdgeSets {
		c.EdgeSets[k] = float32(k%3) - 1
	}
	c.Of = [2][3][]uint32{{{0}, {1}, {2}}, {{699}, {5, 7}, {0, 698}}}
	for i := range c.Pairs {
		c.Pairs[i] = [2][]uint32{{uint32(i), 7}, {89, uint32(i)}}
	}
	for v := range 90 {
		c.Targets[2*v], c.Targets[2*v+1] = float32(v), -1
		c.Labels[v], c.GraphOf[v], c.Names[v] = int32(v%5)-1, uint32(v%3), fmt.Sprint("vertex ", v)
		c.Multi[4*v+v%4], c.Multi[4*v+(v+1)%4] = 1, -1
	}
	c.Meta = Meta{Name: "a graph", V: 90, Base: 3, Order: Balance(e, 3), KeepOrder: true, Weighted: true, Types: 3,
		DataCols: 2, FeatureCols: 5, BlockRows: 32, Classes: 4}
	return c
}

// write makes the store, appending edges and features in batches of n.
func (c *content) write(path string, n int) error {
	w, err := Create(path, c.Meta)
	if err != nil {
		return err
	}
	defer w.Abort()
	for lo := 0; lo < c.Edges.E(); lo += n {
		if err := w.AppendEdges(slice(c.Edges, lo, min(lo+n, c.Edges.E()))); err != nil {
			return err
		}
	}
	step := n * c.Meta.FeatureCols
	for lo := 0; lo < len(c.Features); lo += step {
		if err := w.AppendFeatures(c.Features[lo:min(lo+step, len(c.Features))]); err != nil {
			return err
		}
	}
	if c.Targets != nil {
		w.SetTargets(KindTargets, c.Targets, 2)
	}
	if c.Graphs != nil {
		w.SetTargets(KindGraphTargets, c.Graphs, 2)
	}
	if c.GraphSets != nil {
		w.SetSets(KindGraphSets, c.GraphSets, 3)
	}
	if c.EdgeSets != nil {
		w.SetSets(KindEdgeSets, c.EdgeSets, 2)
	}
	if c.Sparse != nil {
		w.SetSparse(c.Sparse)
	}
	if c.Times != nil {
		w.SetVertexTimes(c.Times)
	}
	if c.Labels != nil {
		w.SetLabels(c.Labels)
	}
	if c.Multi != nil {
		w.SetMultiLabels(c.Multi)
	}
	w.SetSplits(KindTrain, c.Train, c.Val, c.Test)
	if c.GraphOf != nil {
		w.SetGraphs(c.GraphOf, c.GraphLabels)
	}
	if c.EdgeLabels != nil {
		w.SetEdgeLabels(c.EdgeLabels)
		w.SetTargets(KindEdgeTargets, c.EdgeTargets, 2)
	}
	for i, k := range []Kind{KindGraphTrain, KindEdgeTrain} {
		w.SetSplits(k, c.Of[i][0], c.Of[i][1], c.Of[i][2])
	}
	for i, p := range c.Pairs {
		w.SetPairs(KindLinkTrain+Kind(i), p[0], p[1])
	}
	if c.Names != nil {
		w.SetVertexNames(c.Names)
	}
	if c.Notes != "" {
		w.SetNotes(c.Notes)
	}
	if c.Schema != "" {
		w.SetSchema(c.Schema)
	}
	return w.Close()
}

func slice(e *Edges, lo, hi int) *Edges {
	s := &Edges{V: e.V, Src: e.Src[lo:hi], Dst: e.Dst[lo:hi], Types: e.Types, DataCols: e.DataCols}
	if e.Weight != nil {
		s.Weight = e.Weight[lo:hi]
	}
	if e.Type != nil {
		s.Type = e.Type[lo:hi]
	}
	if e.Time != nil {
		s.Time = e.Time[lo:hi]
	}
	if e.Data != nil {
		s.Data = e.Data[lo*e.DataCols : hi*e.DataCols]
	}
	return s
}

// read gives a store's content back, with all that Meta says but Memory and
// BlockRows.
func read(s *Store) (c *content, err error) {
	c = &content{Meta: Meta{V: s.V(), Base: s.Intervals().P, KeepOrder: s.KeepsOrder(), Weighted: s.Weighted(), Timed: Timed(s),
		Types: s.Types(), DataCols: s.DataCols(), FeatureCols: s.FeatureCols(), Classes: s.Classes()}}
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	var e error
	c.Meta.Name, e = s.Name()
	keep(e)
	c.Meta.Order, e = s.Order()
	keep(e)
	c.Edges, e = s.ReadEdges()
	keep(e)
	if s.FeatureCols() > 0 {
		c.Features, e = s.ReadFeatures(0, s.V())
		keep(e)
	}
	c.Targets, _, e = s.Targets(KindTargets)
	keep(e)
	c.Graphs, _, e = s.Targets(KindGraphTargets)
	keep(e)
	c.Sparse, e = s.Sparse()
	keep(e)
	c.Labels, e = s.Labels()
	keep(e)
	c.Multi, e = s.MultiLabels()
	keep(e)
	c.Train, c.Val, c.Test, e = s.Splits(KindTrain)
	keep(e)
	for i, k := range []Kind{KindGraphTrain, KindEdgeTrain} {
		c.Of[i][0], c.Of[i][1], c.Of[i][2], e = s.Splits(k)
		keep(e)
	}
	for i := range c.Pairs {
		c.Pairs[i][0], c.Pairs[i][1], e = s.Pairs(KindLinkTrain + Kind(i))
		keep(e)
	}
	c.EdgeLabels, e = s.EdgeLabels()
	keep(e)
	c.GraphSets, _, e = s.Sets(KindGraphSets)
	keep(e)
	c.EdgeSets, _, e = s.Sets(KindEdgeSets)
	keep(e)
	c.EdgeTargets, _, e = s.Targets(KindEdgeTargets)
	keep(e)
	c.GraphOf, c.GraphLabels, e = s.Graphs()
	keep(e)
	c.Names, e = s.VertexNames()
	keep(e)
	c.Notes, e = s.Notes()
	keep(e)
	c.Schema, e = s.Schema()
	keep(e)
	c.Times, e = VertexTimes(s)
	keep(e)
	return c, err
}

// timed is full with times.
func timed() *content {
	c := full()
	c.Meta.Timed, c.Edges.Time, c.Times = true, make([]float64, 700), make([]float64, 90)
	for k := range c.Edges.Time {
		c.Edges.Time[k] = float64(k*k) + 0.5
	}
	for v := range c.Times {
		c.Times[v] = float64(-v)
	}
	return c
}

// sparse is full with features of which only the entries are kept.
func sparse() *content {
	c := full()
	c.Features, c.Meta.FeatureCols = nil, 0
	c.Sparse = &Sparse{Cols: 400, Ptr: make([]int64, 1, 91)}
	for v := range 90 {
		for k := range v % 4 { // some have none
			c.Sparse.Ids, c.Sparse.Vals = append(c.Sparse.Ids, uint32(100*k+v)), append(c.Sparse.Vals, float32(v+1))
		}
		c.Sparse.Ptr = append(c.Sparse.Ptr, int64(len(c.Sparse.Ids)))
	}
	return c
}

func TestStoreRoundTrip(t *testing.T) {
	kinds := map[Kind]bool{}
	for _, c := range []*content{full(), sparse(), timed()} {
		roundTrip(t, c, kinds)
	}
	for k := KindEdges; k < kindEnd; k++ {
		if !kinds[k] && k != KindPart { // TestParts
			t.Errorf("neither content has a block of %v", k)
		}
	}
}

func roundTrip(t *testing.T, c *content, kinds map[Kind]bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.saga")
	if err := c.write(path, 64); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
	got, err := read(s)
	if err != nil {
		t.Fatal(err)
	}
	want := *c
	want.Meta.BlockRows = 0
	if d := cmp.Diff(&want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for _, b := range s.Blocks() {
		kinds[b.Kind] = true
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// TestStoreVersion: a store is of the oldest version that has its kinds of blocks, so that programs which know
// only those open it, and no block is of a newer version than the store.
func TestStoreVersion(t *testing.T) {
	first, second := full(), full()
	first.EdgeLabels, first.EdgeTargets, first.Of = nil, nil, [2][3][]uint32{}
	for _, c := range []*content{first, second} {
		c.Schema, c.GraphSets, c.EdgeSets, c.Pairs = "", nil, nil, [6][2][]uint32{}
	}
	for want, c := range map[uint32]*content{1: first, 2: second, 3: full()} {
		path := filepath.Join(t.TempDir(), "g")
		if err := c.write(path, 64); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(file[8:]); got != want {
			t.Errorf("version %d, want %d", got, want)
		}
		for _, v := range []uint32{0, 1, 2, 4} {
			binary.LittleEndian.PutUint32(file[8:], v)
			binary.LittleEndian.PutUint32(file[headerBytes-4:], checksum(file[:headerBytes-4]))
			_, err := openBytes(file)
			if says := "versions 1 to 3"; v%4 == 0 && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("version %d: %v, want %q", v, err, says)
			}
			if says := fmt.Sprint("of no kind of version ", v); v%4 != 0 && v < want && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("blocks of version %d in a store of version %d: %v, want %q", want, v, err, says)
			}
		}
	}
}

// TestUnknownKinds: a store may have blocks of kinds that this program does not know. Those from optionalKind on are
// left out, but their checksums are checked; others are refused.
func TestUnknownKinds(t *testing.T) {
	file := fullFile(t)
	good, err := openBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(good.blocks, func(b Block) bool { return b.Kind == KindNotes })
	as := func(k Kind) ([]byte, Block) {
		b := good.blocks[at]
		b.Kind = k
		bad := bytes.Clone(file)
		b.encode(bad[int(good.h.TableOff)+at*blockBytes:])
		h := good.h
		h.TableCRC = int64(checksum(bad[h.TableOff:]))
		copy(bad, h.encode())
		return bad, b
	}
	bad, b := as(optionalKind + 7)
	s, err := openBytes(bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
	if notes, err := s.Notes(); notes != "" || err != nil {
		t.Errorf("notes %q, %v", notes, err)
	}
	bad[b.Off] ^= 1
	if s, err = openBytes(bad); err == nil {
		err = s.Verify()
	}
	if err == nil {
		t.Error("damage in a block of an optional kind goes unnoticed")
	}
	bad, _ = as(optionalKind - 1)
	if _, err := openBytes(bad); err == nil || !strings.Contains(err.Error(), "of no kind of version 3") {
		t.Errorf("an unknown kind that is not optional: %v", err)
	}
}

func TestStoreRandom(t *testing.T) {
	dir := t.TempDir()
	draw.Check(t, func(t *rapid.T) {
		e := drawEdges(t)
		base := rapid.SampledFrom([]int{1, 2, 4, 6, 12, 20}).Draw(t, "base")
		m := Meta{V: e.V, Base: base, Order: drawOrder(t, e), KeepOrder: rapid.Bool().Draw(t, "keep"), Weighted: e.Weight != nil,
			Types: e.Types, DataCols: e.DataCols}
		c := &content{Meta: m, Edges: e}
		path := filepath.Join(dir, "g")
		if err := c.write(path, rapid.IntRange(1, 300).Draw(t, "batch")); err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(path)
		c.Meta.Memory = rapid.Int64Range(1, 4000).Draw(t, "memory") // a run of a few edges, down to one
		if err := c.write(path, 50); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if !bytes.Equal(got, want) {
			t.Fatal("the file depends on memory or batches")
		}
		s, err := NewStore(bytes.NewReader(got), int64(len(got)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(); err != nil {
			t.Fatal(err)
		}
		all, err := s.ReadEdges()
		if err != nil {
			t.Fatal(err)
		}
		if m.KeepOrder || base == 1 {
			if d := cmp.Diff(e, all); d != "" {
				t.Fatalf("order is not kept: -want +got\n%s", d)
			}
		}
		for p := 1; p <= base; p++ {
			checkCoarse(t, s, e, m.Order, p)
		}
	})
}

// checkCoarse reads the grid of p intervals, p dividing the base, out of the
// store's cells: together they are all edges, each in its chunk, in stored order.
func checkCoarse(t *rapid.T, s *Store, e *Edges, o *Order, p int) {
	in, err := s.Intervals().Coarsen(p)
	if s.Intervals().P%p != 0 {
		if err == nil {
			t.Fatalf("%d intervals are joined into %d", s.Intervals().P, p)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if o == nil {
		o = Identity(e.V)
	}
	k := s.Intervals().P / p
	for d := range p {
		for x := range p {
			got, err := s.ReadCells(d*k, (d+1)*k, x*k, (x+1)*k)
			if err != nil {
				t.Fatal(err)
			}
			count := map[string]int{}
			for i := range e.E() {
				if in.Of(int(o.New[e.Dst[i]])) == d && in.Of(int(o.New[e.Src[i]])) == x {
					count[edgeText(e, i)]++
				}
			}
			for i := range got.E() {
				count[edgeText(got, i)]--
			}
			for edge, n := range count {
				if n != 0 {
					t.Fatalf("P=%d, chunk (%d,%d): edge %s is missing %d times", p, d, x, edge, n)
				}
			}
		}
	}
}

func edgeText(e *Edges, k int) string {
	s := slice(e, k, k+1)
	return fmt.Sprint(s.Src, s.Dst, s.Weight, s.Type, s.Data)
}

func TestReadFeatureRows(t *testing.T) {
	c := full()
	path := filepath.Join(t.TempDir(), "g")
	if err := c.write(path, 7); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for lo := 0; lo <= 90; lo++ {
		for hi := lo; hi <= 90; hi++ {
			got, err := s.ReadFeatures(lo, hi)
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(got, append([]float32{}, c.Features[lo*5:hi*5]...)) {
				t.Fatalf("rows %d..%d differ", lo, hi)
			}
		}
	}
	for _, r := range [][2]int{{-1, 2}, {3, 2}, {0, 91}} {
		if _, err := s.ReadFeatures(r[0], r[1]); err == nil {
			t.Errorf("rows %d..%d are read", r[0], r[1])
		}
	}
}
