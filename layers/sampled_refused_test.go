package layers

import (
	"strings"
	"testing"

	"sagann/saga"
	"sagann/sample"
)

// TestSampledTypesRefused: what batches over several types do not have is refused by name, with what would work.
func TestSampledTypesRefused(t *testing.T) {
	x := readHetero(t)
	h, m := x.graph(t), heteroModels()["sage"]
	named := func(text string, d sample.Sampler) map[string]sample.Sampler {
		return map[string]sample.Sampler{text: d}
	}
	two := sample.Neighbours(2, 2)
	for want, s := range map[string]saga.Sampling{
		`no relation`:                                      {Sampler: two, Relations: named("cited", two), Batch: 4},
		"author:writes:paper":                              {Sampler: two, Relations: named("cited", two), Batch: 4},
		"no fan-outs of author:knows:author":               {Relations: named("writes", two), Batch: 4},
		"twice":                                            {Sampler: two, Relations: map[string]sample.Sampler{"writes": two, "author:writes:paper": two}, Batch: 4},
		"has 3 steps and the model has 2 layers":           {Sampler: two, Relations: named("writes", sample.Neighbours(1, 1, 1)), Batch: 4},
		"the sampler ladies is for one type":               {Sampler: sample.LADIES(8, 8), Batch: 4},
		"the sampler saint is for one type":                {Sampler: sample.SAINT(2), Batch: 4},
		"the sampler fastgcn is for one type":              {Sampler: two, Relations: named("writes", sample.FastGCN(8, 8)), Batch: 4},
		"cannot be scaled":                                 {Sampler: two, Relations: named("writes", sample.WeightedNeighbours(2, 2)), Batch: 4, Norm: saga.NormFull},
		"neighbours are drawn, by equal probability or by": {Sampler: sample.PinSAGE(2, 3, 3, 2), Batch: 4},
	} {
		if _, err := saga.CompileSampled(m, h.At(2), saga.Config{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
