// Command mine looks for patterns in the karate club of Zachary: triangles, all patterns of
// four members, and cycles whose neighbours are of different sides.
package main

import (
	"context"
	"fmt"
	"log"

	"sagann/dataset"
	"sagann/mine"
)

func main() {
	ctx := context.Background()
	club := dataset.Karate()
	graph, err := mine.Open(club.Edges, mine.Options{Labels: club.Labels})
	if err != nil {
		log.Fatal(err)
	}
	triangles, err := graph.Cliques(ctx, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("triangles:", triangles)

	motifs, err := graph.Motifs(ctx, 4)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range motifs {
		fmt.Printf("%5s  %s\n", m.Count, m.Name)
	}

	// A cycle of four in which neighbours are of different sides; the condition runs once,
	// on symbols.
	mixed := mine.Where(func(m mine.Match) mine.Bool {
		all := m.Label(3).Ne(m.Label(0))
		for i := range 3 {
			all = all.And(m.Label(i).Ne(m.Label(i + 1)))
		}
		return all
	})
	for row, err := range graph.Match(ctx, mine.MustPattern("cycle4"), mixed, mine.Limit(3)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("mixed cycle:", row)
	}
}
