package mine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sagann/mine/agg"
	"sagann/mine/cuda"
	"sagann/mine/run"
	"sagann/mine/table"
)

// StoredTable is a table whose rows are kept, for several tables that begin with them. A row takes four bytes, and four more for
// each size of rows that others begin with. On GPUs whole rows take less: of each beginning it is kept which neighbours follow.
type StoredTable struct {
	t     *Table
	rows  *table.Stored
	at    StoredBytes
	close func() // nil: nothing
}

// StoredBytes is where stored rows lie: bytes on GPUs, in memory of the host, and in the file.
type StoredBytes struct{ GPUs, Host, File int64 }

// Store makes the rows of the table and keeps them: in the memory that Options.Mem leaves beside the graph, stored rows that they begin
// with, and a little for counting, and from there on in a file in Options.Scratch. Without that folder a table that does not fit is a
// *BudgetError. On a graph with GPUs these make the rows and keep what Options.Mem leaves there, then comes host memory up to Options.HostMem, then
// the file. The StoredTable must be closed, before its graph.
func (t *Table) Store(ctx context.Context) (*StoredTable, error) {
	g := t.g
	if t.err != nil {
		return nil, t.err
	}
	if len(g.byID.Col) > math.MaxUint32 {
		return nil, &QuestionError{fmt.Sprintf("the graph has %d entries in its rows; tables of at most %d are stored", len(g.byID.Col), uint32(math.MaxUint32))}
	}
	if g.gpus != nil && t.growable(false) == nil {
		return t.storeOnGPUs(ctx)
	}
	room, fixed, err := t.storeRoom()
	if err != nil {
		return nil, err
	}
	rows, err := t.whole().Store(ctx, run.NewMeter(room), g.opt.Scratch)
	var small *run.RoomError
	if errors.As(err, &small) {
		err = &BudgetError{Mem: t.bound(), Smallest: fixed + small.Need, AtLeast: true, What: storing + " without a Scratch folder"}
	}
	if err != nil {
		return nil, failed(err)
	}
	return &StoredTable{t: t, rows: rows}, nil
}

// storeRoom is the memory for stored rows, 0: any, and what is taken beside it.
func (t *Table) storeRoom() (room, fixed int64, err error) {
	fixed, reader := t.takes()
	fixed += reader
	// The room for reading the rows again and counting them stays free.
	again := table.OpenBytes(t.spec.Size) + agg.MinMem
	p, err := t.g.workers(fixed+table.OpenBytes(t.spec.Size)+table.MarkBytes, again, storing)
	if mem := t.bound(); mem > 0 && err == nil {
		fixed += int64(p.workers) * again
		room = mem - fixed
	}
	return room, fixed, err
}

// storing is what a budget is too small for.
const storing = "storing a table"

// Table is the table, whose rows are read and not made again. Extend and Filter go on from it. It must not be used after Close.
func (s *StoredTable) Table() *Table {
	next := &Table{g: s.t.g, spec: s.t.spec, keep: make([]func(*table.Row) bool, len(s.t.keep)), filters: make(cuda.Filters, len(s.t.keep))}
	next.spec.From, next.spec.Where = s.rows, nil
	return next
}

// Rows is how many rows there are.
func (s *StoredTable) Rows() int64 { return s.rows.Rows() }

// Bytes is what the rows take, and how much of it lies in the file.
func (s *StoredTable) Bytes() (all, spilled int64) { return s.rows.Bytes(), s.rows.Spilled() }

// At is where the rows lie.
func (s *StoredTable) At() StoredBytes {
	at := s.at
	if at.GPUs == 0 && at.Host == 0 {
		at.Host = s.rows.Bytes() - s.rows.Spilled()
	}
	at.File = s.rows.Spilled()
	return at
}

// Close frees the memory and removes the file.
func (s *StoredTable) Close() error {
	if s.close != nil {
		s.close()
		s.close = nil
	}
	return s.rows.Close()
}
