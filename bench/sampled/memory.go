package sampled

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"

	"sagann/chunk"
	"sagann/sample"
)

// sizeOfSampling prints how much memory drawing batches takes beside the rows of a random graph, which has so many edges,
// 50 for each vertex.
func sizeOfSampling(edges, batches int) error {
	r := rand.New(rand.NewPCG(1, 1))
	e := &chunk.Edges{V: edges / 50, Src: make([]uint32, edges), Dst: make([]uint32, edges)}
	for i := range edges {
		e.Src[i], e.Dst[i] = r.Uint32N(uint32(e.V)), r.Uint32N(uint32(e.V))
	}
	g, err := sample.NewGraph(e)
	if err != nil {
		return err
	}
	e = nil
	debug.FreeOSMemory()
	before, err := resident()
	if err != nil {
		return err
	}
	p, err := sample.Compile(g, sample.Neighbours(15, 10, 5))
	if err != nil {
		return err
	}
	var b sample.Blocks
	seeds, most := sample.Permutation(g.Vertices(), sample.Key{}), before
	for i := range batches {
		lo := i * 1024 % (len(seeds) - 1024)
		if err := p.Blocks(&b, seeds[lo:lo+1024], sample.Key{Batch: uint32(i)}); err != nil {
			return err
		}
		now, err := resident()
		if err != nil {
			return err
		}
		most = max(most, now)
	}
	fmt.Printf("%d edges: the graph's rows are %d MB, the process had %d MB before and at most %d MB while %d batches were drawn: %.1f %% of the rows more\n",
		edges, g.Bytes()>>20, before>>20, most>>20, batches, 100*float64(most-before)/float64(g.Bytes()))
	return nil
}

// resident is the memory of the process in bytes, as Linux counts it.
func resident() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("VmRSS:"))
	var kb int64
	_, err = fmt.Sscan(string(rest), &kb)
	return kb << 10, err
}
