package mine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sagann/mine/agg"
	"sagann/mine/run"
	"sagann/mine/table"
)

// StoredTable is a table whose rows are kept, for several tables that begin with them. A row takes four bytes, and four more for
// each size of rows that others begin with.
type StoredTable struct {
	t    *Table
	rows *table.Stored
}

// Store makes the rows of the table and keeps them: in the memory that Options.Mem leaves beside the graph, stored rows that they begin
// with, and a little for counting, and from there on in a file in Options.Scratch. Without that folder a table that does not fit is a
// *BudgetError. The StoredTable must be closed.
func (t *Table) Store(ctx context.Context) (*StoredTable, error) {
	g := t.g
	if t.err != nil {
		return nil, t.err
	}
	if len(g.byID.Col) > math.MaxUint32 {
		return nil, &QuestionError{fmt.Sprintf("the graph has %d entries in its rows; tables of at most %d are stored", len(g.byID.Col), uint32(math.MaxUint32))}
	}
	const what = "storing a table"
	fixed, reader := t.takes()
	fixed += reader
	// The room for reading the rows again and counting them stays free.
	again := table.OpenBytes(t.spec.Size) + agg.MinMem
	p, err := g.workers(fixed+table.OpenBytes(t.spec.Size)+table.MarkBytes, again, what)
	if err != nil {
		return nil, err
	}
	room, mem := int64(0), t.bound()
	if mem > 0 {
		fixed += int64(p.workers) * again
		room = mem - fixed
	}
	rows, err := t.whole().Store(ctx, run.NewMeter(room), g.opt.Scratch)
	var small *run.RoomError
	if errors.As(err, &small) {
		err = &BudgetError{Mem: mem, Smallest: fixed + small.Need, AtLeast: true, What: what + " without a Scratch folder"}
	}
	if err != nil {
		return nil, failed(err)
	}
	return &StoredTable{t, rows}, nil
}

// Table is the table, whose rows are read and not made again. Extend and Filter go on from it. It must not be used after Close.
func (s *StoredTable) Table() *Table {
	next := &Table{g: s.t.g, spec: s.t.spec, keep: make([]func(*table.Row) bool, len(s.t.keep))}
	next.spec.From, next.spec.Where = s.rows, nil
	return next
}

// Rows is how many rows there are.
func (s *StoredTable) Rows() int64 { return s.rows.Rows() }

// Bytes is what the rows take, and how much of it lies in the file.
func (s *StoredTable) Bytes() (all, spilled int64) { return s.rows.Bytes(), s.rows.Spilled() }

// Close frees the memory and removes the file.
func (s *StoredTable) Close() error { return s.rows.Close() }
