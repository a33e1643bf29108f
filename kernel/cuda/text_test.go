package cuda_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/device/launch"
	"sagann/kernel"
	"sagann/kernel/cuda"
	"sagann/layers"
	"sagann/saga"
)

var update = flag.Bool("update", false, "write testdata/text.txt anew")

// TestText: what a GPU compiles and is told to run is what testdata/text.txt names: for every
// model, by sums of the text of its kernels, their names and scratch memory, and what launches
// over a few cells do. A change of the text costs every user a compilation and may cost time: it
// is made on purpose, with a measurement, and then go test ./kernel/cuda -run TestText -update.
func TestText(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine writes much text")
	}
	var got strings.Builder
	for _, name := range layers.Names() {
		for _, hidden := range []int{33, 64} {
			for _, storage := range []string{saga.StorageF32, saga.StorageBF16} {
				for i, without := range [][]string{nil, {"hoist", "commute", "factor"}, {"fuse"}, {"invariant"}} {
					o := layers.Options{Features: 70, Hidden: hidden, Classes: 5, Layers: 2, Heads: 8, Dropout: 0.5, EdgeData: 2, EdgeTypes: 3}
					if hidden%8 != 0 {
						o.Heads = 1
					}
					c := saga.Config{Without: without, Storage: storage, Outcome: saga.Outcome{Slices: i}}
					fmt.Fprintf(&got, "%s hidden=%d %s without=%s %s\n", name, hidden, storage, strings.Join(without, ","),
						textOf(t, name, o, c, i%2 == 1, false))
				}
			}
		}
	}
	for _, o := range []layers.Options{{Task: saga.EdgeTask}, {Task: saga.GraphTask, Readout: saga.ReadoutSum},
		{Task: saga.GraphTask, Readout: saga.ReadoutMean}, {Task: saga.GraphTask, Readout: saga.ReadoutMax}} {
		o.Features, o.Hidden, o.Classes, o.Layers = 70, 16, 2, 2
		fmt.Fprintf(&got, "gcn task=%s readout=%s %s\n", o.Task, o.Readout, textOf(t, "gcn", o, saga.Config{}, false, false))
	}
	for _, name := range []string{"gcn", "sage", "gin"} {
		for _, dropout := range []float32{0, 0.5} {
			o := layers.Options{Features: 70, Hidden: 32, Classes: 5, Layers: 2, Dropout: dropout}
			fmt.Fprintf(&got, "%s sparse dropout=%v %s\n", name, dropout, textOf(t, name, o, saga.Config{}, false, true))
		}
	}
	for kind, name := range map[kernel.Optimizer]string{kernel.SGD: "sgd", kernel.Momentum: "momentum", kernel.Adam: "adam", kernel.AdamW: "adamw"} {
		if text := (cuda.Backend{}).Optimizer(kind); !slices.Equal(text.Names, []string{name, "average"}) {
			t.Errorf("the kernel of %s is %v", name, text.Names)
		}
	}
	for what, text := range map[string]kernel.GPUText{"31a41aee461ac7db": cuda.Backend{}.Optimizer(kernel.SGD), "f6fac67242b7a026": cuda.Backend{}.Join()} {
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text.Source)))[:16]; sum != what {
			t.Errorf("the source of %v has the sum %s, not %s", text.Names, sum, what)
		}
	}
	file := filepath.Join("testdata", "text.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(old) || line != old[i] {
			t.Errorf("%s\nis not what the file has", line)
		}
	}
}

