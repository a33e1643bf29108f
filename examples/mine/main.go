// Command mine counts patterns in Zachary's karate club: triangles, all patterns of
// four members, and triangles with members of both sides.
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
		fmt.Printf("%-16s %s\n", m.Name, m.Count)
	}

	// Triangles of two members of one side, 0 and 1, and one of the other, 2. The condition
	// runs once, on symbols. It reads the same when 0 and 1 change places, so that each
	// triangle is listed once.
	mixed := mine.Where(func(m mine.Match) mine.Bool {
		return m.Label(0).Eq(m.Label(1)).And(m.Label(0).Ne(m.Label(2))).And(m.Label(1).Ne(m.Label(2)))
	})
	for row, err := range graph.Match(ctx, mine.MustPattern("triangle"), mixed, mine.Limit(3)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("mixed:", row)
	}
}
