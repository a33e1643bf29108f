package mine

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"sagann/chunk"
	"sagann/device"
	"sagann/internal/units"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
	"sagann/net"
)

// Pattern is a small graph to look for; see ParsePattern.
type Pattern = pattern.Pattern

// Total is a count of up to 128 bits.
type Total = run.Total

// ErrOverflow says that a count needs more than 128 bits.
var ErrOverflow = run.ErrOverflow

// ParsePattern reads a pattern: a name such as diamond, house, clique4 or cycle5, or
// edges such as "0-1-2-0 2-3", pairs that must not be adjacent such as "0~3", and labels
// such as "2:5". Vertices are numbered from 0, at most eight. Errors name line and column.
func ParsePattern(text string) (Pattern, error) { return pattern.Parse(text) }

// MustPattern is ParsePattern for texts known to be right; it panics on an error.
func MustPattern(text string) Pattern { return pattern.Must(text) }

// ReadPattern reads the pattern in the file at path; the text is that of ParsePattern,
// comments from # to the end of a line.
func ReadPattern(path string) (Pattern, error) { return pattern.ReadFile(path) }

// Engine is a way to count.
type Engine string

// The engines. Auto takes Formula or else Bits if it can count the pattern within the memory.
// Otherwise it takes Maps or Loops, whichever is expected to be faster.
const (
	Auto    Engine = "auto"
	Formula Engine = "formula" // sums over vertices and edges
	Bits    Engine = "bits"    // bit matrices, for cliques of three and more vertices
	Maps    Engine = "maps"    // sums over maps that need not be injective, for edges without labels and conditions
	Loops   Engine = "loops"   // nested loops over sorted sets, for everything
	Join    Engine = "join"    // binary joins of tables of partial matches, for measuring; on the CPU
)

// MostThreads is how many threads Options may ask for, or as many as there are processors if these are more.
const MostThreads = 1 << 12

// Options of Open. The zero value counts without labels on all processors.
type Options struct {
	// Labels are those of the vertices, -1 for none; nil: the graph is not labelled.
	Labels []int32
	// Threads is how many goroutines work, at most MostThreads; 0: GOMAXPROCS. Results do not depend on it.
	Threads int
	// Device is where the work is done: "" or "cpu", or GPUs, such as "cuda" or "cuda:0,1".
	// Results do not depend on it. A graph with GPUs must be closed.
	Device string
	// Mem bounds the bytes of the graph's rows and of the memory for the work; 0: no bound.
	// With little memory fewer threads work. The edges given to Open are not counted. If Mem is
	// too small, a count fails with a BudgetError before it takes any memory beyond the rows.
	// With GPUs, Mem bounds the bytes taken on each GPU; 0: up to nine tenths of its free memory, as they are needed. Rows
	// that do not fit there are read from host memory.
	Mem int64
	// Engine is the engine that counts; "" is Auto. Match works with Loops and Auto only.
	Engine Engine
	// NoReuse and NoPool switch optimisations off, to measure them; results are the same. With
	// NoReuse every loop makes its own sets instead of sharing those of outer loops. With NoPool
	// GPUs list in two passes, first counting and then writing, instead of into a pool of blocks.
	NoReuse, NoPool bool
	// HostMem bounds, with GPUs, the host memory for stored rows of tables and for keys that they are counted by, in bytes; 0: three quarters of
	// what is free for rows, and no bound for keys.
	HostMem int64
	// Scratch is a folder for what does not fit into Mem where a table's rows are counted; "": it must fit.
	Scratch string
	// Net is the ranks that share Frequent: processes that have opened the same graph and ask the same; nil: this
	// process is alone. All get the same result.
	Net *net.Group
	// Progress, unless nil, is called with the share of a run's work that is done: ascending
	// from 0 to 1, one call at a time.
	Progress func(done float64)
}

// Graph is an undirected graph in which patterns are counted and listed. Its methods may be called
// from several goroutines. GPUs do one call after the other. While they list, other
// work on them fails with ErrBusy.
type Graph struct {
	opt     Options
	gpus    *gpus // nil: the CPU works
	byID    *rows.Rows
	dropped rows.Dropped
	typed   *chunk.Edges // as given to Open; nil: without types

	mu       sync.Mutex
	byDegree *rows.Rows // made when it is first needed
	degrees  *plan.Degrees
	kinds    *rows.Kinds
}

// Open makes a Graph of edges that are listed in both directions. The types of edges are their labels,
// which patterns may ask for; the Graph reads them from edges when they are first needed. Weights and data
// of edges are not used. An edge without its reverse is an error, and so are Options.Labels
// of another length than the number of vertices, and one below -1.
func Open(edges *chunk.Edges, opt Options) (*Graph, error) {
	if err := edges.Validate(); err != nil {
		return nil, err
	}
	if opt.Labels != nil && len(opt.Labels) != edges.V {
		return nil, fmt.Errorf("mine: %d labels for %d vertices", len(opt.Labels), edges.V)
	}
	for v, l := range opt.Labels {
		if l < -1 {
			return nil, fmt.Errorf("mine: vertex %d has label %d: must be -1 for none, or from 0 on", v, l)
		}
	}
	switch opt.Engine {
	case "":
		opt.Engine = Auto
	case Auto, Formula, Bits, Maps, Loops, Join:
	default:
		return nil, fmt.Errorf("mine: no engine %q; there are auto, formula, bits, maps, loops and join", opt.Engine)
	}
	if opt.Threads < 0 || opt.Mem < 0 || opt.HostMem < 0 {
		return nil, fmt.Errorf("mine: %d threads, %d bytes of memory and %d of the host: all must be at least 0", opt.Threads, opt.Mem, opt.HostMem)
	}
	if most := max(MostThreads, runtime.GOMAXPROCS(0)); opt.Threads > most {
		return nil, &QuestionError{fmt.Sprintf("%d threads: at most %d can work", opt.Threads, most)}
	}
	if opt.Threads == 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	var cards *gpus
	if !device.Host(opt.Device) {
		if !device.IsGPU(opt.Device) {
			return nil, &QuestionError{fmt.Sprintf("device %q: want cpu, cuda or cuda:I,J", opt.Device)}
		}
		cards = &gpus{spec: opt.Device}
	}
	r, dropped, err := rows.FromEdges(edges)
	if err != nil {
		return nil, fmt.Errorf("mine: %w; give every edge in both directions (--undirected, or Edges.Symmetric, adds the missing ones)", err)
	}
	r.Label = opt.Labels
	g := &Graph{opt: opt, gpus: cards, byID: r, dropped: dropped}
	if edges.Type != nil {
		g.typed = edges
	}
	return g, nil
}

