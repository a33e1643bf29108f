package dataset

import "fmt"

// Options of Load. The zero value takes a file as it is.
type Options struct {
	// Undirected adds the reverse of every edge that has none, for files that list
	// each undirected edge once. Planetoid graphs and symmetric Matrix Market files always get both
	// directions.
	Undirected bool

	// Simple drops self loops and repeated edges (the first one is kept) and
	// sorts edges by source, then destination. Planetoid graphs are always simple.
	Simple bool

	// SparseFrom is a size in bytes. Features that a file holds as a sparse matrix stay
	// sparse (Data.Late.Sparse) if as a dense matrix they would have at least this size. 0: features are
	// never sparse. 1: always; features of any other file are made sparse, too.
	SparseFrom int64

	// Mask is the number, from 0, of the split that is taken if a file has masks for several (PyG's
	// train_mask [V,k], train_masks [k,V]).
	Mask int

	// Vertices says what labels of vertices in a TU folder, or in what was converted of one, are.
	Vertices VertexLabelling

	// Ranks is the number of ranks of a run that reads a folder of shards, and Rank the number of this
	// process. With Ranks 0, a folder of shards is an error.
	Rank, Ranks int

	// Unread leaves dense features of a store in the file, where only a plan is made: Data.Late.Make makes zeros in their place.
	Unread bool

	// Relabel says whether the vertex ids of an edge list are renumbered. ReadEdgeList
	// also returns the old ids.
	Relabel Relabel
}

// Relabel is a policy for the ids in edge lists.
type Relabel int

const (
	// RelabelAuto keeps the ids unless more than half of 0..largest are missing.
	RelabelAuto Relabel = iota
	// RelabelNever keeps the ids.
	RelabelNever
	// RelabelAlways numbers the ids that occur 0, 1, 2, … in ascending order.
	RelabelAlways
)

// VertexLabelling is a policy for the labels of vertices in TU folders.
type VertexLabelling int

const (
	// VertexAuto takes them as features if the graphs have labels or targets, else as classes.
	VertexAuto VertexLabelling = iota
	// VertexClasses takes them as classes.
	VertexClasses
	// VertexFeatures takes them as features, as in graphs to predict for.
	VertexFeatures
)

// unread tells whether dense features of a store stay in the file.
func (o *Options) unread() bool { return o.Unread && o.SparseFrom != 1 }

// keepsSparse reports whether sparse features of d stay sparse.
func (o *Options) keepsSparse(d *Data) bool {
	return o.SparseFrom > 0 && 4*int64(d.Edges.V)*int64(d.FeatureCols) >= o.SparseFrom
}

// sparse makes the features of d sparse if SparseFrom asks for that for all files.
func (o *Options) sparse(d *Data) error {
	if o.SparseFrom != 1 || d.FeatureCols == 0 || d.Late.Sparse != nil {
		return nil
	}
	d.HoldFeatures()
	return d.SetSparse(SparseOf(d.Features, d.FeatureCols), d.FeatureCols)
}

// idleMask is an error if a split is chosen by its number at path, which has several in masks, or 0 for one.
func (o *Options) idleMask(path string, masks int) error {
	if o.Mask > 0 && masks == 0 {
		return fmt.Errorf("%s: split number %d is asked for (--mask), and the file does not have several", path, o.Mask)
	}
	return nil
}

// idleRelabel warns that nothing is numbered anew, if that was asked for.
func (o *Options) idleRelabel(d *Data) {
	if o.Relabel != RelabelAuto {
		d.warn("settings that have no effect on this data: --relabel (only the ids of edge lists, and of tables of edges alone, are numbered anew)")
	}
}
