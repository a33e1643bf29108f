package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/words"
)

// described is a graph of several types with its numbers of edges, by relation, and which have weights. The edges themselves
// may not have been read.
type described struct {
	*dataset.Hetero
	edges    []int
	weighted []bool
	bytes    int64 // of its store; 0: none
}

func describedOf(h *dataset.Hetero) *described {
	d := &described{Hetero: h}
	for _, r := range h.Relations {
		d.edges, d.weighted = append(d.edges, r.Links.Edges.E()), append(d.weighted, r.Links.Edges.Weight != nil)
	}
	return d
}

func inAll(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// print prints the description.
func (h *described) print(a *app, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(a.Stdout, typesJSON(h))
	}
	return printInfo(a.Stdout, typesInfo(h))
}

// openParts opens name when it is a store of several types; nil when it is something else.
func openParts(name string) (*chunk.Parts, error) {
	s, err := openStore(name)
	if errors.Is(err, chunk.ErrParts) {
		return chunk.OpenParts(name)
	}
	if s != nil {
		s.Close()
	}
	return nil, nil // whoever opens it says what is wrong
}

// stored describes a store of several types. done is false if it is something else.
func (c *infoCmd) stored(a *app, name string) (done bool, err error) {
	s, err := openParts(name)
	if s == nil {
		return false, err
	}
	defer s.Close()
	if c.Undirected || c.Simple || c.Relabel != "auto" {
		return true, cli.Usagef("%s is a store, which is described as it is: saga data convert %s --undirected --out NEW.saga changes its edges", name, name)
	}
	h, edges, weighted, err := dataset.HeteroHeads(name)
	if err != nil {
		return true, err
	}
	return true, (&described{h, edges, weighted, s.Bytes()}).print(a, c.JSON)
}

// verifyTypes verifies a store of several types. done is false if it is something else.
func verifyTypes(a *app, name string) (done bool, err error) {
	if dataset.IsShards(name) {
		d, err := dataset.OpenShards(name, 0, 1)
		if err == nil {
			err = d.Shard.Close()
		}
		if !cli.SeveralTypes(err) {
			return false, nil // whoever verifies it says what is wrong
		}
		h, err := dataset.VerifyTypedShards(name)
		if err == nil {
			x := h.Types[0].Rows.Shard
			_, err = fmt.Fprintf(a.Stdout, "%s is good: %d shards of %s, in %d intervals\n", name, x.Owners, describeTypes(h, h.E()), x.Chunks)
		}
		return true, err
	}
	s, err := openParts(name)
	if s == nil {
		return false, err
	}
	defer s.Close()
	a.Idle("the check of a store or of shards", "undirected", "simple", "relabel", "mask")
	if err := s.Verify(); err != nil {
		return true, err
	}
	h, err := dataset.LoadHetero(name, dataset.Options{}) // what no checksum tells
	if err == nil {
		_, err = fmt.Fprintf(a.Stdout, "%s is good: %s, %s\n", name, describeTypes(h, h.E()), cli.SizeText(s.Bytes()))
	}
	return true, err
}

// head is what stands before types and relations.
func (h *described) head() fields {
	f := fields{{"name", h.Name}}
	if h.bytes > 0 {
		f = append(f, field{"form", "store"}, field{"bytes", h.bytes})
	}
	return append(f, field{"vertices", h.V()}, field{"edges", inAll(h.edges)})
}

// typesInfo describes a graph of several types, in a line for each type and relation.
func typesInfo(h *described) fields {
	f := append(h.head(), field{"vertex_types", len(h.Types)}, field{"relations", len(h.Relations)})
	for _, t := range h.Types {
		f = append(f, field{"type " + t.Name, sentence(typeInfo(t.Rows))})
	}
	for i := range h.Relations {
		f = append(f, field{h.FullName(i), sentence(h.relationInfo(i))})
	}
	return append(f, wholeInfo(h.Hetero)...)
}

// isPart reports whether a name of typesInfo is of a type or relation.
func isPart(name string) bool {
	return strings.HasPrefix(name, "type ") || strings.Count(name, ":") > 1
}

// typesJSON is typesInfo as an object with lists of types and relations.
func typesJSON(h *described) fields {
	f := h.head()
	var types, relations []fields
	for _, t := range h.Types {
		types = append(types, append(fields{{"name", t.Name}}, typeInfo(t.Rows)...))
	}
	for i, r := range h.Relations {
		ends := fields{{"source", h.Types[r.Source].Name}, {"name", r.Name}, {"target", h.Types[r.Target].Name}}
		relations = append(relations, append(ends, h.relationInfo(i)...))
	}
	f = append(f, field{"types", types}, field{"relations", slices.Concat([]fields{}, relations)})
	return append(f, wholeInfo(h.Hetero)...)
}

