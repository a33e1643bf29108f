package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
)

// TestSort compares sorts on an emulated GPU with those of Go.
func TestSort(t *testing.T) {
	defer func(n int) { sortEach = n }(sortEach)
	sortEach = 2
	compareSorts(t, cudatest.Open(t, 0, 1<<20), 800, LeastSorting())
	sortEach = 1
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	keys := make([]uint64, 20*sortTile()-7) // a digit of many tiles
	for i := range keys {
		keys[i] = d.Uint64()
	}
	want := slices.Clone(keys)
	slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(byte(a>>8), byte(b>>8)) })
	err := sorting(cudatest.Open(t, 1, 4<<20), len(keys), Sorting{Room: 3 << 20}, func(s *sorter) error {
		l := s.lanes[0]
		n, err := l.upload([][]uint64{keys})
		return errors.Join(err, l.pass(n, 8, 0), l.download([][]uint64{keys}))
	})
	if err != nil || !slices.Equal(keys, want) {
		t.Errorf("keys placed by a digit: wrong, %v", err)
	}
}

// TestSortOnGPU compares those of a GPU.
func TestSortOnGPU(t *testing.T) {
	compareSorts(t, openGPU(t, 1<<30), 20_000_000, 64<<20, 1<<30)
}

// compareSorts sorts lists of up to so many keys in each of the rooms.
func compareSorts(t *testing.T, gpu device.GPU, most int, rooms ...int64) {
	t.Helper()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	host, err := gpu.HostAlloc(int64(16 * most))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := gpu.HostFree(host); err != nil {
			t.Error(err)
		}
	}()
	all := device.View[uint64](host.Bytes())
	for name, x := range map[string]struct {
		key   func(i int) uint64
		twice bool
	}{
		"any":        {func(int) uint64 { return d.Uint64() }, true},
		"mostly one": {func(i int) uint64 { return 1<<63 | d.Uint64N(max(1, uint64(i%50)/48*250)) }, false},
		"descending": {func(i int) uint64 { return uint64(most - i) }, false},
	} {
		n := most - d.IntN(most/8)
		keys, out := all[:n], all[most:most+n]
		for i := range keys {
			keys[i] = x.key(i)
		}
		given := slices.Clone(keys)
		want := slices.Sorted(slices.Values(given))
		for _, room := range rooms {
			copy(keys, given)
			if err := Sort(context.Background(), gpu, keys, out, Sorting{Room: room, Twice: x.twice}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out, want) {
				t.Errorf("%s: %d keys in %d bytes: wrong", name, n, room)
			}
		}
	}
	for _, n := range []int{0, 1} {
		keys, out := all[:n], all[most:most+n]
		for i := range keys {
			keys[i] = d.Uint64()
		}
		want := slices.Sorted(slices.Values(keys))
		if err := Sort(context.Background(), gpu, keys, out, Sorting{Room: LeastSorting()}); err != nil || !slices.Equal(out, want) {
			t.Errorf("%d keys: wrong, %v", n, err)
		}
	}
	var small *device.BudgetError
	if err := Sort(context.Background(), gpu, all[:9], all[9:18], Sorting{Room: LeastSorting() - 1}); !errors.As(err, &small) || small.Asked != LeastSorting() {
		t.Errorf("a byte less than the least: %v", err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Sort(done, gpu, all[:9], all[9:18], Sorting{Room: LeastSorting()}); !errors.Is(err, context.Canceled) {
		t.Error(fmt.Errorf("after the end: %w", err))
	}
}