// EdgeLabels reports whether edges have labels.
func (g *Graph) EdgeLabels() bool { return g.typed != nil }

// edgeKinds returns the labels of edges, which the graph has. They are made when they are first needed.
func (g *Graph) edgeKinds() (*rows.Kinds, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kinds == nil {
		kinds, err := rows.KindsOf(g.byID, g.typed)
		if err != nil {
			return nil, fmt.Errorf("mine: %w", err)
		}
		g.kinds = kinds
	}
	return g.kinds, nil
}

// kindsNeed is the bytes of the labels of edges, if the plan reads them.
func (g *Graph) kindsNeed(pl *plan.Plan) int64 {
	if !pl.Where.Uses(pattern.EdgeLabel) {
		return 0
	}
	return g.byID.KindsBytes()
}

// Vertices is the number of vertices.
func (g *Graph) Vertices() int { return g.byID.V() }

// Edges is the number of undirected edges, without loops and repeated ones.
func (g *Graph) Edges() int64 { return g.byID.Edges() }

// Dropped returns how many entries of the list of edges were loops, and how many were repeats of
// an earlier entry. An undirected edge that is listed twice counts as two repeats, one for each
// direction.
func (g *Graph) Dropped() (loops, repeats int64) { return g.dropped.Loops, g.dropped.Repeats }

// rowsNeed is the bytes of the graph in both orders, by the user's numbers and by degree. Both
// have equally long rows. The one by degree also stores the user's number of each vertex.
func (g *Graph) rowsNeed() int64 { return 2*g.byID.Bytes() + 4*int64(g.byID.V()) }

// ordered returns the graph in order of degree. It is made when it is first needed.
func (g *Graph) ordered() (*rows.Rows, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byDegree == nil {
		g.byDegree = g.byID.ByDegree()
	}
	return g.byDegree, nil
}

// BudgetError says that Options.Mem is too small, and how much would be enough.
type BudgetError struct {
	Mem, Smallest int64 // bytes
	AtLeast       bool  // perhaps more than Smallest: how much is known when the work is done
	What          string
}

// Error names the smallest budget that would do.
func (e *BudgetError) Error() string {
	least := ""
	if e.AtLeast {
		least = "at least "
	}
	return fmt.Sprintf("mine: %s needs more than the %s of memory it may take; the smallest budget that would do is %s%s", e.What, units.Size(e.Mem), least, units.Least(e.Smallest))
}

// fits reports whether work fits whose place was sought with the result err. A budget error is recorded in small if it
// names the largest memory so far, as the parts of a job are all needed; any other error is returned.
func fits(err error, small **BudgetError) (bool, error) {
	var budget *BudgetError
	if err == nil || !errors.As(err, &budget) {
		return err == nil, err
	}
	if *small == nil || (*small).Smallest < budget.Smallest {
		*small = budget
	}
	return false, nil
}

// place is where a job runs, on the CPU or on GPUs, and the memory it takes there.
type place struct {
	workers int   // threads
	bytes   int64 // of rows and work; with GPUs: on each of them
	gpu     bool
	layout  cuda.Layout
	room    int64 // bytes of work on each GPU
	// resident is the share of the rows' bytes that lies in GPU memory.
	resident float64
}

// workers is a place on the CPU with as many threads as fit into the memory: fixed bytes are
// shared, and every thread takes each bytes.
func (g *Graph) workers(fixed, each int64, what string) (place, error) {
	n := g.opt.Threads
	if g.opt.Mem > 0 && g.gpus == nil {
		room := g.opt.Mem - fixed
		if room < each {
			return place{}, &BudgetError{Mem: g.opt.Mem, Smallest: fixed + each, What: what}
		}
		if each > 0 { // some plans need no memory of a thread's own
			n = int(min(int64(n), room/each))
		}
	}
	return place{workers: n, bytes: fixed + int64(n)*each}, nil
}

// reporter reports a part of the work to Options.Progress: 0 to 1 of the part are lo to hi of all.
func (g *Graph) reporter(lo, hi float64) func(float64) {
	if g.opt.Progress == nil {
		return nil
	}
	var mu sync.Mutex
	last := math.Inf(-1)
	return func(done float64) {
		mu.Lock()
		defer mu.Unlock()
		if x := min(lo+(hi-lo)*done, 1); x > last {
			last = x
			g.opt.Progress(x)
		}
	}
}
