package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
	"sagann/device/launch"
)

// Walk is a sampler with the output Steps. Functions is the CUDA text of next and, with Transits, of
// transits.
type Walk struct {
	Functions string
	Transits  bool
	Roots     int     // roots per sample
	Pack      int     // steps that share four random words
	Fields    []Field // the state
	Narrow    bool    // numbers of the state have 32 bits; else 64
	Sizes     []int   // trees: draws per transit at each step; nil: samples draw once per step
	Unique    bool    // no step of a tree adds a vertex twice
	Steps     int     // number of steps; 0: until the walk ends
}

// Field is an array of numbers of the state. They begin as the first roots with Roots, else as 0.
type Field struct {
	Len   int
	Roots bool
}

// numbers is how many numbers the state of a sample has.
func (w *Walk) numbers() (n int) {
	for _, f := range w.Fields {
		n += f.Len
	}
	return n
}

// threads is the number of threads of a block of walks, and the bytes of shared memory for their state.
// shared is 0 if the state is in global memory: if its numbers have 64 bits, or if it is so large that
// a multiprocessor could hold fewer than 256 walks.
func (w *Walk) threads() (threads, shared int) {
	const few = 64 // small blocks leave less shared memory unused
	if shared = 4 * w.numbers() * few; w.Narrow && shared > 0 && mostShared/(shared+sharedOfBlock) >= 256/few {
		return few, shared
	}
	return 256, 0
}

// head is the text before the kernels.
func (w *Walk) head(wide bool) string {
	head, number := "", "i64"
	if w.Narrow {
		number = "int"
	}
	if wide {
		head = "#define WIDE\n"
	}
	head += fmt.Sprintf("#define ROOTS %d\n#define PACK %d\n", w.Roots, w.Pack)
	if w.Transits {
		head += "#define GOES_ON true\n"
	} else {
		head += "#define GOES_ON e.far != NONE\n"
	}
	return head + prelude + "typedef " + number + " Number; // of the state\n" + functions + w.Functions
}

// text is the source of the kernels.
func (w *Walk) text(wide bool) string {
	var b strings.Builder
	b.WriteString(w.head(wide))
	if w.Sizes != nil {
		b.WriteString(treeText)
		per := w.Roots
		for step, size := range w.Sizes {
			per *= size
			fmt.Fprintf(&b, treeHead, step, per, size)
		}
		return b.String()
	}
	if w.numbers() > 0 {
		b.WriteString("#define STATE\n" + w.stateText())
	}
	threads, shared := w.threads()
	fmt.Fprintf(&b, "#define THREADS %d\n#define HELD %d\n", threads, min(shared, 1))
	choose, turns := "", ""
	if w.Transits {
		choose = chooseText
	}
	for turn := range w.Pack {
		turns += strings.ReplaceAll(fmt.Sprintf(walkTurn, turn), "CHOOSE", choose)
	}
	b.WriteString(strings.ReplaceAll(walkText, "WALK_TURNS", turns))
	return b.String()
}

// stateText is the text that sets the initial state of a sample.
func (w *Walk) stateText() string {
	var b strings.Builder
	b.WriteString("static __device__ __forceinline__ void begin_state(F &f) {\n")
	first := 0
	for _, x := range w.Fields {
		fmt.Fprintf(&b, "\tfor (u32 j = 0; j < %d; j++)\n\t\tf.state[(%d + (u64)j) * f.stride + f.own] = ", x.Len, first)
		if x.Roots {
			fmt.Fprintf(&b, "j < ROOTS ? (Number)f.roots[f.i * ROOTS + j] : 0;\n")
		} else {
			b.WriteString("0;\n")
		}
		first += x.Len
	}
	return b.String() + "}\n"
}

// Sources are all kernel sources that a sampler may need, for tests that compile them.
func (w *Walk) Sources() []string {
	if w.Unique {
		return []string{w.uniqueText(false, 0), w.uniqueText(true, len(w.Sizes)-1)}
	}
	if w.Steps == 0 {
		return []string{w.roundsSource(false), w.roundsSource(true)}
	}
	return []string{w.text(false), w.text(true)}
}

// widths are the numbers of vertices per sample that each step adds, roots first.
func (w *Walk) widths() []int {
	list := []int{w.Roots}
	for step := range w.Steps {
		n := 1
		if w.Sizes != nil {
			n = list[step] * w.Sizes[step]
		}
		list = append(list, n)
	}
	return list
}

// Drawn holds samples in GPU memory.
type Drawn struct {
	g      *Graph
	N      int
	mems   []device.Mem
	wrong  device.Mem
	steps  device.Mem // all after the roots
	widths []int
}

