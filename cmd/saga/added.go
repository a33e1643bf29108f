package main

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// addedOf are the tables that --add names.
func addedOf(given []string, task saga.Task) ([]string, error) {
	if given != nil && task != saga.VertexTask && task != saga.LinkTask {
		return nil, cli.Usagef("--add: the run predicts %s; vertices are added where labels of vertices or links are predicted. --data takes a graph that has them", task.Plural())
	}
	return given, nil
}

// twoTables are the tables of edges and of vertices that --add names of a graph with one type.
func twoTables(given []string) (edges, vertices string, err error) {
	parts := strings.Split(given[0], ",")
	if len(given) != 1 || len(parts) != 2 || parts[1] == "" {
		return "", "", cli.Usagef("--add %s: a table of edges and one of vertices, with a comma between: --add edges.csv,vertices.csv", strings.Join(given, " --add "))
	}
	return parts[0], parts[1], nil
}

// added adds the vertices of --add to the data, and asks for their rows.
func (t *trained) added(a *app) (err error) {
	if t.add == nil {
		return nil
	}
	t.data, t.list, err = t.prep.with(a, t.data, t.name, t.add)
	return err
}

// with is the graph d called name with the vertices of the tables of --add, and their numbers.
func (p *prepared) with(a *app, d *dataset.Data, name string, tables []string) (out *dataset.Data, list []uint32, err error) {
	if d.Vertices.Kinds != nil {
		return p.withTypes(a, d, tables)
	}
	edges, vertices, err := twoTables(tables)
	if err != nil {
		return nil, nil, err
	}
	if p.OneHot {
		return nil, nil, errors.New("--add: features are a column for each vertex that the run was trained on, and others have none; runs with --features data or degree predict new vertices, and those with embedding:64 or identity draw rows for them")
	}
	if p.Features == "degree" || p.Features == "identity" || p.Embedding > 0 { // features of the data are not read
		dataset.DropFeatures(d)
	}
	x, err := dataset.ReadAdded(edges, vertices, d)
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
	tellReport(a, &x.Report)
	tellReport(a, &out.Report)
	if p.perVertex() {
		a.Log.Warn("each vertex has a row of its own that the run has learned: rows of the added vertices are as drawn at the start")
	}
	return out, behind(d, out), nil
}

// behind are the numbers of the vertices that out has and d has not.
func behind(d, out *dataset.Data) (list []uint32) {
	for v := d.Edges.V; v < out.Edges.V; v++ {
		list = append(list, uint32(v))
	}
	return list
}

func tellReport(a *app, r *dataset.Report) {
	for _, c := range r.Changes {
		a.Log.Info(c)
	}
	for _, w := range r.Warnings {
		a.Log.Warn(w)
	}
}

// withTypes is with for a graph of several types: a table for each type or relation that gets more.
func (p *prepared) withTypes(a *app, d *dataset.Data, tables []string) (*dataset.Data, []uint32, error) {
	k := d.Vertices.Kinds
	h := k.With(d)
	var list []dataset.AddedTable
	for _, text := range tables {
		t, err := h.ParseAdded(text)
		if err != nil {
			return nil, nil, cli.Usagef("--add %w", err)
		}
		n, err := h.Type(t.Name)
		own := p.Features == "identity" && (p.OfAll || n == k.Type)
		if err == nil && (own || h.Types[n].Rows.FeatureCols == 0) {
			return nil, nil, fmt.Errorf("--add %s: each vertex of type %s has a row of its own that the run has learned, and new ones have none; vertices of types with features are added", text, t.Name)
		}
		list = append(list, t)
	}
	x, err := h.ReadAdded(list)
	if err != nil {
		return nil, nil, fmt.Errorf("--add: %w", err)
	}
	out, err := x.AddedTo(d, dataset.Options{Simple: p.Simple}) // those that --undirected has added turn round others
	if err != nil {
		return nil, nil, fmt.Errorf("--add: %w", err)
	}
	tellReport(a, &out.Report)
	added := behind(d, out)
	if added == nil {
		a.Log.Info("no vertices of type " + h.Types[k.Type].Name + " were added, so all of them are predicted; --vertices names some")
	}
	return out, added, nil
}
