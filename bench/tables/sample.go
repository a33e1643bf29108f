package tables

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// Sample is saga bench sample.
type Sample struct {
	Data     string   `default:"synthetic:vertices=200000,edges=4e6,features=1,classes=2" placeholder:"PATH" help:"The graph (${default})."`
	Samplers []string `sep:";" default:"neighbours:15,10,5;neighbours:25,10;deepwalk;node2vec:p=2,q=0.5;ppr:0.01;multirw:100;layer:512,512;fastgcn:512,512;ladies:512,512;mvs:64;saint:4000x2;shadow:2x10;pinsage:1x50x3x10" placeholder:"NAME" help:"Samplers, with semicolons between them (${default})."`
	Batch    count    `default:"1024" placeholder:"N" help:"Seeds of a batch of blocks (${default})."`
	Length   count    `default:"100" placeholder:"N" help:"Steps of a walk (${default})."`
	Times    count    `default:"3" placeholder:"N" help:"Runs of each; the fastest counts (${default})."`
	Device   string   `default:"cpu" placeholder:"NAME" help:"cpu, or a GPU such as cuda: then the tables are of its kernels on generated graphs (${default})."`
	Mem      memory   `default:"auto" placeholder:"SIZE" help:"Memory of the GPU; auto: what is free there."`
	Shapes   []string `default:"ppi,patents,livejournal,orkut,products" placeholder:"NAME" help:"Graphs of the GPU's tables: those of papers, or vertices and edges such as 10000x200000 (${default})."`
	Blocks   bool     `help:"Measure blocks on all shapes, not walks; products has blocks anyhow."`
	Weights  bool     `default:"true" negatable:"" help:"Measure samplers by weight on a GPU, too (${default})."`
	Markdown bool     `help:"Print Markdown."`
	JSON     bool     `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`
}

// Run measures samplers and random reads.
func (c *Sample) Run(a *app) error {
	if device.IsGPU(c.Device) {
		return c.runGPU(a)
	}
	d, err := cli.OpenData(c.Data, dataset.Options{})
	if err != nil {
		return err
	}
	if c.Times < 1 || c.Batch < 1 || c.Length < 1 {
		return cli.Usagef("--times, --batch and --length are at least 1")
	}
	start := time.Now()
	in, err := sample.NewGraph(d.Edges.WithSelfLoops())
	if err != nil {
		return err
	}
	out, err := sample.NewGraph(d.Edges.Reverse())
	if err != nil {
		return err
	}
	built := time.Since(start)
	s := &sheet{title: fmt.Sprintf("Samplers on %d vertices and %d edges, %d threads", d.Edges.V, d.Edges.E(), runtime.GOMAXPROCS(0)), key: "samplers",
		head: table.Row{"sampler", "samples/s", "edges or steps/s", "reads each", "of the bound"}}
	reads := c.fastest(func() float64 { return randomReads(in.Far) })
	for _, name := range c.Samplers {
		m, err := c.measure(name, in, out)
		if err != nil {
			return err
		}
		share, each := "-", "-"
		if m.reads > 0 {
			share, each = percent(100*m.units*m.reads/reads), fmt.Sprintf("%.1f", m.reads)
		}
		s.add(table.Row{name, short(m.samples), short(m.units), each, share},
			fields{{"sampler", name}, {"samples_per_second", m.samples}, {"units_per_second", m.units}, {"reads_of_a_unit", m.reads}})
	}
	s.notes = []string{fmt.Sprintf("Random reads of 4 bytes from %.0f MB: %s/s, by a loop over places that do not depend on each other. Both graphs were sorted in %.1f s.", float64(4*in.Edges())/1e6, short(reads), built.Seconds()),
		"Seconds are processor time over threads, so that other work on the machine counts less. A sample is a walk, or a seed of a batch. Reads each: of memory at a random place, for a step of a walk offset and neighbour, for one of node2vec a place in another row, too, for an edge of a block neighbour, edge number and local number, and its share of the row's offset."}
	o := benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}
	return o.print(a, s)
}

// fastest is the largest of several measurements.
func (c *Sample) fastest(f func() float64) (best float64) {
	for range c.Times {
		best = max(best, f())
	}
	return best
}

// rates are what a sampler does in a second: samples, and edges or steps, with the random
// reads that one of these needs; 0 where that is not known.
type rates struct{ samples, units, reads float64 }

