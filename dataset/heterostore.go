package dataset

import (
	"fmt"
	"slices"
	"sync/atomic"

	"sagann/chunk"
)

// A graph of several types is stored as a store of parts (see chunk.Parts): a part for each type, then one for each
// relation, in the order of their names. Each part is a store as a graph without types has. The schema of the whole names them.

// Record is the schema of h: names, and what the numbers of each part mean.
func (h *Hetero) Record() *Schema {
	return h.record(func(d *Data) *Schema { return d.Record() })
}

func (h *Hetero) record(of func(*Data) *Schema) *Schema {
	s := &Schema{Version: SchemaVersion, Needs: []string{needsTypes}, Vertices: h.V()}
	for _, t := range h.Types {
		s.Types = append(s.Types, TypeSchema{t.Name, of(t.Rows)})
	}
	for _, r := range h.Relations {
		s.Relations = append(s.Relations, RelationSchema{h.Types[r.Source].Name, r.Name, h.Types[r.Target].Name, of(r.Links)})
	}
	return s
}

// WriteHeteroStore writes h as a store. base is as for WriteStore, for every relation; 0 chooses by its edges. LoadHetero
// gives h again. A graph that does not pass ValidateHetero is an error.
func WriteHeteroStore(path string, h *Hetero, base int) error {
	if err := ValidateHetero(h); err != nil {
		return err
	}
	return (&heteroStream{h: h}).write(path, base, func(string, int, int) {})
}

// write writes a store, part by part in pieces, and reports progress.
func (s *heteroStream) write(path string, base int, progress func(what string, done, of int)) error {
	h := s.h
	w, err := chunk.Create(path, chunk.Meta{Name: h.Name})
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, d := range h.parts() {
		part, b := s.stream(d), base
		if b == 0 {
			b = BaseFor(part.E)
		}
		if i < len(h.Types) {
			b = 1
		}
		name := h.partName(i)
		if err := part.writeTo(w.Part, b, func(what string, done, of int) { progress(name+": "+what, done, of) }); err != nil {
			return err
		}
	}
	w.SetSchema(h.record(func(d *Data) *Schema { return s.stream(d).record() }).Text())
	text, err := h.Report.kept()
	if err != nil {
		return err
	}
	w.SetNotes(text)
	return w.Close()
}

// openHeteroStore reads a store of parts.
func openHeteroStore(path string, opt Options) (*heteroStream, error) {
	if err := opt.idleMask(path, 0); err != nil {
		return nil, err
	}
	h := &Hetero{}
	err := eachPart(path, h, chunk.Each, func(s *chunk.Store) (*Data, error) { return readStore(s, opt) })
	return &heteroStream{h: h}, err
}

// HeteroHeads reads a store of parts but for edges and dense features. edges is the number of edges of each relation, and
// weighted says which have weights.
func HeteroHeads(path string) (h *Hetero, edges []int, weighted []bool, err error) {
	h = &Hetero{}
	err = eachPart(path, h, inTurn, func(s *chunk.Store) (*Data, error) {
		edges, weighted = append(edges, int(s.E())), append(weighted, s.Weighted())
		return restOfStore(s)
	})
	if err == nil {
		edges, weighted = edges[len(h.Types):], weighted[len(h.Types):]
	}
	return h, edges, weighted, err
}

