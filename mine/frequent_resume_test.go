package mine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/mine"
)

// ofKarate is the result of a search on the karate club as text.
func ofKarate(t *testing.T, f mine.Frequency) (string, error) {
	return ofKarateUntil(t, context.Background(), f)
}

func ofKarateUntil(t *testing.T, ctx context.Context, f mine.Frequency) (string, error) {
	t.Helper()
	d := dataset.Karate()
	found, err := mustOpen(t, d.Edges, mine.Options{Labels: d.Labels}).Frequent(ctx, f)
	text := ""
	for _, p := range found {
		text += fmt.Sprintln(p.Pattern, p.Support)
	}
	return text, err
}

// TestFrequencyInterrupted: a search that is interrupted at any moments finds the same, of any engine.
func TestFrequencyInterrupted(t *testing.T) {
	defer mine.KeepEvery(0)()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	for _, f := range []mine.Frequency{{Support: 4, Edges: 4}, {Support: 9, Edges: 4, By: mine.Instances}, {Support: 9, Vertices: 4, Induced: true, By: mine.InstancesAll},
		{Support: 9, Edges: 3, By: mine.InstancesAll}} {
		start := time.Now()
		want, err := ofKarate(t, f)
		took := time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		f.Resume = t.TempDir()
		parts := 0
		for range 8 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(d.Int64N(int64(took)+1)))
			got, err := ofKarateUntil(t, ctx, f)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) && (err != nil || got != want) {
				t.Fatalf("%+v: %v\n%s\nwant\n%s", f, err, got, want)
			}
			now, _ := filepath.Glob(filepath.Join(f.Resume, "part-*"))
			parts += len(now)
		}
		if got, err := ofKarate(t, f); err != nil || got != want {
			t.Fatalf("%+v: %v\n%s\nwant\n%s", f, err, got, want)
		}
		if left, err := filepath.Glob(filepath.Join(f.Resume, "part-*")); err != nil || len(left) > 0 {
			t.Errorf("%+v: %v are left, %v", f, left, err)
		}
		t.Logf("%+v: parts of a size were kept %d times", f, parts)
	}
}

// TestFrequencyResume: a search that goes on from any size finds the same.
func TestFrequencyResume(t *testing.T) {
	for _, f := range []mine.Frequency{{Support: 4, Edges: 4}, {Support: 6, Vertices: 8, AtLeast: true, Edges: 5}, {Support: 3, Vertices: 4, Induced: true},
		{Support: 9, Edges: 4, By: mine.Instances}, {Support: 9, Edges: 3, By: mine.Instances}, {Support: 9, Vertices: 4, Induced: true, By: mine.InstancesAll}, {Support: 30, Edges: 5}} {
		want, err := ofKarate(t, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Resume = filepath.Join(t.TempDir(), "kept")
		for from := 9; from > 0; from-- {
			for size := from; size < 10; size++ {
				_ = os.Remove(filepath.Join(f.Resume, fmt.Sprintf("size-%02d.txt", size)))
			}
			if got, err := ofKarate(t, f); err != nil || got != want {
				t.Fatalf("%+v from size %d: %v\n%s\nwant\n%s", f, from, err, got, want)
			}
		}
		other := f
		other.Support++
		var question *mine.QuestionError
		if _, err := ofKarate(t, other); !errors.As(err, &question) || !strings.Contains(err.Error(), "another search") {
			t.Errorf("another support: error %v", err)
		}
		path := filepath.Join(f.Resume, "size-01.txt")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for cut := range len(text) { // torn anywhere
			if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := ofKarate(t, f); err == nil || !strings.Contains(err.Error(), "size-01.txt: the checksum is wrong") {
				t.Fatalf("cut at %d: error %v", cut, err)
			}
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "size-01.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ofKarate(t, mine.Frequency{Support: 4, Edges: 2, Resume: dir}); err == nil || !strings.Contains(err.Error(), "size-01.txt: not a regular file") {
		t.Errorf("a pipe in the folder: %v", err)
	}
	if _, err := ofKarate(t, mine.Frequency{Support: 4, Edges: 2, Resume: t.TempDir(), Domains: true}); err == nil {
		t.Error("domains and resume")
	}
}
