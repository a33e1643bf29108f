package main

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// addedOf are the tables of edges and of vertices that --add names.
func addedOf(given string, task saga.Task) (tables [2]string, err error) {
	if given == "" {
		return tables, nil
	}
	parts := strings.Split(given, ",")
	switch {
	case len(parts) != 2 || parts[1] == "":
		return tables, cli.Usagef("--add %s: a table of edges and one of vertices, with a comma between: --add edges.csv,vertices.csv", given)
	case task != saga.VertexTask && task != saga.LinkTask:
		return tables, cli.Usagef("--add: the run predicts %s; vertices are added where labels of vertices or links are predicted. --data takes a graph that has them", task.Plural())
	}
	return [2]string(parts), nil
}

// added adds the vertices of --add to the data, and asks for their rows.
func (t *trained) added(a *app) (err error) {
	if t.add[1] == "" {
		return nil
	}
	t.data, t.list, err = t.prep.with(a, t.data, t.name, t.add)
	return err
}

// with is the graph d called name with the vertices of the tables of --add, and their numbers.
func (p *prepared) with(a *app, d *dataset.Data, name string, tables [2]string) (out *dataset.Data, list []uint32, err error) {
	if p.OneHot {
		return nil, nil, errors.New("--add: features are a column for each vertex that the run was trained on, and others have none; runs with --features data or degree predict new vertices, and those with embedding:64 or identity draw rows for them")
	}
	if p.Features == "degree" || p.Features == "identity" || p.Embedding > 0 { // features of the data are not read
		dataset.DropFeatures(d)
	}
	x, err := dataset.ReadAdded(tables[0], tables[1], d)
	if err != nil {
		return nil, nil, fmt.Errorf("--add: %w", err)
	}
	o := dataset.Options{Undirected: p.Undirected, Simple: p.Simple}
	if look := dataset.LookAtEdges(d.Edges); x.Edges != nil && !o.Undirected && look.Looked > 0 && look.Reversed == look.Looked {
		o.Undirected = true
		a.Log.Info(fmt.Sprintf("every edge of %s has its reverse, so the added edges get theirs", name))
	}
	if out, err = x.To(d, o); err != nil {
		return nil, nil, fmt.Errorf("--add: %w", err)
	}
	for _, c := range append(x.Report.Changes, out.Report.Changes...) {
		a.Log.Info(c)
	}
	for _, w := range append(x.Report.Warnings, out.Report.Warnings...) {
		a.Log.Warn(w)
	}
	if p.perVertex() {
		a.Log.Warn("each vertex has a row of its own that the run has learned: rows of the added vertices are as drawn at the start")
	}
	for v := d.Edges.V; v < out.Edges.V; v++ {
		list = append(list, uint32(v))
	}
	return out, list, nil
}
