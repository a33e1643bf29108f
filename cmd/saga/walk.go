package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/units"
	"sagann/internal/words"
	"sagann/sample"
)

// graphFlags name the graph that is sampled.
type graphFlags struct {
	Data       string `required:"" placeholder:"PATH" group:"data" help:"The graph: a folder, a file, karate or synthetic[:..]."`
	Undirected bool   `group:"data" help:"Add the reverse of every edge that has none."`
	Seed       uint64 `default:"1" placeholder:"N" group:"options" help:"Seed of the draws (${default}). Samples depend on it and on the graph, never on threads."`
}

// deviceFlags say where samples are drawn.
type deviceFlags struct {
	Device string `default:"cpu" placeholder:"NAME" group:"options" help:"cpu, or in a build for NVIDIA GPUs cuda or cuda:1; saga walk also takes two, cuda:0,1 (${default}). Samples do not depend on it."`
	Mem    memory `default:"auto" placeholder:"SIZE" group:"options" help:"Memory of the GPU; auto: what is free there."`
}

// check refuses what a CPU does not read.
func (f *deviceFlags) check(a *app) error {
	if !device.Host(f.Device) {
		return nil
	}
	if a.Given["mem"] {
		return cli.Usagef("--mem is the memory of a GPU: give --device cuda, too")
	}
	return oneCPU(f.Device)
}

// oneCPU refuses several devices on one host where all processors do the work of one.
func oneCPU(spec string) error {
	if device.Host(spec) && devices(spec) > 1 {
		return cli.Usagef("--device %s: the processors of a host are one device here: cpu", spec)
	}
	return nil
}

