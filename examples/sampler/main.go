// Command sampler defines a sampler: random walks that return to their start with
// probability 0.2, and draw again when they would step straight back.
package main

import (
	"fmt"
	"log"

	"sagann/dataset"
	"sagann/sample"
)

// restart runs once, on symbols. The result is then drawn for thousands of walks at a time.
func restart(length int, back float32) sample.Sampler {
	return sample.Sampler{
		Name:  "restart",
		Steps: length,
		Transits: func(s sample.Sample, _ sample.Int, r sample.Rand) sample.Int {
			last := s.Prev(1)
			again := sample.Or(sample.Equal(last, sample.None), sample.Less(r.Uniform(), sample.Const(back)))
			return sample.If(again, s.Root(sample.Whole(0)), last)
		},
		Next: func(s sample.Sample, at sample.Pool, r sample.Rand) sample.Int {
			i := r.Pick(at)
			return sample.If(sample.Equal(at.Neighbour(i), s.Prev(1)), r.Pick(at), i)
		},
	}
}

func main() {
	club := dataset.Karate()
	graph, err := sample.NewGraph(club.Edges.Reverse()) // so that walks follow the direction of edges
	if err != nil {
		log.Fatal(err)
	}
	program, err := sample.Compile(graph, restart(10, 0.2))
	if err != nil {
		log.Fatal(err) // the error names the line of restart
	}
	var walks sample.Samples
	if err := program.Run(&walks, []uint32{0, 16, 33}, 0, sample.Key{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	for i := range walks.N {
		fmt.Println(walks.Vertices(nil, i))
	}
	visits := make([]int, graph.Vertices())
	if err := program.Run(&walks, make([]uint32, 10000), 0, sample.Key{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	for i := range walks.N {
		for _, v := range walks.Vertices(nil, i)[1:] {
			visits[v]++
		}
	}
	fmt.Println("visits from vertex 0 to its neighbour 1 and to the far side's 26:", visits[1], visits[26])
}
