package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sides name, for errors and notes, whose numbers are compared.
type Sides struct{ Run, Data string }

// names are what is compared: n classes, relations or columns.
type names struct {
	list []string // nil: they have no names
	n    int
	lost bool // there may have been names: a store or run of an earlier version kept none
}

// of is the name of number k.
func (x names) of(k int) string { return nameOf(x.list, k) }

// text lists the names.
func (x names) text(what string) string {
	switch {
	case x.list == nil && x.lost:
		return fmt.Sprintf("%d %s, whose names an earlier version did not keep", x.n, what)
	case x.list == nil:
		return fmt.Sprintf("%d %s without names", x.n, what)
	}
	return fmt.Sprintf("the %s %s", what, some(x.list))
}

// some lists the first of the texts.
func some(texts []string) string {
	const most = 12
	text := listed(texts[:min(most, len(texts))])
	if n := len(texts); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return fmt.Sprintf("%.600s", text)
}

// alignment says which number of one side is which of the other.
type alignment struct {
	to       []int32  // by number of the data: number of the run; -1: the run does not know it
	from     []int32  // by number of the run: number of the data; -1: the data does not have it
	unknown  []string // of the data, which the run does not know
	missing  []string // of the run, which the data does not have
	byNumber bool     // one side has names and the other has as many numbers
}

// same reports that both sides have the same numbers.
func (a *alignment) same() bool { return len(a.unknown)+len(a.missing) == 0 && ascending(a.to) }

func ascending(list []int32) bool {
	for k, x := range list {
		if int(x) != k {
			return false
		}
	}
	return true
}

// align compares the names of the run and of the data. Without names on both sides a number is its own name; so it is if
// one side has none and some names of the other are numbers. Otherwise, and if names were lost,
// numbers are compared, and it is an error if there are not as many.
func align(run, data names, what string, by Sides) (a alignment, err error) {
	a.to, a.from = make([]int32, data.n), make([]int32, run.n)
	oneHas := (run.list == nil) != (data.list == nil)
	if oneHas && !someNumbers(run.list) && !someNumbers(data.list) || run.list == nil && run.lost || data.list == nil && data.lost {
		if run.n != data.n {
			return a, differ(run, data, what, "without names on both sides there must be as many", by)
		}
		for k := range a.to {
			a.to[k], a.from[k] = int32(k), int32(k)
		}
		a.byNumber = true
		return a, nil
	}
	place := make(map[string]int32, run.n)
	for k := range run.n {
		place[run.of(k)], a.from[k] = int32(k), -1
	}
	for k := range a.to {
		i, ok := place[data.of(k)]
		if !ok {
			a.to[k], a.unknown = -1, append(a.unknown, data.of(k))
			continue
		}
		a.to[k], a.from[i] = i, int32(k)
	}
	for k, i := range a.from {
		if i < 0 {
			a.missing = append(a.missing, run.of(k))
		}
	}
	return a, nil
}

// someNumbers reports whether some of the names are whole numbers.
func someNumbers(list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		n, err := strconv.ParseInt(s, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == s
	})
}

// note says that numbers are compared.
func (a *alignment) note(run, data names, what string, by Sides) []string {
	if !a.byNumber {
		return nil
	}
	return []string{fmt.Sprintf("%s has %s, and %s has %s: they are compared by number", by.Data, data.text(what), by.Run, run.text(what))}
}

// differ is the error of sides that cannot be mapped; want says what the data would have to be.
func differ(run, data names, what, want string, by Sides) error {
	return fmt.Errorf("%s has %s, and %s has %s: %s", by.Data, data.text(what), by.Run, run.text(what), want)
}

// Differ names the first list of names that was another one in s than it is in now; "": none.
func (s *Schema) Differ(now *Schema) string {
	for _, x := range []struct {
		what     string
		was, are []string
	}{
		{"classes of vertices", s.Vertex.Classes, now.Vertex.Classes},
		{"classes of edges", s.Edge.Classes, now.Edge.Classes},
		{"classes of graphs", s.Graph.Classes, now.Graph.Classes},
		{"targets of vertices", s.Vertex.Targets, now.Vertex.Targets},
		{"targets of edges", s.Edge.Targets, now.Edge.Targets},
		{"targets of graphs", s.Graph.Targets, now.Graph.Targets},
		{"relations", s.Edges.Relations, now.Edges.Relations},
		{"columns of edges", s.Edges.Columns, now.Edges.Columns},
		{"columns of features", s.Features.Names(), now.Features.Names()},
	} {
		if x.was != nil && x.are != nil && !slices.Equal(x.was, x.are) {
			return fmt.Sprintf("the %s are %s and were %s", x.what, some(x.are), some(x.was))
		}
	}
	return ""
}

// GraphSum is a checksum of the edges and of the graph of each vertex.
func (d *Data) GraphSum() string {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, x := range [][]uint32{d.Edges.Src, d.Edges.Dst, d.GraphOf} {
		binary.Write(h, binary.LittleEndian, int64(len(x))) // a hash takes every write
		for part := range slices.Chunk(x, 1<<16) {
			binary.Write(h, binary.LittleEndian, part)
		}
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// Find finds the vertices of d among the n vertices of a run, which of names: for each vertex of d its number there, or -1. It is
// an error, with both sides named, if two vertices of the run have one id.
func (of Naming) Find(d *Data, n int, by Sides) ([]int, error) {
	trained := &Data{Vertices: of}
	place := make(map[string]int, n)
	for v := range n {
		id := trained.ID(v)
		if _, twice := place[id]; twice {
			return nil, fmt.Errorf("%s has two vertices %.40q, so that their learned rows cannot be told apart", by.Run, id)
		}
		place[id] = v
	}
	to := make([]int, d.Edges.V)
	for v := range to {
		i, ok := place[d.ID(v)]
		if !ok {
			i = -1
		}
		to[v] = i
	}
	return to, nil
}

// NoPlace stands for a vertex that a run does not have.
const NoPlace = math.MaxUint32

// Places is Find for data without new vertices, which are an error, but for those that were added (Naming.Added), which have NoPlace. It is nil if every number is the same.
func (d *Data) Places(of Naming, n int, by Sides) ([]uint32, error) {
	if d.Edges.V <= n && d.Vertices.Names == nil && d.Vertices.IDs == nil && of.Names == nil && of.IDs == nil && d.Vertices.First == of.First {
		return nil, nil
	}
	found, err := of.Find(d, n, by)
	if err != nil {
		return nil, err
	}
	to, unknown, first, same := make([]uint32, d.Edges.V), 0, 0, true
	for v, i := range found {
		if added := v >= d.Edges.V-d.Vertices.Added; i < 0 && added {
			to[v], same = NoPlace, false
			continue
		}
		if i < 0 {
			if unknown++; unknown == 1 {
				first = v
			}
			continue
		}
		to[v] = uint32(i)
		same = same && i == v
	}
	if unknown > 0 {
		trained := &Data{Vertices: of}
		var ids []string
		for v := range min(3, n) {
			ids = append(ids, trained.ID(v))
		}
		return nil, fmt.Errorf("%d of the %d vertices of %s, %.40q the first, have no learned row: %s has rows of %d vertices (%s, …); a run with --features data or degree has no row for each vertex, and predicts new ones",
			unknown, d.Edges.V, by.Data, d.ID(first), by.Run, n, strings.Join(ids, ", "))
	}
	if same {
		return nil, nil
	}
	return to, nil
}