// on calls f with the sampler on the GPU, or with nil for the CPU.
func (f *deviceFlags) on(p *sample.Program, do func(x *sample.GPU) error) (err error) {
	if device.Host(f.Device) {
		return do(nil)
	}
	gpu, err := cli.OpenGPU(f.Device, int64(f.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	x, err := p.OnGPU(gpu)
	if err != nil {
		return err
	}
	return errors.Join(do(x), x.Close())
}

// share calls f with the walks drawn by the GPUs that the flags name, if any.
func (f *deviceFlags) share(w *walker, do func() error) (err error) {
	if device.Host(f.Device) {
		return do()
	}
	gpus, err := cli.OpenGPUs(f.Device, int64(f.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.CloseGPUs(gpus)) }()
	x, err := w.p.OnGPUs(gpus)
	if err != nil {
		return err
	}
	w.run, w.piece = x.Run, 4*w.piece
	return errors.Join(do(), x.Close())
}

// load reads the graph, and logs what is to be said of it.
func (f *graphFlags) load(a *app) (*dataset.Data, error) {
	d, err := cli.OpenData(f.Data, dataset.Options{Undirected: f.Undirected})
	if err == nil {
		tell(a, f.Data, d, !f.Undirected)
	}
	return d, err
}

// walksFlags say which walks are drawn.
type walksFlags struct {
	Length    count `default:"80" placeholder:"N" group:"options" help:"Steps of a walk (${default}); 0 leaves those of ppr unbounded."`
	PerVertex count `name:"per-vertex" default:"10" placeholder:"N" group:"options" help:"Walks from each vertex (${default})."`
}

// walkCmd is saga walk.
type walkCmd struct {
	graphFlags
	Seeds string `default:"all" placeholder:"FILE" group:"options" help:"Vertices that walks begin at: all, or a text with an id on each line, or a .npy (${default})."`
	Walks string `default:"deepwalk" placeholder:"NAME" group:"options" help:"deepwalk, node2vec:p=2,q=0.5, ppr:0.15 or multirw:100 (${default})."`
	walksFlags
	deviceFlags
	Out string `required:"" placeholder:"FILE" help:"File to write: .npy, a row a walk, or .txt, a line a walk."`
}

// Help is what stands under the usage line.
func (walkCmd) Help() string {
	return `Examples:

  saga walk --data karate --walks node2vec:p=2,q=0.5 --length 20 --out walks.txt
  saga walk --data blogcatalog/ --per-vertex 10 --length 80 --out walks.npy
  saga walk --data edges.saga --walks ppr:0.15 --length 0 --out walks.txt

Walks go along edges as they point, by weight where edges have weights. First comes one walk from each
vertex in order, then the second ones and so on (multirw: the roots of each are picked at random). A walk
that ends early is filled up with -1 in a .npy. Vertices are those of the data's file; where these have
names, a .txt has them, and a .npy has their numbers in the order of the data.`
}

// Run walks.
func (c *walkCmd) Run(a *app) error {
	if err := canWrite("out", c.Out, ".npy", ".txt"); err != nil {
		return err
	}
	if err := c.check(a); err != nil {
		return err
	}
	spec, err := sample.Parse(c.Walks, int(c.Length))
	switch {
	case err != nil:
		return cli.Usage(err)
	case spec.Sampler.Output != sample.Steps:
		return cli.Usagef("--walks %s draws blocks: saga sample draws them", c.Walks)
	case spec.Sampler.Steps == sample.Unbounded && filepath.Ext(c.Out) == ".npy":
		return cli.Usagef("--out %s: rows of a .npy have a length; give --length N, or write .txt", c.Out)
	case c.PerVertex < 1:
		return cli.Usagef("--per-vertex 0: at least 1 walk")
	}
	d, err := c.load(a)
	if err != nil {
		return err
	}
	tellNumbers(a, c.Out, ".txt", d)
	var from []uint32
	if c.Seeds != "all" {
		if from, err = dataset.ReadVertices(c.Seeds, d); err != nil {
			return err
		}
	}
	w, err := newWalker(d.Edges, from, spec, int64(c.PerVertex), c.Seed)
	if err != nil {
		return inIDs(d, err)
	}
	if err := c.fits(w, d, spec.Sampler); err != nil {
		return err
	}
	defer removedOnSignal(c.Out)()
	if err := c.share(w, func() error { return c.write(w, d, spec.Sampler) }); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Stdout, words.Text("%s: %d {walk|walks} of %s\n", c.Out, w.n, c.Walks))
	return err
}

// fits says whether the file can hold the ids of the walks, and its file system the file.
func (c *walkCmd) fits(w *walker, d *dataset.Data, s sample.Sampler) error {
	numbers, ids := int64(w.n)*int64(w.roots), d.Vertices.IDs
	if s.Steps != sample.Unbounded && !w.ends {
		numbers += int64(w.n) * int64(s.Steps)
	}
	each := int64(2) // a digit and a space
	if filepath.Ext(c.Out) == ".npy" {
		numbers = int64(w.n) * int64(w.roots+s.Steps)
		if each = 8; ids == nil && d.Edges.V <= math.MaxInt32 {
			each = 4
		}
		if i := slices.IndexFunc(ids, func(id uint64) bool { return id > math.MaxInt64 }); i >= 0 {
			return fmt.Errorf("--out %s: the id %d has no place in a .npy, whose numbers are signed, as -1 says that a walk has ended; write .txt", c.Out, ids[i])
		}
	}
	free, err := device.FreeSpace(filepath.Dir(c.Out))
	if bytes := float64(numbers) * float64(each); err == nil && bytes > float64(free) {
		return fmt.Errorf("--out %s: %d walks have %d vertices, at least %s, and the file system has %s free; draw fewer (--per-vertex) or shorter ones (--length)", c.Out, w.n, numbers, units.Size(int64(min(bytes, math.MaxInt64/2))), units.Size(free))
	}
	return nil
}

// write writes the walks by the ending of the file.
func (c *walkCmd) write(w *walker, d *dataset.Data, s sample.Sampler) error {
	if filepath.Ext(c.Out) == ".txt" {
		return c.text(w, d)
	}
	if (d.Vertices.Names != nil || !d.HasIDs()) && d.Edges.V <= math.MaxInt32 {
		return writeWalks(c.Out, w, s, func(v uint32) int32 { return int32(v) })
	}
	return writeWalks(c.Out, w, s, func(v uint32) int64 {
		switch {
		case v == sample.NoVertex:
			return -1
		case d.Vertices.Names != nil:
			return int64(v)
		}
		return int64(d.Vertices.Number(int(v)))
	})
}

// text writes a line a walk.
func (c *walkCmd) text(w *walker, d *dataset.Data) error {
	return cli.WriteWhole(c.Out, func(out *bufio.Writer) error {
		var list []uint32
		return w.each(func(s *sample.Samples) error {
			for i := range s.N {
				list = s.Vertices(list[:0], i)
				for k, v := range list {
					if k > 0 {
						out.WriteByte(' ')
					}
					out.WriteString(d.ID(int(v)))
				}
				if err := out.WriteByte('\n'); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// writeWalks writes a row a walk.
func writeWalks[T int32 | int64](path string, w *walker, s sample.Sampler, id func(v uint32) T) error {
	roots := max(1, s.Roots)
	row := make([]T, roots+s.Steps)
	return npy.WriteRows(path, len(row), func(add func([]T) error) error {
		return w.each(func(s *sample.Samples) error {
			for i := range s.N {
				for k := range roots {
					row[k] = id(s.Steps[0][i*roots+k])
				}
				for k, step := range s.Steps[1:] {
					row[roots+k] = id(step[i])
				}
				if err := add(row); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// walker draws walks in pieces.
type walker struct {
	p     *sample.Program
	from  []uint32 // where walks begin; nil: at all vertices
	v, n  int      // v is how many vertices walks begin at
	roots int
	piece int
	ends  bool // some walks end early, as some vertices have no out-edges
	key   sample.Key
	run   func(s *sample.Samples, roots []uint32, first uint64, key sample.Key) error
}

// Bounds of walks.
const (
	mostWalks = 1 << 32 // each has a number of 32 bits, which its draws depend on
	mostHeld  = 1 << 26 // vertices of the walks that are held at a time
)

// newWalker compiles a sampler for walks along edges as they point, from some vertices or, where from is nil, from all.
func newWalker(e *chunk.Edges, from []uint32, spec sample.Spec, perVertex int64, seed uint64) (*walker, error) {
	v := e.V
	if from != nil {
		v = len(from)
	}
	if v > 0 && perVertex > mostWalks/int64(v) {
		return nil, cli.Usagef("--per-vertex %d: %.4g walks from %d vertices; at most %d, %d from each", perVertex, float64(perVertex)*float64(v), v, int64(mostWalks), mostWalks/int64(v))
	}
	if from != nil && spec.Sampler.Roots > 1 {
		return nil, cli.Usagef("--seeds: the roots of these walks are picked at random")
	}
	g, err := sample.NewGraph(e.Reverse())
	if err != nil {
		return nil, err
	}
	s := spec.Sampler
	p, err := sample.Compile(g, s)
	if err != nil {
		return nil, err
	}
	w := &walker{p: p, from: from, v: v, n: v * int(perVertex), roots: max(1, s.Roots), key: sample.Key{Seed: seed}, run: p.Run}
	w.ends = slices.Contains(e.OutDegrees(), 0)
	w.hold(1<<16, s.Steps)
	if s.Steps == sample.Unbounded {
		w.hold(1<<12, spec.Longest) // a step's row is kept until the longest walk ends
	}
	return w, nil
}

// hold makes a piece n walks of up to so many steps, or as many as there is memory for.
func (w *walker) hold(n, steps int) { w.piece = max(1, min(n, mostHeld/(w.roots+max(steps, 0)))) }

// each calls f with all walks, a piece after the other. The samples are of use until f
// returns.
func (w *walker) each(f func(s *sample.Samples) error) error {
	var s sample.Samples
	for lo := 0; lo < w.n; lo += w.piece {
		n := min(w.piece, w.n-lo)
		var roots []uint32
		if w.roots > 1 {
			roots = w.p.Roots(n, uint64(lo), w.key)
		}
		for i := 0; w.roots == 1 && i < n; i++ {
			root := uint32((lo + i) % w.v)
			if w.from != nil {
				root = w.from[root]
			}
			roots = append(roots, root)
		}
		if err := w.run(&s, roots, uint64(lo), w.key); err != nil {
			return err
		}
		if err := f(&s); err != nil {
			return err
		}
	}
	return nil
}
