package sample

import "fmt"

// ClusterGCN gives the subgraph of the seeds and all edges among them (Chiang et al., 2019). The
// seeds of a batch should be the vertices of some clusters: see Clusters.
func ClusterGCN() Sampler { return Sampler{Name: "clustergcn", Output: Together} }

// Clusters puts clusters into batches of so many clusters each, in a random order that depends on the
// key. It returns the vertices of every batch: cluster by cluster in that order, ascending by id
// within a cluster. cluster[v] is the cluster of vertex v, below len(cluster). The last batch may
// have fewer clusters. An each below 1 and a cluster out of range are errors.
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

// Permutation returns the numbers 0 to n-1 in a random order that depends on the key, each order
// with equal probability (Fisher and Yates).
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
