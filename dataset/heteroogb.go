package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
)

// openHeteroOGB reads an OGB node-property set with several types, such as ogbn-mag. The folder raw has the number of
// vertices of each type (num-node-dict), the relations (triplet-type-list), a folder relations/source___name___target for
// each with edge and edge-feat, node-feat/TYPE/node-feat and node-label/TYPE/node-label; next to raw there is
// split/<scheme>/TYPE with train, valid and test. All are .csv or .csv.gz.
func openHeteroOGB(raw string, opt Options) (*heteroStream, error) {
	root := filepath.Dir(filepath.Clean(raw))
	names, counts, err := ogbTypes(raw)
	if err != nil {
		return nil, err
	}
	triplets, err := ogbTriplets(raw, names)
	if err != nil {
		return nil, err
	}
	out := newHeteroStream()
	out.h.Name = filepath.Base(root)
	read := []string{"num-node-dict.csv", tripletsFile, "nodetype-has-feat.csv", "nodetype-has-label.csv", "relations", "node-feat", "node-label"}
	out.h.ogbUnread(raw, read...)
	var folders []string
	for _, x := range triplets {
		folders = append(folders, strings.Join(x[:], "___"))
	}
	out.h.ogbUnread(filepath.Join(raw, "relations"), folders...)
	for _, of := range []string{"node-feat", "node-label"} {
		out.h.ogbUnread(filepath.Join(raw, of), names...)
	}
	schemes, err := filepath.Glob(filepath.Join(escaped(root), "split", "*"))
	if err != nil {
		return nil, err
	}
	for _, scheme := range schemes {
		out.h.ogbUnread(scheme, append([]string{"nodetype-has-split.csv"}, names...)...)
	}
	edges := make([]int, len(names)) // of all relations of a type
	links := make([]*Stream, len(triplets))
	for i, x := range triplets {
		from, to := slices.Index(names, x[0]), slices.Index(names, x[2])
		dir := filepath.Join(raw, "relations", folders[i])
		s := &Stream{Data: &Data{Edges: &chunk.Edges{V: max(counts[from], counts[to])}}}
		if err := s.ogbLinks(dir, [2]int{counts[from], counts[to]}); err != nil {
			return nil, err
		}
		if err := ogbCount(dir, s.E); err != nil {
			return nil, err
		}
		out.h.ogbUnread(dir, "edge.csv", "edge-feat.csv", "num-edge-list.csv")
		edges[from] += s.E
		edges[to] += s.E
		links[i] = s
	}
	for t, name := range names {
		if err := checkVertexCount(uint64(counts[t]), edges[t]); err != nil {
			return nil, fmt.Errorf("%s: type %.40q: %w", raw, name, err)
		}
		s, err := out.h.ogbType(raw, root, name, counts[t], schemes)
		if err != nil {
			return nil, err
		}
		out.addType(name, s)
	}
	for i, x := range triplets {
		out.addRelation(slices.Index(names, x[0]), x[1], slices.Index(names, x[2]), links[i])
	}
	return out.settled(raw, "OGB folder of several types", opt)
}

// ogbTypes reads the names of types and their numbers of vertices.
func ogbTypes(raw string) (names []string, counts []int, err error) {
	f, err := openTable(filepath.Join(raw, "num-node-dict.csv"), tableOptions{heading: "yes"})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if len(f.columns) > MaxTypes {
		return nil, nil, fmt.Errorf("%s:1: %d vertex types: at most %d", f.name, len(f.columns), MaxTypes)
	}
	for _, name := range f.columns {
		if err := ogbName(name); err != nil {
			return nil, nil, fmt.Errorf("%s:1: %w", f.name, err)
		}
	}
	err = f.eachRow(func(row [][]byte) error {
		if counts != nil {
			return f.errorf("a second graph: of sets with several types only those of one graph are read")
		}
		for i, text := range row {
			n, err := strconv.ParseUint(string(text), 10, 64)
			if err != nil || n < 1 || n > math.MaxUint32 {
				return f.errorf("%.40q vertices of type %.40q: want a number from 1 to %d", text, f.columns[i], uint32(math.MaxUint32))
			}
			counts = append(counts, int(n))
		}
		return nil
	})
	if err == nil && counts == nil {
		err = fmt.Errorf("%s: no numbers of vertices", f.name)
	}
	return f.columns, counts, err
}

