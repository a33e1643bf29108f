package layers

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/saga"
	"sagann/sample"
)

// Laws of sampled training over random graphs of several types.

// batch trains on batches of s for some updates.
func (c *schemaCase) batch(d *dataset.Data, cfg saga.Config, s saga.Sampling, updates int, change func(p *saga.Program) error) (outcome, error) {
	return c.trainBy(func(m saga.Model, d *dataset.Data, cfg saga.Config) (*saga.Program, error) {
		return saga.CompileSampled(m, d, cfg, s)
	}, d, cfg, updates, change)
}

// fanouts are so many in-edges for every layer of the model that gathers.
func (c *schemaCase) fanouts(n ...int) sample.Sampler {
	var list []int
	for i := range c.m.Layers {
		if c.m.Layers[i].ApplyEdge != nil {
			list = append(list, n[len(list)%len(n)])
		}
	}
	return sample.Neighbours(list...)
}

// TestSampledSchemas: laws of batches over random graphs of several types and random models.
func TestSampledSchemas(t *testing.T) {
	cases := 40
	if testing.Short() {
		cases = 5
	}
	for name, law := range map[string]func(t *testing.T, r *rand.Rand) (*schemaCase, string){
		"whole": lawWhole, "single": lawSingleBatches, "resumed": lawResumedBatches, "draws": lawBatchDraws,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := 0
			for k := range cases {
				c, text := law(t, rand.New(rand.NewPCG(draw.Seed(t), uint64(k))))
				if text == "" {
					continue
				}
				t.Errorf("case %d, %v: %s", k, c, text)
				if wrong++; wrong > 4 {
					return
				}
			}
		})
	}
}

// lawWhole: a batch of all training vertices with all in-edges gives the losses of the full graph, update by update, whether relations
// are named or not.
func lawWhole(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c, _, err := drawCase(r)
	if err != nil {
		return c, err.Error()
	}
	c.rule = "sgd"
	want, err := c.train(c.at(c.h), saga.Config{}, 3, nil)
	if err != nil {
		return c, err.Error()
	}
	s := saga.Sampling{Sampler: c.fanouts(100), Batch: 1000, Norm: []string{"", saga.NormFull}[r.IntN(2)]}
	if d := c.at(c.h); d.Vertices.Kinds != nil && r.IntN(2) == 0 {
		s.Relations = map[string]sample.Sampler{}
		for i := range c.h.Relations {
			s.Relations[c.h.FullName(i)] = c.fanouts(50, 60)
		}
		if r.IntN(2) == 0 {
			s.Sampler = sample.Sampler{}
		}
	}
	got, err := c.batch(c.at(c.h), saga.Config{}, s, 3, nil)
	switch {
	case err != nil && strings.Contains(err.Error(), "before a layer has gathered"):
		return c, ""
	case err != nil:
		return c, err.Error()
	case !near(got.z, want.z, 1e-5):
		return c, fmt.Sprintf("batches %v, the full graph %v", got.z, want.z)
	}
	return c, ""
}

// lawSingleBatches: where labels depend on one type and one relation, batches have the bits of those of a graph without types.
func lawSingleBatches(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	c := drawSchema(r, 1, 1, r.IntN(3) == 0)
	c.model(c.h.Types[0].Rows.FeatureCols > 0)
	s := saga.Sampling{Sampler: c.fanouts(1+r.IntN(3), 2), Batch: 1 + r.IntN(5)}
	want, err := c.batch(c.h.Single(), saga.Config{}, s, 3, nil)
	if err != nil {
		if strings.Contains(err.Error(), "products with weights") {
			return c, ""
		}
		return c, err.Error()
	}
	c.addType([]string{"0", "zoo"}[r.IntN(2)], r.IntN(3))
	t, _ := c.h.Type(c.target)
	c.addRelation(t, "to", 1-t, 1+r.IntN(9))
	got, err := c.batch(c.at(c.h), saga.Config{}, s, 3, nil)
	switch {
	case err != nil:
		return c, err.Error()
	case !slices.Equal(got.z, want.z):
		return c, fmt.Sprintf("beside an idle type %v, without %v", got.z, want.z)
	}
	return c, ""
}

// lawResumedBatches: a run over batches that is saved and goes on elsewhere has the bits of one that is not.
func lawResumedBatches(t *testing.T, r *rand.Rand) (*schemaCase, string) {
	c, _, err := drawCase(r)
	if err != nil {
		return c, err.Error()
	}
	s := saga.Sampling{Sampler: c.fanouts(1+r.IntN(3), 2), Batch: 1 + r.IntN(5), Eval: nil}
	want, err := c.batch(c.at(c.h), saga.Config{}, s, 5, nil)
	if err != nil {
		return c, err.Error()
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if _, err := c.batch(c.at(c.h), saga.Config{}, s, 0, func(p *saga.Program) error {
		for range 3 {
			if _, err := p.Step(); err != nil {
				return err
			}
		}
		return p.Save(path, "")
	}); err != nil {
		return c, err.Error()
	}
	got, err := c.batch(c.at(c.h), saga.Config{}, s, 2, func(p *saga.Program) error { return p.Restore(path) })
	if err != nil {
		return c, err.Error()
	}
	if !slices.Equal(got.z, want.z[3:]) {
		return c, fmt.Sprintf("resumed %v, want %v", got.z, want.z[3:])
	}
	return c, ""
}

// lawBatchDraws: one more relation changes no in-edge that is drawn of another, nor any other draw.
func lawBatchDraws(_ *testing.T, r *rand.Rand) (*schemaCase, string) {
	fan := 1 + r.IntN(2)
	return drawsBy(r, func(c *schemaCase, d *dataset.Data, cfg saga.Config, updates int, change func(p *saga.Program) error) (outcome, error) {
		return c.batch(d, cfg, saga.Sampling{Sampler: c.fanouts(fan, 2), Batch: 4}, updates, change)
	})
}

// TestHeteroSampled: a batch of all training vertices with all in-edges has the golden losses, logits and gradients over several types.
func TestHeteroSampled(t *testing.T) {
	x := readHetero(t)
	h := x.graph(t)
	for name, m := range heteroModels() {
		if name == "han" { // its mean over vertices is over those of a batch
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 2
			for _, s := range []saga.Sampling{
				{Sampler: sample.Neighbours(slices.Repeat([]int{40}, n)...), Batch: 1000},
				{Relations: map[string]sample.Sampler{}, Batch: 1000},
			} {
				for i := range h.Relations {
					if s.Relations != nil {
						s.Relations[h.FullName(i)] = sample.Neighbours(slices.Repeat([]int{30 + i}, n)...)
					}
				}
				x.checkBy(t, h, m, saga.Config{}, &s).Close()
			}
			x.checkBy(t, h, m, saga.Config{Without: []string{"hoist", "commute", "factor", "fuse"}}, &saga.Sampling{Sampler: sample.Neighbours(slices.Repeat([]int{40}, n)...), Batch: 1000}).Close()
		})
	}
}
