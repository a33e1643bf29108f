package dataset

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"sagann/chunk"
)

// TypedSharding says what of a graph of several types is written as shards.
type TypedSharding struct {
	Tables *HeteroTables // in place of Sharding.From; nil: none
	Paths  []Metapath    // are added
	Target string        // the type whose labels are trained; "": the only one that has labels
	Layers int           // of the model that gather; 0: any number
}

// WriteTypedShards is WriteShards of a graph of several types: of those types and relations that labels of the target depend on. It returns
// these, without edges and features, and the number of edges.
func WriteTypedShards(c Sharding, of TypedSharding) (h *Hetero, edges int, err error) {
	if c.Chunks == 0 {
		c.Chunks = c.Owners
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	s, closing, err := c.typedStream(&of)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	target, err := s.h.Labelled(of.Target)
	if err != nil {
		return nil, 0, err
	}
	all, _ := s.h.within(target, len(s.h.Types))
	if of.Layers == 0 {
		of.Layers = len(s.h.Types)
	}
	h, target = s.h.within(target, of.Layers)
	if len(h.Types) == len(all.Types) && len(h.Relations) == len(all.Relations) {
		of.Layers = 0
	}
	if n := len(h.Types); c.Owners < 1 || c.Chunks%c.Owners != 0 || c.Chunks < n || c.Chunks > chunk.MaxBase {
		return nil, 0, fmt.Errorf("%d intervals for %d owners and %d types of vertices: as many for each owner, at least one for each type, and at most %d", c.Chunks, c.Owners, n, chunk.MaxBase)
	}
	if err := DefaultSplit(h.Types[target].Rows, VertexLabels, c.Seed); err != nil {
		return nil, 0, err
	}
	for i, d := range h.parts() {
		leaveEdgeLabels(d)
		if err := shardable(s.stream(d)); err != nil {
			return nil, 0, fmt.Errorf("%s: %s: %w", c.From, h.partName(i), err)
		}
	}
	dir, err := chunk.TempFolder(c.Out)
	if err != nil {
		return nil, 0, err
	}
	w := &typedShardWriter{c: &c, h: h, dir: dir, target: target, layers: of.Layers}
	if edges, err = w.write(s); err == nil {
		err = os.Rename(dir, filepath.Clean(c.Out))
	}
	if err != nil {
		return nil, 0, errors.Join(err, os.RemoveAll(dir))
	}
	return h, edges, nil
}

// typedStream opens the graph. A store is read in pieces.
func (c *Sharding) typedStream(of *TypedSharding) (s *heteroStream, closing func() error, err error) {
	if of.Tables == nil && !c.Undirected && !c.Simple && of.Paths == nil && isStore(c.From) {
		return streamHeteroStore(c.From)
	}
	s, err = c.typed(of.Tables, of.Paths)
	return s, func() error { return nil }, err
}

// streamHeteroStore opens a store of parts for reading in pieces; closing closes it.
func streamHeteroStore(path string) (s *heteroStream, closing func() error, err error) {
	f, err := chunk.OpenParts(path)
	if err != nil {
		return nil, nil, err
	}
	s = newHeteroStream()
	if err = fromParts(f, path, s.h, inTurn, func(part *chunk.Store) (*Data, error) {
		x, err := streamOfStore(part)
		if err != nil {
			return nil, err
		}
		s.of[x.Data] = x
		return x.Data, nil
	}); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return s, f.Close, nil
}

// within is the types and relations of h that the rows of type target depend on through so many layers, and the number of target among them.
func (h *Hetero) within(target, layers int) (*Hetero, int) {
	types, relations := h.Within([]int{target}, layers)
	out, to := &Hetero{Name: h.Name, Report: h.Report}, make([]int, len(h.Types))
	for t, keep := range types {
		if keep {
			to[t] = len(out.Types)
			out.Types = append(out.Types, h.Types[t])
		}
	}
	for i, keep := range relations {
		if keep {
			r := h.Relations[i]
			out.Relations = append(out.Relations, Relation{to[r.Source], r.Name, to[r.Target], r.Links})
		}
	}
	return out, to[target]
}

// typedShardWriter writes the shards of one graph.
type typedShardWriter struct {
	c      *Sharding
	h      *Hetero
	dir    string
	target int
	layers int
	m      typedManifest
}

func (w *typedShardWriter) write(s *heteroStream) (edges int, err error) {
	c, h := w.c, w.h
	var vertices []int
	streams := make([]*Stream, 0, len(h.parts()))
	for i, d := range h.parts() {
		part := s.stream(d)
		if i < len(h.Types) {
			vertices = append(vertices, d.Edges.V)
			part.EachEdges = func(func(*chunk.Edges) error) error { return nil }
		} else if r := h.Relations[i-len(h.Types)]; c.SelfLoops && r.Source == r.Target {
			if err := part.addLoops(); err != nil {
				return 0, err
			}
		}
		streams = append(streams, part)
	}
	runs := chunk.Runs(vertices, c.Chunks)
	in, err := chunk.UnevenRuns(vertices, runs)
	if err != nil {
		return 0, err
	}
	ends, err := w.orders(streams[len(h.Types):], runs, in.Width)
	if err != nil {
		return 0, err
	}
	report, err := h.Report.kept()
	if err != nil {
		return 0, err
	}
	w.m = typedManifest{Version: typedShardVersion, Name: h.Name, Owners: c.Owners, Intervals: c.Chunks, SelfLoops: c.SelfLoops, Target: w.target, Layers: w.layers, Types: h.typeNames(nil), Vertices: vertices, Notes: report}
	for t := range h.Types {
		part := &shardWriter{s: streams[t], order: ends[t].order, first: runs[t].First}
		if err := w.part(part, t, runs[t].Dealt); err != nil {
			return 0, err
		}
	}
	same := chunk.Identity(in.V)
	for i, r := range h.Relations {
		src, dst := &ends[r.Source], &ends[r.Target]
		part := &shardWriter{s: streams[len(h.Types)+i], order: same, number: func(p *chunk.Edges) *chunk.Edges {
			e := *p
			e.V, e.Src, e.Dst = in.V, make([]uint32, len(p.Src)), make([]uint32, len(p.Dst))
			for k := range p.Src {
				e.Src[k], e.Dst[k] = src.number(p.Src[k]), dst.number(p.Dst[k])
			}
			return &e
		}}
		if err := w.part(part, len(h.Types)+i, c.Chunks); err != nil {
			return 0, err
		}
		edges += part.s.E
		w.m.Relations = append(w.m.Relations, struct {
			Source int    `json:"source"`
			Name   string `json:"name"`
			Target int    `json:"target"`
		}{r.Source, r.Name, r.Target})
	}
	text, err := w.m.bytes()
	if err != nil {
		return 0, err
	}
	return edges, os.WriteFile(filepath.Join(w.dir, manifestFile), text, 0o666)
}

// part writes part i, in so many intervals.
func (w *typedShardWriter) part(x *shardWriter, i, chunks int) error {
	c := *w.c
	name := w.h.partName(i)
	c.Chunks, c.Progress = chunks, func(what string, done, of int) { w.c.Progress(name+": "+what, done, of) }
	x.c, x.part, x.dir = &c, name, partDir(w.dir, len(w.h.Types), i)
	if err := os.Mkdir(x.dir, 0o777); err != nil {
		return err
	}
	if err := x.write(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text, err := x.m.bytes()
	w.m.Parts = append(w.m.Parts, fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)))
	return err
}

