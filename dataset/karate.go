package dataset

import "sagann/chunk"

// karateTies are the 78 friendships of the club, with members counted from 1. Each row is a member
// and the friends with higher numbers.
var karateTies = [][]uint32{
	{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32},
	{2, 3, 4, 8, 14, 18, 20, 22, 31},
	{3, 4, 8, 9, 10, 14, 28, 29, 33},
	{4, 8, 13, 14},
	{5, 7, 11},
	{6, 7, 11, 17},
	{7, 17},
	{9, 31, 33, 34},
	{10, 34},
	{14, 34},
	{15, 33, 34},
	{16, 33, 34},
	{19, 33, 34},
	{20, 34},
	{21, 33, 34},
	{23, 33, 34},
	{24, 26, 28, 30, 33, 34},
	{25, 26, 28, 32},
	{26, 32},
	{27, 30, 34},
	{28, 34},
	{29, 32, 34},
	{30, 33, 34},
	{31, 33, 34},
	{32, 33, 34},
	{33, 34},
}

// karateHi are the members, counted from 1, who stayed with the instructor,
// Mr. Hi; the others followed the officer.
var karateHi = []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22}

// Karate is Zachary's karate club (1977): 34 vertices, 156 directed edges sorted
// by source and destination, one-hot features, class 0 for those who stayed with
// Mr. Hi and 1 for those who left with the officer. Training sees two vertices
// of each class, validation eight vertices, testing the other 22.
func Karate() *Data {
	const v = 34
	var adj [v][v]bool
	for _, t := range karateTies {
		for _, u := range t[1:] {
			adj[t[0]-1][u-1], adj[u-1][t[0]-1] = true, true
		}
	}
	d := &Data{Name: "karate", Edges: &chunk.Edges{V: v}, Classes: 2}
	for s := range adj {
		for t, tied := range adj[s] {
			if tied {
				d.Edges.Src = append(d.Edges.Src, uint32(s))
				d.Edges.Dst = append(d.Edges.Dst, uint32(t))
			}
		}
	}
	d.Labels = make([]int32, v)
	for i := range d.Labels {
		d.Labels[i] = 1
	}
	for _, m := range karateHi {
		d.Labels[m-1] = 0
	}
	d.oneHot()
	d.Train = []uint32{0, 1, 32, 33}
	d.Val = []uint32{2, 3, 4, 5, 28, 29, 30, 31}
	for i := range uint32(v) {
		if i >= 6 && i < 28 {
			d.Test = append(d.Test, i)
		}
	}
	return d
}
