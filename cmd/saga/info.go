package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/regular"
)

// infoCmd is saga data info.
type infoCmd struct {
	source
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run describes. A store is described from its header alone, so that it may be larger
// than memory.
func (c *infoCmd) Run(a *app) error {
	c.Tables.Seed = 1 // as of saga data convert
	name, err := c.name()
	if err != nil {
		return err
	}
	if done, err := c.stored(a, name); done || err != nil {
		return err
	}
	s, err := openStore(name)
	if err != nil {
		return err
	}
	var f fields
	if s != nil {
		defer s.Close()
		if c.Undirected || c.Simple || c.Relabel != "auto" {
			return cli.Usagef("%s is a store, which is described as it is: saga data convert %s --undirected --out NEW.saga changes its edges", name, name)
		}
		f, err = storeInfo(s, name)
	} else {
		var d *dataset.Data
		if _, d, err = c.open(a); err == nil {
			f = graphInfo(d)
		}
	}
	if cli.SeveralTypes(err) {
		h, err := c.openTypes(a, name)
		if err != nil {
			return err
		}
		return describedOf(h).print(a, c.JSON)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.PrintJSON(a.Stdout, f)
	}
	return printInfo(a.Stdout, f)
}

func printInfo(w io.Writer, f fields) error {
	var b strings.Builder
	width := 18
	for _, x := range f {
		width = max(width, min(40, len(x.Name())))
	}
	for _, x := range f {
		value, name := x.Value(), x.Name()
		if !isPart(name) {
			name = strings.ReplaceAll(name, "_", " ")
		}
		if number, ok := value.(float64); ok {
			value = math.Round(number*1000) / 1000
		}
		fmt.Fprintf(&b, "%-*s %v\n", width, name, value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wholeStore is how large a store may be, in bytes, of which edges and features are read to describe them.
const wholeStore = 256 << 20

// storeInfo describes a store: whole, or if it is large by its header and labels.
func storeInfo(s *chunk.Store, name string) (fields, error) {
	text, err := s.Name()
	if err != nil {
		return nil, err
	}
	head := fields{{"name", text}, {"form", "store"}, {"bytes", s.Bytes()}, {"blocks", len(s.Blocks())}, {"base", s.Intervals().P}}
	if s.Bytes() <= wholeStore {
		d, err := dataset.Load(name, dataset.Options{SparseFrom: 2})
		if err != nil {
			return nil, err
		}
		return append(head, graphInfo(d)[1:]...), nil
	}
	d, err := dataset.HeadOf(s)
	if err != nil {
		return nil, err
	}
	f := append(head, basicInfo(d, s.E(), s.Weighted())...)
	return append(append(f, field{"not_counted", fmt.Sprintf("degrees, self loops and repeated edges: the store has more than %s", cli.SizeText(wholeStore))}), reportInfo(d.Report)...), nil
}

// splitForms are the splits that data may have, and where they begin in a store.
var splitForms = []struct {
	prefix string
	labels dataset.LabelKind
	first  chunk.Kind
}{{"", dataset.VertexLabels, chunk.KindTrain}, {"graph_", dataset.GraphLabels, chunk.KindGraphTrain}, {"edge_", dataset.EdgeLabels, chunk.KindEdgeTrain}}

// splitInfo is how large the splits are, "" for those of vertices; nothing without any.
func splitInfo(prefix string, ids [3][]uint32) (f fields) {
	if ids[0] == nil && ids[1] == nil && ids[2] == nil {
		return nil
	}
	for i, name := range []string{"train", "val", "test"} {
		f = append(f, field{prefix + name, len(ids[i])})
	}
	return f
}

func graphInfo(d *dataset.Data) fields {
	e := d.Edges
	loops := 0
	for i := range e.Src {
		if e.Src[i] == e.Dst[i] {
			loops++
		}
	}
	isolated := 0
	out := e.OutDegrees()
	for v, n := range e.InDegrees() {
		if n+out[v] == 0 {
			isolated++
		}
	}
	most, mean := skew(e)
	f := append(fields{{"name", d.Name}}, basicInfo(d, int64(e.E()), e.Weight != nil)...)
	f = append(f, fields{{"max_in_degree", most}, {"mean_in_degree", mean}, {"self_loops", loops}, {"repeated_edges", dataset.RepeatedEdges(e)}, {"isolated", isolated},
		{"symmetric", e.E() == e.Symmetric().E()}}...)
	if e.Time != nil {
		f = append(f, field{"edge_times", span(e.Time)})
	}
	if d.FeatureCols > 0 {
		f = append(f, field{"zero_features", share(zeros(d), e.V*d.FeatureCols)})
	}
	f = append(f, reportInfo(d.Report)...)
	if len(d.Report.Warnings) > 0 {
		f = append(f, field{"warnings", strings.Join(d.Report.Warnings, "; ")})
	}
	return f
}

// zeros is how many entries of the features are 0.
func zeros(d *dataset.Data) (n int) {
	if rows := d.Late.Sparse; rows != nil {
		return d.Edges.V*d.FeatureCols - len(rows.Cols)
	}
	for _, x := range d.Features {
		if x == 0 {
			n++
		}
	}
	return n
}

// graphsIn is the number of graphs, by the graph of each vertex.
func graphsIn(of []uint32) (n int) {
	for _, g := range of {
		n = max(n, int(g)+1)
	}
	return n
}

// firstIDs are the user's ids of a few vertices.
func firstIDs(d *dataset.Data) []string {
	var ids []string
	for v := range min(3, d.Edges.V) {
		ids = append(ids, fmt.Sprintf("%.40s", d.ID(v)))
	}
	return ids
}

// reportInfo is where data came from and what was done to them.
func reportInfo(r dataset.Report) (f fields) {
	if r.Form != "" {
		f = append(f, field{"made_from", r.Form})
	}
	if r.Masks > 0 {
		f = append(f, field{"split", fmt.Sprintf("number %d of the file's %d", r.Mask, r.Masks)})
	}
	if len(r.Changes) > 0 {
		f = append(f, field{"changes", strings.Join(r.Changes, "; ")})
	}
	return f
}

// storeMagic is how a store begins.
const storeMagic = "sagaNN"

// openStore opens name when it is a store; nil when it is something else.
func openStore(name string) (*chunk.Store, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, nil // whoever loads it says what is wrong
	}
	defer f.Close()
	head := make([]byte, len(storeMagic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != storeMagic {
		return nil, nil
	}
	return chunk.Open(name)
}
