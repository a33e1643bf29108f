package plan

// Sets are what a plan over sampled blocks has room for. Its rows and edges are known when a
// batch is there; a plan holds the most that there may be. Sets are numbered as Value.Set and
// Step.Set: 0 is a full graph's, which such a plan does not have.
type Sets struct {
	Rows  []int      // by vertex set
	Edges []int      // by edge set
	Cells [][2]int64 // by edge set and Dir: bytes of the block's cell; 0: not used

	CellAt [][2]int64 // where it lies; made by planning

	Ahead Ahead
}

// Ahead is the memory of a plan that takes batches in while it works on another: rooms side by side
// for all that comes with a batch. Inputs in Tables do not come with it: their rows for all
// vertices lie in device memory, where kernels read those that belong to the batch's vertices.
type Ahead struct {
	On     bool
	Rooms  int // a batch is at work in one, and as many as there are more come
	Tables []Table

	At, Bytes int64 // of the first room; made by planning
	IDs       int64 // where the vertices of the deepest level lie in it
	Turn      int64 // and a number for each edge of a block that is walked from its far ends, at least TurnParts
}

// TurnParts is in how many parts at most the far ends of a block are summed side by side: about the multiprocessors of a
// large GPU, as each part reads the sums of those before it.
const TurnParts = 128

// Table is an input whose rows stay in device memory, all or Hot of them; the others are read from
// host memory while the batch before is at work.
type Table struct {
	Value int
	Rows  int
	Host  bool
	Hot   int
	Again bool // a batch may have a row several times
	All   bool // a step takes all rows that kernels read, and they read none there

	Taken int   // the set whose rows a step takes to a place of their own; 0: of none. Made by planning
	At    int64 // where the first row lies; made by planning. Of Host where the first of Hot lies,
	Slots int64 // where the places of all rows there lie,
	Last  int64 // and where the places that they have in the last batches, by turns;
	Most  int   // the rows of a batch for which there is room
}

// FarBatches is of how many batches a table has the places: of one that comes, and of those before it whose rows are still there.
const FarBatches = 3

// Of the memory at Last: places of one batch, with its tag above, by row; counts behind those of all; behind them, by turns of two batches, bits of what must
// come over the link, by row, or by place in the batch where it may have a row several times, and how many parts of them a warp has taken.

// LastBytes is how much it is.
func (t *Table) LastBytes() int64 { return t.Bits(1) - t.Last + t.BitBytes() }

// Places is where those of the batch with a tag lie.
func (t *Table) Places(tag uint32) int64 { return t.Last + int64(tag%FarBatches)*8*int64(t.Rows) }

// Counts is where the counts lie.
func (t *Table) Counts() int64 { return t.Last + FarBatches*8*int64(t.Rows) }

// Bits is where those of the batch with a tag lie.
func (t *Table) Bits(tag uint32) int64 { return t.Counts() + 8*FarCounts + int64(tag%2)*t.BitBytes() }

// Next is where the batch with a tag has how many parts of its bits are taken, behind them.
func (t *Table) Next(tag uint32) int64 { return t.Bits(tag) + t.BitBytes() - 4 }

// BitBytes is how much the bits of a batch take, with that number.
func (t *Table) BitBytes() int64 { return 4 * int64((t.Marked()+31)/32+1) }

// Marked is how many bits a batch has.
func (t *Table) Marked() int {
	if t.Again {
		return t.Most
	}
	return t.Rows
}

// FarCounts is how many counts of uint64 lie at Table.Counts: of rows that came over the link, of hot
// ones and of those that one of the two batches before had.
const FarCounts = 3

// TableOf is the table of value id, or nil.
func (z *Sets) TableOf(id int) *Table {
	for i := range z.Ahead.Tables {
		if t := &z.Ahead.Tables[i]; z.Ahead.On && t.Value == id {
			return t
		}
	}
	return nil
}

// InTable tells whether operand o of a call of st reads rows of a table in device memory where they lie, by the list at Ahead.IDs: a
// set's rows are the first ones of every deeper set.
func (z *Sets) InTable(st *Step, o *Operand) bool {
	if !o.ofRows() {
		return false
	}
	t := z.TableOf(o.ID)
	return t != nil && !t.Host && st.SetOf(o) > t.Taken
}

// Deepest is the set with the rows of all levels.
func (z *Sets) Deepest() int { return len(z.Rows) - 1 }

// Room is how many rows there is room for where value id lies: those of its set, and
// zeros behind them. Of what has a table on the device they are those that a step takes.
func (z *Sets) Room(s *Spec, id int) int {
	if t := z.TableOf(id); t != nil && !t.Host {
		return z.Rows[t.Taken]
	}
	n := z.Rows[s.Values[id].Set]
	for i := range s.Phases {
		for _, st := range s.Phases[i].Steps {
			if st.Kind == Tail && st.Value == id {
				n = max(n, z.Rows[st.Set])
			}
		}
	}
	return n
}

// RoomBytes is what that takes.
func (z *Sets) RoomBytes(s *Spec, id int) int64 {
	return Align(int64(z.Room(s, id)) * s.Values[id].RowBytes)
}

// LargestEdges is the room of the edge set that has most.
func (z *Sets) LargestEdges() int {
	n := 0
	for _, e := range z.Edges {
		n = max(n, e)
	}
	return n
}
