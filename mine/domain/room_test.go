package domain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// TestRoom finds the same patterns in any room from the smallest on. A level whose parents lose their domains goes on: no candidates are made twice.
func TestRoom(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	e := &chunk.Edges{V: 120}
	for range 700 {
		if a, b := uint32(d.IntN(e.V)), uint32(d.IntN(e.V)); a != b {
			e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
		}
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	for range e.V {
		r.Label = append(r.Label, int32(d.IntN(3)))
	}
	g, err := New(context.Background(), r, nil, 12, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine := func(room int64, workers int) (text string, again bool, err error) {
		last := 0
		q := Question{Least: 12, Edges: 3, Vertices: 4, Workers: workers, Room: room, Level: func(int, int) { last = 0 }}
		if workers == 1 {
			q.Report = func(done, _ int) { again, last = again || done <= last, done }
		}
		err = g.Mine(context.Background(), q, func(level []Found) error {
			for _, f := range level {
				text += fmt.Sprintln(f.Pattern, f.Support)
			}
			return nil
		})
		return text, again, err
	}
	want, _, err := mine(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = mine(1, 1)
	var least *run.RoomError
	for room := int64(1); errors.As(err, &least); _, _, err = mine(room, 1) {
		room = least.Need
	}
	for i := range int64(60) {
		for _, workers := range []int{1, 3} {
			room := least.Need + i*i*16
			got, again, err := mine(room, workers)
			if err != nil || got != want || again {
				t.Fatalf("room %d, %d workers: %v, work done again %v, the same patterns %v", room, workers, err, again, got == want)
			}
		}
	}
	if _, _, err := mine(least.Need-1, 1); !errors.As(err, new(*run.RoomError)) {
		t.Errorf("a byte less: %v", err)
	}
}
