package sim

import (
	"cmp"
	"math"

	"sagann/dataflow/plan"
)

// pace turns the cost of a kernel into its time on one kind of device: a roofline of
// arithmetic and memory, with the machine's rates and nothing else.
type pace struct {
	dense, elem     float64 // ns per operation
	tiles           float64 // ns per operation of a product by tiles
	products        float64 // ns per operation of a product as calls compute it
	byte, hit, miss float64 // ns per byte
	row             float64 // ns per row and slice of a gather
	packed          float64 // ns per edge and slice that a gather over a packed cell takes longer
	cache, slice    float64 // bytes
	launch, product float64 // ns
	serial          bool
	groups          bool // products is measured
	apart           bool // dense is arithmetic only: the memory traffic of products adds to it
}

func newPace(k *DeviceKind) *pace {
	tiles := 1e9 / cmp.Or(k.single, k.FP32.Value)
	if k.single > 0 {
		tiles /= tilesTF32
	}
	return &pace{
		tiles: tiles, dense: 1e9 / k.FP32.Value, products: 1e9 / cmp.Or(k.Products.Value, k.FP32.Value), elem: 1e9 / k.Elementwise.Value,
		byte: 1e9 / k.Bandwidth.Value, hit: 1e9 / k.GatherHit.Value, miss: 1e9 / k.GatherMiss.Value,
		row: k.GatherRow.Value * 1e9, packed: k.GatherPacked.Value * 1e9,
		cache: k.Cache.Value, slice: k.Slice.Value, launch: k.Launch.Value * 1e9, product: k.Product.Value * 1e9, serial: k.Serial,
		groups: k.Products.Value > 0, apart: k.TF32.Value > 0 && k.FP32 == k.TF32,
	}
}

// call is the time in ns of a call of cost c over so many own rows and, for a call over a cell,
// so many edges; others is the number of rows of the streamed interval.
func (k *pace) call(c *plan.Cost, rows, edges, others float64) float64 {
	dense := k.products * (c.RowDense*rows + c.EdgeDense*edges)
	elem := k.elem * (c.RowElem*rows + c.EdgeElem*edges)
	memory := k.byte * (float64(c.FixedBytes) + float64(c.RowBytes+c.AccBytes)*rows + float64(c.EdgeBytes)*edges)
	if c.GatherBytes > 0 {
		memory += k.gather(c, rows, edges, others)
	}
	if k.serial {
		return k.launch + dense + elem + memory
	}
	again := c.More.Again
	if m := k.moved(c); m != nil {
		dense, again = k.flows(m)*rows, 0
		memory = k.byte * (float64(c.FixedBytes) + float64(m.Bytes)*rows)
	}
	elem += k.elem * (hardOps - 1) * (c.RowHard*rows + c.EdgeHard*edges)
	memory += k.byte * (float64(c.More.Sums+again)*rows + k.between(c, rows, edges))
	return k.calls(c, rows, edges) + dense + math.Hypot(elem, memory) // products are kernels of their own
}

// moved is what kernels of a call of cost c compute and move, if that is known and the rate of products by groups of warps, too.
func (k *pace) moved(c *plan.Cost) *plan.Moved {
	if k.groups && c.More.Moved.Known {
		return &c.More.Moved
	}
	return nil
}

// flows is the time in ns that products take for a row. Products by groups of warps hide most of their memory traffic: they take the fourth root of the sum of
// fourth powers of arithmetic and traffic. Others take the root of the sum of squares. Fitted to products of 128 to 64 columns of sage over the shape of
// ogbn-mag on an H200 (saga bench kernels): with 0.23 ms of arithmetic and 0.22 of traffic 0.27 ms, sums with 0.15 and 0.14 ms 0.23.
func (k *pace) flows(m *plan.Moved) float64 {
	time := func(rate float64, f *plan.Flow) float64 {
		return math.Hypot(rate*float64(f.Flops), k.byte*float64(f.Bytes))
	}
	a, b := k.products*float64(m.Groups.Flops), k.byte*float64(m.Groups.Bytes)
	return math.Sqrt(math.Hypot(a*a, b*b)) + time(k.products, &m.Sums) + time(k.dense, &m.Library) + time(k.dense, &m.Rest)
}

// between is how many bytes kernels of a call's tiles hand on to each other through memory: the part of them that the cache does not hold.
func (k *pace) between(c *plan.Cost, rows, edges float64) float64 {
	if c.More.Between == 0 {
		return 0
	}
	if c.EdgeDense > 0 {
		rows = edges
	}
	tile := float64(c.More.Scratch) * min(1, rows/float64(max(1, c.Tile)))
	return float64(c.More.Between) * rows * (1 - min(1, k.cache/max(1, tile)))
}

// hardOps is how many operations of a GPU an exponential or a division counts for: fitted, with the root of the sum of the squares of arithmetic and memory
// traffic, to gathers of resgated and ggcn on an H200 (bench offload --tasks, bench/results/offload.md), which took a fifth more than the larger of the two.
const hardOps = 13

// The bytes that edges and rows take in a gather of terms, fitted to gathers of 128 and 602 columns on an H100: an edge reads two pieces somewhere in
// memory, and the list of a row is written, and read in pieces.
const (
	termsEdge = 128
	termsRow  = 4
)

// leastEdge is how many bytes of cached rows an edge takes as long as at least: sums of rows of 1 to 16 columns take 8.4 ps an edge on an H200, and
// of 32 columns 13.6 (cells of 110,000 rows of 4 to 64 edges).
const leastEdge = 72

