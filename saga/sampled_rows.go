package saga

import (
	"fmt"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/device"
	"sagann/saga/batches"
	"sagann/saga/rows"
)

// Learned rows in sampled training. The table with a row per vertex, and the optimiser's tables of moments, are in host
// memory in the user's order of vertices. A step reads the rows of its deepest level and computes their gradients. Then
// every row of the table is updated. Rows that the batch did not read have a zero gradient, but decaying moments move
// them all the same. So a run whose batches contain the whole graph equals a full-graph run.

// tables are learned rows and their moments, V×cols each.
type tables struct {
	rows  map[string][]float32 // by name
	place []int32              // by vertex of a type: 1 + its row in the batch; 0: the batch does not have it
}

// beginTables makes the tables of all learned rows, on the program's first device.
func (s *session) beginTables() {
	for i := range s.p.params {
		if q := &s.p.params[i]; q.PerVertex && s.main == nil {
			s.beginTable(q)
		}
	}
}

// beginTable makes the tables of q and its moments, with their initial rows.
func (s *session) beginTable(q *Param) {
	if s.tables.rows == nil {
		s.tables.rows = map[string][]float32{}
	}
	if len(s.tables.place) < q.Rows {
		s.tables.place = make([]int32, q.Rows)
	}
	s.tables.rows[q.Name] = q.initial(s.p.cfg.Seed)
	for k := range s.p.cfg.Optimizer.moments() {
		s.tables.rows[momentName(k, q.Name)] = make([]float32, q.Rows*q.Cols)
	}
}

// takeRows copies the rows of the tables that the batch reads, as they are now, to its inputs.
func (s *session) takeRows(b *batches.Batch) {
	p := s.p
	for _, q := range p.params {
		if !q.PerVertex {
			continue
		}
		for in, id := range p.train.low.Inputs {
			if in.Name != q.Name {
				continue
			}
			vertices := b.Vertices(int(p.train.low.Spec.Values[id].Set), int(in.Set.Type))
			x, to, ld := s.tables.rows[q.Name], device.View[float32](b.Inputs[id]), chunk.LD(q.Cols)
			chunk.Ranges(len(vertices), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					v := int(vertices[i])
					copy(to[i*ld:(i+1)*ld], x[v*q.Cols:(v+1)*q.Cols])
				}
			})
		}
	}
}

// updateRows makes the optimiser's step on the tables, with the gradients of the batch that was just computed.
// A batch of separate subgraphs (sample.Apart) may have several rows of one vertex: their gradients are added in order.
func (s *session) updateRows(b *batches.Batch) {
	p := s.p
	for i := range p.params {
		q := &p.params[i]
		id, ok := p.train.low.Outputs[gradName(q.Name)]
		if !q.PerVertex || !ok {
			continue
		}
		v := &p.train.low.Spec.Values[id]
		vertices, g, ld := b.Vertices(int(v.Set), int(v.Type)), device.View[float32](s.train.BatchOutput(id)), chunk.LD(q.Cols)
		place := s.tables.place
		for i, v := range vertices {
			if first := int(place[v]) - 1; first >= 0 {
				for c := range q.Cols {
					g[first*ld+c] += g[i*ld+c]
				}
				continue
			}
			place[v] = int32(i) + 1
		}
		if s.updateTable(q, g, ld) {
			s.spoil(p.epoch+1, q.Name)
		}
		for _, v := range vertices {
			place[v] = 0
		}
	}
}

// updateTable updates all rows of q. g are the gradients of the rows that the batch has, ld numbers each. spoiled tells
// whether a number became NaN or infinite.
func (s *session) updateTable(q *Param, g []float32, ld int) (spoiled bool) {
	p := s.p
	bad := make([]bool, (q.Rows+tableRows-1)/tableRows)
	rate, t, decay := p.rate(), p.updates()+1, p.decays(q.Name)
	chunk.Each(len(bad), func(k int) {
		lo, hi := k*tableRows, min(q.Rows, (k+1)*tableRows)
		of := func(name string) []float32 { return s.tables.rows[name][lo*q.Cols : hi*q.Cols] }
		x := slot{w: of(q.Name), g: make([]float32, (hi-lo)*q.Cols), decay: decay}
		for m := range p.cfg.Optimizer.moments() {
			x.m = append(x.m, of(momentName(m, q.Name)))
		}
		for v := lo; v < hi; v++ {
			if i := int(s.tables.place[v]) - 1; i >= 0 {
				copy(x.g[(v-lo)*q.Cols:(v-lo+1)*q.Cols], g[i*ld:])
			}
		}
		bad[k] = p.cfg.Optimizer.apply([]slot{x}, rate, t) >= 0
	})
	return slices.Contains(bad, true)
}

// tableRows is how many rows of a table are updated at a time.
const tableRows = 1024

// showTables copies the tables to the inputs of evaluation, in the order of its grid.
func (s *session) showTables() error {
	for _, q := range s.p.params {
		if s.tables.rows == nil {
			return nil
		}
		in := dataflow.Input{Name: q.Name, Set: dataflow.OfType(int(q.typ))}
		id, ok := s.p.eval.low.Inputs[in]
		if !q.PerVertex || !ok {
			continue
		}
		laid, ld, o := device.View[float32](s.inputs[inputName(in)]), chunk.LD(q.Cols), s.p.grids.orderOfType(s.p.eval.plan.Cells, q.typ)
		err := rows.Blocks(q.Rows, ld, func(lo, hi int) error {
			chunk.PermuteRows(laid[lo*ld:hi*ld], s.tables.rows[q.Name], q.Cols, ld, o, lo, hi)
			device.Drop(device.Bytes(laid[lo*ld : hi*ld]))
			return nil
		})
		if err == nil {
			err = s.eval.SendRows(id)
		}
		if err != nil {
			return fmt.Errorf("rows of %s for evaluation: %w", q.Name, err)
		}
	}
	return nil
}

func (p batched) started(s *session) error {
	s.beginTables()
	if n := p.sampled.draws.Parts; n > 1 {
		return s.train.Apart()
	}
	return nil
}

func (p scoring) started(s *session) error { s.beginTables(); return nil }
