package tables

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// Embed is saga bench embed.
type Embed struct {
	Shapes   []string `default:"flickr,amazon,pokec" placeholder:"NAME" help:"Graphs: flickr, amazon, pokec, cit-patents, twitter and europe_osm have the sizes of Gunrock's; or vertices and edges such as 10000x200000 (${default})."`
	Cols     []int    `default:"64,128" placeholder:"N" help:"Features of a vertex (${default})."`
	Children []int    `default:"10,25,100" placeholder:"N" help:"Children of a source, and leaves of a child (${default})."`
	Width    count    `default:"128" placeholder:"N" help:"Columns of each of the four matrices (${default})."`
	Device   string   `default:"cuda" placeholder:"NAME" help:"A GPU (${default})."`
	Mem      memory   `default:"auto" placeholder:"SIZE" help:"Its memory; auto: what is free there."`
	Batch    int      `default:"0" placeholder:"N" help:"Sources at a time; 0: as many as pay (${default})."`
	Times    count    `default:"3" placeholder:"N" help:"Timed calls of each (${default})."`
	BF16     bool     `name:"bf16" help:"The same with rows of the first layer's products in bfloat16, too."`
	Kernels  bool     `help:"Times of kernels, too."`
	Markdown bool     `help:"Print Markdown."`
	JSON     bool     `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`
}

// embedding measures the embeddings of one graph.
type embedding struct {
	*Embed
	gpu           device.GPU
	name          string
	g             *sample.Graph
	sources       []uint32
	out           []float32 // the result, in pinned memory
	rows, kernels *sheet
}

// Run measures embeddings that two layers compute over sampled trees.
func (c *Embed) Run(a *app) (err error) {
	if c.Times < 1 {
		return cli.Usagef("--times is at least 1")
	}
	gpu, err := cli.OpenGPU(c.Device, int64(c.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	rows := &sheet{title: fmt.Sprintf("Embeddings of all vertices on %s, milliseconds by the clock, rows copied to the host", gpu.Info().Name), key: "embeddings",
		head: table.Row{"graph", "features", "children, leaves", "products", "median", "least", "most", "Gunrock, V100", "times as fast", "target", "link alone", "leaf rows, GB",
			"CPU", "Gunrock's OpenMP", "times as fast", "batch", "memory, MB", "Gunrock's, MB", "off the CPU by"},
		notes: []string{"Features and graph lie on the GPU before; products with weights are part of the times. Link alone: the rows of the result at 50 GB/s. Leaf rows: bytes if the features of every drawn leaf were read. CPU: of some sources, scaled to all. Gunrock's times and memory: its report, one V100 and 32 threads beside it; its memory is B·(C·(256+F+1)+4·256)·4 with its batch B, features and graph."}}
	kernels := &sheet{title: "Kernels of these, ms", key: "kernels", head: table.Row{"graph", "features", "children", "products", "kernel", "launches", "ms in all"}}
	graphs := &sheet{title: "Graphs", key: "graphs", head: table.Row{"graph", "vertices", "edges", "power of ranks", "largest row", "rows without edges", "sha256"}}
	for _, name := range c.Shapes {
		p, e, err := hopShape(name)
		if err != nil {
			return err
		}
		g := powerGraphOf(p, e, false)
		most, none := 0, 0
		for v := range uint32(p.v) {
			most = max(most, g.Degree(v))
			if g.Degree(v) == 0 {
				none++
			}
		}
		sum := graphSum(g)
		graphs.add(table.Row{name, p.v, g.Edges(), p.root.inverse(), most, none, sum},
			fields{{"graph", name}, {"vertices", p.v}, {"edges", g.Edges()}, {"power", p.root.inverse()}, {"largest_row", most}, {"sha256", sum}})
		m := &embedding{Embed: c, gpu: gpu, name: name, g: g, rows: rows, kernels: kernels}
		if err := m.all(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	o := benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}
	if !c.Kernels {
		return o.print(a, graphs, rows)
	}
	return o.print(a, graphs, rows, kernels)
}

// all measures all sizes on a graph.
func (m *embedding) all() (err error) {
	m.sources = make([]uint32, m.g.Vertices())
	for v := range m.sources {
		m.sources[v] = uint32(v)
	}
	host, err := m.gpu.HostAlloc(int64(len(m.sources)) * 8 * int64(m.Width))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.gpu.HostFree(host)) }()
	m.out = unsafe.Slice((*float32)(unsafe.Pointer(&host.Bytes()[0])), len(host.Bytes())/4)
	for _, cols := range m.Cols {
		x := make([]float32, m.g.Vertices()*cols)
		chunk.Ranges(len(x), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x[i] = float32(measure.Mixed(uint64(i))>>40)/(1<<23) - 1
			}
		})
		for _, children := range m.Children {
			for _, half := range []bool{false, true} {
				if half && !m.BF16 {
					continue
				}
				if err := m.one(x, cols, children, half); err != nil {
					return fmt.Errorf("%d features, %d children: %w", cols, children, err)
				}
			}
		}
	}
	return nil
}

