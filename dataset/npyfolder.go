package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// arrays is where named arrays come from: a folder of .npy files or an archive.
type arrays interface {
	// Read returns the array of that name, or an error that is fs.ErrNotExist.
	Read(name string) (*npy.Array, error)
	// Size is the size on disk, in bytes, of what Read(name) reads.
	Size(name string) int64
}

type npyFolder string

func (f npyFolder) path(name string) string { return filepath.Join(string(f), name+".npy") }

func (f npyFolder) Read(name string) (*npy.Array, error) { return npy.Read(f.path(name)) }

func (f npyFolder) Size(name string) int64 {
	info, err := os.Stat(f.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// npyArchive is an .npz file, whose size stands for that of each member.
type npyArchive struct {
	*npy.Archive
	size int64
}

func (a npyArchive) Size(string) int64 { return a.size }

func (a npyArchive) Read(name string) (*npy.Array, error) {
	if !slices.Contains(a.Names(), name) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return a.Archive.Read(name)
}

// loadNpyFolder reads dir/edges.npy and what stands beside it. meta.json, when
// there, gives the name and the numbers of vertices and classes, which arrays
// alone may leave open.
func loadNpyFolder(dir string) (*Data, error) {
	var meta npyMeta
	file := filepath.Join(dir, "meta.json")
	text, err := os.ReadFile(file)
	if err == nil {
		if err = json.Unmarshal(text, &meta); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d, err := loadArrays(npyFolder(dir), meta)
	if err != nil {
		return nil, err
	}
	if d.Name = meta.Name; d.Name == "" {
		d.Name = filepath.Base(filepath.Clean(dir))
	}
	return d, nil
}

// loadNpz reads an archive whose members are named as in such a folder.
func loadNpz(path string) (*Data, error) {
	z, err := npy.OpenZip(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(z.Names(), "edges") {
		return nil, fmt.Errorf("%s: no array \"edges\"; it has %q", path, z.Names())
	}
	return loadArrays(npyArchive{z, info.Size()}, npyMeta{})
}

// npyMeta is what is read of meta.json; 0 and "" mean unknown.
type npyMeta struct {
	Name     string `json:"name"`
	Vertices int    `json:"vertices"`
	Classes  int    `json:"classes"`
	Types    int    `json:"edge_types"`
}

func loadArrays(from arrays, meta npyMeta) (*Data, error) {
	d := &Data{Classes: meta.Classes}
	src, dst, edges, err := readEnds(from)
	if err != nil {
		return nil, err
	}
	if err := d.readFeatures(from); err != nil {
		return nil, err
	}
	if err := d.readLabels(from); err != nil {
		return nil, err
	}
	if d.Labels == nil && d.MultiLabels == nil {
		d.Classes = 0
	}
	// The number of vertices: rows of features or labels, the given one, or as
	// many as the edges need.
	v := meta.Vertices
	switch {
	case d.Features != nil:
		v = len(d.Features) / d.FeatureCols
	case d.Labels != nil:
		v = len(d.Labels)
	case d.MultiLabels != nil:
		v = len(d.MultiLabels) / d.Classes
	case v <= 0:
		for i := range src {
			v = max(v, int(src[i])+1, int(dst[i])+1)
		}
	}
	if err := checkVertexCount(uint64(v), len(src)); err != nil {
		return nil, fmt.Errorf("%s: %w", edges.Where(0), err)
	}
	for i := range src {
		for end, id := range [2]uint32{src[i], dst[i]} {
			if int(id) >= v {
				return nil, fmt.Errorf("%s: vertex %d: ids must be below %d", whereEnd(edges, i, end), id, v)
			}
		}
	}
	d.Edges = &chunk.Edges{V: v, Src: src, Dst: dst}
	if err := readEdgeValues(from, d.Edges, meta.Types); err != nil {
		return nil, err
	}
	if err := d.readSplits(from, VertexLabels); err != nil {
		return nil, err
	}
	if err := d.readGraphs(from); err != nil {
		return nil, err
	}
	return d, d.readEdgeLabels(from)
}

// optional reads an array that may be absent: then it is nil.
func optional(from arrays, name string) (*npy.Array, error) {
	a, err := from.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return a, err
}

// readEnds reads the edges, [2,E] or [E,2]; a 2×2 array is taken as [2,E].
func readEnds(from arrays) (src, dst []uint32, a *npy.Array, err error) {
	if a, err = from.Read("edges"); err != nil {
		return nil, nil, nil, err
	}
	ids, err := a.Uint32s()
	if err != nil {
		return nil, nil, nil, err
	}
	switch {
	case len(a.Shape) == 2 && a.Shape[0] == 2:
		return ids[:a.Shape[1]], ids[a.Shape[1]:], a, nil
	case len(a.Shape) == 2 && a.Shape[1] == 2:
		src, dst = make([]uint32, a.Shape[0]), make([]uint32, a.Shape[0])
		for i := range src {
			src[i], dst[i] = ids[2*i], ids[2*i+1]
		}
		return src, dst, a, nil
	}
	return nil, nil, nil, fmt.Errorf("%s: shape %v of the edges: want [2 E] or [E 2]", a.Where(0), a.Shape)
}

// whereEnd names the byte of one end (0 source, 1 destination) of edge i.
func whereEnd(a *npy.Array, i, end int) string {
	if a.Shape[0] == 2 {
		return a.Where(end*a.Shape[1] + i)
	}
	return a.Where(2*i + end)
}

// rowsOf checks that a has rows rows and returns its width; a vector has width 1.
func rowsOf(a *npy.Array, rows int) (cols int, err error) {
	switch {
	case len(a.Shape) == 1 && a.Shape[0] == rows:
		return 1, nil
	case len(a.Shape) == 2 && a.Shape[0] == rows:
		return a.Shape[1], nil
	}
	return 0, fmt.Errorf("%s: shape %v, want %d rows", a.Where(0), a.Shape, rows)
}

// finite returns the values of a as float32 and refuses NaN and infinities.
func finite(a *npy.Array, cols int) ([]float32, error) {
	x, err := a.Float32s()
	if err != nil {
		return nil, err
	}
	if i := firstNotFinite(x); i >= 0 {
		return nil, fmt.Errorf("%s: row %d, column %d is %v", a.Where(i), i/max(cols, 1), i%max(cols, 1), x[i])
	}
	return x, nil
}

func readEdgeValues(from arrays, e *chunk.Edges, types int) error {
	w, err := optional(from, "edge_weight")
	if err != nil {
		return err
	}
	if w != nil {
		cols, err := rowsOf(w, e.E())
		if err == nil && cols != 1 {
			err = fmt.Errorf("%s: shape %v, want one weight an edge", w.Where(0), w.Shape)
		}
		if err == nil {
			e.Weight, err = finite(w, 1)
		}
		if err != nil {
			return err
		}
	}
	t, err := optional(from, "edge_type")
	if err != nil {
		return err
	}
	if t != nil {
		cols, err := rowsOf(t, e.E())
		if err == nil && cols != 1 {
			err = fmt.Errorf("%s: shape %v, want one type an edge", t.Where(0), t.Shape)
		}
		if err == nil {
			e.Type, err = t.Uint32s()
		}
		if err != nil {
			return err
		}
		e.Types = types
		for i, x := range e.Type {
			if x >= math.MaxInt32 || types > 0 && int(x) >= types {
				return fmt.Errorf("%s: edge type %d of %d", t.Where(i), x, types)
			}
			e.Types = max(e.Types, int(x)+1)
		}
	}
	x, err := optional(from, "edge_data")
	if err != nil || x == nil {
		return err
	}
	if e.DataCols, err = rowsOf(x, e.E()); err != nil {
		return err
	}
	e.Data, err = finite(x, e.DataCols)
	return err
}
