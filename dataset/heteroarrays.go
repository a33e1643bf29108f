package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sagann/chunk"
)

// typeArrays are the arrays of the vertices of one type.
type typeArrays struct {
	name  string
	where string // file or folder, for warnings
	list  []string
	from  named
	given int // number of vertices that is given beside the arrays; 0: unknown
	edges int // of all relations of the type
}

// relationArrays are the arrays of the edges of one relation.
type relationArrays struct {
	source, name, target string
	where                string
	list                 []string
	from                 named
	ends                 *ends
}

// rowNames are the arrays of vertices among ourNames, and linkNames are those of edges.
var (
	rowNames  = []string{"features", "labels", "targets", "ids", "vertex_time", "train", "val", "test", "train_labels", "val_labels", "test_labels", "features_csr_data", "features_csr_indices", "features_csr_indptr", "features_csr_shape"}
	linkNames = []string{"edges", "edge_weight", "edge_type", "edge_data", "edge_time", "edge_labels", "edge_targets", "edge_train", "edge_val", "edge_test"}
)

// otherLinkNames is otherNames for the arrays of one relation.
var otherLinkNames = map[string][]string{
	"edges":        {"edge_index"},
	"edge_weight":  {"weight", "weights"},
	"edge_data":    {"edge_attr", "edge_feat"},
	"edge_time":    otherNames["edge_time"],
	"edge_labels":  {"y", "edge_y", "labels"},
	"edge_targets": {"targets"},
	"edge_train":   {"train_mask", "train", "train_idx"},
	"edge_val":     {"val_mask", "valid_mask", "val", "val_idx", "valid_idx"},
	"edge_test":    {"test_mask", "test", "test_idx"},
}

// rowsNamed is from with the names of arrays of vertices.
func rowsNamed(from arrays) named {
	others := map[string][]string{}
	for _, ours := range rowNames {
		others[ours] = otherNames[ours]
	}
	others["vertex_time"] = append([]string{"node_time"}, otherNames["edge_time"]...)
	others["features_csr_data"], others["features_csr_indices"] = []string{"x_data", "attr_data"}, []string{"x_indices", "attr_indices"}
	others["features_csr_indptr"], others["features_csr_shape"] = []string{"x_indptr", "attr_indptr"}, []string{"x_shape", "attr_shape"}
	return named{arrays: from, names: otherwise(from.Names(), others)}
}

// linksNamed is from with the names of arrays of edges.
func linksNamed(from arrays) named {
	return named{arrays: from, names: otherwise(from.Names(), otherLinkNames)}
}

// openTyped opens a graph whose types and relations have arrays each. where is its file or folder.
func openTyped(where string, types []*typeArrays, relations []*relationArrays, opt Options) (*heteroStream, error) {
	out := newHeteroStream()
	at := map[string]int{}
	for i, t := range types {
		if _, ok := at[t.name]; ok {
			return nil, fmt.Errorf("%s: two vertex types are named %.40q", where, t.name)
		}
		at[t.name] = i
	}
	for _, r := range relations {
		for _, end := range []string{r.source, r.target} {
			if _, ok := at[end]; !ok {
				return nil, fmt.Errorf("%s: relation %.120q: there is no vertex type %.40q; there are %.400s", r.where, r.fullName(), end, listedTypes(types))
			}
		}
		var err error
		if r.ends, err = openEnds(r.from); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s: relation %.120q has no edge_index; it has %.200q", r.where, r.fullName(), r.list)
			}
			return nil, err
		}
		types[at[r.source]].edges += r.ends.count
		types[at[r.target]].edges += r.ends.count
	}
	rows := make([]bound, len(types))
	for i, t := range types {
		s, err := t.open(relations, opt, &rows[i])
		if err != nil {
			return nil, err
		}
		out.addType(t.name, s)
	}
	for _, r := range relations {
		from, to := at[r.source], at[r.target]
		s, err := r.open([2]bound{rows[from], rows[to]}, opt)
		if err != nil {
			return nil, err
		}
		out.addRelation(from, r.name, to, s)
	}
	return out, nil
}

func (r *relationArrays) fullName() string { return r.source + ":" + r.name + ":" + r.target }

func listedTypes(types []*typeArrays) string {
	var names []string
	for _, t := range types {
		names = append(names, t.name)
	}
	return listed(names)
}

