package agg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/mine/run"
)

// drawKeys draws keys: few or many different ones, small or of 64 bits.
func drawKeys(t *rapid.T) []uint64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n, distinct := rapid.SampledFrom([]int{0, 1, 100, 10000, 30000}).Draw(t, "keys"), rapid.SampledFrom([]uint64{1, 7, 5000, 1 << 40, ^uint64(0)}).Draw(t, "below")
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64N(distinct)
		if distinct == 5000 {
			keys[i] *= 0x9e3779b97f4a7c15
		}
	}
	return keys
}

// counted is what brute force counts.
func counted(keys []uint64) []Entry {
	sorted := slices.Sorted(slices.Values(keys))
	var out []Entry
	for _, k := range sorted {
		if n := len(out); n == 0 || out[n-1].Key != k {
			out = append(out, Entry{Key: k})
		}
		out[len(out)-1].Count++
	}
	return out
}

// collect collects what a sequence yields.
func collect[T any](t interface{ Fatal(...any) }, seq func(func(T, error) bool)) (out []T) {
	for x, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// TestSame: counters and sorters of any memory, among which keys are divided in any way, give what a sort in memory gives.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	draw.Check(t, func(t *rapid.T) {
		keys := drawKeys(t)
		o := Options{Mem: rapid.Int64Range(MinMem, 1<<20).Draw(t, "memory"), Scratch: filepath.Join(dir, "runs")}
		if err := os.MkdirAll(o.Scratch, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(o.Scratch)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var counters []*Counter
		for from := uint64(0); ; {
			c, err := NewCounter(o)
			must(err)
			end := uint64(len(keys))
			if rapid.Bool().Draw(t, "divided") {
				end = from + rapid.Uint64Range(0, end-from).Draw(t, "at")
			}
			for part := range slices.Chunk(keys[from:end], 7000) {
				must(c.Add(part...))
			}
			counters = append(counters, c)
			if from = end; from == uint64(len(keys)) {
				break
			}
		}
		if got, want := collect(t, Entries(ctx, counters...)), counted(keys); !slices.Equal(got, want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		for _, c := range counters {
			must(c.Close())
		}
		s, err := NewSorter(o)
		must(err)
		for part := range slices.Chunk(keys, 5000) {
			must(s.Add(part...))
		}
		if got := collect(t, s.Keys(ctx)); !slices.Equal(got, slices.Sorted(slices.Values(keys))) {
			t.Fatal("not sorted")
		}
		if memory := int64(16*len(keys)) <= o.Mem; memory != (s.Spilled() == 0) {
			t.Fatalf("%d keys in %d bytes: %d bytes in files", len(keys), o.Mem, s.Spilled())
		}
		must(s.Close())
	})
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestManyRuns: more runs than there is memory to read at once, or than may be open, are merged in several steps.
func TestManyRuns(t *testing.T) {
	keys := make([]uint64, 600_000)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	for _, n := range []int{1, mostOpen + 40} {
		if n == 1 && testing.Short() {
			continue
		}
		o := Options{Mem: MinMem, Scratch: t.TempDir()}
		var counters []*Counter
		runs := 0
		for part := range slices.Chunk(keys, (len(keys)+n-1)/n) {
			c, err := NewCounter(o)
			if err == nil {
				err = c.Add(part...)
			}
			if err != nil {
				t.Fatal(err)
			}
			counters, runs = append(counters, c), runs+c.runs.count()
		}
		ways := int(min(int64(n)*o.Mem/leastBuffer, mostOpen))
		if runs <= ways {
			t.Fatalf("%d runs, and %d may be open", runs, ways)
		}
		if got := collect(t, Entries(context.Background(), counters...)); len(got) != len(keys) || !slices.IsSortedFunc(got, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) }) {
			t.Fatalf("%d entries", len(got))
		}
		if left := counters[0].runs.count(); left > ways {
			t.Errorf("%d runs were open; at most %d may be", left, ways)
		}
		for _, c := range counters {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(o.Scratch); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// TestRefused: no memory, no folder, torn files, files of something else, a context that is done.
func TestRefused(t *testing.T) {
	keys := make([]uint64, 10_000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	var room *run.RoomError
	if _, err := NewCounter(Options{Mem: MinMem - 1}); !errors.As(err, &room) || room.Need != MinMem {
		t.Errorf("error %v", err)
	}
	c, err := NewCounter(Options{Mem: MinMem})
	if err == nil {
		err = c.Add(keys...)
	}
	if !errors.As(err, &room) || !errors.Is(c.Add(1), err) {
		t.Errorf("without a folder: error %v, then %v", err, c.Add(1))
	}
	for _, err := range collectErr(Entries(context.Background(), c)) {
		if !errors.As(err, &room) {
			t.Errorf("without a folder: error %v", err)
		}
	}
	s, err := NewSorter(Options{Mem: MinMem, Scratch: filepath.Join(t.TempDir(), "none")})
	if err == nil {
		err = s.Add(keys...)
	}
	if !errors.Is(err, os.ErrNotExist) || !errors.Is(s.Add(1), err) {
		t.Errorf("without the folder: error %v, then %v", err, s.Add(1))
	}
	for _, err := range s.Keys(context.Background()) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without the folder: error %v", err)
		}
	}
	o := Options{Mem: MinMem, Scratch: t.TempDir()}
	spilled := func() *Counter {
		c, err := NewCounter(o)
		if err == nil {
			err = c.Add(keys...)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if errs := collectErr(Entries(done, spilled())); len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("errors %v", errs)
	}
	for i, damage := range []func(whole []byte) []byte{
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return b[:20] },
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { return b[:len(b)-16] },
		func(b []byte) []byte { return append([]byte("S"), b[1:]...) },
		flipped,
	} {
		c := spilled()
		path := c.runs.paths[0]
		whole, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, damage(whole), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(collectErr(Entries(context.Background(), c))...)
		if err == nil || !strings.Contains(err.Error(), filepath.Base(path)) || !strings.Contains(err.Error(), "count anew") {
			t.Errorf("file %d: error %v", i, err)
		}
	}
}

// flipped is a file with one bit changed in a record.
func flipped(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)/2] ^= 4
	return b
}

