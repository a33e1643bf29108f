package dataset

// Options of Load. The zero value takes a file as it is.
type Options struct {
	// Undirected adds the reverse of every edge that has none, for files that list
	// each tie once. Planetoid graphs and symmetric Matrix Market files are stored both
	// ways whatever it says.
	Undirected bool

	// Simple drops self loops and repeated edges (of which the first stays) and
	// sorts by source, then destination. Planetoid graphs are always simple.
	Simple bool

	// SparseFrom is from how many bytes of dense features on rows that a file holds as a sparse matrix
	// (.npy folders, .npz) stay sparse (Data.Late.Sparse). 0: never. 1: always, and the rows of any other file
	// are made sparse, too.
	SparseFrom int64

	// Mask is which of several splits is taken where a file has masks for more than one (PyG's [V,k]
	// train_mask, train_masks [k,V]); 0 is the first.
	Mask int

	// Ranks is over how many ranks a run goes that reads a folder of shards, of which this process is number Rank; 0: shards
	// are refused.
	Rank, Ranks int

	// Relabel says what becomes of the vertex ids of an edge list. ReadEdgeList
	// also tells which vertex had which id.
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

// keepsSparse tells whether sparse rows of d stay so.
func (o *Options) keepsSparse(d *Data) bool {
	return o.SparseFrom > 0 && 4*int64(d.Edges.V)*int64(d.FeatureCols) >= o.SparseFrom
}

// sparse makes the features of d sparse, where that is asked for whatever file they are from.
func (o *Options) sparse(d *Data) error {
	if o.SparseFrom != 1 || d.FeatureCols == 0 || d.Late.Sparse != nil {
		return nil
	}
	d.HoldFeatures()
	return d.SetSparse(SparseOf(d.Features, d.FeatureCols), d.FeatureCols)
}
