package sample

import "fmt"

// ClusterGCN is the subgraph of the seeds and all edges among them; the seeds of a batch
// are the vertices of some clusters (Chiang et al., 2019). See Clusters.
func ClusterGCN() Sampler { return Sampler{Name: "clustergcn", Output: Together} }

// Clusters deals clusters into batches of each of them, in an order that the key's seed and epoch
// give, and returns the vertices of every batch, ascending by cluster and id. cluster is
// the number of each vertex's cluster. The last batch may have fewer.
func Clusters(cluster []uint32, each int, key Key) ([][]uint32, error) {
	if each < 1 {
		return nil, fmt.Errorf("%d clusters a batch: at least 1", each)
	}
	most := uint32(0)
	for v, c := range cluster {
		if c >= uint32(len(cluster)) {
			return nil, fmt.Errorf("vertex %d is of cluster %d: clusters are numbered from 0, below the %d vertices", v, c, len(cluster))
		}
		most = max(most, c+1)
	}
	members := make([][]uint32, most)
	for v, c := range cluster {
		members[c] = append(members[c], uint32(v))
	}
	var batches [][]uint32
	for i, c := range Permutation(int(most), key) {
		if i%each == 0 {
			batches = append(batches, nil)
		}
		b := &batches[len(batches)-1]
		*b = append(*b, members[c]...)
	}
	return batches, nil
}

// Permutation is the numbers 0 to n-1 in an order that the key gives, each order with equal
// probability (Fisher and Yates).
func Permutation(n int, key Key) []uint32 {
	s := key.stream()
	list := make([]uint32, n)
	for i := range list {
		j := below(s.words(place{of: uint32(i), step: ^uint32(0)})[1], i+1)
		list[i] = list[j]
		list[j] = uint32(i)
	}
	return list
}