func collectErr(seq func(func(Entry, error) bool)) (errs []error) {
	for _, err := range seq {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// TestCarry: counts of more than 32 bits, and multiples of a number, which a product does not spread.
func TestCarry(t *testing.T) {
	c, err := NewCounter(Options{Mem: MinMem})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(100) {
		if err := c.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	for i, key := range c.keys {
		if key == 7 {
			c.count[i] = ^uint32(0) - 1
		}
	}
	if err := c.Add(7, 7, 7); err != nil {
		t.Fatal(err)
	}
	got := collect(t, Entries(context.Background(), c))
	if len(got) != 100 || got[7] != (Entry{7, 1<<32 + 1}) || got[8] != (Entry{8, 1}) || got[0] != (Entry{0, 1}) {
		t.Errorf("%d entries: %v", len(got), got)
	}
	for _, times := range []uint64{1, 0x9e3779b97f4a7c15, 1 << 20, 1<<44 + 1} { // most keys are in their first slot or the next
		c, err := NewCounter(Options{Mem: 1 << 24})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(100_000) {
			if err := c.Add((i + 1) * times); err != nil {
				t.Fatal(err)
			}
		}
		steps := 0
		for at, key := range c.keys {
			if key != 0 {
				steps += int(uint64(at)-hash(key)>>c.shift) & (len(c.keys) - 1)
			}
		}
		if steps > 100_000 {
			t.Errorf("multiples of %#x: %d steps beside the first slots of 100000 keys", times, steps)
		}
	}
}

// BenchmarkKeys counts keys of few and of many different ones, and sorts them.
func BenchmarkKeys(b *testing.B) {
	const n = 10_000_000
	for _, distinct := range []uint64{10_000, 100_000, 1_000_000, 1 << 40} {
		r := rand.New(rand.NewPCG(1, 2))
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = r.Uint64N(distinct) * 0x9e3779b97f4a7c15
		}
		b.Run(fmt.Sprintf("count-%d", distinct), func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				c, err := NewCounter(Options{Mem: 1 << 30})
				if err == nil {
					err = c.Add(keys...)
				}
				if err != nil {
					b.Fatal(err)
				}
				for range Entries(context.Background(), c) {
				}
			}
		})
		b.Run(fmt.Sprintf("sort-%d", distinct), func(b *testing.B) {
			b.SetBytes(8 * n)
			work, room := make([]uint64, n), make([]uint64, n)
			for b.Loop() {
				copy(work, keys)
				Sort(work, room)
			}
		})
	}
}