// open opens the arrays of a type. limit becomes the number of its vertices.
func (t *typeArrays) open(relations []*relationArrays, opt Options, limit *bound) (*Stream, error) {
	meta := npyMeta{Vertices: t.given}
	if t.given == 0 {
		var err error
		if meta, err = t.from.vertices(); err != nil {
			return nil, err
		}
	}
	if slices.Contains(t.list, "batch") || slices.Contains(t.list, "graph_indicator") {
		return nil, fmt.Errorf("%s: vertices of type %.40q are of several graphs (batch): of graphs with several types only one is read", t.where, t.name)
	}
	if i := slices.IndexFunc(t.list, func(name string) bool { return name == "edge_index" || name == "adj_t" || name == "edges" }); i >= 0 {
		return nil, fmt.Errorf("%s: vertices of type %.80q have %s, which is of edges: the key of a relation is three texts, (source, name, target)", t.where, t.name, t.list[i])
	}
	d := &Data{}
	s := &Stream{Data: d, counted: true}
	rows := rowCount{v: meta.Vertices}
	if err := s.openRows(t.from, &rows); err != nil {
		return nil, err
	}
	if rows.v <= 0 {
		if err := t.count(relations, &rows); err != nil {
			return nil, err
		}
		if rows.from == "" {
			d.change("%d vertices: as many as the highest end of an edge tells, as nothing else does", rows.v)
		}
	}
	if rows.from == "" {
		if err := checkVertexCount(uint64(rows.v), t.edges); err != nil {
			return nil, fmt.Errorf("%s: type %.40q: %w", t.where, t.name, err)
		}
	}
	if rows.v < 1 || rows.v > chunk.MaxVertices {
		return nil, fmt.Errorf("%s: type %.40q has %d vertices: must be 1 to %d (num_nodes, features or labels say how many there are)", t.where, t.name, rows.v, chunk.MaxVertices)
	}
	*limit = bound{rows.v, rows.from}
	d.Edges = &chunk.Edges{V: rows.v}
	s.EachEdges = func(func(*chunk.Edges) error) error { return nil }
	if err := d.readIDs(t.from); err != nil {
		return nil, err
	}
	if err := d.readSplits(t.from, VertexLabels, opt.Mask); err != nil {
		return nil, err
	}
	if err := s.readTimes(t.from); err != nil {
		return nil, err
	}
	d.leaveOut(t.where, unread(t.list, t.from.names, rowNames, "num_nodes", "num_nodes_list"))
	return s, nil
}

// count finds the number of vertices of a type that has nothing but names: by ids, times or the highest end of an edge.
func (t *typeArrays) count(relations []*relationArrays, rows *rowCount) error {
	for _, name := range []string{"ids", "vertex_time"} {
		a, err := optional(t.from, name)
		if err != nil {
			return err
		}
		if a != nil && len(a.Shape) == 1 {
			rows.v, rows.from = a.Shape[0], a.Name()
			return nil
		}
	}
	for _, r := range relations {
		if r.source != t.name && r.target != t.name {
			continue
		}
		if err := r.ends.each(anyEnds, func(src, dst []uint32) error {
			if r.source == t.name && len(src) > 0 {
				rows.v = max(rows.v, int(slices.Max(src))+1)
			}
			if r.target == t.name && len(dst) > 0 {
				rows.v = max(rows.v, int(slices.Max(dst))+1)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// open opens the arrays of a relation between types of so many vertices.
func (r *relationArrays) open(within [2]bound, opt Options) (*Stream, error) {
	d := &Data{Edges: &chunk.Edges{V: max(within[0].below, within[1].below)}}
	s := &Stream{Data: d, counted: true, E: r.ends.count}
	values, err := openEdgeValues(r.from, s, 0, true)
	if err != nil {
		return nil, err
	}
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return values.each(r.ends, s, within, fn) }
	if err := d.readEdgeLabels(r.from, s.E, opt.Mask); err != nil {
		return nil, err
	}
	if !d.Labelled(EdgeLabels) { // a split of edges to predict
		if err := readSplitsOf(d, r.from, EdgeLabels, opt.Mask, s.E); err != nil {
			return nil, err
		}
	}
	known := linkNames
	if !s.Timed { // times that are no edges'
		known = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name == "edge_time" })
	}
	d.leaveOut(r.where, unread(r.list, r.from.names, known, "num_edges", "num_nodes"))
	return s, nil
}

// unread lists the arrays that nothing reads: those that are neither ours, nor in names, nor known.
func unread(list []string, names map[string]string, ours []string, known ...string) (idle []string) {
	used := slices.Clone(known)
	for _, name := range ours {
		if theirs, ok := names[name]; ok {
			name = theirs
		}
		used = append(used, name)
	}
	for _, name := range list {
		if !slices.Contains(used, name) {
			idle = append(idle, name)
		}
	}
	return idle
}
