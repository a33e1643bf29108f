package mine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/mine/run"
	"sagann/mine/table"
)

// TestParts: a size goes on from what was counted of it.
func TestParts(t *testing.T) {
	defer KeepEvery(0)()
	d := dataset.Karate()
	g, err := Open(d.Edges, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &frequent{Frequency: Frequency{Support: 1, Edges: 3, By: Instances, Engine: Tables, Resume: t.TempDir()}, g: g}
	keep, err := f.keeper()
	if err != nil {
		t.Fatal(err)
	}
	edge, failed := MustPattern("0-1"), errors.New("failed")
	path := filepath.Join(f.Resume, "part-03.txt")
	for end := 10; ; end += 10 { // each search counts ten vertices and fails
		calls := 0
		counts, err := f.inParts(keep, 3, run.NewMeter(0), func(part table.Part, counts map[Pattern]Total) (int, error) {
			if calls++; calls > 1 {
				return 0, failed
			}
			to := min(part.From+10, g.Vertices())
			sum := counts[edge]
			sum.AddTotal(Total{Lo: uint64(to - part.From)})
			counts[edge] = sum
			return to, nil
		})
		if err == nil {
			if end != 40 || counts[edge] != (Total{Lo: 34}) {
				t.Fatalf("after %d vertices %v", end, counts)
			}
			break
		}
		text, read := os.ReadFile(path)
		if !errors.Is(err, failed) || read != nil || !strings.Contains(string(text), "before vertex "+Total{Lo: uint64(end)}.String()+"\n") {
			t.Fatalf("%v, %v: %s", err, read, text)
		}
	}
	f.Support = 2
	other, err := f.keeper()
	if err != nil {
		t.Fatal(err)
	}
	var question *QuestionError
	if _, _, err := other.loadPart(3); !errors.As(err, &question) {
		t.Errorf("of another search: %v", err)
	}
	if err := keep.save(3, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part is left: %v", err)
	}
}