// measure runs a sampler on the rows of in-edges, or walks along out-edges.
func (c *Sample) measure(name string, in, out *sample.Graph) (m rates, err error) {
	spec, err := sample.Parse(name, int(c.Length))
	if err != nil {
		return m, cli.Usage(err)
	}
	g := in
	if spec.Sampler.Output == sample.Steps {
		g = out
	}
	p, err := sample.Compile(g, spec.Sampler)
	if err != nil {
		return m, err
	}
	for epoch := range int(c.Times) {
		key := sample.Key{Seed: 1, Epoch: uint32(epoch)}
		start, n, units := used(), 0.0, 0.0
		if spec.Sampler.Output == sample.Steps {
			n, units, err = c.walks(p, key)
			m.reads = readsOf(name, n, units, g.Weight != nil)
		} else {
			var rows float64
			n, units, rows, err = c.blocks(p, spec, g, key)
			if spec.Sampler.Name == "neighbours" {
				m.reads = 3 + rows/max(units, 1)
			}
		}
		if err != nil {
			return m, err
		}
		t := (used() - start) / float64(runtime.GOMAXPROCS(0))
		m.samples, m.units = max(m.samples, n/t), max(m.units, units/t)
	}
	return m, nil
}

// readsOf is how many random reads a step of a walk needs on a graph without weights: where the row of its vertex lies, and
// the neighbour. ppr looks where the row lies once more in the step that ends a walk, and node2vec looks
// for the far end in the row where the walk was before, in the one try that a step takes at least. 0: not known.
func readsOf(name string, walks, steps float64, weighted bool) float64 {
	kind, _, _ := strings.Cut(name, ":")
	switch {
	case weighted:
	case kind == "deepwalk":
		return 2
	case kind == "ppr":
		return 2 + walks/max(steps, 1)
	case kind == "node2vec":
		return 3
	}
	return 0
}

// used is the processor time of the process in seconds.
func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// walks draws walks and counts their steps.
func (c *Sample) walks(p *sample.Program, key sample.Key) (n, steps float64, err error) {
	var s sample.Samples
	for piece := range 4 {
		const walks = 1 << 14
		if err := p.Run(&s, p.Roots(walks, uint64(piece*walks), key), uint64(piece*walks), key); err != nil {
			return 0, 0, err
		}
		n += walks
		for _, step := range s.Steps[1:] {
			for _, v := range step {
				if v != sample.NoVertex {
					steps++
				}
			}
		}
	}
	return n, steps, nil
}

// blocks draws batches, several at a time, and counts their edges and rows.
func (c *Sample) blocks(p *sample.Program, spec sample.Spec, g *sample.Graph, key sample.Key) (n, edges, rows float64, err error) {
	size, batches := int(c.Batch), 4*runtime.GOMAXPROCS(0)
	if spec.Batch > 0 && spec.Sampler.Name == "saint" {
		size = spec.Batch
	}
	size = min(size, g.Vertices())
	order := sample.Permutation(g.Vertices(), key)
	errs, sums := make([]error, batches), make([][2]float64, batches)
	chunk.Each(batches, func(i int) {
		var b sample.Blocks
		k := key
		k.Batch = uint32(i)
		lo := i * size % (g.Vertices() - size + 1)
		errs[i] = p.Blocks(&b, order[lo:lo+size], k)
		for _, l := range b.Layers {
			sums[i][0], sums[i][1] = sums[i][0]+float64(len(l.Far)), sums[i][1]+float64(len(l.Offsets)-1)
		}
	})
	for i := range sums {
		if errs[i] != nil {
			return 0, 0, 0, errs[i]
		}
		edges, rows = edges+sums[i][0], rows+sums[i][1]
	}
	return float64(size * batches), edges, rows, nil
}

// randomReads is how many numbers of a list all processors read in a second at places
// that follow from a counter.
func randomReads(list []uint32) float64 {
	const each = 1 << 22
	threads := runtime.GOMAXPROCS(0)
	sums := make([]uint32, threads)
	start := used()
	chunk.Each(threads, func(t int) {
		sum := uint32(0)
		for i := uint64(0); i < each; i++ {
			at, _ := bits.Mul64((i+uint64(t)<<32)*0x9E3779B97F4A7C15, uint64(len(list)))
			sum += list[at]
		}
		sums[t] = sum
	})
	seconds := (used() - start) / float64(threads)
	for _, x := range sums[1:] {
		sums[0] += x // so that no read is left out
	}
	runtime.KeepAlive(sums)
	return float64(each*threads) / seconds
}

// short is a rate in thousands or millions.
func short(x float64) string {
	switch {
	case x >= 1e7:
		return fmt.Sprintf("%.0f M", x/1e6)
	case x >= 1e6:
		return fmt.Sprintf("%.1f M", x/1e6)
	case x >= 1e4:
		return fmt.Sprintf("%.0f K", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}