// wholeInfo is what is known of the graph as a whole: which labels can be trained, where it came from and what is wrong.
func wholeInfo(h *dataset.Hetero) (f fields) {
	var labelled []string
	for t := range h.Types {
		if h.Types[t].Rows.Labelled(dataset.VertexLabels) {
			labelled = append(labelled, h.Types[t].Name)
		}
	}
	f = append(f, field{"labels_of", strings.Join(labelled, ", ")})
	r := h.Whole()
	for _, name := range labelled {
		if t, err := h.Labelled(name); err == nil {
			if idle := h.Idle(t); idle != "" {
				r.Warnings = append(r.Warnings, idle)
			}
		}
	}
	if f = append(f, reportInfo(r)...); len(r.Warnings) > 0 {
		f = append(f, field{"warnings", strings.Join(r.Warnings, "; ")})
	}
	return f
}

// typeInfo is what is known of the vertices of a type.
func typeInfo(d *dataset.Data) fields {
	s := d.Record()
	f := fields{{"vertices", d.Edges.V}, {"features", d.FeatureCols}}
	if d.Late.Sparse != nil {
		f = append(f, field{"sparse", true})
	}
	if s.Vertex.Count > 0 {
		f = append(f, field{"classes", s.Vertex.Count})
	}
	if s.Vertex.Form == dataset.SeveralClasses {
		f = append(f, field{"multi_label", true})
	}
	if s.Vertex.Cols > 0 {
		f = append(f, field{"targets", s.Vertex.Cols})
	}
	if ids := d.Splits(dataset.VertexLabels); ids[0] != nil || ids[1] != nil || ids[2] != nil {
		f = append(f, splitInfo("", ids)...)
	}
	if s.Vertex.Classes != nil {
		f = append(f, field{"class_names", fmt.Sprintf("%.200s", strings.Join(s.Vertex.Classes, ", "))})
	}
	if d.HasIDs() {
		f = append(f, field{"first_ids", strings.Join(firstIDs(d), ", ")})
	}
	return f
}

// relationInfo is what is known of the edges of relation r.
func (h *described) relationInfo(r int) fields {
	d := h.Relations[r].Links
	e, f := d.Edges, fields{{"edges", h.edges[r]}}
	if h.weighted[r] {
		f = append(f, field{"weighted", true})
	}
	if e.Types > 0 {
		f = append(f, field{"edge_types", e.Types})
	}
	if e.DataCols > 0 {
		f = append(f, field{"edge_data", e.DataCols})
	}
	if n := d.EdgeClasses(); n > 0 {
		f = append(f, field{"edge_classes", n})
	}
	if n := d.Targets.Edge.Cols; n > 0 {
		f = append(f, field{"edge_targets", n})
	}
	return append(f, splitInfo("edge_", d.Splits(dataset.EdgeLabels))...)
}

// sentence is f on one line: numbers stand before their names, and what is true is its name.
func sentence(f fields) string {
	var words []string
	for _, x := range f {
		name := strings.ReplaceAll(x.Name(), "_", " ")
		switch value := x.Value().(type) {
		case bool:
			words = append(words, name)
		case string:
			words = append(words, name+" "+value)
		default:
			words = append(words, fmt.Sprintf("%v %s", value, name))
		}
	}
	return strings.Join(words, ", ")
}

// warned logs the warnings of the parts of h, and returns what is to be said of them.
func warned(a *app, h *dataset.Hetero) dataset.Report {
	r := h.Whole()
	for _, w := range r.Warnings {
		a.Log.Warn(w)
	}
	return r
}

// describeTypes is a graph of several types in a few words.
func describeTypes(h *dataset.Hetero, edges int) string {
	return words.Text("%d {vertex|vertices} of %d {type|types}, %d {edge|edges} of %d {relation|relations}", h.V(), len(h.Types), edges, len(h.Relations))
}

// openTypes reads a graph of several types, and logs what looks wrong about it.
func (s *source) openTypes(a *app, name string) (*dataset.Hetero, error) {
	opt := s.options()
	opt.SparseFrom = 2 // what comes sparse stays so
	var h *dataset.Hetero
	var err error
	if s.Tables.isTyped() {
		var t *dataset.HeteroTables
		if t, err = s.Tables.typed(); err == nil {
			h, err = dataset.LoadHeteroTables(*t, opt)
		}
	} else {
		h, err = dataset.LoadHetero(name, opt)
	}
	if err == nil {
		warned(a, h)
	}
	return h, err
}