// one measures one size.
func (m *embedding) one(x []float32, cols, children int, half bool) (err error) {
	hop := sample.TwoHop{Children: children, Leaves: children, SelfNeighbour: true, BF16: half}
	hop.Random(cols, int(m.Width), 1)
	before := m.gpu.Counters().Used
	on, err := hop.OnGPU(m.gpu, m.g, x, cols, len(m.sources), m.Batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	var times []float64
	for i := range int(m.Times) + 1 { // the first is not counted
		start := time.Now()
		if err := on.Embed(m.sources, sample.Key{Seed: 1}, m.out); err != nil {
			return err
		}
		if i > 0 {
			times = append(times, 1e3*time.Since(start).Seconds())
		}
	}
	cpu, off, err := m.onCPU(&hop, x, cols)
	if err != nil {
		return err
	}
	v, r := float64(len(m.sources)), float64(hop.Cols())
	ours, p := measure.Median(times), gunrockTimes[gunrockRow{m.name, cols, children}]
	leaves := v * float64(children*children*cols) * 4
	memory := float64(p.batch)*(float64(children)*(r+float64(cols)+1)+4*r)*4 + v*float64(cols)*4 + 4*(v+1+float64(m.g.Edges()))
	numbers := map[bool]string{false: "float32", true: "bfloat16"}[half]
	row := table.Row{m.name, cols, children, numbers, fmt.Sprintf("%.2f", ours), fmt.Sprintf("%.2f", slices.Min(times)), fmt.Sprintf("%.2f", slices.Max(times)), "", "", "",
		fmt.Sprintf("%.2f", v*r*4/50e6), fmt.Sprintf("%.1f", leaves/1e9), fmt.Sprintf("%.0f", cpu), "", "", on.Batch(), (m.gpu.Counters().Used - before) / 1e6, "", fmt.Sprintf("%.1e", off)}
	if p.v100 > 0 {
		row[7], row[8], row[9] = p.v100, fmt.Sprintf("%.1f", p.v100/ours), fmt.Sprintf("%.2f", p.v100/10)
		row[13], row[14], row[17] = p.openMP, fmt.Sprintf("%.1f", p.openMP/cpu), fmt.Sprintf("%.0f", memory/1e6)
	}
	m.rows.add(row, fields{{"graph", m.name}, {"features", cols}, {"children", children}, {"products", numbers}, {"ms", ours}, {"least_ms", slices.Min(times)}, {"v100_ms", p.v100},
		{"cpu_ms", cpu}, {"openmp_ms", p.openMP}, {"leaf_bytes", leaves}, {"batch", on.Batch()}, {"off", off}})
	if m.Kernels {
		return m.parts(on, cols, children, numbers)
	}
	return nil
}

// onCPU embeds some sources on the CPU. It returns the milliseconds scaled to all sources, and the largest
// difference of a number from that of the GPU.
func (m *embedding) onCPU(hop *sample.TwoHop, x []float32, cols int) (ms, off float64, err error) {
	n := min(len(m.sources), 200_000/hop.Children)
	some := make([]uint32, n)
	for i := range some {
		some[i] = m.sources[int(int64(i)*int64(len(m.sources))/int64(n))]
	}
	rows := make([]float32, n*hop.Cols())
	start := time.Now()
	if err := hop.Embed(m.g, x, cols, some, sample.Key{Seed: 1}, rows); err != nil {
		return 0, 0, err
	}
	ms = 1e3 * time.Since(start).Seconds() * float64(len(m.sources)) / float64(n)
	for i, v := range some {
		for k, y := range rows[i*hop.Cols():][:hop.Cols()] {
			off = max(off, math.Abs(float64(y-m.out[int(v)*hop.Cols()+k])))
		}
	}
	if !(off <= 1e-5 || hop.BF16 && off <= 1e-2) {
		return 0, 0, fmt.Errorf("a number is off the CPU's by %v", off)
	}
	return ms, off, nil
}

// parts measures the time of each kernel.
func (m *embedding) parts(on *sample.TwoHopGPU, cols, children int, numbers string) error {
	times, launches, order := map[string]float64{}, map[string]int{}, []string(nil)
	m.gpu.Detail(func(x device.Span) {
		if launches[x.Kernel] == 0 {
			order = append(order, x.Kernel)
		}
		times[x.Kernel] += (x.End - x.Start).Seconds() * 1e3
		launches[x.Kernel]++
	})
	err := on.Embed(m.sources, sample.Key{Seed: 1}, m.out)
	err = errors.Join(err, m.gpu.Sync())
	m.gpu.Detail(nil)
	for _, k := range order {
		m.kernels.add(table.Row{m.name, cols, children, numbers, k, launches[k], fmt.Sprintf("%.3f", times[k])},
			fields{{"graph", m.name}, {"features", cols}, {"children", children}, {"kernel", k}, {"launches", launches[k]}, {"ms", times[k]}})
	}
	return err
}
