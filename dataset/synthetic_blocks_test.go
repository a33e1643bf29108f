package dataset

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"runtime"
	"testing"
)

// digest is a checksum of all that a generated graph has.
func digest(t *testing.T, d *Data) uint64 {
	h := fnv.New64a()
	for _, x := range []any{d.Edges.Src, d.Edges.Dst, d.Features, d.Labels, d.Train, d.Val, d.Test} {
		if err := binary.Write(h, binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
	}
	return h.Sum64()
}

// TestSyntheticBits: a spec means the same graph in every version; accuracies that
// were measured on one stay true.
func TestSyntheticBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other machines may fuse products and sums")
	}
	for spec, want := range map[string]uint64{
		"": 0xd074f787064e0340,
		"vertices=1000,edges=9999,features=5,classes=4,seed=7":     0x9652798a9bd67523,
		"vertices=500,edges=4K,features=8,skew=0.5,copies=3":       0x88fabadfaf1c4311,
		"vertices=1000,edges=5000,features=3,kind=rmat":            0x3cbbdd84c7b4dccf,
		"vertices=2,edges=7,features=1,classes=2":                  0x36f067ec127cce3d,
		"vertices=32768,edges=1Mi,features=2,classes=7,skew=1":     0x39817d210a46a941,
		"vertices=70K,edges=2200001,features=2,classes=7":          0x327bdcc53c3f9388,
		"vertices=70K,edges=2200001,features=2,classes=7,skew=0.8": 0x86871fcd645cf0a,
		"vertices=70K,edges=2.2M,features=2,kind=rmat,copies=2":    0xeeabdf7c2b197d88,
	} {
		s, err := ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Synthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(t, d); got != want {
			t.Errorf("%q has digest %#x, want %#x", spec, got, want)
		}
	}
}

// Blocks are drawn side by side; how many processors there are is in no bit.
func TestSyntheticOnAnyNumberOfProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, spec := range []string{"vertices=70K,edges=2200001,features=3,classes=9,skew=0.4",
		"vertices=70K,edges=2.2M,features=2,kind=rmat,copies=2"} {
		var want uint64
		for _, n := range []int{1, 2, 3, 7} {
			runtime.GOMAXPROCS(n)
			got := digest(t, mustSynthetic(t, spec))
			if want == 0 {
				want = got
			}
			if got != want {
				t.Errorf("%q on %d processors has digest %#x, on one %#x", spec, n, got, want)
			}
		}
	}
}

// TestBlocksAreAlike: edges and features of every block follow the same laws, and
// no block repeats another.
func TestBlocksAreAlike(t *testing.T) {
	d := mustSynthetic(t, "vertices=70K,edges=2.5M,features=4,classes=4")
	e := d.Edges
	for lo := 0; lo < e.E(); lo += blockEdges {
		same, repeated, hi := 0, 0, min(lo+blockEdges, e.E())
		for k := lo; k < hi; k += 2 {
			if e.Src[k] != e.Dst[k+1] || e.Dst[k] != e.Src[k+1] || e.Src[k] == e.Dst[k] {
				t.Fatalf("edges %d and %d are not one tie both ways", k, k+1)
			}
			if d.Labels[e.Src[k]] == d.Labels[e.Dst[k]] {
				same += 2
			}
			if lo > 0 && e.Src[k] == e.Src[k-lo] {
				repeated++
			}
		}
		if share := float64(same) / float64(hi-lo); math.Abs(share-(homophily+(1-homophily)/4)) > 0.005 {
			t.Errorf("from edge %d on %.4f of the edges are inside communities", lo, share)
		}
		if repeated > 100 {
			t.Errorf("from edge %d on %d sources are as in the first block", lo, repeated)
		}
	}
	s := DefaultSpec()
	s.Vertices, s.Features, s.Classes = e.V, 4, 4
	center := centroids(&s, s.stream(featureStream))
	for lo := 0; lo < e.V; lo += blockRows {
		sum, squares, hi := 0.0, 0.0, min(lo+blockRows, e.V)
		for v := lo; v < hi; v++ {
			for k, m := range center[d.Labels[v]] {
				x := float64(d.Features[v*4+k]) - signal*m
				sum, squares = sum+x, squares+x*x
			}
		}
		n := float64(4 * (hi - lo))
		if mean, power := sum/n, squares/n; math.Abs(mean) > 0.02 || math.Abs(power-1) > 0.03 {
			t.Errorf("from row %d on the noise has mean %.4f and power %.4f, want 0 and 1", lo, mean, power)
		}
	}
}
