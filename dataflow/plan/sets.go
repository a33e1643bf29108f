package plan

import "slices"

// Sets are the row and edge sets of a plan over sampled blocks, with their capacities. How many rows
// and edges a set really has is known only when a batch is there. Sets are numbered as Value.Set and
// Step.Set. Set 0, that of a full graph, is empty in such a plan.
type Sets struct {
	Rows  []int      // by vertex set: capacity in rows
	Edges []int      // by edge set: capacity in edges
	Cells [][2]int64 // by edge set and Dir: bytes of the block's cell; 0: not used
	Types int        // of vertices; 0: one

	CellAt [][2]int64 // by edge set and Dir: device offset of the cell; set by planning

	Ahead Ahead
}

// Numbers says how the sets of blocks are numbered, level by level: of each level all types, of each block all relations. One type
// and one relation have the number of their level, counted from 1. 0 types or relations count as 1.
type Numbers struct{ Types, Relations int }

// Vertex is the number of the vertices of a type on a level.
func (n Numbers) Vertex(level, typ int) int { return 1 + level*max(1, n.Types) + typ }

// Edge is the number of the edges of a relation from level+1 to level.
func (n Numbers) Edge(level, relation int) int { return 1 + level*max(1, n.Relations) + relation }

// Level is the level and the type of a vertex set.
func (n Numbers) Level(set int) (level, typ int) {
	return (set - 1) / max(1, n.Types), (set - 1) % max(1, n.Types)
}

// Block is the level where the edges of an edge set end, and their relation.
func (n Numbers) Block(set int) (level, relation int) {
	return (set - 1) / max(1, n.Relations), (set - 1) % max(1, n.Relations)
}

// Ahead is the memory of a plan that takes in batches while it works on another one: several equal
// buffers, each for all that comes with a batch. Inputs in Tables do not come with a batch: their
// rows stay on the device or in host memory for all vertices. Kernels read the rows of a batch's
// vertices in the table, or in a copy that the batch makes of them (Table.Taken, Table.Host).
type Ahead struct {
	On      bool
	Buffers int // one for the batch at work, two at most for batches that come; one for the batch before, whose rows are copied
	Tables  []Table

	At, Bytes int64 // device offset of the first buffer, and bytes of one buffer; set by planning
	IDs       int64 // device offset, in the first buffer, of the vertex IDs of the deepest level (Sets.IDsOf)
	// Turn is the device offset, in the first buffer, of scratch for transposing blocks: 4 bytes for
	// each edge of the largest block that has a CSR cell, and for at least TurnParts edges.
	Turn int64
}

// TurnParts is the largest number of parts in which the row lengths of a transposed block are summed in parallel
// (kernel.TurnPart, kernel.TurnSum): about the multiprocessors of a large GPU, as each part reads the sums of
// all parts before it.
const TurnParts = 128

// Table is an input whose rows for all vertices are there for every batch. Without Host all rows lie
// in device memory. With Host they lie in host memory and Hot of them also on the device; the rows
// of a batch are read over the link while the batch before is at work.
type Table struct {
	Value int  // index into Spec.Values
	Rows  int  // all of them
	Host  bool // rows lie in host memory
	Hot   int  // with Host: rows that also lie in device memory
	Again bool // a batch may have a row several times
	All   bool // a step copies all rows that kernels read: none is read in the table

	// Taken is the vertex set whose rows a step copies from the table to a place of their own, because a product
	// reads them side by side; 0: it copies none. Kernels read rows of deeper sets in the table. Set by planning.
	Taken int

	// Device offsets, set by planning.
	At    int64 // of the first row; with Host of the first hot row
	Slots int64 // with Host: of a uint32 per row, its number among the hot rows or ^0
	Last  int64 // with Host: of what is known of the last batches, see below
	Most  int   // capacity in rows of a batch
	Kept  int   // with Host: batches before one that comes whose rows are still on the device
}

// FarKept is the most batches before one that comes whose rows it can copy.
const FarKept = 3

// The memory at Table.Last holds, one behind the other:
//
//   - for a batch that comes and for each of Kept batches before it a uint64 per row of the table: the tag of the last batch that had the
//     row in the high half, the row's place in that batch in the low half;
//   - FarCounts counts;
//   - for each of two batches a bit for every row that must come over the link, then a uint32: how many parts
//     of the bits warps have taken. Bits are by row of the table or, if Again is set, by place in the batch.

// LastBytes is how many bytes that memory has.
func (t *Table) LastBytes() int64 { return t.Bits(1) - t.Last + t.BitBytes() }

// Places is the device offset of the places of the batch with a tag.
func (t *Table) Places(tag uint32) int64 { return t.Last + int64(tag%uint32(t.Kept+1))*8*int64(t.Rows) }

// Counts is the device offset of the counts.
func (t *Table) Counts() int64 { return t.Last + int64(t.Kept+1)*8*int64(t.Rows) }

// Bits is the device offset of the bits of the batch with a tag.
func (t *Table) Bits(tag uint32) int64 { return t.Counts() + 8*FarCounts + int64(tag%2)*t.BitBytes() }

