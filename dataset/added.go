package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
)

// Added are vertices that a graph does not have, and edges of the graph with them.
type Added struct {
	Count    int          // of the vertices
	Vertices Naming       // their ids, and their times where the graph's vertices have some; without ids they are numbered behind the graph's
	Features []float32    // Count×FeatureCols: rows as the graph's; nil where the graph has no features
	Edges    *chunk.Edges // its V vertices and, from number V on, the added ones; what edges of the graph have, these have, too. nil: none
	Report   Report       // what reading them did
}

// To is d with the vertices and edges of a behind its own. d is unchanged. Options Undirected and Simple rearrange all edges, as in a file that has those of d
// and, behind them, those of a. The added vertices have no labels; labels, targets and splits of edges and links are left out. It is an error if a does not fit
// to d, if it has an id that d has, or if d has several types of vertices, graphs or shards.
func (a *Added) To(d *Data, opt Options) (*Data, error) {
	if err := a.fits(d); err != nil {
		return nil, fmt.Errorf("vertices that are added to %s: %w", d.Name, err)
	}
	x, n := *d, d.Edges.V
	x.EdgeLabels, x.EdgeSplit, x.Report = nil, Split{}, Report{Form: d.Report.Form}
	x.Targets = Targets{Vertex: d.Targets.Vertex, Cols: d.Targets.Cols}
	x.Schema.Edge, x.Schema.Vertices = Labels{}, 0
	x.Vertices = d.Vertices.then(a, n)
	x.Edges = then(d.Edges, a.Edges, n+a.Count)
	switch cols := d.FeatureCols; {
	case cols == 0:
	case d.Late.Sparse != nil:
		if err := x.SetSparse(d.Late.Sparse.then(SparseOf(a.Features, cols)), cols); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	default:
		d.HoldFeatures()
		x.Late, x.Features = LateFeatures{}, slices.Concat(d.Features, a.Features)
	}
	if d.Labels != nil {
		x.Labels = slices.Concat(d.Labels, slices.Repeat([]int32{-1}, a.Count))
	}
	if d.MultiLabels != nil {
		x.MultiLabels = slices.Concat(d.MultiLabels, slices.Repeat([]float32{Unknown}, a.Count*d.Classes))
	}
	if d.Targets.Vertex != nil {
		x.Targets.Vertex = slices.Concat(d.Targets.Vertex, slices.Repeat([]float32{float32(math.NaN())}, a.Count*d.Targets.Cols))
	}
	return finish(&x, d.Name, opt)
}

// then is the edges of e and, behind them, those of more, of so many vertices; nil: there are no more.
func then(e, more *chunk.Edges, vertices int) *chunk.Edges {
	x := *e
	if x.V = vertices; more != nil {
		x.Src, x.Dst = slices.Concat(e.Src, more.Src), slices.Concat(e.Dst, more.Dst)
		x.Weight, x.Type, x.Data, x.Time = slices.Concat(e.Weight, more.Weight), slices.Concat(e.Type, more.Type), slices.Concat(e.Data, more.Data), slices.Concat(e.Time, more.Time)
	}
	return &x
}

// then are the names of n vertices and of those of a behind them.
func (x Naming) then(a *Added, n int) Naming {
	all, before, behind := Naming{First: x.First, Added: x.Added + a.Count}, Data{Vertices: x}, Data{Vertices: a.Vertices}
	if x.Time != nil {
		all.Time = slices.Concat(x.Time, a.Vertices.Time)
	}
	if !a.named() {
		return all
	}
	for v := range n + a.Count {
		from, k := &before, v
		if v >= n {
			from, k = &behind, v-n
		}
		if x.Names != nil || a.Vertices.Names != nil {
			all.Names = append(all.Names, from.ID(k))
		} else {
			all.IDs = append(all.IDs, from.Vertices.Number(k))
		}
	}
	return all
}

// named tells whether the vertices have ids of their own.
func (a *Added) named() bool { return a.Vertices.IDs != nil || a.Vertices.Names != nil }

// fits is an error if a is not of d.
func (a *Added) fits(d *Data) error {
	switch {
	case d.Vertices.Kinds != nil:
		return errors.New("of a graph of several types they are of a type (dataset.HeteroAdded)")
	case d.Shard != nil:
		return errors.New("shards take none: make shards of a graph that has them")
	case d.GraphOf != nil:
		return errors.New("a set of graphs takes none: a graph of its own is data of its own")
	case d.Schema.Features.OfVertices:
		return errors.New("features are a column for each vertex of the graph, and others have none")
	case a.Count < 1:
		return errors.New("there are none")
	case int64(d.Edges.V)+int64(a.Count) > chunk.MaxVertices:
		return errors.New("more than 2^32 vertices")
	case len(a.Features) != a.Count*d.FeatureCols:
		return fmt.Errorf("%d numbers of features for %d vertices; there are %d columns", len(a.Features), a.Count, d.FeatureCols)
	case (d.Vertices.Time != nil) != (a.Vertices.Time != nil) || a.Vertices.Time != nil && len(a.Vertices.Time) != a.Count:
		return fmt.Errorf("%d times for %d vertices; all vertices have times, or none", len(a.Vertices.Time), a.Count)
	}
	if (d.Vertices.Names != nil || d.Vertices.IDs != nil) && !a.named() {
		return errors.New("the vertices of the graph have ids, and these have none")
	}
	for _, ids := range []int{len(a.Vertices.IDs), len(a.Vertices.Names)} {
		if ids > 0 && ids != a.Count {
			return fmt.Errorf("%d ids for %d vertices", ids, a.Count)
		}
	}
	if err := a.differ(d); err != nil {
		return err
	}
	if a.Edges == nil {
		return nil
	}
	return fitsEdges(a.Edges, d.Edges, d.Edges.V+a.Count)
}

// fitsEdges is an error if added edges, of so many vertices, do not have what the edges of have.
func fitsEdges(added, of *chunk.Edges, vertices int) error {
	e := *added
	e.V = vertices
	if err := e.Validate(); err != nil {
		return err
	}
	if has := (e.Weight != nil) == (of.Weight != nil) && (e.Time != nil) == (of.Time != nil); e.E() > 0 && (!has || e.Types != of.Types || e.DataCols != of.DataCols) {
		return fmt.Errorf("edges have weights, times, types and numbers where those of the graph have: %s and not %s", has4(of), has4(&e))
	}
	return nil
}

// has4 says what edges have.
func has4(e *chunk.Edges) string {
	return fmt.Sprintf("weights %t, times %t, %d types, %d numbers", e.Weight != nil, e.Time != nil, e.Types, e.DataCols)
}

// differ is an error if an id of a stands twice, or is one of d.
func (a *Added) differ(d *Data) error {
	if !a.named() {
		return nil
	}
	t, own, of := d.finder(), &idTable{ordered: true}, &Data{Vertices: a.Vertices}
	for v := range a.Count {
		if err := addNew(t, own, d, []byte(of.ID(v))); err != nil {
			return err
		}
	}
	return nil
}

// addNew adds an id to own that neither it nor t, the ids of d, has.
func addNew(t, own *idTable, d *Data, id []byte) error {
	if _, err := t.find(id, d.Edges.V); err == nil {
		return fmt.Errorf("vertex %.40q is in the graph already", id)
	}
	_, isNew, err := own.add(id)
	if err == nil && !isNew {
		err = fmt.Errorf("vertex %.40q stands twice", id)
	}
	return err
}
