package tables

import (
	"fmt"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// Sample is saga bench sample.
type Sample struct {
	Data     string   `default:"synthetic:vertices=200000,edges=4e6,features=1,classes=2" placeholder:"PATH" help:"The graph, on the CPU (${default})."`
	Samplers []string `sep:";" default:"neighbours:15,10,5;neighbours:25,10;deepwalk;node2vec:p=2,q=0.5;ppr:0.01;multirw:100;layer:512,512;fastgcn:512,512;ladies:512,512;mvs:64;saint:4000x2;shadow:2x10;pinsage:1x50x3x10" placeholder:"NAME" help:"Samplers on the CPU, with semicolons between them (${default})."`
	Batch    count    `default:"1024" placeholder:"N" help:"Seeds of a batch of blocks (${default})."`
	Length   count    `default:"100" placeholder:"N" help:"Steps of a walk on the CPU (${default}); on GPUs 100."`
	Times    count    `default:"3" placeholder:"N" help:"Runs of each; the fastest piece counts (${default})."`
	Device   string   `default:"cpu" placeholder:"NAME" help:"cpu, or a GPU such as cuda: then the tables are of its kernels on the generated graphs of --shapes, and not of --data (${default})."`
	Mem      memory   `default:"auto" placeholder:"SIZE" help:"Memory of the GPU; auto: what is free there."`
	Shapes   []string `default:"ppi,patents,livejournal,orkut,products" placeholder:"NAME" help:"Graphs of the GPU's tables, which are generated: ${sample_shapes}, in the sizes of papers, or vertices and edges such as 10000x200000 (${default})."`
	Blocks   bool     `help:"Measure blocks on all shapes on a GPU, not walks; products has blocks anyhow."`
	Weights  bool     `default:"true" negatable:"" help:"Measure samplers by weight on a GPU, too (${default})."`
	Markdown bool     `help:"Print Markdown."`
	JSON     bool     `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`
}

// unread returns an error if there are several devices, or a flag was given that is not used on this kind of device.
func (c *Sample) unread(a *app) error {
	flags, where := []string{"shapes", "blocks", "weights", "mem"}, "of GPUs; a CPU measures --samplers on --data"
	if n, err := device.Count(c.Device); err != nil || n != 1 {
		return cli.Usagef("--device %s: want cpu, or one GPU, such as cuda or cuda:1", c.Device)
	}
	if device.IsGPU(c.Device) {
		flags, where = []string{"data", "samplers", "length"}, "of the CPU; GPUs are measured on the generated graphs of --shapes"
	}
	for _, name := range flags {
		if a.Given[name] {
			return cli.Usagef("--%s with --device %s: it is %s", name, c.Device, where)
		}
	}
	return nil
}

// idle tells which flags none of the samplers reads.
func (c *Sample) idle(a *app) {
	walks, blocks := false, false
	for _, name := range c.Samplers {
		if spec, err := sample.Parse(name, int(c.Length)); err == nil {
			walk := spec.Sampler.Output == sample.Steps
			walks, blocks = walks || walk, blocks || !walk && spec.Batch == 0
		}
	}
	if !walks {
		a.Idle("samplers that draw no walks", "length")
	}
	if !blocks {
		a.Idle("walks, and samplers that say how large a batch is", "batch")
	}
}

// Run measures samplers and random reads.
func (c *Sample) Run(a *app) error {
	if err := c.unread(a); err != nil {
		return err
	}
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
	s := &sheet{title: fmt.Sprintf("Samplers on %d vertices and %d edges, %d threads; batches of %d seeds, walks of %d steps", d.Edges.V, d.Edges.E(), runtime.GOMAXPROCS(0), c.Batch, c.Length), key: "samplers",
		head: table.Row{"sampler", "samples/s", "edges or steps/s", "reads each", "of the bound"}}
	c.idle(a)
	m := &meter{Sample: c, in: in, out: out}
	list := make([]rates, len(c.Samplers))
	for i, name := range c.Samplers {
		if list[i], err = m.measure(name); err != nil {
			return err
		}
	}
	reads := m.reads
	for i, m := range list {
		share, each := "-", "-"
		if m.reads > 0 {
			share, each = percent(100*m.units*m.reads/reads), fmt.Sprintf("%.1f", m.reads)
		}
		s.add(table.Row{c.Samplers[i], short(m.samples), short(m.units), each, share},
			fields{{"sampler", c.Samplers[i]}, {"samples_per_second", m.samples}, {"units_per_second", m.units}, {"reads_of_a_unit", m.reads}})
	}
	s.notes = []string{fmt.Sprintf("Random reads of 4 bytes from %.0f MB: %s/s, by a loop over places that do not depend on each other, before every piece of what is measured, the fastest. Both graphs were sorted in %.1f s.", float64(4*in.Edges())/1e6, short(reads), built.Seconds()),
		"Seconds are processor time over threads, so that other work on the machine counts less. A sample is a walk, or a seed of a batch. Reads each: of memory at a random place, for a step of a walk offset and neighbour, for one of node2vec also the lines that a search of the row before touches where that decides, and the tries that are not taken, for an edge of a block neighbour, edge number and local number, and its share of the row's offset."}
	for i, m := range list {
		if m.first > 0 {
			s.notes = append(s.notes, fmt.Sprintf("%s: %.1f reads a step, and %s of the bound, if the first try of each were taken.", c.Samplers[i], m.first, percent(100*m.units*m.first/reads)))
		}
	}
	o := benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}
	return o.print(a, s)
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
