package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// typedHelp says how tables of several types are named.
const typedHelp = "--vertices TYPE=FILE for each type of vertices that has a table, --edges NAME=SOURCE:TARGET:FILE for each relation"

// isTyped reports whether a value of --edges or --vertices names a type: it has a name before =, and is not itself a file.
func isTyped(value string) bool {
	name, rest, ok := strings.Cut(value, "=")
	if !ok || name == "" || rest == "" || strings.ContainsAny(name, `/\`) {
		return false
	}
	_, err := os.Stat(value)
	return errors.Is(err, fs.ErrNotExist)
}

// isTyped reports whether the tables are of several types.
func (f *tableFlags) isTyped() bool {
	return slices.ContainsFunc(f.Edges, isTyped) || slices.ContainsFunc(f.Vertices, isTyped)
}

// typed are the tables of several types that the flags name.
func (f *tableFlags) typed() (*dataset.HeteroTables, error) {
	t := &dataset.HeteroTables{}
	for _, value := range f.Edges {
		name, rest, _ := strings.Cut(value, "=")
		ends := strings.SplitN(rest, ":", 3)
		if !isTyped(value) || len(ends) != 3 || slices.Contains(ends, "") {
			return nil, cli.Usagef("--edges %s: of tables of several types, NAME=SOURCE:TARGET:FILE", value)
		}
		t.Relations = append(t.Relations, dataset.RelationTable{Source: ends[0], Name: name, Target: ends[1], Table: dataset.Tables{Edges: ends[2], Heading: f.Heading, SkipUnknown: f.SkipUnknown}})
	}
	for _, value := range f.Vertices {
		name, path, _ := strings.Cut(value, "=")
		if !isTyped(value) {
			return nil, cli.Usagef("--vertices %s: of tables of several types, TYPE=FILE", value)
		}
		t.Types = append(t.Types, dataset.TypeTable{Name: name, Table: dataset.Tables{Vertices: path, Heading: f.Heading}})
	}
	if len(t.Relations) == 0 {
		return nil, cli.Usagef("no table of edges: %s", typedHelp)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.ofTypes(t); err != nil {
		return nil, err
	}
	return t, f.ofRelations(t)
}

// ofTypes gives the tables of vertices what the flags say of their columns.
func (f *tableFlags) ofTypes(t *dataset.HeteroTables) error {
	var names []string
	for _, x := range t.Types {
		names = append(names, x.Name)
	}
	id, split, unlabelled, times := splitList(f.ID), splitList(f.Split), splitList(f.Unlabelled), splitList(f.More.VertexTime)
	for i := range t.Types {
		x, name := &t.Types[i].Table, t.Types[i].Name
		x.Label, x.Targets, x.Features = columnsOf(f.Label, names, name), columnsOf(f.Targets, names, name), columnsOf(f.Features, names, name)
		x.Prepare.OneHot = columnsOf(f.OneHot, names, name)
		for _, one := range []struct {
			flag string
			list []string
			to   *string
		}{{"id", id, &x.ID}, {"split", split, &x.Split}, {"vertex-time", times, &x.Time}, {"unlabelled", unlabelled, &x.Prepare.Unlabelled}} {
			if err := single(one.flag, columnsOf(one.list, names, name), name, one.to); err != nil {
				return err
			}
		}
		if f.Like != "" {
			x.Prepare.Like = f.Like
		}
		if len(x.Features)+len(x.Prepare.OneHot) > 0 {
			x.Prepare.Missing, x.Prepare.Standardize = f.Missing, f.Standardize
		}
		x.Prepare.Seed = f.Seed
	}
	return nil
}

// ofRelations gives the tables of edges what the flags say of their columns.
func (f *tableFlags) ofRelations(t *dataset.HeteroTables) error {
	full := func(r dataset.RelationTable) string { return r.Source + ":" + r.Name + ":" + r.Target }
	var names []string
	for _, r := range t.Relations {
		names = append(names, r.Name, full(r))
	}
	for i := range t.Relations {
		x, name, whole := &t.Relations[i].Table, t.Relations[i].Name, full(t.Relations[i])
		x.EdgeFeatures = columnsOf(f.EdgeFeatures, names, name, whole)
		for _, one := range []struct {
			flag, value string
			to          *string
		}{{"source", f.Source, &x.Source}, {"target", f.Target, &x.Target}, {"weight", f.Weight, &x.Weight}, {"edge-type", f.More.EdgeType, &x.EdgeType}, {"edge-time", f.More.EdgeTime, &x.EdgeTime}} {
			if err := single(one.flag, columnsOf(splitList(one.value), names, name, whole), name, one.to); err != nil {
				return err
			}
		}
	}
	return nil
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// columnsOf are the columns of a list that are of one table: COL, of all tables, or NAME=COL. names are those of all tables, own those of this
// one, which is called by its name or, of a relation, also by source:name:target.
func columnsOf(list, names []string, own ...string) (out []string) {
	for _, entry := range list {
		of, column, ok := strings.Cut(entry, "=")
		switch {
		case !ok || !slices.Contains(names, of):
			out = append(out, entry)
		case slices.Contains(own, of):
			out = append(out, column)
		}
	}
	return out
}

// single takes the only column of a list, if there is one.
func single(flag string, list []string, name string, to *string) error {
	if len(list) > 1 {
		return cli.Usagef("--%s names %d columns of %s: %s", flag, len(list), name, strings.Join(list, ", "))
	}
	*to = strings.Join(list, "")
	return nil
}

// errTypedTables is what reading typed tables as a graph without types gives.
func errTypedTables() error { return fmt.Errorf("tables of %w", dataset.ErrSeveralTypes) }

// types generates a graph of several types.
func (c *generateCmd) types(a *app, text string) error {
	s, err := dataset.ParseHeteroSpec(text)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if c.Format == "npy" {
		return cli.Usagef("--format npy is of graphs of one type: several types are written as a store")
	}
	h, err := dataset.SyntheticHetero(s)
	if err != nil {
		return err
	}
	out := filepath.Clean(c.Out)
	defer removedOnSignal(out)()
	if err := dataset.WriteHeteroStore(out, h, int(c.Base)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", c.Out, describeTypes(h, h.E()))
	return err
}

// open opens the graph: of several types, for the vertices whose labels are trained or, for links, the relation.
func (s *settings) open() (*dataset.Data, error) {
	path, target, relation, o := s.Data.Path, s.Data.Target, s.Link.Relation, s.dataOptions()
	task := saga.Task(s.Data.Task)
	link, edge := task == saga.LinkTask, task == saga.EdgeTask
	switch {
	case link && target != "":
		return nil, cli.Usagef("--target %s: --task link predicts the edges of a relation (--relation NAME)", target)
	case edge && target != "":
		return nil, cli.Usagef("--target %s: --task edge predicts labels of the edges of a relation (--relation NAME)", target)
	case link:
		return cli.OpenLinks(path, relation, s.Link.Reverse, o)
	case edge:
		d, err := cli.OpenEdges(path, relation, o)
		if err == nil && d.Vertices.Kinds != nil && !d.Labelled(saga.EdgeTask) {
			err = fmt.Errorf("%s: edges of %s have no labels; arrays of them are called edge_labels or y, numbers edge_targets", path, relation)
		}
		return d, err
	case relation != "":
		return nil, cli.Usagef("--relation %s: it names the edges that --task link predicts, or whose labels --task edge predicts", relation)
	}
	return cli.OpenTarget(path, target, o)
}

// relation notes the relation of d that is predicted, so that other data need no labels to tell it.
func (p *prepared) relation(d *dataset.Data) {
	if k := d.Vertices.Kinds; k != nil && k.PairV > 0 {
		p.Target = k.Graph.FullName(k.Relation)
	}
}

// typedTask refuses what there is not of graphs with several types of vertices.
func typedTask(d *dataset.Data, task saga.Task) error {
	if d.Vertices.Kinds != nil && task == saga.GraphTask {
		return cli.Usagef("--task %s: of graphs with several types of vertices, labels of vertices (--task vertex), and labels of edges (--task edge) and links (--task link) of a relation are trained", task)
	}
	return nil
}

// widths explains two shapes that do not fit by types of vertices whose features have different widths, where --project would do.
func (s *settings) widths(d *dataset.Data, err error) error {
	k := d.Vertices.Kinds
	var shape *dataflow.ShapeError
	if k == nil || s.Model.Between.Project || !errors.As(err, &shape) || len(shape.In) < 2 && !strings.HasPrefix(string(shape.Op), "parameter ") || !slices.Contains(layers.Reading(layers.ReadsProject), s.Model.Name) {
		return err
	}
	var list []string
	equal := true
	for i, t := range k.Graph.Types {
		cols := t.Rows.FeatureCols
		if i == k.Type {
			cols = d.FeatureCols
		}
		text := fmt.Sprintf("%s %d", t.Name, cols)
		if cols == 0 {
			text = t.Name + " none"
		}
		list, equal = append(list, text), equal && cols == k.Graph.Types[0].Rows.FeatureCols
	}
	if equal {
		return err
	}
	return fmt.Errorf("layers of %s need vertices of all types with as many columns, and the features have: %s; --project begins with a linear layer for each type, to --hidden columns (%w)", s.Model.Name, strings.Join(list, ", "), err)
}