// inTurn calls f for 0..n-1, one after the other.
func inTurn(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

// eachPart opens a store of parts for fromParts.
func eachPart(path string, h *Hetero, each func(n int, f func(i int)), read func(*chunk.Store) (*Data, error)) error {
	s, err := chunk.OpenParts(path)
	if err != nil {
		return err
	}
	defer s.Close()
	return fromParts(s, path, h, each, read)
}

// fromParts reads the names in a store of parts, and each part by read, into h. each calls a function for every part: chunk.Each or, if
// read is for one part after the other, inTurn.
func fromParts(s *chunk.Parts, path string, h *Hetero, each func(n int, f func(i int)), read func(*chunk.Store) (*Data, error)) error {
	text, err := s.Schema()
	if err != nil {
		return err
	}
	if text == "" {
		return fmt.Errorf("%s: a store of parts without a schema", path)
	}
	schema, err := ParseSchema(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if n := len(schema.Types) + len(schema.Relations); n != s.Len() {
		return fmt.Errorf("%s: %d types and relations in the schema, and %d parts", path, n, s.Len())
	}
	if h.Name, err = s.Name(); err != nil {
		return err
	}
	if h.Report, err = Notes(s); err != nil {
		return err
	}
	parts, errs := make([]*Data, s.Len()), make([]error, s.Len())
	var failed atomic.Bool
	each(s.Len(), func(i int) {
		if failed.Load() {
			return
		}
		part, err := s.Open(i)
		if err == nil {
			parts[i], err = read(part)
		}
		if errs[i] = err; err != nil {
			failed.Store(true)
		}
	})
	if failed.Load() {
		return errs[slices.IndexFunc(errs, func(err error) bool { return err != nil })]
	}
	number := map[string]int{}
	for i, d := range parts {
		if i < len(schema.Types) {
			name := schema.Types[i].Name
			number[name] = i
			h.Types = append(h.Types, VertexType{name, d})
			continue
		}
		r := schema.Relations[i-len(schema.Types)]
		from, known := number[r.Source]
		to, also := number[r.Target]
		if !known || !also {
			return fmt.Errorf("%s: relation %.40q goes from type %.40q to type %.40q, and there is no such type", path, r.Name, r.Source, r.Target)
		}
		h.Relations = append(h.Relations, Relation{from, r.Name, to, d})
	}
	return nil
}

// ConvertHetero is Convert for graphs of several types, for which Load returns ErrSeveralTypes. It holds in memory one piece
// of the edges and features, labels and ids, also of tables, which stand in place of c.From unless they are nil; with Undirected, Simple or metapaths, which are added last, and for stores, all of the graph. It returns
// the graph without edges and features, and the number of edges.
func ConvertHetero(c Conversion, tables *HeteroTables, paths []Metapath) (h *Hetero, edges int, err error) {
	s, err := c.typed(tables, paths)
	if err != nil {
		return nil, 0, err
	}
	h = s.h
	for i, d := range h.parts() {
		part := s.stream(d)
		if err := h.headProblem(i, part); err != nil {
			return nil, 0, fmt.Errorf("%s: %s: %w", c.From, h.partName(i), err)
		}
		edges += part.E
		if s.of != nil {
			part.watchScale()
			part.watchWeights()
		}
	}
	for _, t := range h.Types {
		if err := DefaultSplit(t.Rows, VertexLabels, c.Seed); err != nil {
			return nil, 0, err
		}
	}
	progress := c.Progress
	if progress == nil {
		progress = func(string, int, int) {}
	}
	return h, edges, s.write(c.Out, c.Base, progress)
}

// typed opens the graph, or tables in place of it, with metapaths. It is read in pieces unless it is a store or edges change.
func (c *Conversion) typed(tables *HeteroTables, paths []Metapath) (s *heteroStream, err error) {
	if tables != nil {
		if s, err = tables.open(c.Options); err == nil { // the first table of edges is one of several
			s.h.Name = baseName(c.Out)
		}
	} else {
		s, err = openHetero(c.From, c.Options)
	}
	if err != nil || s.of != nil && !c.Undirected && !c.Simple && paths == nil {
		return s, err
	}
	if _, err := s.collect(c.From, Options{Undirected: c.Undirected, Simple: c.Simple, SparseFrom: 2}); err != nil {
		return nil, err
	}
	s.of = nil
	if err := s.h.AddMetapaths(paths); err != nil {
		return nil, fmt.Errorf("%s: %w", c.From, err)
	}
	return s, nil
}

// headProblem checks part i but for its edges and features, which are checked while they are read.
func (h *Hetero) headProblem(i int, s *Stream) error {
	if i < len(h.Types) {
		x := *s.Data
		x.Edges, x.FeatureCols, x.Features, x.Late, x.Schema = &chunk.Edges{V: x.Edges.V}, 0, nil, LateFeatures{}, Schema{}
		t := VertexType{h.Types[i].Name, &x}
		return t.problem()
	}
	return s.Data.checkOfEdges(s.E)
}