// ogbName refuses names that are not those of a folder.
func ogbName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%.40q is the name of a type or relation, and of no folder", name)
	}
	return nil
}

// ogbTriplets reads the names of relations: source, relation, target.
func ogbTriplets(raw string, types []string) (list [][3]string, err error) {
	f, err := openTable(filepath.Join(raw, tripletsFile), tableOptions{heading: "no"})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(f.columns) != 3 {
		return nil, fmt.Errorf("%s:1: %d columns, want 3: the type of sources, the name of the relation, the type of targets", f.name, len(f.columns))
	}
	err = f.eachRow(func(row [][]byte) error {
		x := [3]string{string(row[0]), string(row[1]), string(row[2])}
		for i, name := range x {
			if err := ogbName(name); err != nil {
				return f.errorf("%w", err)
			}
			if i != 1 && !slices.Contains(types, name) {
				return f.errorf("there is no vertex type %.40q; there are %.400s", name, listed(types))
			}
		}
		if slices.Contains(list, x) {
			return f.errorf("relation %.120q stands twice", strings.Join(x[:], ":"))
		}
		if list = append(list, x); len(list) > MaxTypes {
			return f.errorf("more than %d relations", MaxTypes)
		}
		return nil
	})
	return list, err
}

// ogbCount compares the number of edges with num-edge-list, if there is one.
func ogbCount(dir string, edges int) error {
	list, name, err := tuInts(filepath.Join(dir, "num-edge-list.csv"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && (len(list) != 1 || list[0] != int64(edges)) {
		err = fmt.Errorf("%s: %d graphs, of %d edges the first; edge.csv has %d edges, of one graph", name, len(list), slices.Concat(list, []int64{0})[0], edges)
	}
	return err
}

// ogbType opens the vertices of a type. schemes are the folders with splits.
func (h *Hetero) ogbType(raw, root, name string, count int, schemes []string) (*Stream, error) {
	d := &Data{Edges: &chunk.Edges{V: count}}
	s := &Stream{Data: d, EachEdges: func(func(*chunk.Edges) error) error { return nil }}
	features, labels := filepath.Join(raw, "node-feat", name), filepath.Join(raw, "node-label", name)
	if err := s.ogbFeatures(features); err != nil {
		return nil, err
	}
	if err := d.ogbLabels(labels); err != nil {
		return nil, err
	}
	for file, has := range map[string]bool{"nodetype-has-feat.csv": d.FeatureCols > 0, "nodetype-has-label.csv": d.Labelled(VertexLabels)} {
		if err := ogbHas(filepath.Join(raw, file), name, has); err != nil {
			return nil, err
		}
	}
	if exists(features) {
		h.ogbUnread(features, "node-feat.csv")
	}
	var found []string
	for _, scheme := range schemes {
		if dir := filepath.Join(scheme, name); exists(dir) {
			found = append(found, dir)
		}
	}
	switch len(found) {
	case 0:
		return s, nil
	case 1:
		return s, ogbSplit(d, found[0])
	}
	return nil, fmt.Errorf("%s: %d split schemes of type %.40q, want one", filepath.Join(root, "split"), len(found), name)
}

// ogbHas compares a file that says which types have features or labels with what was found; without the file all is well.
func ogbHas(path, name string, has bool) error {
	f, err := openTable(path, tableOptions{heading: "yes"})
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at := slices.Index(f.columns, name)
	return f.eachRow(func(row [][]byte) error {
		if at < 0 {
			return nil
		}
		if said, err := strconv.ParseBool(string(row[at])); err != nil || said && !has {
			return f.errorf("column %.40q is %.20q, and no file has them", name, row[at])
		}
		return nil
	})
}

// ogbUnread warns of files and folders in dir that nothing reads.
func (h *Hetero) ogbUnread(dir string, known ...string) {
	entries, _ := os.ReadDir(dir) // whoever reads it says what is wrong
	var idle []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".gz"); !slices.Contains(known, name) && !strings.HasPrefix(name, ".") {
			idle = append(idle, e.Name())
		}
	}
	d := &Data{}
	d.leaveOut(dir, idle)
	h.Report.Warnings = append(h.Report.Warnings, d.Report.Warnings...)
}
