package cuda

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sagann/dataset"
	"sagann/device"
	"sagann/device/nvrtc"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// TestCompiles translates all kernels, where the compiler is there.
func TestCompiles(t *testing.T) {
	sources := []string{triangles()}
	for k := 4; k <= 8; k++ {
		sources = append(sources, cliques(k))
	}
	for i, s := range sources {
		if n := strings.Count(s, "{") - strings.Count(s, "}"); n != 0 || strings.Contains(s, "%!") {
			t.Errorf("kernel %d: %d braces too many\n%s", i, n, s)
		}
		_, err := nvrtc.PTX(s, 75)
		if errors.Is(err, nvrtc.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("kernel %d: %v\n%s", i, err, s)
		}
	}
}

// made is an R-MAT graph in order of degree.
func made(t testing.TB, spec string) *rows.Rows {
	t.Helper()
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := rows.FromEdges(d.Edges.Symmetric())
	if err != nil {
		t.Fatal(err)
	}
	return r.ByDegree()
}

// openGPU opens the first GPU, or skips.
func openGPU(t testing.TB, bytes int64) device.GPU {
	t.Helper()
	d, err := device.OpenCUDA(0, bytes)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(device.GPU)
}

// TestCounts compares the GPU's counts with the CPU's: a small graph, whose matrices all
// lie in shared memory, and one with roots of several hundred neighbours, of which some
// do not.
func TestCounts(t *testing.T) {
	gpu := openGPU(t, 2<<30)
	for _, spec := range []string{
		"vertices=34,edges=100,kind=rmat,features=1",
		"vertices=2000,edges=30000,kind=rmat,features=1,seed=2",
		"vertices=4000,edges=900000,kind=rmat,features=1,seed=3",
	} {
		r := made(t, spec)
		g, err := Upload(gpu, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: at most %d neighbours above a vertex", spec, r.MaxAbove)
		for k := 3; k <= 8; k++ {
			if k > 5 && r.MaxAbove > 200 { // the CPU takes too long
				break
			}
			want, err := (&run.Run{Rows: r, Workers: 2}).Cliques(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, err := g.Cliques(k); err != nil || got != want {
					t.Errorf("%s: %v cliques of %d vertices, %v; want %v", spec, got, k, err, want)
				}
			}
		}
		if err := g.Free(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkRMAT prints kernel times of R-MAT graphs of edge factor 16.
func BenchmarkRMAT(b *testing.B) {
	for _, scale := range []int{16, 20} {
		b.Run(fmt.Sprint(scale), func(b *testing.B) {
			gpu := openGPU(b, 16<<30)
			r := made(b, fmt.Sprintf("vertices=%d,edges=%d,kind=rmat,features=1", 1<<scale, 16<<scale))
			g, err := Upload(gpu, r)
			if err != nil {
				b.Fatal(err)
			}
			var last time.Duration
			gpu.SetTrace(func(s device.Span) {
				if s.Op == device.OpLaunch {
					last = s.End - s.Start
				}
			})
			for k := 3; k <= 6; k++ {
				least := time.Hour
				var n run.Total
				for range 3 {
					if n, err = g.Cliques(k); err != nil {
						b.Fatal(err)
					}
					least = min(least, last)
				}
				b.Logf("scale %d, %d edges, %d above at most: %v cliques of %d vertices in %v", scale, r.Edges(), r.MaxAbove, n, k, least)
			}
			if err := g.Free(); err != nil {
				b.Error(err)
			}
		})
	}
}
