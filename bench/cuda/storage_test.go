package cuda

import (
	"fmt"
	"math"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestStorage trains with rows of bfloat16 on the CPU and twice on the GPU, at widths that
// fill words and that do not, whole and streamed, packed features among what changes not
// and rows that are packed in every epoch. The GPU's runs have the same bits. Its losses
// are the CPU's within 1e-3 for five epochs, within 2⁻⁸ for mpgcn, and half of what
// rounding rows at all moves a loss by: a number between two of 8 bits may be rounded the
// other way, a maximum then be another, and training makes more of it.
func TestStorage(t *testing.T) {
	needGPU(t)
	const epochs = 5
	d := graph(t)
	for _, name := range []string{"gcn", "commnet", "ggcn", "resgated", "gat", "ggnn", "mpgcn"} {
		for _, hidden := range []int{33, 64, 128} {
			for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}, {Chunks: 4, Stream: true, Without: []string{"invariant", "commute"}},
				{Chunks: 1, Without: []string{"recompute-on-load", "factor"}}, {Chunks: 3, Without: []string{"fuse"}}} {
				c.Seed, c.Storage = 1, saga.StorageBF16
				t.Run(fmt.Sprintf("%s/%d/P=%d%v", name, hidden, c.Chunks, c.Without), func(t *testing.T) {
					m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: hidden, Classes: d.Classes, Layers: 2, Heads: 4, Dropout: 0.3})
					if err != nil {
						t.Fatal(err)
					}
					c.Device = "cpu"
					cpu := steps(t, m, d, c)
					f32 := c
					f32.Storage = saga.StorageF32
					plain := steps(t, m, d, f32)
					c.Device = "cuda"
					gpu, again := steps(t, m, d, c), steps(t, m, d, c)
					most := 1e-3
					if name == "mpgcn" {
						most = 1.0 / 256
					}
					for i := range cpu {
						if gpu[i] != again[i] {
							t.Fatalf("losses %v and %v of two runs", gpu, again)
						}
						if i < epochs && !(math.Abs(gpu[i]-cpu[i]) <= most*math.Abs(cpu[i])+math.Abs(plain[i]-cpu[i])/2) {
							t.Errorf("CPU %v\nGPU %v\nfloat32 %v", cpu, gpu, plain)
							break
						}
					}
					t.Logf("first %d losses: GPU from CPU %.2g, CPU from float32 %.2g", epochs, apart(cpu[:epochs], gpu[:epochs]), apart(plain[:epochs], cpu[:epochs]))
				})
			}
		}
	}
}