// orders are the vertices of each type in their order, which balances the edges of all relations.
func (w *typedShardWriter) orders(relations []*Stream, runs []chunk.Run, wide int) (list []shardEnd, err error) {
	h := w.h
	in, out, edges := make([][]uint32, len(h.Types)), make([][]uint32, len(h.Types)), make([]int, len(h.Types))
	for i, r := range h.Relations {
		into, from, err := relations[i].degrees(w.c.Progress)
		if err != nil {
			return nil, err
		}
		for _, x := range []struct {
			t   int
			deg []uint32
		}{{r.Target, into}, {r.Source, from}} {
			if v := h.Types[x.t].Rows.Edges.V; v < len(x.deg) && slices.ContainsFunc(x.deg[v:], func(n uint32) bool { return n > 0 }) {
				return nil, fmt.Errorf("%s: %s has edges of vertices of type %.40q that are not among its %d", h.Name, w.h.partName(len(h.Types)+i), h.Types[x.t].Name, v)
			}
		}
		for _, x := range []struct {
			sum [][]uint32
			t   int
			deg []uint32
		}{{in, r.Target, into}, {out, r.Source, from}} {
			if x.sum[x.t] == nil {
				x.sum[x.t] = make([]uint32, h.Types[x.t].Rows.Edges.V)
			}
			for v := range x.sum[x.t] {
				x.sum[x.t][v] += x.deg[v]
			}
		}
		for _, t := range slices.Compact([]int{r.Source, r.Target}) {
			edges[t] += relations[i].E
		}
	}
	for t, r := range runs {
		v := h.Types[t].Rows.Edges.V
		for _, sum := range [][][]uint32{in, out} {
			if sum[t] == nil {
				sum[t] = make([]uint32, v)
			}
		}
		list = append(list, shardEnd{v, chunk.BalanceDegrees(in[t], out[t], edges[t], r.Dealt), r, wide})
	}
	return list, nil
}
