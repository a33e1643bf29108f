package main

import (
	"fmt"
	"os"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/saga"
)

// only has the run answer for the vertices of --vertices alone: a file of ids, or ids.
func (t *trained) only(given string) (err error) {
	if t.task() != saga.VertexTask {
		return cli.Usagef("--vertices: the run predicts %s; labels of vertices can be asked for one by one", t.task().Plural())
	}
	t.list, err = verticesOf(given, t.data)
	return err
}

// verticesOf reads the value of --vertices.
func verticesOf(given string, d *dataset.Data) (list []uint32, err error) {
	if _, no := os.Stat(given); no == nil {
		list, err = dataset.ReadVertices(given, d)
	} else {
		list, err = dataset.FindVertices(strings.Split(given, ","), d)
		if strings.ContainsAny(given, "/.") && err != nil {
			err = fmt.Errorf("%w, and there is no file %s", err, given)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--vertices: %w", err)
	}
	return list, nil
}

// manyEdges is why all vertices are predicted where some are asked for.
func manyEdges(part, whole int64) error {
	return fmt.Errorf("the in-edges that they depend on are many: messages over %d edges or more, of the %d of all rows", part, whole)
}

// byBlocks says that n vertices are answered for by blocks.
func byBlocks(n int, part, whole int64) string {
	return words.Text("%d {vertex|vertices} by blocks of their in-edges: messages over %d {edge|edges} of the %d of all rows", n, part, whole)
}

// some computes the rows of t.list: by blocks of their in-edges where that is at most half the work of all rows.
func (t *trained) some(a *app, cfg saga.Config, what string) (x []float32, cols int, err error) {
	open, all, run := saga.OpenSome, saga.Predict, "predicted"
	if what == "embeddings" {
		open, all, run = saga.OpenSomeHidden, saga.Embed, "embedded"
	}
	x, cols, why := t.byBlocks(a, cfg, open)
	if why == nil {
		return x, cols, nil
	}
	a.Log.Info("all vertices are "+run+", and those that were asked for are written", "why", why.Error())
	y, cols, err := all(t.model, t.data, cfg, t.path)
	if err != nil {
		return nil, 0, err
	}
	for _, v := range t.list {
		x = append(x, y[int(v)*cols:(int(v)+1)*cols]...)
	}
	return x, cols, nil
}

// byBlocks computes the rows of t.list by blocks. The error says why it does not.
func (t *trained) byBlocks(a *app, cfg saga.Config, open func(saga.Model, *dataset.Data, saga.Config, string) (*saga.Some, error)) (x []float32, cols int, err error) {
	s, err := open(t.model, t.data, cfg, t.path)
	if err != nil {
		return nil, 0, err
	}
	part, whole, err := s.Work(t.list)
	if err != nil {
		return nil, 0, err
	}
	if 2*part > whole {
		return nil, 0, manyEdges(part, whole)
	}
	if x, cols, err = s.Rows(t.list); err == nil {
		a.Log.Info(byBlocks(len(t.list), part, whole))
	}
	return x, cols, err
}
