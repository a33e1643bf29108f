package cpu_test

import (
	"math/rand/v2"

	"sagann/chunk"
)

// sizes of a random launch.
type sizes struct {
	own, other, edges, cells int
	hub                      bool // half of the edges belong to one row
}

const (
	types    = 3
	dataCols = 2
)

// makeCells spreads random edges over cells of one own interval. A row's edges get
// their ranks in random order, so that the order of cells is not that of ranks.
func makeCells(r *rand.Rand, s sizes) []chunk.View {
	type edge struct{ row, rank int }
	byCell := make([][]edge, s.cells)
	degree := make([]int, s.own)
	for e := range s.edges {
		row := r.IntN(s.own)
		if s.hub && e%2 == 0 {
			row = s.own / 2
		}
		c := r.IntN(s.cells)
		byCell[c] = append(byCell[c], edge{row, 0})
		degree[row]++
	}
	ranks := make([][]int, s.own)
	for row, d := range degree {
		ranks[row] = r.Perm(d)
	}
	var views []chunk.View
	for c, edges := range byCell {
		rows := make([][]int, s.own) // ranks of the row's edges in this cell
		for _, e := range edges {
			rows[e.row] = append(rows[e.row], ranks[e.row][0])
			ranks[e.row] = ranks[e.row][1:]
		}
		v := chunk.View{Ptr: []uint32{0}, Other: []uint32{}}
		if c%2 == 1 || r.IntN(2) == 0 {
			v.RowIDs = []uint32{}
		}
		for row, list := range rows {
			if v.RowIDs != nil && len(list) == 0 {
				continue
			}
			if v.RowIDs != nil {
				v.RowIDs = append(v.RowIDs, uint32(row))
			}
			for _, rank := range list {
				v.Other = append(v.Other, uint32(r.IntN(s.other)))
				v.Rank = append(v.Rank, float32(rank))
				v.Type = append(v.Type, uint32(r.IntN(types)))
				v.Weight = append(v.Weight, number(r))
				for range dataCols {
					v.Data = append(v.Data, number(r))
				}
			}
			v.Ptr = append(v.Ptr, uint32(len(v.Other)))
		}
		views = append(views, v)
	}
	return views
}

// number is one of -1, -1/2, 0, 1/2 and 1: sums of products of a few of them are exact
// in float32, in any order.
func number(r *rand.Rand) float32 { return float32(r.IntN(5)-2) / 2 }
