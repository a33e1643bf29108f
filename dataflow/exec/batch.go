package exec

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
)

// Batch is the data of one step of a plan over sampled blocks. Sets are numbered as in plan.Sets.
type Batch struct {
	Rows   []int          // by vertex set: number of rows
	Inputs map[int][]byte // by value: RowBytes for each row of its set; not for values with a table
	Cells  [][2]Cell      // by edge set and plan.Dir
	Most   []int          // by edge set: an upper bound of the edges of a row; 0: no bound but the number of edges
	IDs    []uint32       // the vertices of the deepest level, if the plan has tables: those of each type from plan.Sets.IDsOf on
	Drawn  *Drawn         // not nil: blocks in GPU memory, in place of IDs, Cell.Mem and the Inputs that Drawn.Made lists
}

// Cell has the edges of a block in one direction.
type Cell struct {
	chunk.Cell
	Mem []byte // the arrays of the cell, one after the other
}

// OverflowError says that a batch has more rows or edges than its plan has memory for.
type OverflowError struct{ What string }

// Error returns the message.
func (e *OverflowError) Error() string { return "exec: a batch does not fit its plan: " + e.What }

// fits returns an error if plan p cannot run b; an *OverflowError if b has more rows or edges than p has memory for.
func (b *Batch) fits(p *plan.Plan) error {
	z := p.Places.Sets
	for s, n := range b.Rows {
		if n > z.Rows[s] {
			return &OverflowError{fmt.Sprintf("%d rows of set %d, there is room for %d", n, s, z.Rows[s])}
		}
	}
	for e := range b.Cells {
		for d, c := range b.Cells[e] {
			if c.NNZ > int64(z.Edges[e]) || c.Bytes > z.Cells[e][d] {
				return &OverflowError{fmt.Sprintf("%d edges of set %d in %d bytes, there is room for %d in %d", c.NNZ, e, c.Bytes, z.Edges[e], z.Cells[e][d])}
			}
		}
	}
	for id, v := range p.Spec.Values {
		if v.Kind == plan.Input && z.TableOf(id) == nil && b.made(id) == NotMade && int64(len(b.Inputs[id])) != int64(b.Rows[v.Set])*v.RowBytes {
			return fmt.Errorf("exec: input %s of a batch: %d bytes, want %d rows of %d", v.Name, len(b.Inputs[id]), b.Rows[v.Set], v.RowBytes)
		}
	}
	if len(z.Ahead.Tables) > 0 && b.Drawn == nil && len(b.IDs) != z.IDsLen(b.Rows) {
		return fmt.Errorf("exec: %d vertices of a batch that has %d", len(b.IDs), z.IDsLen(b.Rows))
	}
	return nil
}

// made says how the device makes input id of the batch.
func (b *Batch) made(id int) Made {
	if b.Drawn == nil {
		return NotMade
	}
	return b.Drawn.Made[id]
}
