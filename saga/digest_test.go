package saga_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

var factsDir = flag.String("facts", "", "a folder into which TestPinnedDigests writes what each digest is made of")

// pinned are digests of configurations in which nothing is left to choose. Write none of them anew because a
// test fails: a digest that has changed means that runs in progress cannot go on. Where the
// arithmetic has changed, raise its revision in digest.go, and then all of them change. To see what
// differs, run this test with -facts DIR before and after, and compare the folders.
var pinned = []struct {
	name, model string
	options     layers.Options
	config      saga.Config
	digest      string
}{
	{"gcn", "gcn", layers.Options{}, saga.Config{Without: []string{"invariant"}}, "2-e2bd8f164397c43a2bd85e18b7d3227f"},
	{"commnet", "commnet", layers.Options{}, saga.Config{Chunks: 4}, "2-fabdfec97765d2652040a30dbf4bca7f"},
	{"mpgcn", "mpgcn", layers.Options{}, saga.Config{Chunks: 4, Save: saga.SaveNone}, "2-ee8146f8d44d1175adaee2c43e66119c"},
	{"ggcn", "ggcn", layers.Options{Dropout: 0.25}, saga.Config{Chunks: 4, Device: "cpu:2", Seed: 7}, "2-bb4be7e363a55ccc195a1f5645c8cdd6"},
	{"ggnn", "ggnn", layers.Options{EdgeTypes: 3, Steps: 3}, saga.Config{Chunks: 3, Schedule: "stage"}, "2-3387b4ff943cb1903ce1d502d17390c1"},
	{"sage", "sage", layers.Options{}, saga.Config{Chunks: 4, Schedule: "dest-order"}, "2-f1f4714d13bcb71bf3af8bc9e444661d"},
	{"gin", "gin", layers.Options{}, saga.Config{Chunks: 6, Device: "cpu:3"}, "2-380d104d3edddf8a5c5ed1667620069b"},
	{"gat", "gat", layers.Options{Heads: 2, AttentionDropout: 0.5}, saga.Config{Chunks: 4, Save: saga.SaveAll}, "2-dbfb58816404481927141746c00252d1"},
	{"gatv2", "gatv2", layers.Options{Heads: 2}, saga.Config{Chunks: 3}, "2-f554a48d31a5c8e26a781e67276848e5"},
	{"resgated", "resgated", layers.Options{Layers: 3}, saga.Config{Chunks: 4}, "2-041c2a2a91c3eb39564f477116f105c6"},
	{"edgemlp", "edgemlp", layers.Options{}, saga.Config{Chunks: 2}, "2-a37bb7e200a9699b3b9623af03cc8c3c"},
	{"gcn by weight, invariants computed over two intervals", "gcn", layers.Options{Normalize: layers.NormWeight}, saga.Config{Chunks: 3, Outcome: saga.Outcome{Once: []int{2, 2}}}, "2-a4e6a8fc75bf0eb76d410a5a64b24cea"},
	{"groups of intervals", "ggcn", layers.Options{}, saga.Config{Chunks: 8, Stream: true, Outcome: saga.Outcome{Groups: []int{2}}}, "2-90a2ac373a165d809d3ee5f5c4c177e5"},
	{"slices", "gcn", layers.Options{}, saga.Config{Chunks: 4, Outcome: saga.Outcome{Slices: 2}, Without: []string{"invariant"}}, "2-969bacfe8dfb16a0eb239046b7cbf353"},
	{"bfloat16", "commnet", layers.Options{Hidden: 32}, saga.Config{Chunks: 4, Storage: saga.StorageBF16}, "2-5565414bbfab3f92a31a87738f2d11fb"},
	{"sgd", "commnet", layers.Options{}, saga.Config{Optimizer: saga.Optimizer{Kind: "sgd", LR: 0.1, Momentum: 0.9, WeightDecay: 1e-3, DecayAll: true, ClipNorm: 1}}, "2-8270184df6d8bd6f77f2a2358a74951f"},
	{"adamw", "commnet", layers.Options{}, saga.Config{Optimizer: saga.Optimizer{Kind: "adamw", WeightDecay: 1e-2, Gamma: 0.5, DecayEvery: 10}}, "2-a91fe5afdd7333b255a385fa270aaaf6"},
	{"the paper's passes", "ggcn", layers.Options{}, saga.Config{Chunks: 4, Without: []string{"commute", "degree-sort", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice"}}, "2-39f1c3d56b4d3d43ff24d98fac154f0e"},
	{"no pass", "gat", layers.Options{Heads: 2}, saga.Config{Chunks: 4, Without: []string{"hoist", "commute", "factor", "fuse", "invariant"}}, "2-88beaff3374abb79bb91d699e9316a5b"},
	{"gradient of features, outputs", "sage", layers.Options{}, saga.Config{Chunks: 4, Outputs: []string{"hidden", "logits", "grad:features"}}, "2-5a6c2870746f4384b1055aaeb904e2f6"},
	{"a GPU", "ggcn", layers.Options{}, saga.Config{Chunks: 4, Device: "cuda", TF32: true, Without: []string{"invariant"}}, "2-0141db298659b2bc5abd9e3bb5d04875"},
	{"two GPUs, packed cells", "edgemlp", layers.Options{}, saga.Config{Chunks: 4, Device: "cuda:0,1", Outcome: saga.Outcome{Packing: saga.PackingOn}, Without: []string{"invariant"}}, "2-a53e4a5cdd69338cc92059d6f45b2f78"},
	{"labels of edges", "commnet", layers.Options{Task: saga.EdgeTask}, saga.Config{Chunks: 3}, "2-643e29ec3b499fc9a86908906c133c57"},
	{"labels of graphs", "gin", layers.Options{Task: saga.GraphTask, Readout: saga.ReadoutMax}, saga.Config{Chunks: 3}, "2-b6a07645655a98bd0679e75942aaed40"},
}

// simple is a graph with everything that a model may read. Its numbers are such that what is precomputed
// of them is exact on any machine.
func simple(t *testing.T) *dataset.Data {
	t.Helper()
	const v, e, features, graphs = 120, 900, 6, 10
	d := &dataset.Data{Name: "simple", FeatureCols: features, Classes: 3,
		Edges: &chunk.Edges{V: v, Types: 3, DataCols: 4}}
	for k := range uint32(e) {
		src, dst := k*k*7%v, k*31%v
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, src), append(d.Edges.Dst, dst)
		d.Edges.Type, d.Edges.Weight = append(d.Edges.Type, k%3), append(d.Edges.Weight, []float32{0.5, 1, 2}[k%3])
		d.Edges.Data = append(d.Edges.Data, float32(k%2), float32(k%3), float32(k%5), 1)
		d.EdgeLabels = append(d.EdgeLabels, int32(k%2))
	}
	for i := range uint32(v) {
		d.Labels, d.GraphOf = append(d.Labels, int32(i%3)), append(d.GraphOf, i%graphs)
		for c := range uint32(features) {
			d.Features = append(d.Features, float32((i+3*c)%5))
		}
	}
	for g := range graphs {
		d.GraphLabels = append(d.GraphLabels, int32(g%2))
	}
	split := func(n uint32) (train, val, test []uint32) {
		for i := range n {
			to := []*[]uint32{&train, &val, &test}[i%3]
			*to = append(*to, i)
		}
		return train, val, test
	}
	d.Train, d.Val, d.Test = split(v)
	d.EdgeSplit.Train, d.EdgeSplit.Val, d.EdgeSplit.Test = split(e)
	d.GraphSplit.Train, d.GraphSplit.Val, d.GraphSplit.Test = split(graphs)
	return d
}

func compileSimple(t *testing.T, name string, o layers.Options, c saga.Config) *saga.Program {
	t.Helper()
	d := simple(t)
	o.Features, o.Hidden, o.Classes, o.EdgeData = d.FeatureCols, cmp.Or(o.Hidden, 8), 3, d.Edges.DataCols
	if o.Layers = cmp.Or(o.Layers, 2); o.Task == saga.EdgeTask || o.Task == saga.GraphTask {
		o.Classes = 2
	}
	m, err := layers.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Save == "" { // auto asks the simulator
		c.Save = "some"
	}
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPinnedDigests: digests are what they were, so that runs go on across versions, and
// each configuration has one of its own.
func TestPinnedDigests(t *testing.T) {
	seen := map[string]string{}
	for i, x := range pinned {
		p := compileSimple(t, x.model, x.options, x.config)
		digest := p.Digest()
		if digest != x.digest {
			t.Errorf("%s: digest %q, pinned is %q", x.name, digest, x.digest)
		}
		if seen[digest] != "" {
			t.Errorf("%s has the digest of %s", x.name, seen[digest])
		}
		seen[digest] = x.name
		if *factsDir != "" {
			if err := os.WriteFile(filepath.Join(*factsDir, fmt.Sprintf("%02d.txt", i)), []byte(x.name+"\n"+p.Facts()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDigestOfFacts: what no bit depends on changes no digest, and what bits depend on
// changes it.
func TestDigestOfFacts(t *testing.T) {
	base := func() saga.Config {
		return saga.Config{Chunks: 6, Seed: 1, Optimizer: saga.Optimizer{WeightDecay: 1e-3}, Without: []string{"invariant"}}
	}
	for _, device := range []string{"cpu", "cpu:2", "cuda"} {
		digest := func(c saga.Config, o layers.Options) string {
			c.Device = device
			p := compileSimple(t, "ggcn", o, c)
			return p.Digest()
		}
		want := digest(base(), layers.Options{})
		for name, change := range map[string]func(c *saga.Config, o *layers.Options){
			"host memory": func(c *saga.Config, _ *layers.Options) { c.HostMem = 1 << 30 },
			"streams":     func(c *saga.Config, _ *layers.Options) { c.Stream = true },
			"prefetch":    func(c *saga.Config, _ *layers.Options) { c.Stream, c.Prefetch = true, 1 },
			"no overlap":  func(c *saga.Config, _ *layers.Options) { c.Without = append(c.Without, "stream") },
			"row gathers": func(c *saga.Config, _ *layers.Options) {
				c.Stream, c.Without = true, append(c.Without, "row-gather")
			},
			"epochs":     func(c *saga.Config, _ *layers.Options) { c.Epochs, c.EvalEvery, c.Patience = 9, 2, 3 },
			"no ring":    func(c *saga.Config, _ *layers.Options) { c.NoRing = true },
			"packing":    func(c *saga.Config, _ *layers.Options) { c.Outcome.Packing = saga.PackingOn },
			"sgd's":      func(c *saga.Config, _ *layers.Options) { c.Optimizer.Momentum = 0.5 },
			"decay in 0": func(c *saga.Config, _ *layers.Options) { c.Optimizer.DecayEvery = 5 },
		} {
			c, o := base(), layers.Options{}
			change(&c, &o)
			if digest(c, o) != want {
				t.Errorf("%s, %s: another digest", device, name)
			}
		}
		for name, change := range map[string]func(c *saga.Config, o *layers.Options){
			"seed":          func(c *saga.Config, _ *layers.Options) { c.Seed = 2 },
			"rate":          func(c *saga.Config, _ *layers.Options) { c.Optimizer.LR = 0.02 },
			"beta1":         func(c *saga.Config, _ *layers.Options) { c.Optimizer.Beta1 = 0.8 },
			"beta2":         func(c *saga.Config, _ *layers.Options) { c.Optimizer.Beta2 = 0.99 },
			"eps":           func(c *saga.Config, _ *layers.Options) { c.Optimizer.Eps = 1e-6 },
			"weight decay":  func(c *saga.Config, _ *layers.Options) { c.Optimizer.WeightDecay = 1e-4 },
			"decay of all":  func(c *saga.Config, _ *layers.Options) { c.Optimizer.DecayAll = true },
			"clip":          func(c *saga.Config, _ *layers.Options) { c.Optimizer.ClipNorm = 1 },
			"falling rate":  func(c *saga.Config, _ *layers.Options) { c.Optimizer.Gamma, c.Optimizer.DecayEvery = 0.5, 5 },
			"sgd":           func(c *saga.Config, _ *layers.Options) { c.Optimizer.Kind = "sgd" },
			"intervals":     func(c *saga.Config, _ *layers.Options) { c.Chunks = 8 },
			"schedule":      func(c *saga.Config, _ *layers.Options) { c.Schedule = "stage" },
			"serpentine":    func(c *saga.Config, _ *layers.Options) { c.Without = append(c.Without, "serpentine") },
			"wide cells":    func(c *saga.Config, _ *layers.Options) { c.Outcome.Wide = saga.AllFar },
			"vertex order":  func(c *saga.Config, _ *layers.Options) { c.Without = append(c.Without, "degree-sort", "balance") },
			"what is saved": func(c *saga.Config, _ *layers.Options) { c.Save = saga.SaveNone },
			"dropout":       func(_ *saga.Config, o *layers.Options) { o.Dropout = 0.1 },
			"width":         func(_ *saga.Config, o *layers.Options) { o.Hidden = 9 },
		} {
			c, o := base(), layers.Options{}
			change(&c, &o)
			if digest(c, o) == want {
				t.Errorf("%s, %s: the same digest", device, name)
			}
		}
		c := base()
		c.TF32 = true
		if other := digest(c, layers.Options{}) != want; other != (device == "cuda") {
			t.Errorf("%s, TF32: another digest: %v", device, other)
		}
	}
}

// TestDigestOfRecords: how the compiler numbers and names its records, and what it
// notes for the planner and for people, is in no digest.
func TestDigestOfRecords(t *testing.T) {
	for _, x := range pinned {
		p := compileSimple(t, x.model, x.options, x.config)
		before, want := p.Facts(), p.Digest()
		p.Scramble()
		if p.Digest() != want {
			after := p.Facts()
			t.Errorf("%s: another digest; the facts differ from\n%s\non", x.name, apart(before, after))
		}
	}
}

// apart is the first line of a that b does not have there, with that of b.
func apart(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s | %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d or %d lines", len(x), len(y))
}

// TestOtherArithmetic: a checkpoint of another revision cannot be resumed, and the error
// names both; digests of da2cd53 did not say that theirs is the first.
func TestOtherArithmetic(t *testing.T) {
	p := compileSimple(t, "gcn", layers.Options{}, saga.Config{})
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Save(path, ""); err != nil {
		t.Fatal(err)
	}
	c, err := saga.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Fits(c); err != nil {
		t.Fatal(err)
	}
	for digest, revision := range map[string]string{"2d4f6a8b0c1e3d5f7a9b1c3d5e7f9a0b": "1", "99-2d4f6a8b0c1e3d5f7a9b1c3d5e7f9a0b": "99"} {
		c.Digest = digest
		err := p.Fits(c)
		if err == nil || !strings.Contains(err.Error(), "revision "+revision+" ") || !strings.Contains(err.Error(), fmt.Sprintf("revision %d,", saga.Arithmetic)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", digest, err)
		}
	}
	c.Digest = fmt.Sprintf("%d-%s", saga.Arithmetic, strings.Repeat("0", 32))
	if err := p.Fits(c); err == nil || strings.Contains(err.Error(), "revision") {
		t.Errorf("another order of sums: %v", err)
	}
}
