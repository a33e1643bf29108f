// Command fpm finds patterns that are frequent in Zachary's karate club, and the members that take part.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

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
	// Members have the label of their side, 0 or 1. At least six members play each part of these patterns.
	found, err := graph.Frequent(ctx, mine.Frequency{Support: 6, Edges: 3, Domains: true})
	if err != nil {
		log.Fatal(err)
	}
	for i := range found {
		f := &found[i]
		if name := f.Pattern.Name(); name == "triangle" || f.Edges() == 1 {
			fmt.Printf("%-22s support %s %s\n", f.Pattern, f.Support, name)
		}
	}
	// Who ties the sides together: the members of side 1 in the frequent edge between the sides.
	for i := range found {
		if f := &found[i]; f.Edges() == 1 && f.Pattern.Label(0) != f.Pattern.Label(1) {
			fmt.Println("members of side 1 with a friend on side 0:", slices.Collect(f.Domain(1)))
		}
	}
	// A table with a key of one's own: pairs of friendships that share a member, by how many of their four ends
	// are on side 1.
	pairs, err := graph.Table(false).Extend(nil).Aggregate(ctx, func(m mine.Match) mine.Int {
		return m.Label(0).Plus(m.Label(1)).Plus(m.Label(2)).Plus(m.Label(3))
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pairs of friendships by ends on side 1:", pairs)
	// Instances: distinct sets of edges. One hub has many wedges, so these supports are larger.
	counted, err := graph.Frequent(ctx, mine.Frequency{Support: 30, Edges: 2, By: mine.Instances})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range counted {
		if f.Edges() == 2 {
			fmt.Printf("%-22s %s instances\n", f.Pattern, f.Support)
		}
	}
}
