package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataset"
	"sagann/device"
	"sagann/internal/safetensors"
	"sagann/saga/batches"
)

// Links by time: the rows of the ends of pairs, each over the edges before the pair's time, and the head over them.

// atTimes computes the rows of the ends of pairs, each over all edges before the pair's time, and numbers the pairs by these rows.
func atTimes(m Model, d *dataset.Data, c Config, k *Stored, pairs *dataset.Pairs) (z []float32, cols int, of *dataset.Pairs, err error) {
	if d, err = k.apply(&m, d); err != nil {
		return nil, 0, nil, err
	}
	if m = m.rowsOnly(); pairs.Len() == 0 {
		return nil, 0, nil, errors.New("saga: there are no pairs to score")
	}
	if d.Vertices.Kinds == nil {
		if err := answers(&m, d); err != nil {
			return nil, 0, nil, err
		}
	}
	if !timedEdges(d) {
		return nil, 0, nil, fmt.Errorf("saga: pairs are scored at times, and the edges of %s have none (edge_time)", d.Name)
	}
	list, src, dst := endsAtTimes(d, pairs)
	for _, x := range list {
		rows, n, err := allAtTimes(request{model: m, data: x.data, cfg: c.forBlocks(), output: "logits", at: x.at, ends: x.ends}, upTo(len(x.at.Vertex)), k.param)
		if err != nil {
			return nil, 0, nil, err
		}
		z, cols = append(z, rows...), n
	}
	return z, cols, numbered(src[0], dst[0]), nil
}

// allAtTimes computes the rows of items, each over all edges up to its time.
func allAtTimes(r request, items []uint32, param parameters) (x []float32, cols int, err error) {
	a := &answer{items: items, times: batches.UpTo}
	var graph *batches.Graph
	err = a.within(r, min(answerBatch, len(items)), &graph, param)
	return a.rows, a.cols, err
}

// share gives all ranks of p the rows that each has computed. All ranks call it.
func (a *answer) share(p *Program) error {
	g := p.cfg.Net
	if g.Ranks() == 1 {
		return nil
	}
	cols := p.train.low.Spec.Values[p.train.low.Outputs[p.output]].Cols
	if a.rows == nil { // no batch was this rank's
		a.rows, a.cols = make([]float32, len(a.items)*cols), cols
	}
	mine := a.places
	for r := range g.Ranks() {
		size := []uint32{uint32(len(mine))}
		if err := g.Bcast("how many rows of links", device.Bytes(size), r); err != nil {
			return err
		}
		places, rows := mine, make([]float32, int(size[0])*cols)
		if r == g.Rank() {
			for i, at := range places {
				copy(rows[i*cols:(i+1)*cols], a.rows[int(at)*cols:])
			}
		} else {
			places = make([]uint32, size[0])
		}
		if err := g.Bcast("places of rows of links", device.Bytes(places), r); err != nil {
			return err
		}
		if err := g.Bcast("rows of links", device.Bytes(rows), r); err != nil {
			return err
		}
		for i, at := range places {
			copy(a.rows[int(at)*cols:(int(at)+1)*cols], rows[i*cols:])
		}
	}
	return nil
}

// scoringPairs scores the pairs of a program that trains links by time, in batches of their ends.
type scoringPairs struct {
	scoring
	head     LinkHead
	src, dst [][]uint32 // of training, validation and testing, of each with an edge and without: numbers of moments
	far      *Program   // that computes the rows of the other end's type; nil: there is one type
}

// evaluate computes the rows of all ends with the parameters held, and scores the pairs of every split.
func (p scoringPairs) evaluate(held []safetensors.Tensor) (s Scores, err error) {
	a, err := p.rowsOf(held)
	if err == nil && p.far != nil {
		var b *answer
		if b, err = p.far.mode.(scoringPairs).rowsOf(held); err == nil {
			a.rows = append(a.rows, b.rows...)
		}
	}
	if err != nil {
		return s, err
	}
	head, err := headOf(p.head, a.rows, a.cols, 0, func(name string, _, _ int) ([]float32, error) {
		i := slices.IndexFunc(held, func(t safetensors.Tensor) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("saga: no parameter %q", name)
		}
		return held[i].Data.([]float32), nil
	})
	if err != nil {
		return s, err
	}
	for i, to := range []*Metrics{&s.Train, &s.Val, &s.Test} {
		if has := numbered(p.src[2*i], p.dst[2*i]); has.Len() > 0 {
			*to = head.rank(has, numbered(p.src[2*i+1], p.dst[2*i+1]))
		}
	}
	return s, nil
}

// rowsOf computes the rows of the ends that p is for. Batch i goes to rank i modulo the number of ranks; all have all rows then.
func (p scoringPairs) rowsOf(held []safetensors.Tensor) (a *answer, err error) {
	open, err := p.begin(held)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	a = &answer{items: upTo(p.sampled.draws.Items())}
	g := p.cfg.Net
	for i := g.Rank(); i < p.sampled.draws.Count() && err == nil; i += g.Ranks() {
		at := batches.Place{Batch: i}
		if open, err = p.scoreBatch(open, at, func(open *session, b *batches.Batch) { a.take(p.Program, open, b) }); err != nil {
			err = fmt.Errorf("evaluation, %v: %w", at, err)
		}
	}
	if err = p.agreed("evaluation", err); err != nil {
		return nil, err
	}
	return a, a.share(p.Program)
}