// laidShare is the part of the cache that slices of rows laid out anew take at most; launches take as much (kernel/cuda/laid.go). With 0.92 of it resgated took 3 %
// more, and ggcn 10 %, than with half of it (1.1 million vertices, 180 million edges, an H100).
const laidShare = 0.9

// gather is the time in ns that reading rows of the streamed interval takes. One slice of each row is read at a time, of all operands, or of rows
// laid out anew side by side. The chance of a cache hit is the part of these slices, over all rows, that the cache holds; the first edge of a row finds none
// there.
func (k *pace) gather(c *plan.Cost, rows, edges, others float64) float64 {
	at := k.slice * float64(max(1, c.Others))
	var time float64
	if row := float64(c.Laid.Row); k.slice > 0 && row > 0 && edges >= float64(c.Laid.Edges)*others && row*others <= float64(c.Laid.Room) {
		switch {
		case c.Laid.Terms:
			return k.byte*others*(float64(c.OtherBytes)+termsRow*row) + k.miss*termsEdge*edges
		case others*at > k.cache && others*k.slice <= laidShare*k.cache:
			at = k.slice
			time = k.byte * 2 * float64(c.OtherBytes) * others
		}
	}
	slice, slices := float64(c.OtherBytes), 1.0
	if k.slice > 0 && slice > at {
		slice, slices = at, math.Ceil(slice/at)
	}
	time += k.row * rows * slices
	if c.Packed {
		time += k.packed * edges * slices
	}
	hits := 1.0
	if all := others * slice; all > k.cache {
		hits = k.cache / all
	}
	if k.slice > 0 && edges > 0 {
		hits *= max(0, 1-others/edges)
	}
	bytes := float64(c.GatherBytes)
	if k.slice > 0 {
		bytes = max(bytes+float64(c.GatherPad), leastEdge)
	}
	return time + bytes*edges*(hits*k.hit+(1-hits)*k.miss)
}

// calls is the time in ns that starting the kernels of a call takes, over all its tiles.
func (k *pace) calls(c *plan.Cost, rows, edges float64) float64 {
	products, others := c.Products, c.Passes
	if m := k.moved(c); m != nil {
		products, others = m.Products, m.Kernels
	}
	switch {
	case products == 0 && c.GatherBytes > 0 && k.slice > 0: // rows of many edges have a kernel of their own
		return 2 * k.launch
	case products == 0:
		return k.launch
	}
	if c.EdgeDense > 0 {
		rows = edges
	}
	tiles := 1.0
	if c.Tile > 0 {
		tiles = max(1, math.Ceil(rows/float64(c.Tile)))
	}
	return tiles * (float64(products)*k.product + float64(others)*k.launch)
}

// KernelTime is the modelled time in ns of a call of cost c over so many own rows and, for a call
// over a cell, so many edges and rows of the other interval.
func (k *DeviceKind) KernelTime(c *plan.Cost, rows, edges, others int) float64 {
	return newPace(k).call(c, float64(rows), float64(edges), float64(others))
}

// bytes is the time in ns of a kernel that only moves n bytes.
func (k *pace) bytes(n int64) float64 { return k.launch + k.byte*float64(n) }

// updateWords is how many floats the optimiser moves per number of a parameter: it reads
// parameter, gradient and two moments and writes all but the gradient.
const updateWords = 7

// clock gives the times of the tasks of a plan that are no copies.
type clock struct {
	p     *plan.Plan
	pace  *pace
	costs []*plan.Cost // by kernel
}

func newClock(p *plan.Plan, k *DeviceKind) *clock {
	c := &clock{p: p, pace: newPace(k)}
	add := func(call *plan.Call) {
		for len(c.costs) <= call.Kernel {
			c.costs = append(c.costs, &plan.Cost{})
		}
		c.costs[call.Kernel] = &call.Cost
	}
	for i := range p.Spec.Phases {
		steps := p.Spec.Phases[i].Steps
		for s := range steps {
			for n := range steps[s].Calls {
				add(&steps[s].Calls[n])
			}
		}
	}
	for i := range p.Spec.Values {
		if call := p.Spec.Values[i].Derive; call != nil {
			add(call)
		}
	}
	return c
}

// ns is the time in ns that t takes on the compute queue.
func (c *clock) ns(t *plan.Task) float64 {
	switch t.Kind {
	case plan.Zero:
		return c.pace.bytes(t.Bytes)
	case plan.Update:
		var n int64
		for _, m := range c.p.Spec.Updates {
			n += updateWords * c.p.Spec.Globals[m.Param].Bytes()
		}
		return c.pace.bytes(n)
	case plan.Add:
		return c.pace.bytes(3 * t.Bytes)
	case plan.Copy:
		return c.pace.bytes(2 * t.Bytes)
	case plan.Run:
		rows := float64(t.Rows)
		if t.Other < 0 {
			return c.pace.call(c.costs[t.Kernel], rows, 0, 0)
		}
		cells := c.p.Cells
		edges := float64(cells.NNZ[t.Dir][int(t.Own)*cells.P+int(t.Other)])
		if !t.Is.First && !t.Is.Last {
			rows = min(rows, edges)
		}
		cost := *c.costs[t.Kernel]
		if t.Is.First && c.pace.slice > 0 { // sums begin in registers
			cost.AccBytes /= 2
		}
		if t.Is.Last {
			cost.RowBytes += cost.More.Last
			cost.RowElem += cost.More.LastElem
		}
		return c.pace.call(&cost, rows, edges, float64(cells.Reach(int(t.Other))))
	}
	return c.pace.launch
}