// textOf sums up the kernels of a model on a small graph.
func textOf(t *testing.T, name string, o layers.Options, c saga.Config, packed, sparse bool) string {
	t.Helper()
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features, spec.Classes = 200, 1000, 70, o.Classes
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges
	e.Types, e.Type = 3, make([]uint32, e.E())
	e.DataCols, e.Data = 2, make([]float32, 2*e.E())
	switch o.Task {
	case saga.EdgeTask:
		for k := range e.Src {
			d.EdgeLabels, d.EdgeSplit.Train = append(d.EdgeLabels, int32(k%2)), append(d.EdgeSplit.Train, uint32(k))
		}
	case saga.GraphTask:
		for v := range e.V {
			d.GraphOf = append(d.GraphOf, uint32(v%5))
		}
		d.GraphLabels, d.GraphSplit.Train = []int32{0, 1, 0, 1, 1}, []uint32{0, 1, 2}
	}
	if d.HoldFeatures(); sparse {
		if err := d.SetSparse(dataset.SparseOf(d.Features, 70), 70); err != nil {
			t.Fatal(err)
		}
	}
	m, err := layers.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	c.Device = "null" // the CPU has kernels of its own for products by type
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, k := range p.Kernels() {
		k.Packed = k.Edges && packed
		rendered, err := cuda.Render(k, cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(h, rendered.Source, rendered.Names)
		parameters, err := launch.ParametersOf(rendered.Source, rendered.Names)
		if err != nil {
			t.Fatalf("%s, kernel %s: %v", name, k.Name, err)
		}
		for _, n := range []int{0, 1, 1000, 5_000_000} {
			size := rendered.Scratch(n, 3*n)
			if planned := cuda.Scratch(k, cuda.H200, n, 3*n); planned != size {
				t.Errorf("%s, kernel %s: planned for %d bytes of scratch memory, rendered for %d", name, k.Name, planned, size)
			}
			fmt.Fprintln(h, size)
		}
		for _, bytes := range []int64{0, 1, 100 << 20, 1 << 40} {
			fmt.Fprintln(h, kernel.TileWithin(k, cuda.H200, bytes))
		}
		for _, l := range textLaunches(k) {
			for _, s := range rendered.Steps(l) {
				var words []uint64 // as the text takes them
				if s.Func >= 0 {
					if words, err = parameters[s.Func].Words(s.Args); err != nil {
						t.Errorf("%s, kernel %s: %s: %v", name, k.Name, rendered.Names[s.Func], err)
					}
				}
				fmt.Fprintln(h, s.Func, s.Grid, s.Block, s.Shared, words, s.Gemm, s.Bytes, s.Flops)
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// textLaunches are launches of p over rows, or over cells of even and of uneven rows.
func textLaunches(p *kernel.Program) (list []*kernel.GPULaunch) {
	bufs := make([]uint64, p.Operands)
	for i := range bufs {
		bufs[i] = uint64(i+1) << 32
	}
	if !p.Edges {
		for _, rows := range []int{0, 5, 150_000} {
			list = append(list, &kernel.GPULaunch{Rows: rows, Bufs: bufs, Scratch: 1 << 50})
		}
		return list
	}
	for _, edges := range []int{1, 5, 40, 130} {
		for _, rows := range []int{60, 2000, 160_000} {
			if rows*edges > 800_000 {
				continue
			}
			ptr := rowsOf(rows, edges)
			l := &kernel.GPULaunch{Rows: rows, Bufs: bufs, Scratch: 1 << 50, First: true, Last: edges != 40, TF32: edges == 40,
				Cell: &kernel.GPUCell{PtrAt: 1, Other: 2, Rank: 3, Type: 4, Weight: 5, Data: 6, Bits: 18, Ptr: ptr}}
			if edges == 1 {
				l.Cell.RowIDs = 9
			}
			list = append(list, l)
		}
	}
	return list
}

var rowLists = map[[2]int][]uint32{}

// rowsOf is the list of rows of so many edges each. Of 5 edges a few rows have 3000.
func rowsOf(rows, edges int) []uint32 {
	at := [2]int{rows, edges}
	if rowLists[at] == nil {
		ptr := make([]uint32, rows+1)
		for i := range rows {
			n := edges
			if i%1000 == 7 && edges == 5 {
				n = 3000
			}
			ptr[i+1] = ptr[i] + uint32(n)
		}
		rowLists[at] = ptr
	}
	return rowLists[at]
}
