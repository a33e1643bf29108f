package domain

import "testing"

// space is a Card of so many bytes.
type space struct {
	Card
	room int64
}

func (s space) Room() int64 { return s.room }

// TestWaiting: the candidates that wait for cards take no more memory than batches on the cards, unless one of each worker does.
func TestWaiting(t *testing.T) {
	for _, x := range []struct {
		vertices, workers int
		rooms             []int64
		want              int
	}{
		{64, 2, []int64{1 << 30}, mostWaiting},
		{64 << 20, 2, []int64{256 << 20}, 8}, // a domain has 8 MiB, a candidate 32
		{64 << 20, 2, []int64{256 << 20, 256 << 20}, 16},
		{64 << 20, 2, []int64{1 << 20}, 2},
	} {
		g := &Graph{Labels: []Label{{Vertices: make([]uint32, x.vertices)}}}
		q := &Question{Vertices: 4, Workers: x.workers}
		for _, room := range x.rooms {
			q.Cards = append(q.Cards, space{room: room})
		}
		if got := waiting(g, q); got != x.want {
			t.Errorf("%+v: %d wait", x, got)
		}
	}
}