// Draw draws n = len(roots)/Roots samples and leaves them on the GPU until Free. Sample i has the number
// first+i, and k0 and k1 are the key of Philox. Roots must be vertices of the graph.
func (g *Graph) Draw(w *Walk, roots []uint32, first uint64, k0, k1 uint32) (d *Drawn, err error) {
	d = &Drawn{g: g, N: len(roots) / w.Roots, widths: w.widths()}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.card.GPU.Sync(), d.Free())
			d = nil
		}
	}()
	take := func(bytes int64) (m device.Mem) {
		if err == nil {
			if m, err = g.card.Alloc(max(bytes, 8)); err == nil {
				d.mems = append(d.mems, m)
			}
		}
		return m
	}
	n, total := int64(d.N), int64(0)
	for _, x := range d.widths[1:] {
		total += int64(x)
	}
	from := take(4 * int64(len(roots)))
	d.steps, d.wrong = take(4*n*total), take(8)
	each := 8 * int64(w.numbers())
	if _, shared := w.threads(); shared > 0 {
		each = 0
	}
	state := take(n * each)
	if err != nil {
		return d, err
	}
	if err = g.card.GPU.CopyH2D(g.card.Queue, from, 0, device.Bytes(roots)); err != nil {
		return d, err
	}
	if err = g.card.GPU.CopyH2D(g.card.Queue, d.wrong, 0, make([]byte, 8)); err != nil {
		return d, err
	}
	return d, g.card.Launch(g.drawCalls(w, d, from, state, first, uint64(k0)|uint64(k1)<<32)...)
}

// rowArgs are the arguments of kernels that draw from the rows of any vertex.
func (g *Graph) rowArgs() launch.Args {
	return launch.Args{"offsets": g.offsets, "edges": g.ends, "far": g.far, "weight": g.weight, "most": g.most, "table": g.table, "vertices": uint64(g.vertices)}
}

// rendering says of which walk a source is and, where steps differ, of which step.
type rendering struct {
	walk *Walk
	step int
}

// render is the source of a walk's kernels, or of a step's if no vertex is added twice, rendered once.
func (g *Graph) render(w *Walk, step int) string {
	k := rendering{w, step}
	text, ok := g.rendered[k]
	if !ok {
		if text = w.text(g.wide); w.Unique {
			text = w.uniqueText(g.wide, step)
		}
		if g.rendered == nil {
			g.rendered = map[rendering]string{}
		}
		g.rendered[k] = text
	}
	return text
}

// drawCalls are the kernels of a draw.
func (g *Graph) drawCalls(w *Walk, d *Drawn, roots, state device.Mem, first, key uint64) (calls []launch.Call) {
	n := uint64(d.N)
	args := g.rowArgs().With(launch.Args{"roots": roots, "n": n, "first": first, "key": key, "wrong": d.wrong})
	if w.Sizes == nil {
		threads, shared := w.threads()
		return []launch.Call{{Source: g.render(w, 0), Name: "saga_walk", Grid: (d.N + threads - 1) / threads, Block: threads, Shared: shared,
			Args: args.With(launch.Args{"out": d.steps, "state": state, "steps": uint64(w.Steps)})}}
	}
	from, at := roots, int64(0)
	for step := range w.Sizes {
		bytes := 4 * int64(d.N) * int64(d.widths[step+1])
		to := d.steps.Slice(at, bytes)
		blocks, shared := int((bytes/4+255)/256), 0
		of := 0
		if w.Unique {
			of = step
			blocks, shared = heldBy(d.widths[step+1]).launch(d.N)
		}
		calls = append(calls, launch.Call{Source: g.render(w, of), Name: fmt.Sprintf("saga_tree_%d", step), Grid: blocks, Block: 256, Shared: shared, Args: args.With(launch.Args{"from": from, "out": to})})
		from, at = to, at+bytes
	}
	return calls
}

// Copy copies the samples to the host: steps[k], N×width, gets the vertices that the step numbered k,
// from 0, added. wrong means that a draw failed; the same draw on a CPU returns the error.
func (d *Drawn) Copy(steps [][]uint32) (wrong bool, err error) {
	at := int64(0)
	for _, s := range steps {
		if err := d.g.card.GPU.CopyD2H(d.g.card.Queue, device.Bytes(s), d.steps, at); err != nil {
			return false, err
		}
		at += 4 * int64(len(s))
	}
	flag := make([]uint64, 1)
	if err := d.g.card.GPU.CopyD2H(d.g.card.Queue, device.Bytes(flag), d.wrong, 0); err != nil {
		return false, err
	}
	return flag[0] != 0, d.g.card.GPU.Sync()
}

// Free frees the memory of the samples.
func (d *Drawn) Free() (err error) {
	for _, m := range d.mems {
		err = errors.Join(err, d.g.card.Drop(m))
	}
	d.mems = nil
	return err
}
