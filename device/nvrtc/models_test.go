package nvrtc_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"sagann/dataset"
	"sagann/device/nvrtc"
	"sagann/kernel"
	"sagann/kernel/cuda"
	"sagann/layers"
	"sagann/saga"
)

// TestModels renders every kernel of every model, of float32 and of bfloat16 rows, of whole
// ones and of slices, and compiles it. Without passes the models take turns with the two kinds of rows. Only the compiling is skipped where the library is missing.
func TestModels(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine writes much text")
	}
	type text struct{ name, source string }
	seen := map[string]bool{}
	var texts []text
	for k, name := range layers.Names() {
		for j, storage := range []string{saga.StorageF32, saga.StorageBF16} {
			for i, without := range [][]string{nil, {"hoist", "commute", "factor"}, {"fuse"}, {"invariant"}} {
				if without != nil && (i+j+k)%2 == 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/without=%s", name, storage, strings.Join(without, ",")), func(t *testing.T) {
					for _, p := range programs(t, name, saga.Config{Without: without, Storage: storage, Outcome: saga.Outcome{Slices: i}}) {
						p.Packed = p.Edges && i%2 == 1
						c, err := cuda.Render(p, cuda.H200)
						if err != nil {
							t.Fatal(err)
						}
						if !seen[c.Source] {
							seen[c.Source] = true
							texts = append(texts, text{p.Name, c.Source})
						}
					}
				})
			}
		}
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, x := range texts {
		g.Go(func() error {
			if err := nvrtc.Check(x.source, 75); err != nil {
				return fmt.Errorf("%s: %w\n%s", x.name, err, x.source[strings.LastIndex(x.source, "saga_lse_merge"):])
			}
			return nil
		})
	}
	if err := g.Wait(); errors.Is(err, nvrtc.ErrMissing) {
		t.Skipf("rendered only: %v", nvrtc.ErrMissing)
	} else if err != nil {
		t.Fatal(err)
	}
}

// programs are the kernels of a model of two layers on a small graph; without a pass left out also with all rows indexed that may be.
func programs(t *testing.T, name string, c saga.Config) []*kernel.Program {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges, spec.Features, spec.Classes = 200, 1000, 70, 5
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges
	e.Types, e.Type = 3, make([]uint32, e.E())
	e.DataCols, e.Data = 2, make([]float32, 2*e.E())
	m, err := layers.New(name, layers.Options{Features: 70, Hidden: 64, Classes: 5, Layers: 2, Heads: 8, Dropout: 0.5, EdgeData: 2, EdgeTypes: 3})
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	list := p.Kernels()
	if c.Without == nil { // and as kernels of sampled blocks read rows of tables
		for _, k := range list {
			for i := range k.Operands {
				if k.Indexable(i) {
					k = k.WithIndex(i)
				}
			}
			list = append(list, k)
		}
	}
	return list
}