// Next is the device offset of the number of parts that warps have taken of the bits of the batch with a tag.
func (t *Table) Next(tag uint32) int64 { return t.Bits(tag) + t.BitBytes() - 4 }

// BitBytes is how many bytes the bits of a batch take, with that number behind them.
func (t *Table) BitBytes() int64 { return 4 * int64((t.Marked()+31)/32+1) }

// Marked is how many bits there are for a batch.
func (t *Table) Marked() int {
	if t.Again {
		return t.Most
	}
	return t.Rows
}

// FarCounts is the number of counts (uint64) at Table.Counts: rows that came over the link, hot
// rows, and rows that one of the batches before had.
const FarCounts = 3

// TableOf is the table of value id; nil if it has none.
func (z *Sets) TableOf(id int) *Table {
	for i := range z.Ahead.Tables {
		if t := &z.Ahead.Tables[i]; z.Ahead.On && t.Value == id {
			return t
		}
	}
	return nil
}

// InTable reports whether operand o of a call of st reads rows in a table in device memory, without a copy, by the list at
// Ahead.IDs. One list serves all sets of a type, as the rows of a set are the first ones of every deeper set.
func (z *Sets) InTable(st *Step, o *Operand) bool {
	if !o.ofRows() {
		return false
	}
	t := z.TableOf(o.ID)
	return t != nil && !t.Host && st.SetOf(o) > t.Taken
}

// Deepest is the vertex set of the deepest level, which has the rows of all levels; of several types that of the last.
func (z *Sets) Deepest() int { return len(z.Rows) - 1 }

// DeepestOf is the vertex set of a type on the deepest level.
func (z *Sets) DeepestOf(typ int) int { return len(z.Rows) - max(1, z.Types) + typ }

// TypeOf is the type of the vertices of a vertex set.
func (z *Sets) TypeOf(set int) int { return (set - 1) % max(1, z.Types) }

// IDsOf is where the vertices of a type begin in the list at Ahead.IDs: behind the room of the types before it. Of the number of types
// it is the capacity of the list.
func (z *Sets) IDsOf(typ int) (at int) {
	for t := range typ {
		at += z.Rows[z.DeepestOf(t)]
	}
	return at
}

// IDsLen is the length of that list for a batch that has rows in each set.
func (z *Sets) IDsLen(rows []int) int {
	last := max(1, z.Types) - 1
	return z.IDsOf(last) + rows[z.DeepestOf(last)]
}

// IndexOf is the type of the rows that call c of st reads in tables (InTable). They are of one type.
func (z *Sets) IndexOf(st *Step, c *Call) int {
	for k := range c.Operands {
		if o := &c.Operands[k]; z.InTable(st, o) {
			return z.TypeOf(st.SetOf(o))
		}
	}
	return 0
}

// Room is the capacity in rows of value id: that of its set, or of a larger set to which it is
// padded with zeros. Of a value with a table on the device it is that of Table.Taken.
func (z *Sets) Room(s *Spec, id int) int {
	if t := z.TableOf(id); t != nil && !t.Host {
		return z.Rows[t.Taken]
	}
	n := z.Rows[s.Values[id].Set]
	for i := range s.Phases {
		for _, st := range s.Phases[i].Steps {
			if st.Kind == Tail && st.Value == id && s.Cleared(&st) {
				n = max(n, z.Rows[st.Set])
			}
		}
	}
	return n
}

// Cleared tells whether memory has the zeros of Tail step st: some call does not read its rows one by one, up to those that are there
// (Operand.Paddable).
func (s *Spec) Cleared(st *Step) bool {
	cleared := false
	s.padded(st, func(_ *Call, o *Operand) { cleared = cleared || !o.Paddable })
	return cleared
}

// Padded calls f for the calls that read rows of a Tail step which are not Cleared: operand k of c has those of set from.
func (s *Spec) Padded(f func(c *Call, k int, from uint16)) {
	for i := range s.Phases {
		for n := range s.Phases[i].Steps {
			if st := &s.Phases[i].Steps[n]; st.Kind == Tail && !s.Cleared(st) {
				s.padded(st, func(c *Call, o *Operand) {
					f(c, slices.IndexFunc(c.Operands, func(x Operand) bool { return x == *o }), st.From)
				})
			}
		}
	}
}

// padded calls f for the operands that read the padded rows of Tail step st.
func (s *Spec) padded(st *Step, f func(c *Call, o *Operand)) {
	for i := range s.Phases {
		for n := range s.Phases[i].Steps {
			by := &s.Phases[i].Steps[n]
			for k := range by.Calls {
				c := &by.Calls[k]
				for x := range c.Operands {
					if o := &c.Operands[x]; o.Reads(st.Value) && by.SetOf(o) == int(st.Set) {
						f(c, o)
					}
				}
			}
		}
	}
}

// RoomBytes is Room in bytes, aligned.
func (z *Sets) RoomBytes(s *Spec, id int) int64 {
	return Align(int64(z.Room(s, id)) * s.Values[id].RowBytes)
}

// LargestEdges is the largest capacity of an edge set.
func (z *Sets) LargestEdges() int {
	n := 0
	for _, e := range z.Edges {
		n = max(n, e)
	}
	return n
}
